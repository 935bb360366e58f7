"""An edit fails to match after a read with gaps: the agent wrote its old text over lines that it had not seen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import re2

from rules_engine.evolution.gaps import Gap, Look, blamed, looks
from rules_engine.evolution.steps import name
from rules_engine.evolution.use import cores, words
from rules_engine.lines import WORTH
from rules_engine.types import Observation, Signal, Turn

WEIGHT = 0.9
_LONGEST = 2000
"""Characters of an answer that says that an edit failed; longer ones are something else."""

_FAILED = re2.compile(
    r"(?i)not found|no match|not match|n['o]t find|failed to find|unable to find|occurs 0 times|0 occurrences|not appear verbatim"
    r"|does not (?:exist|occur|contain|appear)|did not appear|patch (?:does not apply|failed)|hunk #?\d+ failed|verification failed|invalid context"
)
_OLD = re2.compile(r"(?i)^(?:old|search|find|target|original|before|context|patch|input|diff)")


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """Signals for each read whose gaps the old text of a failed edit runs into: against the rules whose lines it tries to
    quote, else each of them, since no old text over the gap matches without the lines of all."""
    return tuple(
        signal
        for result in turns[-1].results
        if len(result.observation.text) <= _LONGEST and _FAILED.search(result.observation.text)
        for signal in _judge(turns, _sought(result.observation))
    )


def _judge(turns: Sequence[Turn], sought: Sequence[str]) -> Iterator[Signal]:
    old = tuple(line for line in cores(sought) if line)
    for look in looks(turns) if old else ():
        gaps = tuple(_torn(look, old))
        for rule in blamed(look.used(gaps, words("\n".join(old))) or gaps):
            evidence = f"an edit did not match what was left out of {name(look.observation)}"
            yield Signal(name="edit", key=look.observation.key, rules=(rule,), evidence=evidence, weight=WEIGHT)


def _torn(look: Look, old: Sequence[str]) -> Iterator[Gap]:
    """The gaps that lie between lines of the old text, or next to them."""
    text = look.observation.text
    raw = cores(text.split("\n"))
    if _stands(raw, old):
        return  # what it quotes is right as it was read: the file has changed since
    quoted = frozenset(line for line in old if len(line) >= WORTH) & frozenset(cores(look.shown.split("\n")))
    places = [at for at, line in enumerate(raw) if line in quoted]
    for gap in look.gaps if places else ():
        first = text.count("\n", 0, gap.start)
        last = first + gap.text.rstrip("\n").count("\n")
        if any(first - 1 <= at <= last + 1 for at in places):
            yield gap


def _stands(raw: Sequence[str], old: Sequence[str]) -> bool:
    return "\n".join(old) in "\n".join(line for line in raw if line)


def _sought(observation: Observation) -> list[str]:
    """Lines that an edit expects to find: its old text, or the context and the removed lines of a patch."""
    command = observation.command
    try:
        given = json.loads(command) if command[:1] == "{" else {"patch": command}
    except (ValueError, RecursionError):
        return []
    texts = [text for key, text in given.items() if isinstance(text, str) and _OLD.search(key)]
    return [line for text in texts for line in _kept(text)]


def _kept(text: str) -> list[str]:
    lines = text.split("\n")
    if "*** Begin Patch" not in text and "\n@@" not in text:
        return lines
    return [line[1:] for line in lines if line[:1] in (" ", "-") and line[:3] != "---"]
