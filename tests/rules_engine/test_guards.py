"""What no edit may do."""

from __future__ import annotations

import pytest

from rules_engine import guards
from rules_engine.script import Edit


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param((5, 5, ()), id="nothing removed"),
        pytest.param((0, 9, ((0, 9),)), id="everything kept"),
        pytest.param((0, 39, ("0123456789",)), id="less than four times what it inserts"),
        pytest.param((0, 49, ((0, 10), "0123456789")), id="less than four times, without what it keeps"),
    ],
)
def test_not_worth_it(edit: Edit) -> None:
    """An edit that might cost tokens is not made."""
    assert not guards.gains(edit)
    assert guards.worthwhile([edit]) == ()


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param((0, 1, ()), id="one character removed"),
        pytest.param((0, 40, ("0123456789",)), id="four times what it inserts"),
        pytest.param((0, 50, ("0123", (0, 10), "456789")), id="four times, beside what it keeps"),
    ],
)
def test_worth_it(edit: Edit) -> None:
    """What removes enough is made."""
    assert guards.gains(edit)
    assert guards.worthwhile([(0, 0, ()), edit]) == (edit,)
