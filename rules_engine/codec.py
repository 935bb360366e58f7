"""A decision as bytes and back: slices as differences, a byte for the version, compressed where that pays."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from rules_engine.types import Applied, EngineError, Form, Omission, Piece, Rewritten, Script, Source

VERSION = 1
_PLAIN, _PACKED = b"j", b"z"
_PACK_FROM = 512


def dump(decision: Rewritten) -> bytes:
    """The decision without its key, as bytes for a store; it holds no text of the tool's."""
    fields = [decision.raw_digest, [_form_to_fields(form) for form in decision.forms]]
    data = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    if len(data) < _PACK_FROM:
        return bytes([VERSION]) + _PLAIN + data
    return bytes([VERSION]) + _PACKED + zlib.compress(data, 1)


def load(key: str, data: bytes) -> Rewritten:
    """The decision stored as `data`. Raises `EngineError` if it is damaged or from a newer version."""
    if not data or data[0] > VERSION:
        raise EngineError(f"stored decision has version {data[:1].hex() or 'none'}; this gateway reads up to {VERSION}")
    try:
        body = zlib.decompress(data[2:]) if data[1:2] == _PACKED else data[2:]
        raw_digest, forms = json.loads(body)
        return Rewritten(key=key, raw_digest=raw_digest, forms=tuple(_form_from_fields(form) for form in forms))
    except (ValueError, TypeError, IndexError, KeyError, zlib.error) as error:
        raise EngineError(f"stored decision {key} is damaged: {error}") from error


def _form_to_fields(form: Form) -> list[Any]:
    return [
        form.digest,
        _flatten(form.script),
        [[*item.rule, item.loss, item.removed] for item in form.applied],
        [[source.key, source.digest] for source in form.sources],
        [[item.id, item.lines, _flatten(item.spans), [list(rule) for rule in item.rules]] for item in form.omissions],
    ]


def _form_from_fields(fields: Sequence[Any]) -> Form:
    digest, script, applied, sources, omissions = fields
    return Form(
        digest=digest,
        script=_unflatten(script),
        applied=tuple(Applied(rule=(name, version), loss=loss, removed=n) for name, version, loss, n in applied),
        sources=tuple(Source(key=key, digest=source) for key, source in sources),
        omissions=tuple(
            Omission(id=name, lines=lines, spans=_spans(spans), rules=tuple((rule, at) for rule, at in rules))
            for name, lines, spans, rules in omissions
        ),
    )


def _flatten(pieces: Sequence[Piece]) -> list[int | str]:
    """Literals as they are; a slice as its distance from the end of the one before, and its length."""
    out: list[int | str] = []
    at = 0
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
        else:
            out += (piece[0] - at, piece[1] - piece[0])
            at = piece[1]
    return out


def _unflatten(flat: Sequence[Any]) -> Script:
    out: list[Piece] = []
    at = 0
    values = iter(flat)
    for value in values:
        if isinstance(value, str):
            out.append(value)
        else:
            start = at + value
            at = start + next(values, None)
            out.append((start, at))
    return tuple(out)


def _spans(flat: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(piece for piece in _unflatten(flat) if not isinstance(piece, str))
