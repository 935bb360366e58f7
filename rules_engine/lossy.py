"""Running rules: what those whose trigger matches leave out, within the guards, and the marks in its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

from rules_engine import guards, marks
from rules_engine.draft import Draft
from rules_engine.kinds import KINDS
from rules_engine.lines import starts
from rules_engine.scan import which
from rules_engine.script import Edit, trace
from rules_engine.types import Observation, Omission, Rule, RuleRef, RuleSet

LEAST_CONFIDENCE = 0.3
"""A rule with less is off (TACO's number)."""
PARSED = 512
"""Rules whose params stay checked and compiled."""


def matching(ruleset: RuleSet, observation: Observation) -> tuple[Rule, ...]:
    """The rules that are on and whose trigger is found in the command, in order."""
    off, command = ruleset.settings.disabled, observation.command
    rules = [rule for rule in ruleset.rules if rule.confidence >= LEAST_CONFIDENCE and rule.id not in off]
    return tuple(rules[at] for at in which([rule.trigger.pattern for rule in rules], command))


def patterns(rules: Sequence[Rule]) -> int:
    """How many patterns `rules` hold, as a measure of work."""
    return sum(len(value) for rule in rules for value in rule.params.values() if isinstance(value, list | tuple))


def leave_out(
    draft: Draft, key: str, rules: Sequence[Rule], protected: frozenset[int], taken: Collection[str]
) -> Draft:
    """Run `rules` over the lines of `draft`, one after the other; a mark stands for each run of dropped lines."""
    lines = tuple(draft.text.split("\n"))
    dropped = _hang_on(lines, _drop(lines, rules, protected))
    offsets = starts(lines)
    runs = list(_runs(dropped))
    spans = trace(draft.script, [(offsets[start], offsets[end] - 1) for start, end in runs])
    parts = [tuple(_parts(dropped, start, end)) for start, end in runs]
    begins = iter(trace(draft.script, [(offsets[at], offsets[at] + 1) for part in parts for at, _ in part[1:]]))
    edits: list[Edit] = []
    omissions: list[Omission] = []
    ids = set(taken)
    for (start, end), span, part in zip(runs, spans, parts, strict=True):
        inner = [next(begins) for _ in part[1:]]
        if span is None:
            continue
        name = marks.new_id(key, *span, ids)
        edit = (offsets[start], offsets[end] - 1, (marks.omitted(end - start, name),))
        if guards.gains(edit):
            ids.add(name)
            edits.append(edit)
            cuts, authors = _divide(span, inner, [rule for _, rule in part])
            omissions.append(Omission(id=name, spans=cuts, lines=end - start, rules=authors))
    return _credited(draft, edits, omissions) if edits else draft


def _drop(lines: tuple[str, ...], rules: Sequence[Rule], protected: frozenset[int]) -> dict[int, RuleRef]:
    """Positions to leave out, each with the rule that said so; a rule sees what those before it left."""
    out: dict[int, RuleRef] = {}
    left, seen, shielded = list(range(len(lines))), lines, protected
    for rule in rules:
        places = KINDS[rule.kind].drop(seen, _parsed(rule.kind, _Same(rule.params)), shielded)
        # Whatever the kind says, what is protected stays.
        gone = {left[place]: (rule.id, rule.version) for place in places if place not in shielded}
        if gone:
            out |= gone
            left = [at for at in left if at not in gone]
            seen = tuple([lines[at] for at in left])
            shielded = frozenset([place for place, at in enumerate(left) if at in protected])
    return out


def _hang_on(lines: Sequence[str], dropped: dict[int, RuleRef]) -> dict[int, RuleRef]:
    """What is dropped, without lines under which, indented, one stands that stays: it would belong to nothing."""
    return {at: rule for at, rule in dropped.items() if at + 1 in dropped or not _is_over(lines[at : at + 2])}


def _is_over(pair: Sequence[str]) -> bool:
    head, body = (len(line) - len(line.lstrip()) if line.strip() else -1 for line in (*pair, "")[:2])
    return 0 <= head < body


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """A rule's params, by which object they are: a rule never changes, and its patterns take long to compare."""

    params: Mapping[str, object]

    def __hash__(self) -> int:
        return id(self.params)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.params is other.params


@lru_cache(PARSED)
def _parsed(kind: str, same: _Same) -> Any:
    return KINDS[kind].parse(same.params)


def _runs(dropped: Collection[int]) -> Iterator[tuple[int, int]]:
    for _, run in groupby(enumerate(sorted(dropped)), key=lambda item: item[1] - item[0]):
        places = [at for _, at in run]
        yield places[0], places[-1] + 1


def _parts(dropped: Mapping[int, RuleRef], start: int, end: int) -> Iterator[tuple[int, RuleRef]]:
    """Where in a run of dropped lines the part of each rule begins."""
    for at in range(start, end):
        if at == start or dropped[at] != dropped[at - 1]:
            yield at, dropped[at]


def _divide(
    span: tuple[int, int], begins: Sequence[tuple[int, int] | None], authors: Sequence[RuleRef]
) -> tuple[tuple[tuple[int, int], ...], tuple[RuleRef, ...]]:
    """The slice of a run cut where the part of another rule begins; whole, with all its rules, where that cannot be told."""
    cuts = [span[0], *(begin[0] for begin in begins if begin is not None), span[1]]
    if len(cuts) <= len(authors) or sorted(set(cuts)) != cuts:
        return (span,), tuple(dict.fromkeys(authors))
    return tuple(pairwise(cuts)), tuple(authors)


def _credited(draft: Draft, edits: Sequence[Edit], omissions: Sequence[Omission]) -> Draft:
    after = replace(draft.step(edits), omissions=(*draft.omissions, *omissions))
    removed: dict[RuleRef, int] = {}
    for (start, end, pieces), omission in zip(edits, omissions, strict=True):
        first = omission.rules[0]
        removed[first] = removed.get(first, 0) + end - start - guards.inserted(pieces)
    for rule in dict.fromkeys(rule for omission in omissions for rule in omission.rules):
        after = after.credit(rule, "lossy", removed.get(rule, 0))
    return after
