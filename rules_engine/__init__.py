"""The rules engine: observations in, decisions out; what the agent did next in, signals out."""

from __future__ import annotations

from rules_engine.codec import dump, load
from rules_engine.engine import decide, render_form, shown
from rules_engine.lines import index
from rules_engine.marks import find_ids
from rules_engine.recall import Recalled, requested, substitute

__all__ = [
    "Recalled",
    "decide",
    "dump",
    "find_ids",
    "index",
    "load",
    "render_form",
    "requested",
    "shown",
    "substitute",
]
