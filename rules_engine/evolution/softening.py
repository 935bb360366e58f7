"""A more conservative rule in the place of one that dropped what was missed, made without a model.

It drops part of what its parent dropped, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rules_engine.evolution.events import content_key
from rules_engine.kinds import line_filter
from rules_engine.scan import compile_given, encode, find_lines
from rules_engine.types import Rule

_SUFFIX = re.compile(r"_soft_[0-9a-f]{6}$")


def soften(rule: Rule, missed: Sequence[str]) -> Rule | None:
    """`rule` without the patterns that match a missed line, and without its cap; `None` if nothing would be left.

    Where none of them is to blame, it keeps more than twice as much at both ends.
    """
    if rule.kind != "line_filter":
        return None
    strips, cap = _strips(rule.params), rule.params.get("max_lines")
    left = [pattern for pattern in strips if not _matches(pattern, missed)]
    if not left:
        return None
    params = {**rule.params, "strip_patterns": left, "max_lines": None}
    if left == strips and cap is None:
        before = line_filter.parse(rule.params)
        params |= {"keep_first_n": 2 * before.first + 5, "keep_last_n": 2 * before.last + 5}
    return _named(replace(rule, params=params), rule)


def _strips(params: Mapping[str, object]) -> list[str]:
    patterns = params.get("strip_patterns", ())
    return list(patterns) if isinstance(patterns, list | tuple) else []


def _matches(pattern: str, lines: Sequence[str]) -> bool:
    return any(True for _ in find_lines(compile_given([pattern], "strip_patterns"), encode(lines)))


def _named(rule: Rule, parent: Rule) -> Rule:
    name = f"{_SUFFIX.sub('', parent.id)}_soft_{content_key(rule)[:6]}"
    fresh = replace(rule, confidence=1.0, times_applied=0, times_complained=0)
    return replace(fresh, id=name, version=1, parent=parent.id, provenance="repair")
