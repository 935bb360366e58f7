"""Makes rules of what a model proposed, or says why not: nothing is mended but a name that is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rules_engine import taco
from rules_engine.evolution.answers import check
from rules_engine.evolution.events import content_key
from rules_engine.evolution.literals import find_literal
from rules_engine.evolution.prompts import FORM, Call, Missed, Schema
from rules_engine.kinds import line_filter
from rules_engine.scan import compile_given, compile_trigger
from rules_engine.types import Rule, RuleError, RuleRef

_FORCED = ("confidence", "times_applied", "times_complained", "summary_header")
"""Fields of the paper's form that a model is not asked for: counters begin at nought, and a mark is ours to word."""
_DEFAULTS: Mapping[str, object] = {
    "keep_patterns": [], "strip_patterns": [], "keep_first_n": 5, "keep_last_n": 10, "max_lines": None, "summary_header": None,
}  # fmt: skip
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_SHORT = ("ls -la", "cat notes.md", "echo done", "pwd", "cd src", "head -50 a.log", "tail -n 20 a.log")
"""Commands that print little, or what is needed as it is."""
_UNRELATED = (
    "git clone https://example.org/a/b",
    "pip install -e .",
    "npm run build",
    "make -j4",
    "pytest -x tests",
    "cargo test",
    "apt-get update",
    "docker build .",
    "go vet ./...",
    "curl -O https://example.org/x",
    "terraform plan",
    "psql -c 'select 1'",
)
_FAMILIES = 2
"""Unrelated programs that one trigger may serve (`npm|pnpm`, `apt|pip`)."""
_LINES = ("x", "Hello, world", "12 files were copied", "    return left + right", "/srv/data: 40%")
"""Lines that have nothing in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A proposal of a model's that is not taken, and why."""

    rule_id: str
    """"" where the whole answer was refused."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one call."""

    call: Call
    selected: tuple[RuleRef, ...] | None = None
    """The pool's rules to use for the task; `None`: those in use stay."""
    proposed: tuple[Rule, ...] = ()
    """To be admitted, or not."""
    refused: tuple[Refusal, ...] = ()


Known = Callable[[], Iterable[Rule]]
"""The pool's rules as they are when the answer comes."""


@dataclass(slots=True)
class Draft:
    """The outcome of one call while its proposals are read one by one."""

    call: Call
    known: Sequence[Rule]
    context: Sequence[str]
    """Texts of the task, whose names do not belong in a pattern."""
    replaced: Rule | None = None
    """The rule in whose place a proposal stands: its trigger is not in question."""
    proposed: list[Rule] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)

    def propose(self, raw: object, schema: Schema, must: Callable[[Rule], None] | None = None) -> None:
        """Take one proposal in, or note why not; `must` raises `RuleError` for what else has to hold."""
        name = raw.get("rule_id") if isinstance(raw, dict) else None
        try:
            rule = self._named(read(raw, schema))
            if self.replaced is None:
                check_trigger(rule, self.context)
            check_lines(rule, self.context)
            self._check_new(rule)
            if must:
                must(rule)
        except RuleError as error:
            self.refuse(name if isinstance(name, str) else "", str(error))
        else:
            self.proposed.append(rule)

    def change(self, raw: object, schema: Schema) -> None:
        """Take in a rule of the pool that was changed; the one whose name it still has is its parent."""
        taken = len(self.proposed)
        self.propose(raw, schema)
        if len(self.proposed) > taken and isinstance(raw, dict) and raw["rule_id"] in self._pool_ids():
            self.proposed[-1] = replace(self.proposed[-1], parent=raw["rule_id"])

    def refuse(self, rule_id: str, reason: str) -> None:
        """Note that a proposal is not taken."""
        self.refused.append(Refusal(rule_id=rule_id[:64], reason=reason))

    def outcome(self, selected: Sequence[RuleRef] | None = None) -> Outcome:
        """What came of it."""
        chosen = None if selected is None else tuple(selected)
        return Outcome(call=self.call, selected=chosen, proposed=tuple(self.proposed), refused=tuple(self.refused))

    def _named(self, rule: Rule) -> Rule:
        """The rule under a name that is free."""
        taken = self._pool_ids() | {other.id for other in self.proposed}
        parent = self.replaced.id if self.replaced else None
        return replace(rule, id=free_name(rule.id, taken), parent=parent, evidence={"call": self.call})

    def _pool_ids(self) -> set[str]:
        return {other.id for other in self.known}

    def _check_new(self, rule: Rule) -> None:
        said = _said(rule)
        for other in (*self.known, *self.proposed):
            if _said(other) == said:
                raise RuleError(f"it says the same as {other.id}")


