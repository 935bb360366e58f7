"""Redacting again what is stored: by a pattern that somebody gives, or by ours, which may have grown since."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import re2

from memory.L4_raw_sessions.sections import Section, put
from memory.redaction import redact, redact_json

MARK = "[redacted:pattern]"

_STRING = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)


class PatternRefused(ValueError):
    """A pattern that cannot be redacted by; the message says why."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Takes out of texts, and out of the strings of JSON, what is not to be stored."""

    _pattern: Any = None

    @classmethod
    def of(cls, pattern: str | None) -> Sweep:
        """By a pattern of RE2; by ours, where none is given. Raises `PatternRefused`."""
        if pattern is None:
            return cls()
        try:
            compiled = re2.compile(pattern.encode("utf-8", "replace"))
        except re2.error as error:
            raise PatternRefused(f"{pattern!r} is no pattern of RE2: {error}") from error
        if compiled.search(b"") or compiled.search(MARK.encode()):
            raise PatternRefused(f"{pattern!r} fits no text at all, or what is put in its place: be more exact")
        return cls(compiled)

    def text(self, text: str) -> str:
        """The text without secrets, or without what the pattern finds."""
        if self._pattern is None:
            return redact(text)
        data = text.encode("utf-8", "surrogatepass")
        swept = self._bytes(data)
        return text if swept is data else swept.decode("utf-8", "surrogatepass")

    def json(self, data: bytes) -> bytes:
        """The JSON with its strings redacted likewise; all else stays byte for byte."""
        if self._pattern is None:
            return redact_json(data)
        try:
            json.loads(data)
        except ValueError:
            return self._bytes(data)
        return _STRING.sub(self._string, data)

    def section(self, section: Section) -> Section:
        """A section of a log; one of ours is sealed again."""
        sealed = section.sealed
        if sealed is None or section.time is None:
            return Section(self._bytes(section.head), self.json(section.body))
        swept = self.json(sealed)
        if swept == sealed:
            return section
        fields = {name: value for name, value in section.fields.items() if name not in ("len", "sha")}
        head, _, body = put(section.kind, section.time, swept, **fields).partition(b"\n")
        return Section(head + b"\n", body)

    def line(self, line: bytes) -> bytes:
        """A line of the histories, redacted and as long as before, so that all other lines stay where they are."""
        swept = self._bytes(line.rstrip(b"\n"))
        if swept == line.rstrip(b"\n"):
            return line
        room = len(line.rstrip(b"\n"))
        return swept[:room].decode("utf-8", "ignore").encode().ljust(room) + line[room:]

    def _bytes(self, data: bytes) -> bytes:
        if self._pattern is None:
            return redact_json(data)
        return bytes(self._pattern.sub(MARK.encode(), data)) if self._pattern.search(data) else data

    def _string(self, match: re.Match[bytes]) -> bytes:
        value = json.loads(match[0], strict=False)
        swept = self.text(value)
        if swept == value:
            return match[0]
        try:
            return json.dumps(swept, ensure_ascii=match[0].isascii()).encode()
        except UnicodeEncodeError:
            return json.dumps(swept).encode()


def sweep_log(sections: Iterable[Section], sweep: Sweep) -> Iterator[bytes]:
    """A redacted log, piece by piece."""
    for section in sections:
        swept = sweep.section(section)
        yield swept.head + swept.body
