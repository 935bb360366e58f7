"""Decide what is forwarded in the place of one observation, and show a decision again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rules_engine import guards, invariants, lossy, pointing
from rules_engine.critical import Reading, Readings
from rules_engine.deeds import asks, is_deed, rehearses
from rules_engine.draft import Draft
from rules_engine.kinds import BOUND, GROUPING, LOSSLESS
from rules_engine.lines import starts
from rules_engine.natures import nature
from rules_engine.recall import requested
from rules_engine.script import Edit, render, text_digest
from rules_engine.types import (
    Context,
    Decision,
    Form,
    Kept,
    KeptReason,
    Observation,
    Rewritten,
    Rule,
    RuleSet,
    Settings,
)

FIXED_PATTERNS = 24
"""What the lossless kinds, protection and pointers cost together, in patterns."""


def decide(observation: Observation, ruleset: RuleSet, context: Context) -> Decision:
    """What to forward instead of `observation`, seen for the first time; the same for the same arguments."""
    if reason := _exempt(observation, ruleset.settings, context):
        return Kept(key=observation.key, reason=reason)
    try:
        return _decide(observation, ruleset, context)
    except Exception as error:
        # Whatever a rule or kind does wrong costs the saving, never the request.
        return Kept(key=observation.key, reason="failed", detail=f"{type(error).__name__}: {error}")


def _exempt(observation: Observation, settings: Settings, context: Context) -> KeptReason | None:
    if len(observation.text) < settings.minimum_chars:
        return "short"
    if context.chars < max(settings.minimum_conversation_chars, context.cached_from):
        return "small conversation"
    if requested(observation.command):
        return "recalled"
    return None


def _decide(observation: Observation, ruleset: RuleSet, context: Context) -> Decision:
    settings, key = ruleset.settings, observation.key
    rules = lossy.matching(ruleset, observation) if context.shell else ()
    if len(observation.text) * (FIXED_PATTERNS + lossy.patterns(rules)) > settings.work_limit:
        return Kept(key=key, reason="budget")
    sort = nature(observation)
    observation = replace(observation, nature=sort)
    base = tidy(observation, settings)
    readings = Readings(observation.command)
    if sort == "terminal":
        rules = _fitting(rules, observation, settings, readings.of(base.text))
        cut = _run_rules(base, key, rules, readings, context.recall_ids)
    else:
        cut = base
    plain = _reduce(cut, observation, settings, grouping=True)
    pointed = _point(plain, observation, settings, context, readings)
    drafts = [pointed, plain] if pointed.sources else [plain]
    drafts = [draft for draft in drafts if draft.applied]
    if not drafts:
        return Kept(key=key, reason="no gain")
    for draft in drafts:
        if breach := invariants.breach(observation, ((base, cut), (plain, draft)), readings):
            return Kept(key=key, reason="invariant", detail=breach)
    if context.chars - max(len(observation.text) - len(draft.text) for draft in drafts) < context.cached_from:
        return Kept(key=key, reason="small conversation")  # were it cached as it came only, the rewrite would cost more
    return Rewritten(key=key, raw_digest=text_digest(observation.text), forms=tuple(draft.form() for draft in drafts))


def reduce(draft: Draft, observation: Observation, settings: Settings) -> Draft:
    """Run the lossless kinds, each on the result of those before, and keep what their own inverse undoes."""
    return _reduce(_reduce(draft, observation, settings, grouping=False), observation, settings, grouping=True)


def tidy(observation: Observation, settings: Settings) -> Draft:
    """The lines that rules see: after the lossless kinds that put nothing together."""
    return _reduce(Draft.begin(observation.text), observation, settings, grouping=False)


def _reduce(draft: Draft, observation: Observation, settings: Settings, *, grouping: bool) -> Draft:
    for name, kind in LOSSLESS.items():
        if name in settings.disabled or (name in GROUPING) is not grouping:
            continue
        encoded = kind.encode(draft.text, observation)
        edits = guards.worthwhile(encoded.edits) if encoded else ()
        if not encoded or not edits or (grouping and _enters_block(draft, edits)):
            continue
        after = draft.step(edits)
        if kind.verify(draft.text, after.text, encoded.note):
            draft = after.credit((name, kind.VERSION), "lossless", len(draft.text) - len(after.text))
    return draft


def _enters_block(draft: Draft, edits: Sequence[Edit]) -> bool:
    """An edit lies in a block that stands for several: a line put in there would be one of "the lines above"."""
    if all(applied.rule[0] != "repeats" for applied in draft.applied):
        return False
    lines = draft.text.split("\n")
    offsets = starts(lines)
    blocks = [(offsets[start], offsets[end]) for start, end in BOUND["repeats"].bound(lines) if end - start > 1]
    return any(start <= edit[0] < end for start, end in blocks for edit in edits)


def _fitting(
    rules: tuple[Rule, ...], observation: Observation, settings: Settings, reading: Reading
) -> tuple[Rule, ...]:
    """Those of the rules that may run on an output that says this."""
    if rules and rehearses(observation.command):
        return ()
    if rules and asks(observation):
        sure = {"line_filter", "line_score"} if is_deed(observation.command) else {"line_filter"}
        rules = tuple(rule for rule in rules if rule.kind in sure)
    if not rules or not reading.is_failing(observation):
        return rules
    return tuple(rule for rule in rules if rule.on_failing and settings.critical == "guarded")


def _run_rules(draft: Draft, key: str, rules: tuple[Rule, ...], readings: Readings, taken: Collection[str]) -> Draft:
    if not rules:
        return draft
    bound = (at for start, end in _bound(draft) for at in range(start, end))
    return lossy.leave_out(draft, key, rules, readings.of(draft.text).protected.union(bound), taken)


def _point(draft: Draft, observation: Observation, settings: Settings, context: Context, readings: Readings) -> Draft:
    sort = observation.nature
    if context.shell is False or not context.earlier or "shown" in settings.disabled or sort == "structured":
        return draft
    if invariants.is_json(draft.text):
        return draft
    reading = readings.of(draft.text)
    guard = pointing.Guard(
        stays=(lambda: reading.stated) if sort == "terminal" else None,
        bound=_bound(draft),
        ids=frozenset(context.recall_ids),
    )
    return pointing.point(draft, observation.key, context.earlier, settings, guard)


def _bound(draft: Draft) -> tuple[tuple[int, int], ...]:
    """Runs of lines that a form of a lossless kind holds together."""
    lines = draft.text.split("\n")
    done = {applied.rule[0] for applied in draft.applied}
    return tuple(span for name, kind in BOUND.items() if name in done for span in kind.bound(lines))


def render_form(text: str, form: Form) -> str:
    """The text that `form` shows of the raw `text`. Raises `ScriptError` if it does not fit."""
    return render(text, form.script)


def shown(text: str, decision: Decision, standing: Mapping[str, str]) -> tuple[str, Form | None]:
    """What `decision` forwards for the raw `text`: the first form whose sources stand, else the raw text.

    `standing` maps the key of each text before it, in the same request, to the digest of what was forwarded of it.
    """
    if isinstance(decision, Kept) or text_digest(text) != decision.raw_digest:
        return text, None
    form = first_standing(decision.forms, standing.get)
    if form is None:
        return text, None
    result = render(text, form.script)
    return (result, form) if text_digest(result) == form.digest else (text, None)


def first_standing(forms: Iterable[Form], digest_of: Callable[[str], str | None]) -> Form | None:
    """The first form whose sources stand; `digest_of` names what was forwarded of a text before it, by key."""
    return next((f for f in forms if all(digest_of(source.key) == source.digest for source in f.sources)), None)
