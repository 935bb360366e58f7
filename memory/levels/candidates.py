"""What may become a fact or a procedure: proposed with verbatim quotes, decided by a person or by a person's policy."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from memory.errors import EntryRefused
from memory.levels import facts, procedures, provenance
from memory.levels.files import read_text, remove, replace_text, writing
from memory.levels.pointers import Pointer
from memory.levels.provenance import By, Evidence, Links

FOLDER = "candidates"

State = Literal["open", "promoted", "refused"]

_ID = re.compile(r"c[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One proposal. Those that were decided stay, so that nobody is asked twice."""

    id: str
    level: Literal["L2", "L3"]
    name: str
    """Of the section, or of the procedure."""
    text: str
    proposed: float
    state: State = "open"
    reason: str = ""
    """Why it was refused, or as which entry it was promoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A message that shows what a candidate says."""

    pointer: Pointer
    quote: str
    message: str
    """The whole text of the tool result that is quoted."""
    succeeded: bool


def propose(
    root: Path, level: Literal["L2", "L3"], name: str, text: str, witnesses: Sequence[Witness], now: float
) -> Candidate:
    """Put a candidate up, or give one that is up more evidence. Raises `EntryRefused` with the reason."""
    facts.check(name, text) if level == "L2" else procedures.check(name, text)
    evidence = [_evidence(witness) for witness in witnesses]
    if not evidence:
        raise EntryRefused("a candidate needs a quote from a successful tool result")
    id_ = "c" + blake2b(f"{level}\0{name}\0{' '.join(text.casefold().split())}".encode(), digest_size=4).hexdigest()
    known = read(root, id_)
    if known is not None and known.state != "open":
        return known
    candidate = known or Candidate(id=id_, level=level, name=name, text=text, proposed=now)
    links = provenance.read(root)
    shown = {link.session for link in links.why(_entry(id_))}
    fresh = [proof for proof in evidence if links.id_of(proof.pointer.session) not in shown]
    if fresh:
        provenance.cite(root, _entry(id_), fresh, "gateway", now)
    if known is None:
        _write(root, candidate)
    return candidate


def read(root: Path, id_: str) -> Candidate | None:
    """A candidate by its id; `None` where there is none, or its file says nothing."""
    if not _ID.fullmatch(id_):
        return None
    try:
        return Candidate(**json.loads(read_text(root / FOLDER / f"{id_}.json")))
    except (ValueError, TypeError):
        return None


def read_all(root: Path, state: State | None = "open") -> tuple[Candidate, ...]:
    """The candidates of a state, or all, the oldest first."""
    found = [read(root, path.stem) for path in (root / FOLDER).glob("c*.json")]
    own = [candidate for candidate in found if candidate and state in (None, candidate.state)]
    return tuple(sorted(own, key=lambda candidate: (candidate.proposed, candidate.id)))


def promote(root: Path, id_: str, *, by: By, now: float) -> str:
    """Make a fact or a procedure of a candidate; the name of the entry. Raises `EntryRefused`."""
    candidate = _open(root, id_)
    links = [link for link in provenance.read(root).why(_entry(id_)) if not link.gone]
    evidence = [
        Evidence(pointer=Pointer(link.session, link.message), quote=link.quote, exchange=link.exchange)
        for link in links
    ]
    if not evidence:
        raise EntryRefused(f"the evidence of {id_} is gone: nothing proves it any more")
    if candidate.level == "L2":
        fact = facts.put(root, candidate.name, candidate.text, by=by, now=now, evidence=evidence)
        entry = f"L2:{fact.id}"
    else:
        if procedures.read(root, candidate.name) is not None:
            raise EntryRefused(
                f"there is a procedure {candidate.name} already: take it away first, or write it by hand"
            )
        procedure, _ = procedures.put(root, candidate.name, candidate.text, by=by, now=now, evidence=evidence)
        entry = f"L3:{procedure.stem}"
    _write(root, replace(candidate, state="promoted", reason=entry, text=""))  # its words are the entry's now
    provenance.drop(root, _entry(id_))
    return entry


def refuse(root: Path, id_: str, reason: str) -> Candidate:
    """Turn a candidate down for good. Raises `EntryRefused`."""
    refused = replace(_open(root, id_), state="refused", reason=reason)
    _write(root, refused)
    return refused


def due(root: Path, sessions: int) -> tuple[str, ...]:
    """The candidates that so many sessions show: a policy may promote them. With 0 there are none."""
    links = provenance.read(root)
    return tuple(c.id for c in read_all(root) if sessions and _sessions(links, c.id) >= sessions)


def prune(root: Path) -> tuple[str, ...]:
    """Take away what nothing proves any more: its words are those of sessions that were forgotten."""
    links = provenance.read(root)
    undone = (candidate for candidate in read_all(root, None) if candidate.state != "promoted")
    lost = tuple(candidate.id for candidate in undone if not _sessions(links, candidate.id))
    for id_ in lost:
        with writing(root):
            remove(root / FOLDER / f"{id_}.json")
        provenance.drop(root, _entry(id_))
    return lost


def _sessions(links: Links, id_: str) -> int:
    return len({link.session for link in links.why(_entry(id_)) if not link.gone})


def _open(root: Path, id_: str) -> Candidate:
    found = read(root, id_)
    if found is None:
        raise EntryRefused(f"there is no candidate {id_[:40]}")
    if found.state != "open":
        raise EntryRefused(f"{id_} was {found.state} before: {found.reason}")
    return found


def _evidence(witness: Witness) -> Evidence:
    if not witness.succeeded:
        raise EntryRefused(f"{witness.pointer} is no successful tool result: no execution, no memory")
    if not witness.quote or witness.quote not in witness.message:
        raise EntryRefused(f"the quote does not stand in {witness.pointer}: quote verbatim")
    return Evidence(pointer=witness.pointer, quote=witness.quote)


def _entry(id_: str) -> str:
    return f"candidate:{id_}"


def _write(root: Path, candidate: Candidate) -> None:
    with writing(root):
        path = root / FOLDER / f"{candidate.id}.json"
        replace_text(path, json.dumps(asdict(candidate), ensure_ascii=False, indent=1) + "\n")
