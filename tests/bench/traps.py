"""Fifty traps: outputs, made up here, that hold something an agent must not miss in much that it does not need.

    python -m tests.bench.traps

Each is decided as a gateway decides by default, and judged by what the model would see: every needle stands in it as it
stood, no phrase that misleads stands in it, and what was asked for verbatim is verbatim.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gateway.config import Config
from gateway.evolving.rules import built_in
from gateway.recording.tokens import TokenCounter
from rules_engine import Context, Observation, RuleSet, decide
from rules_engine.engine import shown
from tests.bench.trapped import TRAPS, Trap

CONTEXT = Context(shell=True, chars=1_000_000)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a trap."""

    trap: Trap
    result: str
    lost: tuple[str, ...]
    saved: float
    rules: Mapping[str, int] = field(default_factory=dict)


def judge(trap: Trap, rules: RuleSet, count: Callable[[str], int]) -> Verdict:
    """Decide it, and see what is left."""
    observation = Observation(key="trap", tool="bash", command=trap.command, exit_code=trap.exit_code, text=trap.text)
    result, form = shown(trap.text, decide(observation, rules, CONTEXT), {})
    before = count(trap.text)
    applied = {use.rule[0]: use.removed for use in form.applied} if form else {}
    return Verdict(trap, result, lost(trap, result), 1 - count(result) / before, applied)


def lost(trap: Trap, result: str) -> tuple[str, ...]:
    """What is missing from a result, or should not be in it; blanks may differ."""
    if trap.verbatim:
        return () if result == trap.text else ("not verbatim",)
    text = _plain(result)
    return (
        *(needle for needle in trap.needles if _plain(needle) not in text),
        *(f"says {phrase!r}" for phrase in trap.never if phrase in result.lower()),
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def report(verdicts: Iterable[Verdict]) -> str:
    """A line for each, and how many were kept at what mean saving."""
    done = list(verdicts)
    rows = [_row(one) for one in done]
    kept = [one for one in done if not one.lost]
    mean = sum(one.saved for one in done) / len(done)
    of_kept = sum(one.saved for one in kept) / max(len(kept), 1)
    return "\n".join([*rows, f"kept {len(kept)} of {len(done)}, mean saving {mean:.1%}, of those kept {of_kept:.1%}"])


def _row(one: Verdict) -> str:
    state = f"LOST {one.lost[0][:60]}" if one.lost else "kept"
    rules = ", ".join(f"{name} {removed}" for name, removed in one.rules.items())
    return f"{one.trap.name:38} {one.saved:7.1%}  {state:6} {rules}"


def main() -> int:
    """Judge all traps; 1 if one is lost."""
    rules = RuleSet(rules=tuple(sorted(built_in(Config()), key=lambda rule: (rule.priority, rule.id))))
    count = TokenCounter().count
    verdicts = [judge(trap, rules, count) for trap in TRAPS]
    print(report(verdicts))
    return any(one.lost for one in verdicts)


if __name__ == "__main__":
    sys.exit(main())
