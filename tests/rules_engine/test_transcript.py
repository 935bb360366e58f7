"""The engine in an agent's own loop."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rules_engine import Transcript

LISTING = "".join(f"src/part_{k}.py  {k * 77} bytes, {chr(97 + k % 26) * 12}\n" for k in range(80))
PROGRESS = "".join(f"\r{k:3d} % of it" for k in range(101)) + "\ndone with it\n"
INSTALL = (
    "Collecting alpha\n" + "".join(f"Requirement already satisfied: part{k} in /lib\n" for k in range(80)) + "Done\n"
)


def test_small_things_stay() -> None:
    """A short result, and any result of a conversation that is small as a whole."""
    results = Transcript()

    assert results.show("c1", "ls", "a\nb\n") == "a\nb\n"
    assert results.show("c2", "make", PROGRESS[:1500]) == PROGRESS[:1500]


def test_a_result_is_decided_once() -> None:
    """What comes later does not change it, and the first of two equal ones is not a pointer to the second."""
    results = Transcript()
    first = results.show("c1", "ls -l", LISTING)
    again = results.show("c2", "ls -l", LISTING)

    assert first == LISTING
    assert "identical to lines" in again
    assert "of c1" in again
    assert results.show("c1", "ls -l", LISTING) == first
    assert results.show("c2", "ls -l", LISTING) == again


def test_omitted_lines_come_back() -> None:
    """For whoever asks in a shell; an unknown id gets a final answer."""
    results = Transcript()
    out = results.show("c1", "pip install alpha", INSTALL * 2)
    found = re.search(r"echo recall:([0-9a-f]+)", out)
    assert found is not None
    back = results.show("c2", f"echo recall:{found[1]}", f"recall:{found[1]}\n")

    assert len(out) < len(INSTALL)
    assert "Requirement already satisfied: part7 in /lib" in back
    assert "nothing is kept" in results.show("c3", "echo recall:abcdef", "recall:abcdef\n")


def test_without_a_shell_nothing_is_left_out() -> None:
    """What can be read off the text is still made shorter."""
    results = Transcript(shell=False)

    assert "recall:" not in results.show("c1", "pip install alpha", INSTALL * 2)
    assert results.show("c2", "make", PROGRESS * 2).count("%") < 10


@given(st.lists(st.sampled_from([LISTING, PROGRESS, INSTALL, "x\n", LISTING[200:]]), max_size=6))
def test_the_same_history_gives_the_same_texts(texts: list[str]) -> None:
    """In another process too, and none is longer than it came."""

    def shown() -> list[str]:
        results = Transcript()
        return [results.show(f"c{k}", "make", text) for k, text in enumerate(texts)]

    assert shown() == shown()
    assert all(len(out) <= len(text) for out, text in zip(shown(), texts, strict=True))
