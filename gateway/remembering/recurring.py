"""What recurs over sessions and is worth a candidate: commands that tell the same everywhere, and sequences that succeed.

session ─steps→ Step* ─recur→ Proposal* ─propose→ candidates
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from typing import Literal

from gateway.calls import is_shell
from gateway.errors import BadRequest
from gateway.identity import Item, Observer, chain
from gateway.rereading import reread
from memory import Archive
from memory.errors import EntryRefused
from memory.levels import Candidate, Levels, Pointer, Witness
from memory.levels.values import secrets_in, volatile_in
from rules_engine.critical import is_failing
from rules_engine.evolution.steps import is_change
from rules_engine.shell import pipelines

SESSIONS = 200
"""Sessions that are looked at, the latest."""
LEAST = 3
"""Sessions in which something has to recur."""
MOST = 20
"""Candidates of one search."""
SHORTEST, LONGEST = 2, 6
"""Commands of a sequence."""
_COMMAND = 200
_QUOTE = 200

_TELLING = re.compile(
    r"[\w./+-]+ (?:--version|-V|-version|version)|(?:which|command -v) [\w.+-]+|uname(?: -\w+)?|nproc|lsb_release -\w+"
    r"|git remote(?: -v| get-url \w+)|(?:git|npm|pip|yarn|pnpm) config (?:--get |get )[\w.-]+|go env \w+"
)
"""Commands that say what a machine or a repository is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command that an agent ran."""

    command: str
    output: str
    succeeded: bool
    changes: bool
    """It does something, and does not only look."""
    pointer: Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a candidate is made of."""

    level: Literal["L2", "L3"]
    name: str
    text: str
    witnesses: tuple[Witness, ...]


async def recall(archive: Archive, tenant: str) -> AsyncIterator[list[Step]]:
    """The steps of a tenant's latest sessions, one session at a time."""
    for name in await archive.sessions(tenant, SESSIONS):
        messages = await archive.conversation(name, tenant)
        yield steps(name, [message.content for message in messages])


def steps(session: str, messages: Sequence[bytes]) -> list[Step]:
    """What an agent ran in a session; messages that were forgotten are empty."""
    try:
        conversation, places = reread([json.loads(content) if content else None for content in messages])
    except BadRequest:
        return []
    seen = Observer().observe(conversation, "", chain(conversation, ""))
    return [_step(item, Pointer(session, places[one.at])) for one in seen for item in one.items if _is_shell(item)]


def recur(sessions: Iterable[Sequence[Step]]) -> list[Proposal]:
    """What is worth a candidate, what most sessions show first."""
    kept = [[step for step in session if step.succeeded] for session in sessions]
    found = [*_told(kept), *_sequences(kept)]
    return sorted(found, key=lambda proposal: (-len(proposal.witnesses), proposal.level, proposal.name))[:MOST]


def propose(levels: Levels, proposals: Iterable[Proposal]) -> tuple[list[Candidate], tuple[str, ...]]:
    """Put candidates up; those that are up, and why others are not."""
    out, refused = [], []
    for each in proposals:
        try:
            out.append(levels.propose(each.level, each.name, each.text, each.witnesses))
        except EntryRefused as error:
            refused.append(f"{each.level} {each.name}: {error}")
    return out, tuple(refused)


def _is_shell(item: Item) -> bool:
    tool = item.observation.tool
    return bool(item.observation.command) and item.observation.command[:1] != "{" and (not tool or is_shell(tool))


def _step(item: Item, pointer: Pointer) -> Step:
    observation = item.observation
    return Step(
        command=observation.command.strip(),
        output=observation.text,
        succeeded=not is_failing(observation, observation.text.split("\n")),
        changes=is_change(observation),
        pointer=pointer,
    )


def _told(sessions: Sequence[Sequence[Step]]) -> Iterator[Proposal]:
    """Commands whose answer was the same wherever they were run."""
    answers: dict[str, dict[str, tuple[str, Step]]] = defaultdict(dict)
    changed: set[str] = set()
    for session in sessions:
        for step in session:
            line = _first_line(step.output)
            if not line or not _TELLING.fullmatch(step.command):
                continue
            known = answers[step.command]
            if any(other != line for other, _ in known.values()):
                changed.add(step.command)
            known.setdefault(step.pointer.session, (line, step))
    for command, known in answers.items():
        if len(known) >= LEAST and command not in changed:
            witnesses = tuple(_witness(step, line) for line, step in known.values())
            text = f"`{command}` prints: {witnesses[0].quote}"
            yield Proposal(level="L2", name="ENVIRONMENT", text=text, witnesses=witnesses)


def _sequences(sessions: Sequence[Sequence[Step]]) -> Iterator[Proposal]:
    """Sequences of commands that succeeded in several sessions, none of them part of a longer one that did."""
    shown: dict[tuple[str, ...], dict[str, Witness]] = defaultdict(dict)
    for session in sessions:
        actions = [(step, _last_line(step.output)) for step in session if step.changes and _is_plain(step.command)]
        for at, size in product(range(len(actions)), range(SHORTEST, LONGEST + 1)):
            run = actions[at : at + size]
            spoken = [_witness(step, line) for step, line in run if line]
            commands = tuple(step.command for step, _ in run)
            if spoken and len(set(commands)) == size:
                shown[commands].setdefault(spoken[-1].pointer.session, spoken[-1])
    lasting = {commands: seen for commands, seen in shown.items() if len(seen) >= LEAST}
    for commands, seen in lasting.items():
        if not any(_is_part(commands, other) and len(lasting[other]) == len(seen) for other in lasting):
            text = _procedure(commands)
            yield Proposal(level="L3", name=_name(commands), text=text, witnesses=tuple(seen.values()))


def _is_plain(command: str) -> bool:
    fits = len(command) <= _COMMAND and "\n" not in command and "`" not in command
    return fits and "[redacted:" not in command and not volatile_in(command) and not secrets_in(command)


def _is_part(one: Sequence[str], other: Sequence[str]) -> bool:
    spans = (other[at : at + len(one)] for at in range(len(other) - len(one) + 1))
    return len(one) < len(other) and any(span == one for span in spans)


def _last_line(output: str) -> str:
    """The last line that says anything and can be quoted."""
    tail = (line.strip() for line in reversed(output.split("\n")[-20:]))
    return next((line for line in tail if line and not secrets_in(line)), "")


def _witness(step: Step, line: str) -> Witness:
    return Witness(pointer=step.pointer, quote=line[:_QUOTE], message=step.output, succeeded=step.succeeded)


def _first_line(output: str) -> str:
    return next((line.strip() for line in output.split("\n") if line.strip()), "")


def _procedure(commands: Sequence[str]) -> str:
    listed = "\n".join(f"{number}. `{command}`" for number, command in enumerate(commands, 1))
    return (
        f"# {', '.join(_programs(commands))}\n\nRan in this order without a failure, in several sessions:\n\n{listed}\n"
    )


def _name(commands: Sequence[str]) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", "_".join(_programs(commands)).lower()).strip("_")[:40]
    return f"{words or 'commands'}_{blake2b(chr(10).join(commands).encode(), digest_size=2).hexdigest()}.md"


def _programs(commands: Sequence[str]) -> list[str]:
    found: Mapping[str, None] = dict.fromkeys(
        stages[-1][0] for command in commands for stages in pipelines(command) if stages[-1][0] not in ("cd", "echo")
    )
    return list(found)
