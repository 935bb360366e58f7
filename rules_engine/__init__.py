"""The rules engine: observations in, decisions out; what the agent did next in, signals out."""

from __future__ import annotations

from rules_engine.codec import dump, load
from rules_engine.engine import decide, first_standing, render_form, shown
from rules_engine.evolution.complaints import Complaint, complaints
from rules_engine.lines import index
from rules_engine.marks import find_ids
from rules_engine.recall import requested, substitute
from rules_engine.script import text_digest
from rules_engine.signals import detect, detect_recalls
from rules_engine.transcript import Transcript
from rules_engine.types import (
    Applied,
    Context,
    Decision,
    Earlier,
    EngineError,
    Form,
    Kept,
    Observation,
    Omission,
    Result,
    Rewritten,
    Rule,
    RuleError,
    RuleSet,
    Sample,
    ScriptError,
    Settings,
    Signal,
    Turn,
)

__all__ = [
    "Applied",
    "Complaint",
    "Context",
    "Decision",
    "Earlier",
    "EngineError",
    "Form",
    "Kept",
    "Observation",
    "Omission",
    "Result",
    "Rewritten",
    "Rule",
    "RuleError",
    "RuleSet",
    "Sample",
    "ScriptError",
    "Settings",
    "Signal",
    "Transcript",
    "Turn",
    "complaints",
    "decide",
    "detect",
    "detect_recalls",
    "dump",
    "find_ids",
    "first_standing",
    "index",
    "load",
    "render_form",
    "requested",
    "shown",
    "substitute",
    "text_digest",
]
