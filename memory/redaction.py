"""Secrets out, before anything is written: each is replaced by ``[redacted:KIND]``, and JSON stays JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from memory.patterns import NAME, PATTERNS, TRIGGER, Form, Pattern
from memory.types import ExchangeRecord, Message, RewriteRecord, SignalRecord

# What stands in the place of a value: a reference to one, a type, a blank to fill in, or what was redacted before.
_REFERENCE = re.compile(
    rb"[\[${<%]|\*+$|\.{3}|[x.*_-]+$|(?:your|example|placeholder|os\.|process\.|env\.|self\.|config\.|settings\.)"
    rb"|(?:none|null|nil|true|false|undefined|required|optional|string|str|text|bytes|int|number|bool|boolean|object|any|u?int\d+\w*|[iuf]\d+)\??$",
    re.IGNORECASE,
)
_DIGIT = re.compile(rb"\d")
_FOLDER = re.compile(rb"(?:^|_|OLD)PWD$")
_SCATTERED = re.compile(rb"\d[A-Za-z]+\d")
_SPECIAL = re.compile(rb"[!@#$%^&*+=~?]|-[^-]+-")
_CODE = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\??\.|->|::)[A-Za-z_$][\w$]*)*[!?:]?$")
_STRONG = re.compile(rb"passw|passphrase|passcode|pwd|secret|key|[_-]pass(?:[_-]?\d+)?$", re.IGNORECASE)
_PASSWORD = re.compile(rb"passw|passcode|pwd", re.IGNORECASE)
_NAMED = re.compile(rb"[\w.-]*" + NAME + rb"$", re.IGNORECASE)

# Without one of these, at any depth of JSON in JSON, no escape stands for a character of a trigger.
_ESCAPED = re.compile(rb"\\[u/]")

# A name or a word, too short to be one of the tokens.
_WORD = re.compile(rb"[a-z_]{1,17}")

# The names in a usage object, in the APIs' own words.
_COUNTS = frozenset(
    (
        *("prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens", "cached_tokens"),
        *("prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details"),
        *("reasoning_tokens", "audio_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens"),
        *(
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "prompt_cache_hit_tokens",
            "prompt_cache_miss_tokens",
        ),
        *("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens", "text_tokens", "image_tokens"),
    )
)

_CALLED, _VALUES = (b"name", b"Name", b"key", b"Key"), (b"value", b"Value")

# A string of JSON and, where it is a member's name, its colon.
_STRING = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:\s*)?', re.DOTALL)

T = TypeVar("T", ExchangeRecord, Message, RewriteRecord, SignalRecord)

FRAGMENT = 12
"""Characters from which a line of a secret is recognised where it stands by itself."""


def redact(text: str) -> str:
    """The text without the secrets in it. ``redact(redact(text)) == redact(text)``."""
    data = text.encode("utf-8", "surrogatepass")
    swept = _sweep(data)
    return text if swept is data else swept.decode("utf-8", "surrogatepass")


def redact_json(data: bytes) -> bytes:
    """The same JSON with the secrets gone from its strings; all else, and what is not JSON, stays byte for byte."""
    if not data or (_ESCAPED.search(data) is None and TRIGGER.search(data) is None):
        return data
    try:
        json.loads(data)
    except RecursionError:
        pass  # it is JSON as far as that goes, and its strings are found without a reader
    except ValueError:
        return _sweep(data)
    return _sweep_strings(data)


def redact_together(texts: Sequence[str]) -> list[str]:
    """Redact texts that are made of the first: a secret that is torn in a later one is recognised by its lines."""
    found: list[bytes] = []
    first = texts[0].encode("utf-8", "surrogatepass")
    out = [_sweep(first, found)]
    pieces = sorted({piece for secret in found for piece in _lines(secret)}, key=len, reverse=True)
    for text in texts[1:]:
        data = text.encode("utf-8", "surrogatepass")
        for piece in pieces:
            data = data.replace(piece, b"[redacted:fragment]")
        out.append(_sweep(data))
    return [data.decode("utf-8", "surrogatepass") for data in out]


def redact_record(record: ExchangeRecord) -> ExchangeRecord:
    """The record as it may be written: no secrets, and no text that cannot be encoded."""
    if record.redacted:
        return record
    return _encodable(
        replace(
            record,
            path=redact(record.path),
            model=None if record.model is None else redact(record.model),
            error=None if record.error is None else redact(record.error),
            messages=tuple(map(_redact_message, record.messages)),
            head=redact_json(record.head),
            reply=None if record.reply is None else _redact_message(record.reply),
            reported=None if record.reported is None else _redact_usage(record.reported),
            rewrites=tuple(map(_redact_rewrite, record.rewrites)),
            signals=tuple(map(_redact_signal, record.signals)),
            redacted=True,
        )
    )


def _redact_usage(usage: Mapping[str, object]) -> Mapping[str, object]:
    if _is_count(usage):
        return usage  # of nearly every answer, and nearly every name in it looks like that of a secret
    redacted: Mapping[str, object] = json.loads(redact_json(json.dumps(dict(usage)).encode()))
    return redacted


def _is_count(value: object) -> bool:
    """Numbers, under names that any usage object may have."""
    if isinstance(value, Mapping):
        return all(name in _COUNTS and _is_count(inner) for name, inner in value.items())
    return value is None or isinstance(value, int | float)


def _redact_message(message: Message) -> Message:
    content = redact_json(message.content)
    return _encodable(message if content is message.content else replace(message, content=content))


def _redact_rewrite(rewrite: RewriteRecord) -> RewriteRecord:
    ids = [recall for recall, _ in rewrite.omissions]
    texts = [rewrite.before, rewrite.after, rewrite.command, *(text for _, text in rewrite.omissions)]
    before, after, command, *omitted = redact_together(texts)
    omissions = tuple(zip(ids, map(_encode, omitted), strict=True))
    return _encodable(replace(rewrite, before=before, after=after, command=command, omissions=omissions))


def _redact_signal(signal: SignalRecord) -> SignalRecord:
    return _encodable(replace(signal, evidence=redact(signal.evidence)))


def _encodable(noun: T) -> T:
    encoded: dict[str, Any] = {}
    for name in noun.__slots__:
        value = getattr(noun, name)
        if isinstance(value, str) and not value.isascii():
            encoded[name] = _encode(value)
    return replace(noun, **encoded) if encoded else noun


def _encode(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _lines(secret: bytes) -> Iterator[bytes]:
    for line in secret.replace(b"\\n", b"\n").split(b"\n"):
        if len(piece := line.strip()) >= FRAGMENT:
            yield piece


def _sweep(data: bytes, found: list[bytes] | None = None) -> bytes:
    if TRIGGER.search(data) is None:
        return data
    for pattern in PATTERNS:
        data = _replace(pattern, data, found)
    return data


def _replace(pattern: Pattern, data: bytes, found: list[bytes] | None) -> bytes:
    out, at = [], 0
    for match in pattern.regex.finditer(data):
        parts = {key.decode(): value for key, value in match.groupdict().items()}
        if not _JUDGES[pattern.form](parts):
            continue
        start, end = match.span(pattern.regex.groupindex[b"secret"])
        out += [data[at:start], b"[redacted:%s]" % (pattern.kind.encode() or _kind(parts["name"]))]
        at = end
        if found is not None:
            found.append(data[start:end])
    return b"".join((*out, data[at:])) if out else data


def _kind(name: bytes) -> bytes:
    lower = name.lower()
    return next((kind for kind in (b"password", b"token", b"key", b"secret") if kind[:4] in lower), b"secret")


def _sweep_strings(data: bytes) -> bytes:
    out, at = [], 0
    name, behind = b"", -1
    called = b""  # what the member before said is the name of a value: {"name": "DB_PASSWORD", "value": …}
    for match in _STRING.finditer(data):
        raw = match[1]
        is_value = match.start() == behind
        swept = _sweep_string(raw, (called if name in _VALUES and called else name) if is_value else b"")
        if is_value:
            called = raw if name in _CALLED else b""
        if swept is not raw:
            out += [data[at : match.start(1)], swept]
            at = match.end(1)
        if match[2] is not None:
            name, behind = raw, match.end()
    return b"".join((*out, data[at:])) if out else data


def _sweep_string(raw: bytes, name: bytes) -> bytes:
    named = _NAMED.match(name) is not None
    if not named and b"\\" not in raw and (_WORD.fullmatch(raw) or TRIGGER.search(raw) is None):
        return raw
    value = json.loads(b'"' + raw + b'"', strict=False).encode("utf-8", "surrogatepass")
    if named and _is_quoted({"name": name, "secret": value}):
        return b"[redacted:%s]" % _kind(name)
    nested = value.lstrip()[:1] in (b"{", b"[", b'"')
    swept = redact_json(value) if nested else _sweep(value)
    return raw if swept == value else _quote(swept, ascii_only=raw.isascii())


def _quote(value: bytes, *, ascii_only: bool) -> bytes:
    text = value.decode("utf-8", "surrogatepass")
    quoted = json.dumps(text, ensure_ascii=ascii_only)
    try:
        return quoted.encode()[1:-1]
    except UnicodeEncodeError:
        return json.dumps(text).encode()[1:-1]


def _is_value(found: dict[str, Any]) -> bool:
    return not _REFERENCE.match(found["secret"])


def _is_random(found: dict[str, Any]) -> bool:
    value = found["secret"]
    if not _is_value(found) or value[:1] in (b"/", b".") or len(value) < 8:
        return False
    return _DIGIT.search(value) is not None and not value.isdigit()


def _is_env(found: dict[str, Any]) -> bool:
    value = found["secret"]
    if not _is_value(found) or b"(" in value or _is_folder(found):
        return False
    return len(value) >= 4 if _STRONG.search(found["name"]) else len(value) >= 8


def _is_quoted(found: dict[str, Any]) -> bool:
    name, value = found["name"], found["secret"]
    if not _is_value(found) or any(c <= 32 for c in value) or _is_name(value):
        return False
    if _STRONG.search(name):
        return len(value) >= 4
    return len(value) >= 12 and _is_random(found)


def _is_bare(found: dict[str, Any]) -> bool:
    name, value, behind = found["name"], found["secret"], found["next"]
    if not _is_value(found) or behind in (b"(", b"[", b"{") or len(value) < 4 or _is_folder(found):
        return False
    if behind in (b")", b","):  # an argument in code, or the end of a clause
        return len(value) >= 16 and _SCATTERED.search(value) is not None and _is_telling(value)
    if not _STRONG.search(name):
        return len(value) >= 16 and _is_random(found)
    if value.isdigit():
        return _PASSWORD.search(name) is not None
    # A word by itself is code or prose, but for the form that shells, links and drivers use.
    return _is_telling(value) or (
        found["sep"] == b"=" and len(value) >= 6 and not _is_name(value) and b"." not in value
    )


def _is_option(found: dict[str, Any]) -> bool:
    value = found["secret"]
    if not _is_value(found) or value[:1] in (b"-", b"/", b"."):
        return False
    if not _STRONG.search(found["name"]):
        return _is_random(found)
    return len(value) >= 4 and (_is_telling(value) or len(value) >= 10)


def _is_folder(found: dict[str, Any]) -> bool:
    return found["secret"][:1] == b"/" and _FOLDER.search(found["name"]) is not None


def _is_name(value: bytes) -> bool:
    return _NAMED.match(value) is not None and not _DIGIT.search(value)


def _is_telling(value: bytes) -> bool:
    """Neither a word nor a name, a member or a path of code."""
    value = value.lstrip(b"!&*?")
    if b"." in value and _CODE.match(value):
        return False
    return _SPECIAL.search(value) is not None or _DIGIT.search(value) is not None


def _is_sure(found: dict[str, Any]) -> bool:
    return True


_JUDGES: dict[Form, Callable[[dict[str, Any]], bool]] = {
    "sure": _is_sure,
    "value": _is_value,
    "random": _is_random,
    "env": _is_env,
    "quoted": _is_quoted,
    "bare": _is_bare,
    "option": _is_option,
}
