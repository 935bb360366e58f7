"""Lessons: what an archive teaches, found again in parts of it that it was not learned from."""

from __future__ import annotations

from collections.abc import Iterable

from rules_engine.lessons import PARTS, learn, part_of
from rules_engine.types import Sample
from tests.rules_engine.archive import archive, built, sample


def test_an_empty_archive_teaches_nothing() -> None:
    """And it is read once only."""
    reads: list[int] = []

    def read() -> Iterable[Sample]:
        reads.append(1)
        return ()

    assert learn(read) == ()
    assert len(reads) == 1


def test_a_rule_is_learned() -> None:
    """Every part of the archive teaches it, and it loses nothing in the part that it has not seen."""
    verdict, *_ = learn(lambda: archive(built, 60))
    assert verdict.rule.id == "mined_cargo_build"
    assert verdict.admitted
    assert verdict.figures["parts"] == PARTS
    assert verdict.figures["lost_elsewhere"] == 0


def test_what_one_part_alone_teaches_is_refused() -> None:
    """Evidence that stands on sessions of one part is no evidence in the others."""
    numbers = [n for n in range(200) if part_of(f"s{n}") == 0][:12]
    verdict, *_ = learn(lambda: (sample(n, built(n)) for n in numbers))
    assert not verdict.admitted
    assert f"of {PARTS} parts" in verdict.reason
