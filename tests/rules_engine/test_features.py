"""Features of lines are found for what a line says, and for what it has in common with the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import features


def names(*lines: str, at: int = 0) -> set[str]:
    """Names of the features of one of the lines."""
    return {features.NAMES[place] for place in features.read(lines)[at]}


@pytest.mark.parametrize(
    ("line", "routine"),
    [
        pytest.param("", "", id="nothing in a blank line"),
        pytest.param("Note that the server keeps old keys", "", id="a sentence is no routine"),
        pytest.param("-rw-r--r-- 1 u u 120 Jan 1 a.py", "", id="an entry of a listing was asked for"),
        pytest.param("probe kx_2 says red (12 ms)", "", id="a duration after a statement is none"),
        pytest.param("coverage is 93 % now", "", id="a share in a sentence is no progress"),
        pytest.param("bypassing the cache", "", id="a word that holds a mark is none"),
        pytest.param("  inflating: pkg/core/harbor.py", "", id="a name out of an archive"),
        pytest.param("BenchmarkEncode-8 900 1200 ns/op 16 B/op", "", id="a figure that was measured"),
        pytest.param("(pass) adds > two numbers [1.00ms]", "passing", id="an item that passed"),
        pytest.param("web test: ✓ draws a box", "passing", id="an item of one job among several"),
        pytest.param("test parse::empty ... ok", "passing", id="an item of a Rust test run"),
        pytest.param("tests/test_a.py::test_b PASSED [ 5%]", "passing", id="an item of a verbose pytest run"),
        pytest.param("   Compiling serde v1.0.2", "step", id="a step of a build"),
        pytest.param("Get:12 http://host/pool a 1.2 [3 kB]", "step", id="a step of a package manager"),
        pytest.param("dist/chunk-AB12CD34.js  15.2 kB", "sized", id="a file and its size"),
        pytest.param("  built /docs/index.html (+33ms)", "made", id="a file and how long it took"),
        pytest.param("[ 45%] something", "progress", id="a step that is counted in percent"),
        pytest.param("[DEBUG] reading cache", "traced", id="a trace"),
    ],
)
def test_routine_is_told_from_statements(line: str, routine: str) -> None:
    """Only lines that come by themselves have a feature of routine output."""
    found = {features.NAMES[at] for at in features.ROUTINE.intersection(features.read([line])[0])}
    assert routine in found if routine else not found


def test_lines_of_one_shape_are_alike() -> None:
    """Eight lines with the same punctuation are alike; one between two of them stands beside its like."""
    rows = [f"(pass) item {word}" for word in ("a", "b", "c", "d", "e", "f", "g", "h")]

    assert "alike" not in names(*rows[:7])
    assert {"alike"} <= names(*rows)
    assert "beside" not in names(*rows)
    assert {"alike", "beside"} <= names(*rows, at=3)


def test_a_long_output_is_long() -> None:
    """From sixty lines on."""
    assert "long" not in names(*["x"] * 59)
    assert "long" in names(*["x"] * 60)


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=12))
def test_any_lines_have_features_in_order(lines: list[str]) -> None:
    """One tuple a line, ascending, each a position of a name."""
    found = features.read(lines)
    assert len(found) == len(lines)
    assert all(list(line) == sorted(set(line)) and all(0 <= at < len(features.NAMES) for at in line) for line in found)
