"""The arms of the evidence: ways to shorten tool results, each run over the same sessions and judged alike.

What is learned is learned from one half of the sources and judged on the other, both ways.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from unittest.mock import patch

from rules_engine import Rule, RuleSet, Sample
from rules_engine.alikes import ALIKES
from rules_engine.evolution import scoring
from rules_engine.evolution.lessons import Lessons, learn
from rules_engine.evolution.numbers import Numbers
from rules_engine.natures import nature
from rules_engine.seeds import SEEDS
from tests.bench import curated, scripted
from tests.bench.judging import Figures, Judge, counter
from tests.bench.living import Lived, Way, live
from tests.bench.passage import Passed, take, unheard
from tests.bench.recorded import Recorded, in_turn

T = TypeVar("T")
BASE = (*SEEDS, *ALIKES)
"""What every pool is born with; nothing of it is learned."""
Texts = Callable[[Passed], dict[str, str] | None]
"""Other texts to judge than those that were forwarded, by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What one half of the sources teaches, and the sessions of the other."""

    miner: tuple[Rule, ...]
    model: tuple[Rule, ...]
    unrefined: tuple[Rule, ...]
    """All that miner and model came up with, as they came up with it."""
    score: Rule
    sessions: tuple[int, int]
    """That were learned from, and that are judged."""
    judged: Mapping[str, Sequence[Recorded]]

    @property
    def pool(self) -> tuple[Rule, ...]:
        """The rules that one would have in use."""
        return (*BASE, *self.miner, *self.model)


@dataclass(slots=True)
class Outcome:
    """What an arm came to, by source."""

    figures: dict[str, Figures] = field(default_factory=dict)
    lived: list[Lived] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Take in the other half."""
        for source, found in other.figures.items():
            self.count(source, found)
        self.lived += other.lived

    def count(self, source: str, found: Figures) -> None:
        """Take in some sessions of a source."""
        self.figures.setdefault(source, Figures()).add(found)

    def total(self, sources: Collection[str] | None = None) -> Figures:
        """All sources, or some, together."""
        out = Figures()
        for source in self._named(sources):
            out.add(self.figures[source])
        return out

    def macro(self, sources: Collection[str] | None = None) -> float:
        """Mean of what the sources save, each counted alike."""
        saved = [self.figures[source].saved for source in self._named(sources)]
        return sum(saved) / len(saved) if saved else 0.0

    def _named(self, sources: Collection[str] | None) -> list[str]:
        return [source for source in self.figures if sources is None or source in sources]

    @property
    def tokens(self) -> int:
        """Of the model that proposes."""
        return sum(lived.tokens for lived in self.lived)


Arm = Callable[[Lesson], Outcome]


def teach(samples: Sequence[Sample], taught: int, judged: Mapping[str, Sequence[Recorded]]) -> Lesson:
    """Learn from one half."""
    lessons = Lessons()
    for _, session in groupby(samples, key=lambda sample: (sample.source, sample.session)):
        lessons.add(list(session))
    proposals = scripted.propose(samples, scripted.Script(), Numbers())
    return Lesson(
        miner=tuple(verdict.rule for verdict in learn(lambda: samples) if verdict.admitted),
        model=tuple(scripted.admitted(proposals, list(samples))),
        unrefined=(*lessons.rules(), *proposals),
        score=scoring.learn(samples),
        sessions=(taught, sum(map(len, judged.values()))),
        judged=judged,
    )


def fixed(
    rules: Callable[[Lesson], Iterable[Rule]], lesson: Lesson, *, gate: bool = True, texts: Texts | None = None
) -> Outcome:
    """All of some rules, whatever the task and whatever is complained about."""
    judge, out = Judge(), Outcome()

    def read(passed: Passed) -> Iterable[Figures]:
        judge.forget()
        yield judge.judge(passed, texts(passed) if texts else None)

    with ExitStack() if gate else ungated():
        figures = asyncio.run(passages(lesson, rules(lesson), read))
    for one, found in zip(in_turn(lesson.judged), figures, strict=True):
        out.count(one.source, found)
    return out


async def passages(lesson: Lesson, rules: Iterable[Rule], read: Callable[[Passed], Iterable[T]]) -> list[T]:
    """What `read` finds in each session, served with these rules."""
    ruleset = RuleSet(rules=tuple(sorted(rules, key=lambda rule: (rule.priority, rule.id))))
    out: list[T] = []
    with TemporaryDirectory(prefix="taco-bench-") as folder:
        for one in in_turn(lesson.judged):
            out += read(await take(one, lambda exchange, got: ruleset, unheard, Path(folder)))
    return out


def evolving(way: Callable[[Lesson], Way], lesson: Lesson) -> Outcome:
    """A pool that lives."""
    judge, out = Judge(), Outcome()

    def done(passed: Passed) -> None:
        out.count(passed.recorded.source, judge.judge(passed))
        judge.forget()

    out.lived.append(asyncio.run(live(in_turn(lesson.judged), way(lesson), done)))
    return out


