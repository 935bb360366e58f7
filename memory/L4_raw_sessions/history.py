"""The lines by which a session is found again: who said what, a few words each, nothing twice that was said once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from memory.L4_raw_sessions.exchanges import Exchange, read_exchanges
from memory.L4_raw_sessions.places import SEPARATOR
from memory.L4_raw_sessions.sections import Section, read_sections
from memory.L4_raw_sessions.words import Said, read_message, read_parsed, text_of

LENGTH = 200
"""Characters of a line."""

USER = "[USER]: "
"""Before what a user said."""

_BLOCK = re.compile(rb"<history>(.*?)</history>", re.DOTALL)
_RULE = re.compile(f"{SEPARATOR}+")
_LITERAL = 1_000_000


def history_lines(path: Path) -> list[str]:
    """The lines of a session from its log, raw or compressed."""
    with path.open("rb") as file:
        return read_history(file)


def read_history(file: BinaryIO) -> list[str]:
    """The same from an open file."""
    return lines_of(read_exchanges(read_sections(file)))


def lines_of(exchanges: Iterable[Exchange]) -> list[str]:
    """The same from its exchanges."""
    ours, theirs, blocks = _Lines(), list[str](), list[str]()
    for exchange in exchanges:
        if exchange.id is not None:
            ours.hear(exchange)
            continue
        theirs += _free_lines(exchange)
        for section in exchange.sections:
            for found in _BLOCK.finditer(section.body):
                blocks = merge(blocks, _block_lines(found[1]))
    return ours.end() + (blocks or theirs)


def block(name: str, lines: Sequence[str], facts: str) -> bytes:
    """A session's place in the histories; its name stands inside, too, for who splits at the separators."""
    head = f"\n{SEPARATOR}\nSESSION: {name}\n{SEPARATOR}\n# name={name} {facts}\n"
    return (head + "".join(f"{line}\n" for line in lines)).encode("utf-8", "backslashreplace")


def merge(lines: list[str], window: list[str]) -> list[str]:
    """Lines with those of a later window that overlaps them; what is repeated at either side of the seam stays."""
    size = len(window)
    if not size or any(lines[at : at + size] == window for at in range(max(0, len(lines) - 4 * size), len(lines))):
        return lines
    overlap = next((n for n in range(min(size, len(lines)), 0, -1) if lines[-n:] == window[:n]), 0)
    return lines + window[overlap:]


class _Lines:
    """Lines of our own logs. A message comes once in a chain; after an edit only what differs is said again."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._told: Counter[str] = Counter()
        self._chain: Counter[str] = Counter()
        self._lines: dict[str, tuple[str | None, list[str]]] = {}
        self._tools: dict[str, str] = {}
        self._tip: str | None = None
        self._reply: list[str] = []

    def hear(self, exchange: Exchange) -> None:
        """Take the next exchange."""
        said = [read_message(message) for message in exchange.messages]
        first = next((things[0] for things in said if things), None)
        if first is None or first.speaker != "Agent":
            self._flush()  # else the agent sends the reply back in its own form
        self._reply = []
        if exchange.base != self._tip:
            self._chain = Counter(self._above(exchange.base))
        parent = exchange.base
        for name, things in zip(exchange.names, said, strict=True):
            lines = [line for thing in things if (line := self._line(thing))]
            self._lines[name] = (parent, lines)
            self._tell(lines)
            parent = name
        self._tip = parent
        reply = exchange.response.get("message")
        if isinstance(reply, dict):
            self._reply = [line for thing in read_parsed(reply) if (line := self._line(thing))]

    def end(self) -> list[str]:
        """All lines, the last reply's included."""
        self._flush()
        return self._out

    def _flush(self) -> None:
        self._tell(self._reply)
        self._reply = []

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._chain[line] += 1
            if self._chain[line] > self._told[line]:
                self._told[line] += 1
                self._out.append(line)

    def _above(self, name: str | None) -> Iterator[str]:
        while name is not None and name in self._lines:
            name, lines = self._lines[name]
            yield from lines

    def _line(self, said: Said) -> str | None:
        if said.speaker == "System":
            return None
        if said.speaker == "Tool":
            name = self._tools.get(said.tools[0][0]) or "tool"
            return f"[Tool] {name} {'err' if said.failed else 'ok'}"
        self._tools |= dict(said.tools)
        called = "".join(f"{name}() " for _, name in said.tools)
        return _line(said.speaker, called + said.text)


def _line(speaker: str, text: str) -> str:
    words = " ".join(text[: 4 * LENGTH].split())
    short = _RULE.sub(SEPARATOR[:-1], words)[:LENGTH]
    return f"{USER}{short}" if speaker == "USER" else f"[{speaker}] {short}"


def _block_lines(data: bytes) -> list[str]:
    text = data.replace(b"\\n", b"\n").decode("utf-8", "replace")
    lines = (_RULE.sub(SEPARATOR[:-1], line.strip()) for line in text.split("\n"))
    return [line[: 2 * LENGTH] for line in lines if line.startswith(("[USER]", "[Agent]"))]


def _free_lines(exchange: Exchange) -> Iterator[str]:
    """Lines from the text of a log that is not ours."""
    has_user = any(section.kind == "USER" for section in exchange.sections)
    for section in exchange.sections:
        text = _text(section).strip()
        if text and section.kind in ("Response", "ASSISTANT"):
            yield _line("Agent", text)
        elif text and not (section.kind == "Prompt" and has_user):
            yield _line("USER", text)


def _text(section: Section) -> str:
    body = section.body
    if section.kind == "Prompt" and body.lstrip().startswith(b"{"):
        return "\n".join(said.text for said in read_message(body))
    text = body.decode("utf-8", "replace")
    if section.kind == "Response" and text.lstrip().startswith("[") and len(text) < _LITERAL:
        try:
            return text_of(ast.literal_eval(text.strip()))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
    return text


def iso(time: float) -> str:
    """A moment, with its zone."""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
