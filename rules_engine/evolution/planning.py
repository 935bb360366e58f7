"""The paper's calls as generators: each yields a `Prompt`, is sent the reply's text, and returns what came of it.

Where no reply is to be had, `NoReply` is thrown in. Whatever goes wrong, the rules in use stay as they are: neither all
rules of the pool nor none take their place.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from rules_engine.evolution.answers import find_object
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.prompts import FORM, RULE, About, Missed, Prompt, Start, Uncovered, ask
from rules_engine.evolution.proposals import Draft, Known, Outcome, check_careful
from rules_engine.scan import compile_trigger
from rules_engine.types import EngineError, Rule, RuleError, RuleRef

Calling = Generator[Prompt, str, Outcome]


class NoReply(EngineError):
    """The model could not be asked, or did not answer; the words say why."""


def call(about: About, known: Known, numbers: Numbers) -> Calling:
    """One call to a model, from the question to the outcome. Raises nothing for what a model may answer."""
    prompt = ask(about, numbers)
    if isinstance(about, Missed) and about.rule.kind != FORM:
        draft = Draft(prompt.call, (), ())
        draft.refuse(about.rule.id, f"a model does not write rules of kind {about.rule.kind}")
        return draft.outcome()
    try:
        text = yield prompt
        pool = about.rules if isinstance(about, Start) else ()
        replaced = about.rule if isinstance(about, Missed) else None
        draft = Draft(prompt.call, (*known(), *pool), _context(about), replaced)
        return _read(about, text, prompt, draft, numbers)
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


def _read(about: About, text: str, prompt: Prompt, draft: Draft, numbers: Numbers) -> Outcome:
    match about:
        case Start() if about.rules:
            answer = _lists(text, prompt.schema)
            return _read_plan(answer, about.rules[: numbers.top_k], draft, numbers.plan_most)
        case Start():
            _propose(_lists(text, prompt.schema)["rules"], numbers.plan_most, draft)
        case Uncovered():
            draft.propose(find_object(text, "rule_id"), RULE, lambda rule: _check_fits(rule, about.command))
        case Missed():
            raw = {"trigger_regex": about.rule.trigger.pattern, **find_object(text, "rule_id")}
            draft.propose(raw, prompt.schema, lambda rule: check_careful(rule, about))
    return draft.outcome()


def _read_plan(answer: Mapping[str, list[Any]], pool: Sequence[Rule], draft: Draft, most: int) -> Outcome:
    selected = _select(answer["selected_rule_ids"], pool, draft)
    for name in selected[most:]:
        draft.refuse(name[0], _too_many(most))
    del selected[most:]
    changed, new = answer["modified_rules"], answer["new_rules"]
    _propose([*changed, *new], most - len(selected), draft, len(changed))
    nothing_held = draft.refused and not selected and not draft.proposed
    return draft.outcome(None if nothing_held else selected)


def _lists(text: str, schema: Mapping[str, Any]) -> dict[str, list[Any]]:
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
    selected: dict[RuleRef, None] = {}
    for name in ids:
        if isinstance(name, str) and name in by_id:
            selected[by_id[name]] = None
        else:
            draft.refuse(str(name), "selected_rule_ids: there is no such rule in the pool")
    return list(selected)


def _propose(items: Sequence[object], most: int, draft: Draft, changed: int = 0) -> None:
    """Take items in, so many; the first `changed` of them are changes of rules in the pool."""
    for at, item in enumerate(items):
        if len(draft.proposed) >= most:
            name = item.get("rule_id") if isinstance(item, dict) else None
            draft.refuse(str(name or ""), _too_many(most))
        elif at < changed:
            draft.change(item, RULE)
        else:
            draft.propose(item, RULE)


def _too_many(most: int) -> str:
    return f"too many rules: {most} are left of what a plan may have"


def _check_fits(rule: Rule, command: str) -> None:
    if not compile_trigger(rule.trigger.pattern).search(command):
        raise RuleError("trigger_regex: it does not fit the command that it was asked for")
