"""The judge of the benches: what it takes for kept and for lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.recordings import Session
from rules_engine import RuleSet
from tests.bench import small
from tests.bench.arms import cut, ends, raw
from tests.bench.judging import Judge, stating
from tests.bench.passage import Passed, take, unheard
from tests.bench.recorded import Recorded


@pytest.fixture
async def passed(tmp_path: Path) -> Passed:
    """A small session, served with the lossless kinds alone."""
    recorded = Recorded("left", Session("s", None, small.session("s")["messages"], ()))
    return await take(recorded, lambda exchange, got: RuleSet(), unheard, tmp_path)


def test_what_is_sent_as_it_came_saves_and_loses_nothing(passed: Passed) -> None:
    """Raw against raw."""
    found = Judge().judge(passed, raw(passed))

    assert (found.saved, found.money_saved, found.rewritten) == (0, 0, 0)
    assert [found.kept(name) for name in ("needed", "anchors", "blocks", "verdicts")] == [100, 100, 100, 100]
    assert (found.anchors, found.blocks, found.harmed) == (2, 1, 0)


def test_lossless_kinds_save_and_lose_nothing(passed: Passed) -> None:
    """As the gateway forwards it."""
    found = Judge().judge(passed)

    assert found.saved > 10
    assert found.money_saved > 10
    assert [found.kept(name) for name in ("needed", "anchors", "blocks", "verdicts")] == [100, 100, 100, 100]
    assert (found.untouched, found.stable, found.disorder) == (found.requests, found.requests, 0)


@pytest.mark.parametrize(
    ("forwarded", "lost"),
    [
        pytest.param(lambda text: text, set(), id="nothing"),
        pytest.param(
            lambda text: text.replace("part_8", "part_eight"), {"anchors", "blocks"}, id="a line that is edited next"
        ),
        pytest.param(
            lambda text: text.replace("1 failed, 60 passed", "done"), {"verdicts"}, id="the result of a test run"
        ),
        pytest.param(lambda text: "", {"anchors", "blocks", "verdicts"}, id="all of it"),
    ],
)
def test_what_is_missing_is_named(passed: Passed, forwarded: Callable[[str], str], lost: set[str]) -> None:
    """Each sort of loss by itself."""
    texts = {key: forwarded(text) for key, text in raw(passed).items()}
    found = Judge().judge(passed, texts)

    assert {name for name in ("anchors", "blocks", "verdicts") if found.kept(name) < 100} == lost
    assert found.harmed == ("anchors" in lost)


def test_lines_that_moved_are_disorder(passed: Passed) -> None:
    """The first two lines of a listing in the other order."""
    texts = {key: text.replace("Collecting tool-0\n", "").replace("Collecting tool-1\n", "Collecting tool-1\nCollecting tool-0\n")
             for key, text in raw(passed).items()}  # fmt: skip

    assert Judge().judge(passed, texts).disorder == len("Collecting tool-0")


def test_items_that_passed_state_no_failure() -> None:
    """Whatever their names say."""
    text = "(pass) it fails on a bad name\n2 failed, 3 passed\n\x1b[31mError: no such part\x1b[0m\nall is quiet"

    assert stating(text) == {"2 failed, 3 passed", "Error: no such part"}


def test_head_and_tail_have_the_size_that_is_asked_for(passed: Passed) -> None:
    """In whole lines, and never longer."""
    for text in raw(passed).values():
        for size in (100, 400, 1000):
            assert len(ends(text, size)) <= size + 20
    shortened = cut(passed, lines=2, whole=True)
    assert all(text.count("\n") <= 4 for text in shortened.values())


def test_another_message_that_changed_is_told(passed: Passed) -> None:
    """Only the text of tool results may differ."""
    sent = json.loads(passed.sent)
    sent["messages"][0]["content"] = "Mend nothing."
    changed = Passed(
        recorded=passed.recorded,
        said=passed.said,
        shown=passed.shown,
        stable=passed.stable,
        sent=json.dumps(sent).encode(),
    )

    assert Judge().judge(changed).untouched == 0
