"""The paper's calls as generators: each yields a `Prompt`, is sent the reply's text, and returns what came of it.

Where no reply is to be had, `NoReply` is thrown in. Whatever goes wrong, the rules in use stay as they are: neither all
rules of the pool nor none take their place.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from rules_engine.answers import find_object
from rules_engine.prompts import (
    COLD,
    FORM,
    PLAN,
    PLANNED,
    RULE,
    SHOWN_RULES,
    About,
    Missed,
    Prompt,
    Start,
    Uncovered,
    ask,
)
from rules_engine.proposals import Draft, Known, Outcome, check_careful
from rules_engine.scan import compile_trigger
from rules_engine.types import EngineError, Rule, RuleError, RuleRef

Calling = Generator[Prompt, str, Outcome]


class NoReply(EngineError):
    """The model could not be asked, or did not answer; the words say why."""


def call(about: About, known: Known) -> Calling:
    """One call to a model, from the question to the outcome. Raises nothing for what a model may answer."""
    prompt = ask(about)
    if isinstance(about, Missed) and about.rule.kind != FORM:
        draft = Draft(prompt.call, (), ())
        draft.refuse(about.rule.id, f"a model does not write rules of kind {about.rule.kind}")
        return draft.outcome()
    try:
        text = yield prompt
        pool = about.rules if isinstance(about, Start) else ()
        draft = Draft(prompt.call, (*known(), *pool), _context(about))
        return _read(about, text, prompt, draft)
    except (NoReply, RuleError) as error:
        draft = Draft(prompt.call, (), ())
        draft.refuse("", str(error))
        return draft.outcome()


def _context(about: About) -> tuple[str, ...]:
    match about:
        case Start():
            return (about.task,)
        case Uncovered():
            return (about.task, about.command)
        case Missed():
            return (about.said, about.command)


def _read(about: About, text: str, prompt: Prompt, draft: Draft) -> Outcome:
    match about:
        case Start() if about.rules:
            return _read_plan(about, _fields(text, PLANNED), draft)
        case Start():
            _propose(_fields(text, COLD)["rules"], 0, draft)
        case Uncovered():
            draft.propose(find_object(text, "rule_id"), RULE, lambda rule: _check_fits(rule, about.command))
        case Missed():
            raw = {"trigger_regex": about.rule.trigger.pattern, **find_object(text, "rule_id")}
            draft.propose(raw, prompt.schema, lambda rule: check_careful(rule, about), parent=about.rule.id)
    return draft.outcome()


def _read_plan(about: Start, answer: dict[str, list[Any]], draft: Draft) -> Outcome:
    selected = _select(answer["selected_rule_ids"], about.rules[:SHOWN_RULES], draft)
    _propose([*answer["modified_rules"], *answer["new_rules"]], len(selected), draft)
    nothing_held = draft.refused and not selected and not draft.proposed
    return draft.outcome(None if nothing_held else selected)


def _fields(text: str, schema: Any) -> dict[str, list[Any]]:
    """The lists of an answer; what is in them is judged one by one."""
    names = schema["properties"]
    answer = find_object(text, *names)
    for name, value in answer.items():
        if name not in names:
            raise RuleError(f"{name}: unknown field")
        if not isinstance(value, list):
            raise RuleError(f"{name}: must be a list")
    for name in schema["required"]:
        if name not in answer:
            raise RuleError(f"{name}: is missing")
    return {name: answer.get(name, []) for name in names}


def _select(ids: Sequence[object], pool: Sequence[Rule], draft: Draft) -> list[RuleRef]:
    by_id = {rule.id: (rule.id, rule.version) for rule in reversed(pool)}
    selected: list[RuleRef] = []
    for name in ids:
        if not isinstance(name, str) or name not in by_id:
            draft.refuse(str(name), "selected_rule_ids: there is no such rule in the pool")
        elif len(selected) >= PLAN[1]:
            draft.refuse(name, f"too many rules: a plan has at most {PLAN[1]}")
        elif by_id[name] not in selected:
            selected.append(by_id[name])
    return selected


def _propose(items: Sequence[object], selected: int, draft: Draft) -> None:
    for item in items:
        if selected + len(draft.proposed) < PLAN[1]:
            draft.propose(item, RULE)
        else:
            name = item.get("rule_id") if isinstance(item, dict) else None
            draft.refuse(str(name or ""), f"too many rules: a plan has at most {PLAN[1]}")


def _check_fits(rule: Rule, command: str) -> None:
    if not compile_trigger(rule.trigger.pattern).search(command):
        raise RuleError("trigger_regex: it does not fit the command that it was asked for")
