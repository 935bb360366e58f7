"""What proves an entry, and which entries a session proves: one append-only file of lines, folded into links.

cite, archived, gone, back, dropped ─fold→ Links
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memory.errors import EntryRefused
from memory.levels.files import append_lines, read_text, replace_text, writing
from memory.levels.pointers import Pointer, read_pointer
from memory.levels.values import secrets_in

FILE = "provenance.jsonl"
QUOTE = 500
"""Characters that are quoted at most."""

KEY = "L1:"
"""How entries begin whose name is a word of the session that they lead to."""

By = Literal["person", "policy", "gateway", "pool"]
"""Who put an entry there; what the rule pool says rests on the events of the pool."""

Event = dict[str, Any]
"""One line of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One message that proves an entry."""

    pointer: Pointer
    quote: str = ""
    """Its words, verbatim."""
    exchange: str = ""
    """The request that was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Evidence as it stands now."""

    session: str
    """Its id."""
    names: tuple[str, ...]
    """``YYYY-MM/NAME``, where it is archived; a long session may be in several parts."""
    message: int | None
    quote: str
    exchange: str
    by: By
    time: float
    gone: bool
    """The session was forgotten since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Both directions."""

    entries: Mapping[str, tuple[Link, ...]] = field(default_factory=dict)
    """Entry → what proves it; an entry that a person stated may have nothing."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Name of an archived session → its id."""
    unreadable: int = 0
    """Lines that a crash tore, or a newer version wrote."""

    def id_of(self, session: str) -> str:
        """The id of a session that is given by its id or by a name."""
        return self.ids.get(session, session)

    def why(self, entry: str) -> tuple[Link, ...]:
        """What proves an entry."""
        return self.entries.get(entry, ())

    def cited_by(self, session: str) -> tuple[str, ...]:
        """The entries that a session, given by its id or a name, proves."""
        id_ = self.id_of(session)
        return tuple(entry for entry, links in self.entries.items() if any(link.session == id_ for link in links))


def read(root: Path) -> Links:
    """The links as they are now."""
    events, unreadable = [], 0
    for line in read_text(root / FILE).split("\n"):
        event = _parse(line)
        events += [event] if event else []
        unreadable += bool(line and not event)
    ids = {str(event["name"]): str(event["archived"]) for event in events if "archived" in event}
    names: dict[str, list[str]] = {}
    for name, id_ in ids.items():
        names.setdefault(id_, []).append(name)
    gone = _gone(events, ids)
    cited: dict[str, list[Link]] = {}
    for at, event in enumerate(events):
        if "dropped" in event:
            cited.pop(event["dropped"], None)
        elif "cite" in event:
            links = cited.setdefault(event["cite"], [])
            over = {id_ for id_, when in gone.items() if when > at}
            links += (_link(event, proof, ids, names, over) for proof in event["evidence"])
    return Links(entries={entry: tuple(links) for entry, links in cited.items()}, ids=ids, unreadable=unreadable)


def cite(root: Path, entry: str, evidence: Sequence[Evidence], by: By, now: float) -> None:
    """Note what proves an entry. It comes before the entry: one without proof must never stand there, even for a moment."""
    if by not in ("person", "pool") and not evidence:
        raise EntryRefused(f"{entry} has no evidence: name the message that proves it, as L4:SESSION#MESSAGE")
    for proof in evidence:
        if len(proof.quote) > QUOTE:
            raise EntryRefused(f"a quote has {len(proof.quote)} characters: quote at most {QUOTE}")
        if secrets_in(proof.quote):
            raise EntryRefused("the quote holds a secret: quote something else")
    proofs = [_proof(proof) for proof in evidence]
    _append(root, {"cite": entry, "by": by, "time": now, "evidence": proofs})


def archive(
    root: Path, names: Iterable[tuple[str, str]], keys: Iterable[tuple[str, str]] = (), now: float = 0.0
) -> None:
    """Note that sessions, or parts of them, are in zips: (id, ``YYYY-MM/NAME``); and the keys that lead to them: (key, id).

    What is known already is not noted again.
    """
    known = read(root)
    events: list[Event] = [{"archived": id_, "name": name} for id_, name in names if known.ids.get(name) != id_]
    for key, id_ in keys:
        if id_ not in {link.session for link in known.why(f"{KEY}{key}")}:
            proof = _proof(Evidence(pointer=Pointer(id_)))
            events.append({"cite": f"{KEY}{key}", "by": "gateway", "time": now, "evidence": [proof]})
    if events:
        _append(root, *events)