@contextmanager
def ungated() -> Iterator[None]:
    """The engine without its protection of failures and verdicts: what that protection is worth."""
    with ExitStack() as stack:
        stack.enter_context(patch("rules_engine.critical.Reading.protected", frozenset()))
        stack.enter_context(patch("rules_engine.critical.Reading.is_failing", lambda reading, observation: False))
        stack.enter_context(patch("rules_engine.invariants.breach", lambda *given: None))
        yield


def raw(passed: Passed) -> dict[str, str]:
    """As the agent sent it."""
    return {one.item.observation.key: one.item.observation.text for one in passed.shown}


def alike(passed: Passed) -> dict[str, str]:
    """Each terminal output cut at head and tail to the size that the arm gave it; all else as the arm shows it."""
    out = {}
    for one in passed.shown:
        observation = one.item.observation
        is_cut = nature(observation) == "terminal" and one.is_rewritten
        out[observation.key] = ends(observation.text, len(one.text)) if is_cut else one.text
    return out


def cut(passed: Passed, *, lines: int, whole: bool) -> dict[str, str]:
    """So many lines at head and tail of each terminal output, or of every output."""
    out = {}
    for one in passed.shown:
        observation = one.item.observation
        rows = observation.text.split("\n")
        if (whole or nature(observation) == "terminal") and len(rows) > 2 * lines + 1:
            rows[lines:-lines] = [f"[{len(rows) - 2 * lines} lines left out]"]
        out[observation.key] = "\n".join(rows)
    return out


def ends(text: str, size: int) -> str:
    """Head and tail of a text, of so many characters together, in whole lines where there are some."""
    half = max((size - 20) // 2, 0)
    head, tail = text[:half], text[len(text) - half :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    return f"{head}[{text.count(chr(10)) - head.count(chr(10)) - tail.count(chr(10))} lines left out]\n{tail}"


ARMS: Mapping[str, Arm] = {
    "raw": partial(fixed, lambda lesson: (), texts=raw),
    "lossless kinds, no rules": partial(fixed, lambda lesson: ()),
    "six seed rules": partial(fixed, lambda lesson: SEEDS),
    "seeds and likeness": partial(fixed, lambda lesson: BASE),
    f"curated static set ({len(curated.rules())} rules)": partial(fixed, lambda lesson: curated.rules()),
    "curated set, no critical gate": partial(fixed, lambda lesson: curated.rules(), gate=False),
    "unrefined proposals": partial(fixed, lambda lesson: (*BASE, *lesson.unrefined)),
    "no pool": partial(evolving, lambda lesson: Way(rules=BASE, model=True, frozen=True)),
    "final pool, no intra-task evolution": partial(fixed, lambda lesson: lesson.pool),
    "final pool, no critical gate": partial(fixed, lambda lesson: lesson.pool, gate=False),
    "head and tail of equal size": partial(fixed, lambda lesson: lesson.pool, texts=alike),
    "frozen pool": partial(evolving, lambda lesson: Way(rules=lesson.pool, frozen=True)),
    "evolving, miner": partial(evolving, lambda lesson: Way(rules=(*BASE, *lesson.miner), miner=True)),
    "evolving, scripted model": partial(evolving, lambda lesson: Way(rules=(*BASE, *lesson.model), model=True)),
    "evolving, both": partial(evolving, lambda lesson: Way(rules=lesson.pool, miner=True, model=True)),
}
"""By name, in the order of the table."""


def scored(limit: float) -> Arm:
    """The learned score with another limit, and as little as may be kept at both ends."""

    def rules(lesson: Lesson) -> Iterable[Rule]:
        params = {**lesson.score.params, "limit": limit, "keep_first_n": 0, "keep_last_n": 0, "fewest": 1}
        return (*BASE, replace(lesson.score, params=params))

    return partial(fixed, rules)


def ends_only(lines: int, *, whole: bool) -> Arm:
    """So many lines at both ends, nothing else."""
    return partial(fixed, lambda lesson: (), texts=partial(cut, lines=lines, whole=whole))


def many(lesson: Lesson, numbers: Numbers) -> Way:
    """A pool of more rules than are used at once: the curated ones, half as trusted, beside those that were learned."""
    doubted = (replace(rule, confidence=0.5) for rule in curated.rules())
    return Way(rules=(*lesson.pool, *doubted), numbers=numbers, miner=True)


def run(arms: Mapping[str, Arm], lessons: Sequence[Lesson]) -> dict[str, Outcome]:
    """Run each arm on each half, two at a time."""
    table = [(arm, lesson) for arm in arms.values() for lesson in lessons]
    counter().count("the vocabulary")
    # an arm cannot be sent to another process; the table is inherited, and the vocabulary
    with ProcessPoolExecutor(2, get_context("fork"), _TABLE.extend, (table,)) as pool:
        found = list(pool.map(_job, range(len(table))))
    out = {}
    for at, name in enumerate(arms):
        out[name] = Outcome()
        for outcome in found[at * len(lessons) : (at + 1) * len(lessons)]:
            out[name].add(outcome)
    return out


_TABLE: list[tuple[Arm, Lesson]] = []


def _job(at: int) -> Outcome:
    arm, lesson = _TABLE[at]
    return arm(lesson)
