"""Sessions as JSON lines, for other tools: with all that is known of each, or as OpenAI messages alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from memory.errors import StoreMissing
from memory.L4_raw_sessions.history import iso
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places, places_at
from memory.L4_raw_sessions.reading import Part, all_parts, conversation, find_parts
from memory.L4_raw_sessions.search import searched

Format = Literal["jsonl", "openai"]

FORMATS: tuple[Format, ...] = ("jsonl", "openai")


def export(
    format: Format = "jsonl",  # noqa: A002 - what it is called on the command line
    *,
    session: str | None = None,
    l4_dir: Path | str | None = None,
) -> Iterator[str]:
    """One line a session, the oldest first: `jsonl` with its facts, `openai` with ``messages`` only."""
    places = places_at(l4_dir)
    with searched(places) as index:
        if index is None:
            return
        parts = all_parts(index) if session is None else find_parts(index, session)
        if session is not None and not parts:
            raise StoreMissing(f"no session is called {session!r}; `memory search` finds them")
        for id_ in dict.fromkeys(part.session for part in parts):
            yield _line(places, index, find_parts(index, id_), format)


def _line(places: Places, index: Index, parts: list[Part], format_: Format) -> str:
    messages = conversation(places, index, parts)
    if format_ == "openai":
        return json.dumps({"messages": messages}, ensure_ascii=False)
    facts = {
        "session": parts[0].session,
        "names": [part.name for part in parts if part.name],
        "live": any(part.name is None for part in parts),
        "model": parts[-1].model,
        "started": iso(min(part.started for part in parts)),
        "ended": iso(max(part.ended for part in parts)),
    }
    return json.dumps({**facts, "messages": messages}, ensure_ascii=False)
