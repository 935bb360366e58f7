"""Are complaints found, do they blame the right rule, and who is blamed for nothing?

    python -m tests.bench.signals [SESSIONS…]

First, sessions made here in which a rule drops the line that the agent needs, beside rules that do no harm: see
`tests.bench.planting`. Then, for each file of recorded sessions, what would have been said about rewrites that hid
nothing the agent used: as if a rule had dropped half of the lines of each terminal output that no later turn uses, and,
as an upper bound on what agents do anyway, as if it had dropped every line that it may.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gateway.evolving.learning import read_turns
from gateway.recordings import read_sessions
from rules_engine import Applied, Form, Omission, Result, Rewritten, Turn, detect, text_digest
from rules_engine.critical import stated
from rules_engine.evolution.complaints import complaints
from rules_engine.evolution.use import samples, used_lines
from rules_engine.lines import starts
from rules_engine.marks import new_id, omitted
from rules_engine.natures import nature
from rules_engine.script import Edit, render, splice
from tests.bench import planting

RULE = ("as_if", 1)
LEAST_CHARS = 200


@dataclass(slots=True)
class Alarms:
    """What was said over some sessions."""

    turns: int = 0
    """In which the agent ran something."""
    rewritten: int = 0
    lines: int = 0
    signals: Counter[str] = field(default_factory=Counter)
    complained: int = 0
    """Turns in which signals became a complaint."""
    examples: list[str] = field(default_factory=list)

    def add(self, other: Alarms) -> None:
        """Count both together."""
        self.turns += other.turns
        self.rewritten += other.rewritten
        self.lines += other.lines
        self.signals += other.signals
        self.complained += other.complained
        self.examples += other.examples

    def __str__(self) -> str:
        of_turns = 100 * self.complained / max(self.turns, 1)
        of_rewrites = 100 * self.complained / max(self.rewritten, 1)
        said = ", ".join(f"{name} {count}" for name, count in self.signals.most_common()) or "nothing"
        seen = f"{self.turns} turns, {self.rewritten} rewrites, {self.lines} lines left out"
        return f"{seen}: {self.complained} complaints ({of_turns:.2f} % of turns, {of_rewrites:.2f} % of rewrites); signals: {said}"


def main(paths: Sequence[Path]) -> None:
    """Print the planted sessions' figures, then the alarms of each file and of all."""
    print(planting.report())
    totals = {"half of the unused lines": Alarms(), "every line": Alarms()}
    for path in paths:
        for turns in map(read_turns, (session for session in read_sessions(path) if session.messages)):
            for name, total in totals.items():
                total.add(listen(list(as_if(turns, whole=name == "every line"))))
    for name, total in totals.items() if paths else ():
        print(f"as if {name} had been dropped: {total}")
        for example in total.examples[:12]:
            print("   ", example)


def listen(turns: Sequence[Turn]) -> Alarms:
    """What the signals say, turn by turn."""
    rewrites = [result.form for turn in turns for result in turn.results if result.form]
    steps = sum(bool(turn.results) for turn in turns)
    out = Alarms(turns=steps, rewritten=len(rewrites), lines=sum(o.lines for f in rewrites for o in f.omissions))
    heard = []
    known = 0
    for at in range(1, len(turns)):
        signals = detect(turns[: at + 1])
        heard += signals
        out.signals.update(signal.name for signal in signals)
        found = len(complaints(heard)) if signals else known
        out.complained += found > known
        known = found
        out.examples += [f"turn {at}: {signal.name}: {signal.evidence}" for signal in signals]
    return out


def as_if(turns: Sequence[Turn], *, whole: bool) -> Iterator[Turn]:
    """The turns, as if a rule had left out lines of each terminal output: `whole`, all that may go, else half of those
    that no later turn uses."""
    used = {sample.observation.key: sample.used for sample in samples(turns, "")}
    for turn in turns:
        yield replace(turn, results=tuple(_thinned(result, used, whole) for result in turn.results))


def _thinned(result: Result, used: dict[str, frozenset[str]], whole: bool) -> Result:
    text = result.observation.text
    if len(text) < LEAST_CHARS or nature(result.observation) != "terminal":
        return result
    lines = text.split("\n")
    kept = {0, len(lines) - 1} | stated(lines)
    if not whole:
        kept |= used_lines(lines, used[result.observation.key])
    free = [at for at in range(len(lines)) if at not in kept]
    if not whole:
        free = free[len(free) // 4 : len(free) // 4 + (len(free) + 1) // 2]
    return _without(result, lines, free) if free else result


def _without(result: Result, lines: list[str], dropped: list[int]) -> Result:
    observation, offsets = result.observation, starts(lines)
    edits: list[Edit] = []
    omissions: list[Omission] = []
    for start, end in _runs(dropped):
        span = (offsets[start], offsets[end] - 1)
        name = new_id(observation.key, *span, ())
        edits.append((*span, (omitted(end - start, name),)))
        omissions.append(Omission(id=name, spans=(span,), lines=end - start, rules=(RULE,)))
    script = splice(len(observation.text), edits)
    applied = (Applied(rule=RULE, loss="lossy", removed=0),)
    shown = text_digest(render(observation.text, script))
    form = Form(script=script, digest=shown, applied=applied, omissions=tuple(omissions))
    decision = Rewritten(key=observation.key, raw_digest=text_digest(observation.text), forms=(form,))
    return Result(observation=observation, decision=decision, form=form)


def _runs(places: list[int]) -> Iterator[tuple[int, int]]:
    start = previous = places[0]
    for at in places[1:]:
        if at != previous + 1:
            yield start, previous + 1
            start = at
        previous = at
    yield start, previous + 1


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