def drop(root: Path, entry: str) -> None:
    """Note that an entry is no more."""
    _append(root, {"dropped": entry})


def forget(root: Path, session: str) -> None:
    """Mark a session's evidence as gone, and take its words out; keys that lead to it are such words."""

    def change(event: Event, ids: Mapping[str, str]) -> Event | None:
        if "evidence" not in event:
            return event
        own = [_is_of(proof, session, ids) for proof in event["evidence"]]
        if event["cite"].startswith(KEY) and any(own):
            return None
        told = zip(event["evidence"], own, strict=True)
        return event | {"evidence": [_without_quote(proof) if is_own else proof for proof, is_own in told]}

    _rewrite(root, change, [{"gone": session}])


def restore(root: Path, session: str) -> None:
    """Mark a session's evidence as there again."""
    _append(root, {"back": session})


def revise(root: Path, redact: Callable[[str], str]) -> None:
    """Redact all quotes again."""

    def change(event: Event, ids: Mapping[str, str]) -> Event:
        if "evidence" not in event:
            return event
        return event | {"evidence": [_redacted(proof, redact) for proof in event["evidence"]]}

    _rewrite(root, change, [])


def _without_quote(proof: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in proof.items() if name != "quote"}


def _redacted(proof: Mapping[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    return {**proof, "quote": redact(proof["quote"])} if "quote" in proof else dict(proof)


def _append(root: Path, *events: Event) -> None:
    with writing(root):
        append_lines(root / FILE, [_dump(event) for event in events])


def _rewrite(
    root: Path, change: Callable[[Event, Mapping[str, str]], Event | None], more: Sequence[Mapping[str, Any]]
) -> None:
    with writing(root):
        # A torn line goes: nobody can say whose words are in it.
        events = [event for line in read_text(root / FILE).split("\n") if (event := _parse(line))]
        ids = {str(event["name"]): str(event["archived"]) for event in events if "archived" in event}
        changed = [*filter(None, (change(event, ids) for event in events)), *more]
        replace_text(root / FILE, "".join(f"{_dump(event)}\n" for event in changed))


def _is_of(proof: Mapping[str, Any], session: str, ids: Mapping[str, str]) -> bool:
    own = read_pointer(proof["pointer"]).session
    return ids.get(own, own) == ids.get(session, session)


def _gone(events: Iterable[Mapping[str, Any]], ids: Mapping[str, str]) -> dict[str, int]:
    """Sessions that were forgotten, and where in the file that stands: what one says afterwards is there."""
    gone: dict[str, int] = {}
    for at, event in enumerate(events):
        if session := event.get("gone"):
            gone[ids.get(session, session)] = at
        elif session := event.get("back"):
            gone.pop(ids.get(session, session), None)
    return gone


def _link(
    event: Mapping[str, Any],
    proof: Mapping[str, Any],
    ids: Mapping[str, str],
    names: Mapping[str, list[str]],
    gone: Set[str],
) -> Link:
    pointer = read_pointer(proof["pointer"])
    id_ = ids.get(pointer.session, pointer.session)
    return Link(
        session=id_,
        names=tuple(names.get(id_, ())),
        message=pointer.message,
        quote=proof.get("quote", ""),
        exchange=proof.get("exchange", ""),
        by=event["by"],
        time=event["time"],
        gone=id_ in gone,
    )


def _proof(proof: Evidence) -> dict[str, str]:
    told = {"pointer": str(proof.pointer), "quote": proof.quote, "exchange": proof.exchange}
    return {name: value for name, value in told.items() if value}


def _parse(line: str) -> dict[str, Any] | None:
    """An event; `None` for what is torn, or from a newer version."""
    try:
        event = json.loads(line)
        if "cite" in event:
            for proof in event["evidence"]:
                read_pointer(proof["pointer"])
            return event if {"by", "time"} <= event.keys() else None
        named = [event[name] for name in ("archived", "gone", "back", "dropped") if name in event]
        return event if len(named) == 1 and ("name" in event or "archived" not in event) else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, EntryRefused):
        return None


def _dump(event: Mapping[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))
