"""Turns for the tests of signals: results with lines left out by rules, as the engine would leave them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from rules_engine import Applied, Form, Observation, Omission, Result, Rewritten, Turn, text_digest
from rules_engine.lines import starts
from rules_engine.marks import omitted
from rules_engine.script import Edit, render, splice
from rules_engine.types import RuleRef

A, B = ("strip", 1), ("cap", 2)
NEEDED = "artifact target_17 digest 9f3ac1d2e0"
NOISE = "unit 4711 of part_3.c compiled"
LOG = f"reading the plan\n{NOISE}\nstage one begins\n{NEEDED}\nstage two begins\nended"
IDS = ("aaaaaa", "bbbbbb", "cccccc", "dddddd")
"""Recall ids of the runs that were left out of a result, in order."""


def turn(*results: Result, said: str = "Next.") -> Turn:
    """What the agent said, with the commands that it ran."""
    return Turn(said="\n".join([said, *(result.observation.command for result in results)]), results=results)


def raw(command: str, text: str = "", tool: str = "bash") -> Result:
    """A result that was forwarded as it is."""
    key = text_digest(command + text)
    return Result(observation=Observation(key=key, tool=tool, command=command, exit_code=None, text=text))


def thinned(command: str, text: str, dropped: Mapping[str, RuleRef], tool: str = "bash") -> Result:
    """A result of which rules dropped lines."""
    result = raw(command, text, tool)
    offsets = starts(text.split("\n"))
    edits: list[Edit] = []
    omissions: list[Omission] = []
    for places, name in zip(_runs(text, dropped), IDS, strict=False):
        authors = [dropped[text.split("\n")[at]] for at in places]
        cuts = [at for k, at in enumerate(places) if not k or authors[k] != authors[k - 1]]
        ends = [*(offsets[at] for at in cuts[1:]), offsets[places[-1] + 1] - 1]
        spans = tuple((offsets[at], end) for at, end in zip(cuts, ends, strict=True))
        rules = tuple(authors[at - places[0]] for at in cuts)
        omissions.append(Omission(id=name, spans=spans, lines=len(places), rules=rules))
        edits.append((spans[0][0], spans[-1][1], (omitted(len(places), name),)))
    script = splice(len(text), edits)
    applied = tuple(Applied(rule=rule, loss="lossy", removed=1) for rule in dict.fromkeys(dropped.values()))
    form = Form(script=script, digest=text_digest(render(text, script)), applied=applied, omissions=tuple(omissions))
    decision = Rewritten(key=result.observation.key, raw_digest=text_digest(text), forms=(form,))
    return Result(observation=result.observation, decision=decision, form=form)


def _runs(text: str, dropped: Mapping[str, RuleRef]) -> Iterator[list[int]]:
    places = [at for at, line in enumerate(text.split("\n")) if line in dropped]
    for _, run in groupby(enumerate(places), key=lambda item: item[1] - item[0]):
        yield [at for _, at in run]