def read(raw: object, schema: Schema) -> Rule:
    """The rule that a model's object describes. Raises `RuleError` naming the field."""
    if isinstance(raw, dict):
        raw = {name: value for name, value in raw.items() if name not in _FORCED}
    check(raw, schema, "rule")
    assert isinstance(raw, dict)
    if not _ID.fullmatch(raw["rule_id"]):
        raise RuleError("rule.rule_id: must be letters, digits and underscores, at most 64")
    try:
        text = json.dumps(raw, ensure_ascii=False)
        text.encode()
    except UnicodeError as error:
        raise RuleError("rule: holds half a character") from error
    try:
        (rule,) = taco.load(text)
    except RuleError as error:
        raise RuleError(str(error).replace("rules[0]", "rule", 1)) from error
    if not rule.params.get("strip_patterns") and rule.params.get("max_lines") is None:
        raise RuleError("rule.strip_patterns: the rule leaves nothing out")
    return replace(rule, provenance="model")


def check_trigger(rule: Rule, context: Sequence[str]) -> None:
    """Refuse a trigger for all sorts of commands, and one for a single task."""
    trigger = compile_trigger(rule.trigger.pattern)
    if short := next((command for command in _SHORT if trigger.search(command)), None):
        raise RuleError(f"trigger_regex: too broad, it fits `{short}` too")
    fits = [command for command in _UNRELATED if trigger.search(command)]
    if len(fits) > _FAMILIES:
        raise RuleError(f"trigger_regex: too broad, it fits {', '.join(f'`{command}`' for command in fits)}")
    _check_literal(rule.trigger.pattern, context, "trigger_regex")


def check_lines(rule: Rule, context: Sequence[str]) -> None:
    """Refuse a strip pattern for all sorts of lines, and patterns in which something of one task stands."""
    for at, pattern in enumerate(_patterns(rule, "strip_patterns")):
        compiled = compile_given([pattern], "strip_patterns")
        if compiled and all(compiled.search(line) for line in _LINES):
            raise RuleError(f"strip_patterns[{at}]: it is found in every line")
    for name in ("keep_patterns", "strip_patterns"):
        for at, pattern in enumerate(_patterns(rule, name)):
            _check_literal(pattern, context, f"{name}[{at}]")


def check_careful(rule: Rule, missed: Missed) -> None:
    """Refuse a replacement that leaves out a line that the old rule kept, or no line less, of the output at hand."""
    lines = tuple(missed.text.split("\n"))
    before, after = line_filter.parse(missed.rule.params), line_filter.parse(rule.params)
    old, new = (set(line_filter.drop(lines, params, frozenset())) for params in (before, after))
    if new - old:
        raise RuleError(f"it is no more careful: it leaves out line {min(new - old) + 1}, which the old rule kept")
    if old and new == old:
        raise RuleError("it is no more careful: it leaves out the same lines")
    if after.first < before.first or after.last < before.last:
        raise RuleError("it is no more careful: it keeps fewer lines at an end than the old rule")


def _said(rule: Rule) -> str:
    """What a rule does, whatever it is called and however it is written down."""
    params = {**_DEFAULTS, **rule.params} if rule.kind == FORM else rule.params
    plain = {name: sorted(value) if isinstance(value, list | tuple) else value for name, value in params.items()}
    return content_key(replace(rule, params=plain, on_failing=False))


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or the first of `name_2`, `name_3` … that nobody has."""
    free, number = name, 2
    while free in taken:
        free = f"{name[:58]}_{number}"
        number += 1
    return free


def _check_literal(pattern: str, context: Sequence[str], place: str) -> None:
    if literal := find_literal(pattern, context):
        raise RuleError(f"{place}: {literal!r} belongs to one task")


def _patterns(rule: Rule, name: str) -> list[str]:
    value = rule.params.get(name, ())
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
