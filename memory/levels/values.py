"""What may not stand in an entry: values in a pointer, what changes by itself in a fact, secrets anywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from unicodedata import normalize

from memory.redaction import redact

_DAY = r"(?<!\d)\d{4}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?!\d)"
_HOUR = r"(?<![\d.:])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?!\d)"
_COMPACT = r"(?<!\d)(?:19|20)\d{6}[T_ ]?\d{4,6}(?!\d)|(?<!\d)\d{4}_\d{4}-\d{4}_\d{4}(?!\d)"
_EPOCH = r"(?<![\d.])1[0-9]{9}(?:\d{3}){0,3}(?![\d.])"
_UUID = r"(?i)(?<![0-9a-z])[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-z])"
_PID = r"(?i)(?:(?<![a-z])pids?|(?<![a-z])process(?: id)?|进程号?|プロセス|프로세스)\s*[=:#]?\s*\d+"
_PASSING = r"(?i)(?<![\w.])/(?:private/)?(?:tmp|var/(?:tmp|folders)|run/user|proc/\d+)\b|\\temp\\"

VALUES: Mapping[str, re.Pattern[str]] = {
    "a URL": re.compile(r"(?i)[a-z][a-z0-9+.-]{1,20}://\S"),
    "an IP address": re.compile(
        r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|(?i:(?<![0-9a-z:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![0-9a-z:]))"
    ),
    "a port": re.compile(r"(?i)(?:(?<![a-z])ports?|端口|ポート|포트)\s*[=:#]?\s*\d{2,5}|(?<=[\w\]]):\d{2,5}(?!\d)"),
    "an absolute path": re.compile(r"(?<![A-Za-z0-9_./*~])~?/[A-Za-z0-9_.@~-]|(?<![A-Za-z])[A-Za-z]:[\\/]|\\\\\w"),
    "a timestamp": re.compile(f"{_DAY}|{_HOUR}|{_COMPACT}|{_EPOCH}"),
    "a process id": re.compile(_PID),
    "a UUID": re.compile(_UUID),
}
"""What belongs into a fact, so that an index points to it and does not repeat it."""

VOLATILE: Mapping[str, re.Pattern[str]] = {
    "a time of day": re.compile(f"{_HOUR}|{_COMPACT}|{_EPOCH}"),
    "a process id": re.compile(_PID),
    "a UUID": re.compile(_UUID),
    "a passing path": re.compile(_PASSING),
}
"""What will not be true for long."""

_NAMED = re.compile(r"(?<!\w)ref:[A-Za-z][A-Za-z0-9_]{0,63}(?![\w-])")
_CREDENTIAL = re.compile(
    r"(?i)(?:\b(?:password|passwd|passphrase|passcode|secret|api[ _-]?key|(?:access|auth|bearer|secret|private)[ _-]?(?:token|key))"
    r"|密码|口令|密钥|パスワード|비밀번호)\s*(?:\bis\b|\bare\b|=|:|：|是|为|は)\s*(?P<value>\S+)"
)


_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What hides text, breaks lines unseen, or cannot be written."""


def odd_in(text: str) -> tuple[str, ...]:
    """Whether characters stand in a text that nobody sees."""
    return ("a control character",) if _ODD.search(text) else ()


def values_in(line: str) -> tuple[str, ...]:
    """What kinds of values stand in a line of an index."""
    text = normalize("NFKC", line)
    return (*(kind for kind, form in VALUES.items() if form.search(text)), *secrets_in(line))


def volatile_in(text: str) -> tuple[str, ...]:
    """What stands in a fact that changes by itself."""
    plain = normalize("NFKC", text)
    return tuple(kind for kind, form in VOLATILE.items() if form.search(plain))


def secrets_in(text: str) -> tuple[str, ...]:
    """Whether a secret stands in a text. A reference ``ref:NAME`` is none."""
    plain = _NAMED.sub("<ref>", text)
    told = any(not found["value"].startswith(("<", "$", "[redacted")) for found in _CREDENTIAL.finditer(plain))
    return ("a secret",) if told or redact(plain) != plain else ()
