"""One session as the paper's task: what is known of it at its start, and what each exchange says about its rules."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway.evolving.learning import turns
from gateway.exchange import Exchange
from gateway.identity import Item, Seen
from gateway.passes import Shown
from gateway.types import Conversation
from rules_engine import Context, Kept, Observation, Result, Rewritten, Settings, Signal, Turn, decide, detect
from rules_engine.evolution.complaints import Complaint, complaints
from rules_engine.evolution.gaps import LOOK_BACK, lines_missed
from rules_engine.evolution.pool import PoolEvent
from rules_engine.evolution.prompts import Missed
from rules_engine.evolution.selection import Facts
from rules_engine.evolution.shadow import missed
from rules_engine.evolution.softening import soften
from rules_engine.evolution.task import Task, applied, complain, is_uncovered, repair, rules
from rules_engine.types import RuleRef

FACTS_CHARS = 20_000
"""Text before the first answer in which a repository is looked for."""

_MANIFEST = re.compile(
    r"\b(?:go\.mod|package\.json|pyproject\.toml|setup\.py|requirements\.txt|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?"
    r"|Makefile|CMakeLists\.txt|Gemfile|composer\.json|mix\.exs|Dockerfile|pnpm-lock\.yaml|yarn\.lock|uv\.lock)\b"
)
_FOLDER = re.compile(
    r"(?i)(?:working directory|current directory|workdir|cwd|<cwd>|repository)\W{0,4}\s*`?((?:/|[A-Z]:\\)[\w./\\@+-]+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one exchange says about a task's rules."""

    task: Task
    signals: tuple[Signal, ...]
    events: tuple[PoolEvent, ...]
    shadowed: Mapping[str, Result]
    """Observations, new ones and those within reach of a complaint, that rules in trial would have rewritten."""
    uncovered: tuple[Observation, ...]
    """New observations that are large and that no rule is for."""
    missed: tuple[Missed, ...]
    """Rules that were complained about, and that only a model may soften."""


def facts(conversation: Conversation, agent: str, system: str = "") -> Facts:
    """What can be known of a task from its first request; `agent` is how the client names itself, `system` is what its
    head says."""
    opening = [system]
    first = ""
    for placed in conversation.messages:
        if placed.message.role == "assistant":
            break
        opening.append(placed.message.words)
        if placed.message.role == "user":
            first = first or placed.message.words
    text = "\n".join(opening)[:FACTS_CHARS]
    folder = _FOLDER.search(text)
    return Facts(
        agent=agent.partition("/")[0].strip().lower(),
        tools=frozenset(conversation.tools),
        first_message=first[:FACTS_CHARS],
        marks=frozenset(_MANIFEST.findall(text)),
        repository=re.split(r"[/\\]", folder[1].rstrip("/\\."))[-1] if folder else "",
    )


def head_words(body: bytes, conversation: Conversation) -> str:
    """The system's words, where they stand in the head of a request."""
    if conversation.system is None:
        return ""
    start, end = (at + len(body) * (conversation.system[0] < 0) for at in conversation.system)
    try:
        said = json.loads(body[start:end])
    except (ValueError, RecursionError):
        return ""
    blocks = said if isinstance(said, list) else [{"text": said}]
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and block.get("text"))


def look(
    exchange: Exchange,
    task: Task,
    shadowed: Mapping[str, Result],
    heard: Sequence[Signal],
    settings: Settings,
    time: float,
) -> Look:
    """Count what was applied, decide with the rules in trial, listen to what the newest turn says, freeze and soften.

    `shadowed` and `heard` are what earlier exchanges of the session came to.
    """
    outgoing, history = exchange.outgoing, exchange.history
    assert outgoing is not None
    assert history is not None
    pinned = [s.pinned for s in outgoing.shown if s.item.observation.key in outgoing.fresh]
    task = applied(task, [one for one in pinned if isinstance(one, Rewritten)])
    new = [s.item.observation for s in outgoing.shown if s.at >= history.known]
    tried = _try(task, new, settings)
    task = applied(task, [result.decision for result in tried.values() if result.decision])
    signals, newest, near = _listen(exchange, shadowed)
    blamed = complaints([*heard, *signals])
    task, told = complain(task, blamed, time)
    events, hard = list(told), list[Missed]()
    for ref in [event.ref for event in told if event.name == "frozen" and event.ref is not None]:
        task, made, left = _repair(task, ref, blamed, newest, time)
        events += made
        hard += left
    return Look(
        task=task,
        signals=signals,
        events=tuple(events),
        shadowed=near | tried,
        uncovered=tuple(observation for observation in new if is_uncovered(task, observation)),
        missed=tuple(hard),
    )


