"""Why a rule did what it did to one observation, or did nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rules_engine.critical import is_failing, protected
from rules_engine.engine import decide, tidy
from rules_engine.kinds import line_score
from rules_engine.lossy import LEAST_CONFIDENCE
from rules_engine.natures import nature
from rules_engine.scan import compile_trigger
from rules_engine.types import Context, Kept, Observation, Rule, RuleRef, RuleSet, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What one rule had to do with an observation."""

    rule: RuleRef
    fired: bool
    words: str


def explain(observation: Observation, ruleset: RuleSet, context: Context) -> tuple[Reason, ...]:
    """A reason for each rule, as if it were alone, in the order in which they are tried."""
    return tuple(_reason(observation, rule, ruleset.settings, context) for rule in ruleset.rules)


def _reason(observation: Observation, rule: Rule, settings: Settings, context: Context) -> Reason:
    skipped = _skipped(observation, rule, settings, context)
    if skipped:
        return Reason(rule=(rule.id, rule.version), fired=False, words=skipped)
    decision = decide(observation, RuleSet(rules=(rule,), settings=settings), context)
    omitted = () if isinstance(decision, Kept) else decision.forms[-1].omissions
    lines = sum(omission.lines for omission in omitted if (rule.id, rule.version) in omission.rules)
    if lines:
        words = f"{lines} lines left out{_scored(observation, rule, settings) or _learned(rule.evidence)}"
    elif isinstance(decision, Kept) and decision.reason != "no gain":
        words = f"{decision.reason}{f': {decision.detail}' if decision.detail else ''}"
    else:
        words = "nothing that it may leave out is in it, or too little to be worth a mark"
    return Reason(rule=(rule.id, rule.version), fired=lines > 0, words=words)


def _skipped(observation: Observation, rule: Rule, settings: Settings, context: Context) -> str:
    if rule.id in settings.disabled:
        return "switched off in the configuration"
    if rule.confidence < LEAST_CONFIDENCE:
        return f"confidence {rule.confidence:.2f} is under {LEAST_CONFIDENCE:g}"
    if not context.shell:
        return "the client has no shell, so nothing that is left out could be asked for"
    if not compile_trigger(rule.trigger.pattern).search(observation.command):
        return "its trigger is not in the command"
    sort = nature(observation)
    if sort != "terminal":
        return f"the output is of the sort {sort!r}: open to lossless kinds only"
    lines = tidy(replace(observation, nature=sort), settings).text.split("\n")
    if is_failing(observation, lines) and not (rule.on_failing and settings.critical == "guarded"):
        return "the output states a failure, and the rule was not admitted on such"
    return ""


def _scored(observation: Observation, rule: Rule, settings: Settings) -> str:
    """What the lines show that a rule of scores leaves out."""
    if rule.kind != "line_score":
        return ""
    lines, params = tuple(tidy(observation, settings).text.split("\n")), line_score.parse(rule.params)
    out = line_score.drop(lines, params, protected(lines, observation.command))
    return f"; {line_score.explain(lines, out, params)}"


def _learned(evidence: Mapping[str, object]) -> str:
    lines, used, outputs = (evidence.get(name) for name in ("lines", "used", "outputs"))
    if not isinstance(lines, int):
        return ""
    where = f" in {outputs} outputs" if isinstance(outputs, int) else ""
    return f"; such lines were used {used or 0} times of {lines}{where}"
