"""The numbers of evolution: what they are, where they come from, and what they may be."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from rules_engine.evolution import numbers
from rules_engine.evolution.numbers import Numbers


@pytest.mark.parametrize(
    ("name", "value", "source"),
    [
        ("initial_confidence", 1.0, "Paper"),
        ("top_k", 30, "Paper"),
        ("plan_least", 3, "Paper"),
        ("plan_most", 7, "Paper"),
        ("write_back_applied", 1, "Paper"),
        ("batch_tasks", 4, "Paper"),
        ("retention_k", 30, "Paper"),
        ("retention_line", 0.9, "Paper"),
        ("uncovered_chars", 3000, "Code"),
        ("credit", 1.05, "Code"),
        ("credit_most", 1.0, "Code"),
        ("runtime_off", 0.3, "Code"),
        ("write_back_confidence", 0.2, "Code"),
        ("fusion_old", 0.7, "Code"),
        ("complaint_decay", 0.5, "Code"),
    ],
)
def test_a_number_that_is_not_ours(name: str, value: float, source: str) -> None:
    """It is the paper's, or the released code's where the paper gives none, and says which."""
    said = re.search(rf"{name}: \w+ = \S+\n    \"\"\"(\w+)", inspect.getsource(numbers))
    assert said
    assert (getattr(Numbers(), name), said[1]) == (value, source)


def test_every_number_says_where_it_comes_from() -> None:
    """Nobody has to guess which ones were measured by others."""
    said = re.findall(r"    (\w+): (?:int|float) = \S+\n    \"\"\"(?:Paper|Code|Ours)\b", inspect.getsource(numbers))
    assert said == [field.name for field in fields(Numbers)]


@pytest.mark.parametrize(
    ("field", "value"),
    [("batch_tasks", 0), ("outcomes", -1), ("canary_share", 1.5), ("fusion_old", -0.1), ("credit", 3.0)],
)
def test_a_number_out_of_bounds_is_refused(field: str, value: float) -> None:
    """With its name and its bounds."""
    with pytest.raises(ValueError, match=f"{field} must be"):
        Numbers(**{field: value})  # type: ignore[arg-type]
