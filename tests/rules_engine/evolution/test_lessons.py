"""Lessons: what an archive teaches, found again in parts of it that it was not learned from."""

from __future__ import annotations

from collections.abc import Iterable

from rules_engine.evolution.lessons import PARTS, learn, part_of
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


def test_data_is_not_learned_from() -> None:
    """An output of megabytes costs nothing, whatever is in it."""
    given = [*archive(built, 60), *(sample(n, ["10%\r" * 500_000], command="cargo build") for n in range(60, 80))]
    assert [verdict.rule for verdict in learn(lambda: given)] == [v.rule for v in learn(lambda: archive(built, 60))]


def test_weights_are_learned_and_held_to_their_own_bar() -> None:
    """Lines of routine output that nobody used teach weights; a rule that loses what was used elsewhere is refused."""

    def passed(number: int, k: int) -> str:
        return f"[ OK ] suite_{number}.case_{number}_{k} (12 ms)"

    def tested(number: int) -> list[str]:
        return ["start", *(passed(number, k) for k in range(30)), "done"]

    def read(used: bool) -> list[Sample]:
        names = {
            n: frozenset({f"suite_{n}.case_{n}_{k}" for k in range(10, 20)}) if used else frozenset[str]()
            for n in range(150)
        }
        return [sample(n, tested(n), used=names[n], command="./run_tests") for n in range(150)]

    verdicts = {verdict.rule.id: verdict for verdict in learn(lambda: read(used=False))}
    assert verdicts["line_score"].admitted
    assert verdicts["line_score"].rule.evidence["trial"] == verdicts["line_score"].figures
    verdicts = {verdict.rule.id: verdict for verdict in learn(lambda: read(used=True))}
    assert not any(verdict.admitted for verdict in verdicts.values())
