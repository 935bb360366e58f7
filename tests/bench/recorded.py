"""Recorded sessions for the benches: files named on the command line, some sessions of each, the same for the same seed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from gateway.evolving.learning import read_turns
from gateway.recordings import RecordingError, Session, read_sessions
from rules_engine import Sample
from rules_engine.evolution.use import samples


@dataclass(frozen=True, slots=True)
class Recorded:
    """One session and the source that it is from: the name of its file."""

    source: str
    session: Session

    @property
    def name(self) -> str:
        """A name among all sources."""
        return f"{self.source}/{self.session.name}"


def options(description: str | None, per_source: int) -> ArgumentParser:
    """A command line that takes session files."""
    parser = ArgumentParser(description=description)
    parser.add_argument("files", nargs="+", type=Path, metavar="SESSIONS")
    parser.add_argument("--per-source", type=int, default=per_source, help="sessions that are judged of each file")
    parser.add_argument("--max-turns", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--leave-out", default="", help="names of sources to pass over, with commas")
    return parser


def shuffled(args: Namespace) -> dict[str, list[Recorded]]:
    """By source the sessions with at least one and at most so many turns, in a random order of the seed's."""
    out = {}
    for path in sorted(args.files, key=source_of):
        if source_of(path) in args.leave_out.split(","):
            continue
        sessions = [s for s in _readable(path) if 0 < len(s.turns) <= args.max_turns]
        Random(args.seed).shuffle(sessions)
        out[source_of(path)] = [Recorded(source_of(path), session) for session in sessions]
    return {source: sessions for source, sessions in out.items() if sessions}


def source_of(path: Path) -> str:
    """The name of a file's source."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def in_halves(sources: Iterable[str]) -> tuple[list[str], list[str]]:
    """The sources at even places of the sorted list, and those at odd ones."""
    names = sorted(sources)
    return names[0::2], names[1::2]


def samples_of(sessions: Sequence[Recorded]) -> list[Sample]:
    """What can be learned from some sessions."""
    return [sample for one in sessions for sample in samples(read_turns(one.session), one.session.name, one.source)]


def in_turn(sources: Mapping[str, Sequence[Recorded]]) -> list[Recorded]:
    """The first session of each source, then the second of each, as a gateway that serves them all would see them."""
    longest = max(map(len, sources.values()), default=0)
    return [sessions[at] for at in range(longest) for sessions in sources.values() if at < len(sessions)]


def _readable(path: Path) -> Iterator[Session]:
    sessions = iter(partial(next, read_sessions(path), None), None)
    try:
        for session in sessions:
            assert session is not None
            yield session
    except RecordingError as error:
        raise SystemExit(str(error)) from error
