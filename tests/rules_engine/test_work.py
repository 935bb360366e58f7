"""How the work of deciding grows with an output, counted in executed lines of code and not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from random import Random
from types import FrameType
from typing import Any

import pytest

from rules_engine import Transcript
from tests.bench.noise import KINDS, cut

SMALL = 250_000
"""Characters; the larger output has four times as many."""


def executed(command: str, text: str) -> int:
    """Lines of code that run while `text` is decided about."""
    done = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal done
        done += event == "line"
        return count

    transcript = Transcript()
    before = sys.gettrace()
    sys.settrace(count)
    try:
        transcript.show("call", command, text)
    finally:
        sys.settrace(before)
    return done


@pytest.mark.parametrize(("command", "lines"), KINDS, ids=[lines.__name__ for _, lines in KINDS])
def test_the_work_grows_as_the_output_does(command: str, lines: Callable[[Random], Iterator[str]]) -> None:
    """Four times the output is four times the work, or little more: nothing is gone through again for each of its lines."""
    small, large = (executed(command, cut(lines(Random(1)), size)) for size in (SMALL, 4 * SMALL))

    assert large < 5.5 * small
