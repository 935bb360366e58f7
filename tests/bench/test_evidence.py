"""The benches of evidence, each run over two small sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import curve, decide, evidence, halves, labels, preservation, small
from tests.bench.arms import Outcome
from tests.bench.judging import Figures
from tests.bench.living import Lived
from tests.bench.preservation import wilson


def rows(text: str) -> dict[str, list[str]]:
    """The rows of Markdown tables by their first column."""
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line.startswith("|"))
    return {row[0]: row[1:] for row in cells}


def test_the_arms_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Raw saves nothing and rules lose nothing; the paper's figure stands beside a benchmark's, and each sort by itself."""
    evidence.main(
        [*small.files(tmp_path), "--parts", "arms,benchmarks", "--benchmark", "TB 1=left", "--daily", "right"]
    )
    found = rows(capsys.readouterr().out)

    assert found["raw"][0] == "0.00 %"
    assert {found[name][2] for name in ("six seed rules", "evolving, miner")} == {"100.00 %"}
    assert found["TB 1"][3] == "−21.20 %"
    assert {"all (4 sessions)", "day-to-day (2 sessions)", "benchmarks (2 sessions)"} <= found.keys()


def test_budgets_and_batches_are_swept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each budget has its mildest setting, and batches are counted."""
    monkeypatch.setattr(evidence, "LIMITS", (0.5,))
    monkeypatch.setattr(evidence, "LINES", (500, 1))
    monkeypatch.setattr(evidence, "BATCHES", (1,))
    monkeypatch.setattr(evidence, "TOPS", (10,))
    evidence.main([*small.files(tmp_path), "--parts", "budgets,batches", "--per-source", "1"])
    out = capsys.readouterr().out

    assert "| head and tail of every output | 70 % | 1 lines |" in out
    assert rows(out)["N = 1"][-3] == "1 / 1"


def test_a_budget_that_is_out_of_reach_says_how_far_one_gets() -> None:
    """The mildest setting is taken that is within it."""
    curve = {"mild": Outcome({"left": Figures(raw=100, sent=93)}), "hard": Outcome({"left": Figures(raw=100, sent=88)})}

    assert evidence._within(curve, 95)[0] == "mild"
    assert evidence._within(curve, 90)[0] == "hard"
    assert evidence._within(curve, 80)[0] == "out of reach: 88.0 % at most"


def test_a_curve_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each pool and step; from two sessions nothing is learned."""
    curve.main([*small.files(tmp_path), "--per-source", "1", "--steps", "0,2"])
    out = capsys.readouterr().out

    assert out.count("| empty pool |") == 2
    assert "| empty pool | 2 | 0 |" in out


def test_halves_judge_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but observations is touched, and nothing is lost."""
    halves.main(small.files(tmp_path))
    found = rows(capsys.readouterr().out)["all, rules"]

    assert found[:2] == ["4", "20"]
    assert found[6:8] == ["100.00 %", "100.00 %"]


def test_preservation_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over what was rewritten; labels that are about it are told from those that are not."""
    files = small.files(tmp_path)
    preservation.main([*files, "--sample", "1"])
    _, _, name, state, *_ = capsys.readouterr().out.split()
    label = dict.fromkeys(labels.QUESTIONS, True) | {"shown": state}
    (tmp_path / "labels.json").write_text(json.dumps({name: label, "other": label}))
    preservation.main([*files, "--label", str(tmp_path / "labels.json")])
    out = capsys.readouterr().out

    assert rows(out)["anchors kept"][1] == "100.0 %"
    assert rows(out)["critical kept"][:2] == ["2", "2"]
    assert "2 were labelled by hand; 1 of them are drawn again" in out


def test_decisions_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    """With as many rules as are asked for."""
    decide.main(["--times", "7", "--rules", "20"])
    out = capsys.readouterr().out

    assert out.startswith("20 rules, 400 KB")
    assert rows(out)["all"][0] == "7"


def test_the_labels_hold_no_texts() -> None:
    """Ids, marks and one word."""
    given = json.loads(labels.FILE.read_text())

    assert len(given) == 50
    assert all(set(label) == {*labels.QUESTIONS, "shown", "why"} for label in given.values())
    assert all(len(label["why"].split()) == 1 for label in given.values())


@pytest.mark.parametrize(
    ("tops", "settled"),
    [
        pytest.param([], None, id="no batch"),
        pytest.param([("a",)] * 9, None, id="too few rules to say"),
        pytest.param([("a", "b")] * 4, 2, id="the same from the first on"),
        pytest.param([("a", "b"), ("c", "d"), *[("e", "f")] * 4], 4, id="the same from the fourth on"),
        pytest.param([("a", "b")] * 3 + [("c", "d")], None, id="not often enough on end"),
    ],
)
def test_a_pool_settles_when_its_top_stays(tops: list[tuple[str, ...]], settled: int | None) -> None:
    """For three batches on end."""
    assert Lived(tops=tops).settled(2, 0.9) == settled


def test_an_interval_holds_its_share() -> None:
    """Also at its ends; with nothing counted it is everything."""
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(200, 200)
    assert (round(low, 3), high) == (0.981, 1.0)
    low, high = wilson(96, 100)
    assert low < 0.96 < high
