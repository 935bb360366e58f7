"""Rewritten observations of recorded sessions, each with what stood before it, what was forwarded, and what came of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random

from gateway.evolving.learning import read_turns
from rules_engine import Sample
from rules_engine.evolution.use import cores, samples, words
from rules_engine.natures import nature
from tests.bench.judging import plain
from tests.bench.passage import Passed

AHEAD = 10
"""Turns in which something has to come up again to have been useful."""
_TOKEN = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """One observation whose forwarded text is not the raw one."""

    id: str
    source: str
    nature: str
    command: str
    by_rule: bool
    """A rule left something out, too."""
    raw: str
    shown: str
    standing: frozenset[str]
    """Lines that were forwarded so far, this observation's among them: a pointer leads to them."""
    joined: str
    """The same as one text."""
    before: frozenset[str]
    """Lines that stood in the context before it."""
    known: frozenset[str]
    """Words, of any sort, that did."""
    used: frozenset[str]
    """What later turns took from it: strings, and whole lines."""
    ahead: frozenset[str]
    """Words that are not of plain language, of the next turns and their results."""

    @property
    def state(self) -> str:
        """A name for the forwarded text: a label is about it."""
        return _name(self.shown)


def find(passed: Passed) -> Iterator[Rewritten]:
    """Those of a session."""
    session = passed.recorded.session
    taken = list(samples(read_turns(session), session.name))
    results: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for place, one in enumerate(passed.shown):
        results[one.at].append((place, one.text))
    before: set[str] = set()
    known: set[str] = set()
    texts: list[str] = []
    for at, said in enumerate(passed.said):
        for place, text in results.get(at, ()):
            raw = passed.shown[place].item.observation.text
            texts.append("\n".join(lines_of(text)))
            if passed.shown[place].is_rewritten:
                yield _rewritten(passed, place, taken, texts, before, known)
            before.update(lines_of(raw))
            known.update(tokens(raw))
        if at not in results:
            before.update(lines_of(said))
            known.update(tokens(said))


def draw(found: Sequence[Rewritten], count: int, seed: int) -> list[Rewritten]:
    """So many of them, as evenly from each nature and source, with a rule's work and without, as there are."""
    groups: dict[tuple[str, str, bool], list[Rewritten]] = defaultdict(list)
    for one in found:
        groups[one.nature, one.source, one.by_rule].append(one)
    rng = Random(seed)
    for group in groups.values():
        rng.shuffle(group)
    order = sorted(groups)
    rng.shuffle(order)
    out: list[Rewritten] = []
    while len(out) < min(count, len(found)):
        out += [groups[name].pop() for name in order if groups[name]]
    return out[:count]


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text as one compares them: without escape codes, numbers before them and blanks around them."""
    return cores(plain(text).split("\n"))


def tokens(text: str) -> set[str]:
    """Words of any sort."""
    return set(_TOKEN.findall(text))


def _rewritten(
    passed: Passed,
    place: int,
    taken: Sequence[Sample],
    texts: Sequence[str],
    before: Iterable[str],
    known: Iterable[str],
) -> Rewritten:
    one = passed.shown[place]
    observation = one.item.observation
    used = taken[place].used if taken[place].observation.text == observation.text else frozenset()
    omissions = one.form.applied if one.form else ()
    return Rewritten(
        id=_name(f"{passed.recorded.name}\n{place}\n{observation.text}"),
        source=passed.recorded.source,
        nature=nature(observation),
        command=observation.command,
        by_rule=any(applied.loss == "lossy" for applied in omissions),
        raw=observation.text,
        shown=one.text,
        standing=frozenset(line for text in texts for line in text.split("\n")),
        joined="\n".join(texts),
        before=frozenset(before),
        known=frozenset(known),
        used=used,
        ahead=_ahead(passed, one.at),
    )


def _ahead(passed: Passed, at: int) -> frozenset[str]:
    turns = [turn for turn in passed.recorded.session.turns if turn > at][:AHEAD]
    end = turns[-1] + 1 if turns else at + 1
    later = [said for place, said in enumerate(passed.said[at + 1 : end], at + 1)]
    return frozenset().union(*map(words, later))


def _name(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
