"""What holds of every result, whatever rules and kinds did: checked on the text itself, a breach named in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from rules_engine import guards, marks
from rules_engine.critical import Readings
from rules_engine.draft import Draft
from rules_engine.kinds import LOSSLESS
from rules_engine.types import Nature, Observation, Omission


def breach(observation: Observation, omitting: Sequence[tuple[Draft, Draft]], readings: Readings) -> str | None:
    """The first law that is broken, or `None`.

    `omitting` are the steps that leave something out, each as it was before and after, the last one's after being the
    result; what lossless kinds make between them is proved by their inverses. `readings` are of these texts.
    """
    draft = omitting[-1][1]
    if len(draft.text) >= len(observation.text):
        return "the result is not shorter"
    if is_json(observation.text) and not is_json(draft.text):
        return "it was JSON, and is not any more"
    for before, after in omitting:
        if fault := _omitted(before, after, observation.nature, readings):
            return fault
    return _unsettled(observation, draft)


def _omitted(before: Draft, after: Draft, sort: Nature | None, readings: Readings) -> str | None:
    if after.omissions == before.omissions:
        return None
    lines, result = before.text.split("\n"), after.text.split("\n")
    if fault := _misplaced(lines, result, after.omissions[len(before.omissions) :]):
        return fault
    if sort == "terminal" and (lost := _unstated(lines, result, readings.of(before.text).protected)):
        return f"{lost} lines that state a failure or a result are gone"
    return None


def is_json(text: str) -> bool:
    """The text is one JSON object or array."""
    body = text.strip()
    if body[:1] + body[-1:] not in ("{}", "[]"):
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _misplaced(lines: Sequence[str], result: Sequence[str], made: Sequence[Omission]) -> str | None:
    """Walk through the result: each line is the next of the input, or a mark that stands for as many as it says."""
    omissions = {omission.id: omission for omission in made}
    at = 0
    for line in result:
        mark = marks.parse(line) if line[:1] == "[" else None
        if mark and mark.id in omissions:
            if omissions.pop(mark.id).lines != mark.lines:
                return f"the mark {mark.id} counts wrongly"
            at += mark.lines
        elif at >= len(lines) or lines[at] != line:
            return "a line is not from the input, or not in its place"
        else:
            at += 1
    return None if at == len(lines) and not omissions else "lines are missing without a mark"


def _unstated(lines: Sequence[str], result: Sequence[str], protected: Iterable[int]) -> int:
    """How many lines that state a failure or a result the result lacks."""
    said = Counter(lines[at] for at in protected)
    return sum((said - Counter(result)).values())


def _unsettled(observation: Observation, draft: Draft) -> str | None:
    """A kind that took part would edit its own result again."""
    for applied in draft.applied:
        kind = LOSSLESS.get(applied.rule[0])
        encoded = kind.encode(draft.text, observation) if kind else None
        if encoded and guards.worthwhile(encoded.edits):
            return f"{applied.rule[0]} would edit its result again"
    return None
