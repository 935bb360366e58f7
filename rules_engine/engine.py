"""Decide what is forwarded in the place of one observation, and show a decision again: `decide`, `shown`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rules_engine import guards, marks
from rules_engine.kinds import LOSSLESS
from rules_engine.kinds import shown as pointers
from rules_engine.lines import starts
from rules_engine.recall import requested
from rules_engine.script import Edit, compose, render, splice, text_digest, trace
from rules_engine.types import (
    Applied,
    Context,
    Decision,
    Form,
    Kept,
    KeptReason,
    Loss,
    Observation,
    Omission,
    Rewritten,
    RuleRef,
    RuleSet,
    Script,
    Settings,
    Source,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A text on its way from raw to result, with the script that leads there."""

    text: str
    script: Script
    applied: tuple[Applied, ...] = ()
    sources: tuple[Source, ...] = ()
    omissions: tuple[Omission, ...] = ()

    def step(self, rule: RuleRef, loss: Loss, edits: Sequence[Edit]) -> Draft:
        """The draft after `edits` to its text."""
        script = splice(len(self.text), edits)
        text = render(self.text, script)
        done = Applied(rule=rule, loss=loss, removed=len(self.text) - len(text))
        return replace(self, text=text, script=compose(self.script, script), applied=(*self.applied, done))


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
    if context.chars < settings.minimum_conversation_chars:
        return "small conversation"
    if requested(observation.command):
        return "recalled"
    return None


def _decide(observation: Observation, ruleset: RuleSet, context: Context) -> Decision:
    settings = ruleset.settings
    whole = Draft(text=observation.text, script=((0, len(observation.text)),))
    plain = _reduce(whole, observation, settings)
    drafts = [plain] if plain.applied else []
    if context.shell and context.earlier and "shown" not in settings.disabled:
        pointed = _point(plain, observation, settings, context)
        drafts = [pointed, *drafts] if pointed.sources else drafts
    if not drafts:
        return Kept(key=observation.key, reason="no gain")
    forms = tuple(_form(draft) for draft in drafts)
    return Rewritten(key=observation.key, raw_digest=text_digest(observation.text), forms=forms)


def _reduce(draft: Draft, observation: Observation, settings: Settings) -> Draft:
    """Run the lossless kinds, each on the result of those before."""
    for name, kind in LOSSLESS.items():
        if name in settings.disabled:
            continue
        encoded = kind.encode(draft.text, observation)
        edits = guards.worthwhile(encoded.edits) if encoded else ()
        if not encoded or not edits:
            continue
        after = draft.step((name, kind.VERSION), "lossless", edits)
        if kind.verify(draft.text, after.text, encoded.note):
            draft = after
    return draft


def _point(draft: Draft, observation: Observation, settings: Settings, context: Context) -> Draft:
    """Replace runs of lines that stand in earlier texts by pointers."""
    lines = draft.text.split("\n")
    offsets = starts(lines)
    runs = pointers.find(lines, context.earlier, settings)
    spans = trace(draft.script, [(offsets[run.start], offsets[run.end] - 1) for run in runs])
    edits: list[Edit] = []
    omissions: list[Omission] = []
    sources: list[Source] = []
    taken = set(context.recall_ids)
    for run, span in zip(runs, spans, strict=True):
        if span is None:
            continue
        name = marks.new_id(observation.key, *span, taken)
        edit = _pointer_edit(run, lines, offsets, name)
        if not guards.gains(edit):
            continue
        taken.add(name)
        edits.append(edit)
        rule = ("shown", pointers.VERSION)
        omissions.append(Omission(id=name, spans=(span,), lines=run.end - run.start, rules=(rule,)))
        sources.append(Source(key=run.source.key, digest=run.source.digest))
    if not edits:
        return draft
    after = draft.step(("shown", pointers.VERSION), "lossless", edits)
    return replace(after, sources=tuple(dict.fromkeys(sources)), omissions=(*draft.omissions, *omissions))


def _pointer_edit(run: pointers.Run, lines: Sequence[str], offsets: Sequence[int], name: str) -> Edit:
    first, last = (
        (offsets[at] + quoted[0], offsets[at] + quoted[1])
        for at in (run.start, run.end - 1)
        for quoted in (marks.quote(lines[at]),)
    )
    return offsets[run.start], offsets[run.end] - 1, marks.pointer(run.end - run.start, run.relation, first, last, name)


def _form(draft: Draft) -> Form:
    return Form(
        script=draft.script,
        digest=text_digest(draft.text),
        applied=draft.applied,
        sources=draft.sources,
        omissions=draft.omissions,
    )


def render_form(text: str, form: Form) -> str:
    """The text that `form` shows of the raw `text`. Raises `ScriptError` if it does not fit."""
    return render(text, form.script)


def shown(text: str, decision: Decision, standing: Mapping[str, str]) -> tuple[str, Form | None]:
    """What `decision` forwards for the raw `text`: the first form whose sources stand, else the raw text.

    `standing` maps the key of each text before it, in the same request, to the digest of what was forwarded of it.
    """
    if isinstance(decision, Kept) or text_digest(text) != decision.raw_digest:
        return text, None
    for form in decision.forms:
        if all(standing.get(source.key) == source.digest for source in form.sources):
            result = render(text, form.script)
            return (result, form) if text_digest(result) == form.digest else (text, None)
    return text, None
