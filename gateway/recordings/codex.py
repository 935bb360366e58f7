"""Rollout files of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`, a line for each item of its history.

The tools stand in none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.messages.responses import is_made
from gateway.recordings.lines import plain_name, read_lines
from gateway.recordings.session import ODD, Lines, Note, Session, rows_of, tell, time_of

_ABOUT = frozenset({"session_meta", "turn_context", "world_state", "token_usage_record", "inter_agent_communication"})
"""Lines about a session that are no items."""
_KINDS = _ABOUT | {"response_item", "event_msg", "compacted"}
_NOT_SENT = frozenset({"ghost_snapshot", "other"})
"""Items that stay in the history and are not sent."""
_AMONG_PROMPTS = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<skill>", "<turn_aborted>",
    "<user_shell_command>", "<subagent_notification>",
)  # fmt: skip
"""What the agent tells the model in the user's name begins so."""

COPYING = 1.0
"""Seconds; no model has answered sooner."""

Item = dict[str, Any]


def is_form(line: object) -> bool:
    """It has an envelope of this form; before there were envelopes, the first line was about the session."""
    if not isinstance(line, dict) or "messages" in line or "role" in line:
        return False
    if isinstance(line.get("payload"), dict):
        return str(line.get("type")) in _KINDS
    return "record_type" in line or {"id", "timestamp"} <= line.keys()


def read(lines: Lines, path: Path, note: Note) -> Iterator[Session]:
    """The sessions in a file: one more after each compaction, and after each return to an earlier turn."""
    rollout = _Rollout(path)
    for row in rows_of(lines, rollout.left_out):
        rollout.take(row)
    rollout.close()
    tell(rollout.left_out, path, note)
    yield from rollout.sessions


@dataclass(eq=False)
class _Rollout:
    """A file as far as it has been read."""

    path: Path
    history: list[Item] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    times: dict[int, float] = field(default_factory=dict)
    thread: object = None
    began: float = 0.0
    copied: float = 0.0
    """Until then a branch wrote down what it had from another file, all at once; the turns there are that file's."""
    told: str = ""
    """The system prompt."""
    summary: Item | None = None
    """What the last compaction left, where it did not say which history goes on."""
    model: str | None = None
    ended: bool = True
    """The last answer is whole."""
    sessions: list[Session] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def take(self, row: Item) -> None:
        """One more line."""
        try:
            self._take(row)
        except ODD:
            self.left_out["not understood"] += 1

    def _take(self, row: Item) -> None:
        kind, payload = _opened(row)
        if kind == "session_meta":
            self._begin(payload, time_of(row) or 0.0)
        elif kind == "turn_context":
            self.model = str(payload.get("model") or "") or self.model
        elif kind == "token_usage_record":
            self.ended = True
        elif kind == "response_item" and payload.get("type") not in _NOT_SENT:
            self._say(payload, time_of(row))
        elif kind == "compacted":
            self._compact(payload)
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            self._go_on_with(_without_turns(self.history, payload.get("num_turns")), returned=True)
        elif kind not in _KINDS:
            self.left_out[f"of type {kind!r}, which is not known"] += 1

    def _begin(self, about: Item, time: float) -> None:
        if self.thread not in (None, about.get("id")):
            self.copied = self.began + COPYING
        elif self.thread is None:
            self.thread, self.began = about.get("id"), time
        told = about.get("base_instructions")
        self.told = str(told.get("text") or "") if isinstance(told, dict) else self.told
        base = about.get("history_base")
        if isinstance(base, dict) and not self.history:
            self._follow(str(base.get("thread_id")), base.get("end_ordinal_exclusive"))

    def _follow(self, thread: str, end: object) -> None:
        """A branch refers to the file that it goes on from; the turns there are that file's."""
        before = _file_of(thread, self.path)
        if before is None:
            self.left_out["that refers to an earlier file, which is not there"] += 1
            return
        earlier = _Rollout(before)
        for ordinal, row in enumerate(rows_of(read_lines(before), earlier.left_out)):
            if isinstance(end, int) and row.get("ordinal", ordinal) >= end:
                break
            earlier.take(row)
        self.history, self.model = earlier.history, earlier.model

    def _say(self, item: Item, time: float | None) -> None:
        at, made = len(self.history), is_made(item)
        own = time is None or time >= self.copied
        if made and at and own and (self.ended or not is_made(self.history[-1])):
            self.answers.append(at)
            if time is not None:
                self.times[at] = time
        self.ended = self.ended and not made
        self.history.append(item)

    def _compact(self, about: Item) -> None:
        history = about.get("replacement_history")
        if isinstance(history, list):
            self._go_on_with([item for item in history if isinstance(item, dict) and isinstance(item.get("type"), str)])
        else:
            asked = [item for item in self.history if item.get("role") == "user" and item is not self.summary]
            self.summary = _message("user", str(about.get("message") or ""))
            self._go_on_with([*asked, self.summary])

    def _go_on_with(self, history: list[Item], returned: bool = False) -> None:
        self.close()
        self.answers = [at for at in self.answers if at < len(history)] if returned else []
        self.times = {at: self.times[at] for at in self.answers if at in self.times}
        self.history, self.ended = history, True

    def close(self) -> None:
        """What was gathered is a session, if it answered anything."""
        if not self.answers:
            return
        base = plain_name(self.path)
        name = f"{base}#{len(self.sessions) + 1}" if self.sessions else base
        said = not self.told or any(_text(item) == self.told for item in self.history)
        head = () if said else (_message("developer", self.told),)
        self.sessions.append(
            Session(
                name,
                self.model,
                (*head, *self.history),
                (),
                agent="Codex",
                answers=[at + len(head) for at in self.answers],
                times={at + len(head): time for at, time in self.times.items()},
            )
        )


def _opened(row: Item) -> tuple[str, Item]:
    """The kind and content of a line; the first ones of this form had no envelope."""
    payload = row.get("payload")
    if isinstance(payload, dict):
        return str(row.get("type")), payload
    if "record_type" in row or ("timestamp" in row and "type" not in row):
        return "session_meta", row
    return ("response_item" if "type" in row or "role" in row else str(row.get("type"))), row


def _file_of(thread: str, path: Path) -> Path | None:
    """The file of a thread, in the folder of this one or of another day."""
    name = f"rollout-*-{thread}.jsonl*"
    folder = path.resolve().parent
    days = folder.parents[2].glob(f"[0-9]*/[0-9]*/[0-9]*/{name}") if len(folder.parents) > 2 else iter(())
    return next((found for found in (*folder.glob(name), *days) if found != path.resolve()), None)


def _without_turns(history: list[Item], turns: object) -> list[Item]:
    """The history before its last so many prompts of the user's."""
    asked = [at for at, item in enumerate(history) if _is_prompt(item)]
    count = turns if isinstance(turns, int) and turns > 0 else 0
    return history[: asked[-count] if count <= len(asked) else 0] if count else list(history)


def _is_prompt(item: Mapping[str, Any]) -> bool:
    return item.get("role") == "user" and not _text(item).startswith(_AMONG_PROMPTS)


def _text(item: Mapping[str, Any]) -> str:
    """The first text of a message."""
    content = item.get("content")
    first = content[0] if isinstance(content, list) and content else content
    return str(first.get("text") or "") if isinstance(first, dict) else str(first or "")


def _message(role: str, text: str) -> Item:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
