"""What rewriting keeps and removes: 200 rewritten observations, looked at without a judge that is a model.

    python -m tests.bench.preservation SESSIONS… [--per-source 4] [--count 200] [--sample 50] [--label FILE]

The rules are those that one half of the sources teaches, for the other. The questions are the paper's (section 4.6) as far as
they can be answered by what the session shows; its judge marks each event yes or no, and so do the first rows here.
`--sample N` prints N of the observations, before and after, for labelling by hand; `--label` names the file of labels.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from pathlib import Path

from rules_engine.evolution.use import words
from tests.bench import arms, labels, tables
from tests.bench.evidence import lessons
from tests.bench.judging import PASSED, stating
from tests.bench.recorded import options
from tests.bench.rewritten import Rewritten, draw, find, lines_of, tokens

Z = 1.96
"""For intervals of 95 %."""
FAILS = re.compile(
    r"(?i)\b(?:errors?|exception|traceback|fatal|panic|fail(?:s|ed|ures?)?|denied|not found|killed|aborted)\b"
)
_TEST = re.compile(r"(?:^|[/.:])[Tt]est|_test\b|\.(?:test|spec)\.|[a-z]Test\b")
_FEW = 2
"""Lines of an output in which an identifier that is rare there stands at most."""

_PATH = re.compile(r"^[\w.@~+-]*(?:/[\w.@+-]+)*[A-Za-z_][\w.@+-]*/[\w.@+-]*[A-Za-z_]{2}")

CRITICAL = ("errors", "verdicts", "paths", "test names", "anchors", "later-used strings")
NARROW = ("errors", "verdicts", "paths where something fails", "anchors", "later-used strings")
"""What an agent cannot do without: of paths and tests those that something is wrong with."""


@dataclass(slots=True)
class Tally:
    """Counts of what there was and what is kept, or removed."""

    of: int = 0
    yes: int = 0

    def add(self, yes: int, of: int) -> None:
        """Count more."""
        self.yes += yes
        self.of += of

    def row(self, name: str) -> list[str]:
        """With its interval."""
        low, high = wilson(self.yes, self.of)
        share = f"{100 * self.yes / self.of:.1f} %" if self.of else "–"
        return [name, f"{self.yes:,} of {self.of:,}", share, f"{100 * low:.1f} – {100 * high:.1f} %"]


@dataclass(slots=True)
class Look:
    """What one rewrite did, in items: (kept or removed, of)."""

    critical: dict[str, tuple[int, int]]
    redundant: tuple[int, int]
    useful: tuple[int, int]

    @property
    def events(self) -> dict[str, bool | None]:
        """As marks of the whole; `None`: there was nothing of the sort."""
        kept = [self.critical[name][0] == self.critical[name][1] for name in CRITICAL]
        narrow = [self.critical[name][0] == self.critical[name][1] for name in NARROW]
        removed, redundant = self.redundant
        return {
            "critical kept": all(narrow),
            "critical kept, with every path and test name there is": all(kept),
            "redundancy removed": 2 * removed >= redundant if redundant else None,
            "useful kept": self.useful[0] == self.useful[1] if self.useful[1] else None,
            "loss": not all(narrow),
        }


@dataclass(slots=True)
class Study:
    """All of them."""

    events: dict[str, Tally] = field(default_factory=dict)
    items: dict[str, Tally] = field(default_factory=dict)

    def add(self, look: Look) -> None:
        """Count one rewrite."""
        for name, mark in look.events.items():
            if mark is not None:
                self.events.setdefault(name, Tally()).add(mark, 1)
        for name, (yes, of) in look.critical.items():
            self.items.setdefault(f"{name} kept", Tally()).add(yes, of)
        self.items.setdefault("redundant lines removed", Tally()).add(*look.redundant)
        self.items.setdefault("useful lines kept", Tally()).add(*look.useful)

    def __str__(self) -> str:
        head = ("", "count", "share", "95 %, Wilson")
        events = [tally.row(f"{name}, by observation") for name, tally in self.events.items()]
        return tables.table(head, [*events, *(tally.row(name) for name, tally in self.items.items())])


def wilson(yes: int, of: int) -> tuple[float, float]:
    """The interval of a share."""
    if not of:
        return 0.0, 1.0
    share = yes / of
    middle = (share + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z * sqrt(share * (1 - share) / of + Z * Z / (4 * of * of)) / (1 + Z * Z / of)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def look(one: Rewritten) -> Look:
    """What a rewrite kept and removed."""
    raw = lines_of(one.raw)
    states = {line for text in stating(one.raw) for line in lines_of(text)}
    fails = {line for line in states if FAILS.search(line)}
    strings = {word for line in raw for word in words(line)}
    standing = words(one.joined)
    lines: Mapping[str, Iterable[str]] = {
        "errors": fails,
        "verdicts": states - fails,
        "anchors": {line for line in raw if line in one.used},
        "items that passed": {line for line in raw if PASSED.search(line)},
    }
    names: Mapping[str, Iterable[str]] = {
        "paths": {word for word in strings if _PATH.search(word)},
        "paths where something fails": {word for line in fails for word in words(line) if _PATH.search(word)},
        "test names": {word for word in strings if _TEST.search(word)},
        "later-used strings": strings & one.used,
    }
    critical = {name: _count(found, partial(_stands, one)) for name, found in lines.items()}
    critical |= {name: _count(found, lambda word: word in standing) for name, found in names.items()}
    told = states | {line for line in raw if line in one.used or not words(line).isdisjoint(one.used)}
    useful = _count(_useful(one, raw, told), partial(_stands, one))
    return Look(critical, _redundant(one, raw, told), useful)


def _count(found: Iterable[str], kept: Callable[[str], bool]) -> tuple[int, int]:
    marks = [kept(one) for one in found]
    return sum(marks), len(marks)


def _stands(one: Rewritten, line: str) -> bool:
    return line in one.standing or re.sub(r"^[^\s:]+:(?:\d+[:-])?\s*", "", line) in one.joined


def _useful(one: Rewritten, raw: Sequence[str], told: set[str]) -> set[str]:
    """Lines that state nothing, with an identifier that is new and rare there, and comes up again soon."""
    often = Counter(word for line in raw for word in words(line))
    fresh = {word for word, count in often.items() if count <= _FEW and word in one.ahead and word not in one.known}
    return {line for line in raw if line not in told and not words(line).isdisjoint(fresh)}


def _redundant(one: Rewritten, raw: Sequence[str], told: set[str]) -> tuple[int, int]:
    """Lines that repeat, or say nothing that was not said before, and that nobody used; and how many of them are gone."""
    seen = set(one.before)
    known = set(one.known)
    repeated: Counter[str] = Counter()
    for line in raw:
        if line and line not in told and (line in seen or tokens(line) <= known):
            repeated[line] += 1
        seen.add(line)
        known |= tokens(line)
    left, whole = Counter(lines_of(one.shown)), Counter(raw)
    gone = sum(min(count, max(whole[line] - left[line], 0)) for line, count in repeated.items())
    return gone, sum(repeated.values())


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables, or observations to be labelled."""
    parser = options(__doc__, per_source=4)
    parser.add_argument("--lessons", type=int, default=60, help="sessions that are learned from of each file, at most")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--sample", type=int, default=0, help="print so many observations, before and after")
    parser.add_argument("--label", type=Path, default=labels.FILE)
    args = parser.parse_args(given)
    found = [one for lesson in lessons(args) for one in asyncio.run(arms.passages(lesson, lesson.pool, find))]
    chosen = draw(found, args.count, args.seed)
    if args.sample:
        for number, one in enumerate(chosen[: args.sample], 1):
            print(labels.show(number, one))
        return
    study = Study()
    for one in chosen:
        study.add(look(one))
    natures = Counter(one.nature for one in chosen)
    sorts = ", ".join(f"{name} {count}" for name, count in natures.most_common())
    print(
        f"{len(chosen)} of {len(found)} rewritten observations of {len({one.source for one in chosen})} sources: {sorts};"
    )
    print(
        f"a rule took part in {sum(one.by_rule for one in chosen)}.\n\n{study}\n\n{labels.report(args.label, chosen)}"
    )


if __name__ == "__main__":
    main()