def _listen(
    exchange: Exchange, shadowed: Mapping[str, Result]
) -> tuple[tuple[Signal, ...], tuple[Turn, ...], dict[str, Result]]:
    """What the newest turn says about what the agent was looking at, the turns that this was told from, and what of
    `shadowed` it can speak of."""
    conversation, outgoing = exchange.conversation, exchange.outgoing
    assert conversation is not None
    assert outgoing is not None
    recent = _recent(conversation)
    real = {s.item.observation.key: _result(s) for s in outgoing.shown if s.at >= recent}
    # Of a mark within reach it can be told what its recall was for; of an older one, only that it was asked for.
    signals = tuple(signal for signal in outgoing.signals if signal.key not in real)
    newest: tuple[Turn, ...] = ()
    if any(result.form and result.form.omissions for result in real.values()):
        newest = _turns(conversation, outgoing.seen, real, recent)
        signals = (*signals, *detect(newest))
    near = {key: result for key, result in shadowed.items() if key in real}
    if near:
        signals = (*signals, *missed(_turns(conversation, outgoing.seen, real | near, recent)))
    return signals, newest, near


def hands_back(exchange: Exchange) -> bool:
    """Whether the agent's task is done as far as can be seen: an answer that asks for nothing, from one that has tools."""
    conversation, shape = exchange.conversation, exchange.shape
    if exchange.outcome != "completed" or exchange.status != 200 or conversation is None or shape is None:
        return False
    plain = not any(name == b"content-encoding" for name, _ in exchange.answer_headers)
    return plain and bool(conversation.tools) and not shape.calls_tools(b"".join(exchange.reply))


def _repair(
    task: Task, ref: RuleRef, blamed: Iterable[Complaint], turns: Sequence[Turn], time: float
) -> tuple[Task, tuple[PoolEvent, ...], tuple[Missed, ...]]:
    """A softer rule in the place of one that was frozen; where none can be made, a question to a model."""
    rule = task.uses[ref].rule
    key = next(complaint.key for complaint in blamed if ref in complaint.rules)
    softer = soften(rule, lines_missed(turns, key, ref))
    if softer is not None:
        # It drops part of what its parent was admitted to drop, and nothing else.
        task, made = repair(task, softer, time, at_once=True)
        return task, made, ()
    found = (r.observation for turn in turns for r in turn.results if r.observation.key == key)
    said = turns[-1].said if turns else ""
    return task, (), tuple(Missed(rule=rule, command=o.command, text=o.text, said=said) for o in found)


def _try(task: Task, new: Sequence[Observation], settings: Settings) -> dict[str, Result]:
    trial = rules(task, settings, shadow=True)
    if not trial.rules:
        return {}
    out = {}
    for observation in new:
        decision = decide(observation, trial, Context(shell=True, chars=sys.maxsize))
        if not isinstance(decision, Kept) and decision.forms[-1].omissions:
            out[observation.key] = Result(observation=observation, decision=decision, form=decision.forms[-1])
    return out


def _recent(conversation: Conversation) -> int:
    """Index of the message with which the turns begin that a complaint may look back to."""
    asks = [placed.message.role == "assistant" for placed in conversation.messages]
    asked = [k for k, (before, ask) in enumerate(zip([False, *asks], asks, strict=False)) if ask and not before]
    return asked[-LOOK_BACK - 1] if len(asked) > LOOK_BACK else 0


def _turns(
    conversation: Conversation, seen: Sequence[Seen], results: Mapping[str, Result], start: int
) -> tuple[Turn, ...]:
    def result(item: Item) -> Result:
        return results.get(item.observation.key) or Result(observation=item.observation)

    return tuple(turns(conversation, seen, result, start))


def _result(shown: Shown) -> Result:
    decision = shown.pinned if isinstance(shown.pinned, Rewritten) else None
    return Result(observation=shown.item.observation, decision=decision, form=shown.form)
