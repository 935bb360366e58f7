"""The messages of a log, in the order in which they were said: ours by their JSON, those of others by their text."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from memory.errors import StoreError
from memory.L4_raw_sessions.exchanges import Exchange, read_exchanges
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.said import Said, said, said_in
from memory.L4_raw_sessions.sections import Section, read_sections
from memory.L4_raw_sessions.texts import Line
from memory.L4_raw_sessions.zips import BROKEN, extracted


@contextmanager
def opened(places: Places, zip_: str, member: str) -> Iterator[BinaryIO]:
    """A member of a zip, unpacked and whole. Raises `StoreError`."""
    path = places.folder / zip_
    with ExitStack() as stack:
        try:
            file = stack.enter_context(extracted(path, member))
        except (OSError, KeyError, *BROKEN) as error:
            raise StoreError(f"{path}: {member} cannot be read ({error}); see what `memory verify` says") from error
        yield file


def read_lines(file: BinaryIO) -> Iterator[Line]:
    """The messages of a log, numbered."""
    ordinal = 0
    for exchange in read_exchanges(read_sections(file)):
        for name, time, words in _messages(exchange):
            yield Line(ordinal=ordinal, name=name, role=words.role, time=time, text=words.text)
            ordinal += 1


def _messages(exchange: Exchange) -> Iterator[tuple[str | None, float, Said]]:
    first, last = exchange.sections[0], exchange.sections[-1]
    if exchange.id is None:
        yield from _free(exchange)
        return
    for name, message in zip(exchange.names, exchange.messages, strict=True):
        yield name, first.time or 0.0, said(message)
    reply = exchange.response.get("message")
    if reply is not None:
        yield exchange.response.get("name"), last.time or first.time or 0.0, said_in(reply)


def _free(exchange: Exchange) -> Iterator[tuple[str | None, float, Said]]:
    kinds = {section.kind for section in exchange.sections}
    time = 0.0
    for section in exchange.sections:
        time = section.time or time
        if section.body.strip():
            yield None, time, _words(section, alone="USER" not in kinds)


def _words(section: Section, *, alone: bool) -> Said:
    """Above USER sections stands what the system says; a prompt alone is the user's."""
    text = section.body.decode("utf-8", "replace").strip()
    if section.kind == "Response":
        return Said("assistant", _blocks(text))
    if section.kind == "Prompt" and text.startswith("{"):
        return said(text.encode())
    if section.kind == "ASSISTANT":
        return Said("assistant", text)
    return Said("user" if alone or section.kind != "Prompt" else "system", text)


def _blocks(text: str) -> str:
    """The words of a response that was written down as a list of blocks."""
    if not text.startswith("["):
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            return said_in({"content": read(text)}).text or text
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return text
