"""An edit fails to match after a read with gaps: the agent wrote its old text over lines that it had not seen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import re2

from rules_engine.gaps import Gap, Look, blamed, looks
from rules_engine.lines import WORTH
from rules_engine.steps import name
from rules_engine.types import Observation, Signal, Turn
from rules_engine.use import cores

WEIGHT = 0.9
_LONGEST = 2000
"""Characters of an answer that says that an edit failed; longer ones are something else."""

_FAILED = re2.compile(
    r"(?i)not found|no match|not match|n['o]t find|failed to find|unable to find|occurs 0 times|0 occurrences|not appear verbatim"
    r"|does not (?:exist|occur|contain|appear)|did not appear|patch (?:does not apply|failed)|hunk #?\d+ failed|verification failed|invalid context"
)
_OLD = re2.compile(r"(?i)^(?:old|search|find|target|original|before|context|patch|input|diff)")


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """One signal for each read whose gaps the old text of a failed edit runs into."""
    found: dict[str, Signal] = {}
    for result in turns[-1].results:
        observation = result.observation
        if len(observation.text) > _LONGEST or not _FAILED.search(observation.text):
            continue
        old = tuple(line for line in cores(_sought(observation)) if line)
        for look in looks(turns) if old else ():
            gaps = tuple(_torn(look, old))
            if gaps:
                evidence = f"an edit did not match what was left out of {name(look.observation)}"
                key = look.observation.key
                signal = Signal(name="edit", key=key, rules=blamed(gaps), evidence=evidence, weight=WEIGHT)
                found.setdefault(key, signal)
    return tuple(found.values())


def _torn(look: Look, old: Sequence[str]) -> Iterator[Gap]:
    """The gaps that lie between lines of the old text, or next to them where the old text goes on otherwise."""
    raw = cores(look.observation.text.split("\n"))
    if not old or _stands(raw, old):
        return  # what it quotes is right as it was read: the file has changed since
    quoted = frozenset(line for line in old if len(line) >= WORTH)
    shown = frozenset(cores(look.shown.split("\n")))
    places = [at for at, line in enumerate(raw) if line in quoted and line in shown]
    if not places or max(places) - min(places) > 4 * len(old) + len(raw):
        return
    for gap in look.gaps:
        begin = look.observation.text.find(gap.text)
        first = look.observation.text.count("\n", 0, begin)
        last = first + gap.text.rstrip("\n").count("\n")
        if min(places) - 1 <= last and first <= max(places) + 1:
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
