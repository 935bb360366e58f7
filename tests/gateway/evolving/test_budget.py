"""The budget of the model that proposes rules: a day's tokens, a share of all tokens, kept over restarts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.evolving.budget import Budget, Sums, spent

DAY = 86400.0


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now = 1000 * DAY + 50

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Fifty seconds after midnight."""
    return Clock()


def opened(folder: Path, clock: Clock, daily: int = 100_000, share: float = 0.02) -> Budget:
    """A budget that knows what is on disk."""
    budget = Budget(folder, daily, share, clock)
    budget.flush()
    return budget


def test_nothing_may_be_spent_before_there_is_traffic(tmp_path: Path, clock: Clock) -> None:
    """Two hundredths of nothing are nothing."""
    budget = opened(tmp_path, clock)

    assert "0.02 of the day's tokens" in str(budget.reserve("s", 1))
    assert budget.figures()["tokens"] == 0


@pytest.mark.parametrize(
    ("traffic", "tokens", "words"),
    [
        (98_000, 2000, "session"),  # exactly two hundredths
        (98_001, 2000, None),
        (98_100, 2000, None),
        (97_000, 2000, "session"),
        (10_000_000, 100_000, None),
        (10_000_000, 100_001, "the day's 100000 tokens"),
    ],
)
def test_a_session_and_a_day_have_their_limits(
    traffic: int, tokens: int, words: str | None, tmp_path: Path, clock: Clock
) -> None:
    """The share stays under the limit, counted of all tokens, the model's own among them."""
    budget = opened(tmp_path, clock)
    budget.saw("another", 5_000_000)
    budget.saw("s", traffic)
    refusal = budget.reserve("s", tokens)

    assert (words in refusal) if words and refusal else refusal is words
    assert budget.figures()["tokens"] == (0 if refusal else tokens)


def test_the_day_has_a_share_too(tmp_path: Path, clock: Clock) -> None:
    """Of the sessions of the day, whatever one session that is older has had."""
    budget = opened(tmp_path, clock)
    budget.saw("s", 1_000_000)
    budget.flush()
    clock.now += DAY

    assert "day's tokens" in str(budget.reserve("s", 1000))


def test_a_session_lives_past_midnight(tmp_path: Path, clock: Clock) -> None:
    """What it cost yesterday counts; the day before is forgotten, on disk as well."""
    budget = opened(tmp_path, clock)
    budget.saw("s", 100_000)
    assert budget.reserve("s", 2000) is None
    clock.now += DAY
    budget.saw("other", 10_000_000)
    assert "session" in str(budget.reserve("s", 100))
    budget.saw("s", 10_000)
    assert budget.reserve("s", 100) is None
    assert budget.figures()["tokens"] == 100
    assert len(list(tmp_path.iterdir())) == 2
    clock.now += DAY
    budget.flush()

    assert len(list(tmp_path.iterdir())) == 2
    assert budget.figures()["tokens"] == 0


def test_a_restart_forgets_nothing(tmp_path: Path, clock: Clock) -> None:
    """Neither expenses nor the traffic that was written down with them."""
    first = opened(tmp_path, clock)
    first.saw("s", 200_000)
    assert first.reserve("s", 3000) is None
    first.spend("s", -1000)
    second = opened(tmp_path, clock)

    assert second.figures() == first.figures()
    assert (second.figures()["tokens"], second.figures()["of"]) == (2000, 202_000)
    assert second.reserve("s", 2500) is not None


def test_two_processes_share_a_budget(tmp_path: Path, clock: Clock) -> None:
    """What one reserved the other cannot have."""
    one, two = opened(tmp_path, clock), opened(tmp_path, clock)
    one.saw("s", 100_000)

    assert one.reserve("s", 1500) is None
    assert two.reserve("s", 1500) is not None
    assert two.reserve("s", 400) is None
    assert one.reserve("s", 400) is not None


def test_a_line_that_was_cut_off_costs_no_other(tmp_path: Path, clock: Clock) -> None:
    """A crash in the middle of a line leaves the lines before and after it."""
    budget = opened(tmp_path, clock)
    budget.saw("s", 100_000)
    budget.reserve("s", 100)
    (file,) = tmp_path.iterdir()
    with file.open("ab") as end:
        end.write(b'\n["abcdef", 12')
    budget.spend("s", 50)

    assert opened(tmp_path, clock).figures()["tokens"] == 150
    assert file.stat().st_mode & 0o077 == 0


def test_names_of_sessions_stand_nowhere(tmp_path: Path, clock: Clock) -> None:
    """They may be the client's own words."""
    budget = opened(tmp_path, clock)
    budget.saw("the-name-of-a-session", 100_000)
    budget.reserve("the-name-of-a-session", 100)

    assert all(b"the-name" not in file.read_bytes() for file in tmp_path.iterdir())


def test_traffic_of_many_sessions_is_to_be_written_down(tmp_path: Path, clock: Clock) -> None:
    """So that it does not pile up; what was not written because the disk is full waits."""
    budget = opened(tmp_path, clock)
    for number in range(1000):
        assert not budget.is_full()
        budget.saw(f"s{number}", 10)
    assert budget.is_full()
    budget.flush()

    assert not budget.is_full()
    assert opened(tmp_path, clock).figures()["of"] == budget.figures()["of"] == 10_000


def test_a_disk_that_fails_loses_no_traffic(tmp_path: Path, clock: Clock) -> None:
    """It is counted still, and nothing is spent that cannot be written down."""
    budget = opened(tmp_path / "budget", clock)
    budget.saw("s", 100_000)
    (file,) = (tmp_path / "budget").iterdir()
    file.unlink()
    file.mkdir()
    with pytest.raises(OSError, match=file.name):
        budget.reserve("s", 100)
    file.rmdir()

    assert budget.figures()["of"] == 100_000
    assert budget.reserve("s", 100) is None


def test_what_was_spent_is_read_without_a_budget(tmp_path: Path, clock: Clock) -> None:
    """The files of all days that are kept, each from its beginning; where there are none nothing was spent."""
    assert spent(tmp_path / "none") == Sums()
    budget = opened(tmp_path / "budget", clock)
    budget.saw("s", 100_000)
    budget.spend("s", 300)
    (tmp_path / "budget" / "2000-01-01.spend").write_text('\n["x", 2, 30]')
    assert spent(tmp_path / "budget") == Sums(302, 100_030)


@given(steps=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 50_000), st.integers(1, 3000)), max_size=20))
def test_no_sequence_passes_the_share(
    steps: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of the day or of a session, at any time."""
    budget = opened(tmp_path_factory.mktemp("budget"), Clock())
    sums = {"a": Sums(), "b": Sums()}
    for name, traffic, tokens in steps:
        budget.saw(name, traffic)
        sums[name].traffic += traffic
        if budget.reserve(name, tokens) is None:
            sums[name].ours += tokens
        assert all(each.share() < 0.02 for each in sums.values())
        assert float(str(budget.figures()["share"])) < 0.02
        assert float(str(budget.figures()["largest_session_share"])) < 0.02
