"""Small archives to learn from: sessions whose commands print lines of known shapes, some of which are used later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rules_engine.types import Observation, Sample

Lines = Callable[[int], Sequence[str]]
"""What a command prints in the session of a number."""


def sample(number: int, lines: Sequence[str], **more: object) -> Sample:
    """One output; `more` are fields of the sample or the observation."""
    fields = {"used": frozenset(), "known": frozenset(), "session": f"s{number}", "source": f"r{number % 4}"} | more
    observation = Observation(
        key=str(number),
        tool="bash",
        command=str(fields.pop("command", "cargo build")),
        exit_code=fields.pop("exit_code", 0),  # type: ignore[arg-type]
        text="\n".join(lines),
    )
    return Sample(observation=observation, **fields)  # type: ignore[arg-type]


def archive(lines: Lines, sessions: int = 24, **more: object) -> Iterator[Sample]:
    """An output in each of some sessions, from four sources."""
    for number in range(sessions):
        yield sample(number, lines(number), **more)


def built(number: int) -> list[str]:
    """A build: lines of one shape that differ in every session, between others."""
    crates = [f"{k}/20 Compiling crate_{number}_{k} v1.{k}.0" for k in range(20)]
    return ["begin", "one", "two", *crates, "three", "four", "five", "six", "end"]
