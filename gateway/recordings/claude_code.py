"""Session files of Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`, a line for each block that was said.

Neither the system prompt nor the tools nor what the agent puts into messages as reminders stands in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.recordings.lines import plain_name
from gateway.recordings.session import ODD, Lines, Note, Session, rows_of, tell, time_of

_MARKS = frozenset({"parentUuid", "sessionId", "leafUuid"})
_SAID = ("user", "assistant")
_OTHERS = frozenset(
    {
        "agent-color", "agent-name", "agent-setting", "ai-title", "attachment", "attribution-snapshot", "bridge-session",
        "custom-title", "file-history-snapshot", "frame-link", "isolation-latch", "last-prompt", "mode", "permission-mode",
        "pr-link", "progress", "queue-operation", "relocated", "speculation-accept", "summary", "system", "tag",
        "task-summary", "worktree-state",
    }
)  # fmt: skip
"""Lines about a session that are no messages."""
_INVENTED = "<synthetic>"
"""The model of answers that the agent made up itself."""

Row = Mapping[str, Any]


def is_form(line: object) -> bool:
    """It names its session or its parent."""
    return isinstance(line, dict) and isinstance(line.get("type"), str) and not _MARKS.isdisjoint(line)


def read(lines: Lines, path: Path, note: Note) -> Iterator[Session]:
    """The sessions in a file: the main one, one more after each compaction and for each prompt that was written anew, and
    those of sub-agents."""
    file = _File()
    for row in rows_of(lines, file.left_out):
        file.take(row)
    tell(file.left_out, path, note)
    name = plain_name(path)
    for number, thread in enumerate((thread for thread in file.threads if thread.messages), 1):
        yield thread.session(name if number == 1 else f"{name}#{number}", file.replaced)


@dataclass(eq=False)
class _Thread:
    """Messages that follow each other."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    times: dict[int, float] = field(default_factory=dict)
    model: str | None = None
    last: tuple[str, int] = ("", 0)
    """Id and place of the last answer."""

    def up_to(self, end: int) -> _Thread:
        """The same up to this message, to go on otherwise."""
        answers = [at for at in self.answers if at <= end]
        return _Thread(self.messages[: end + 1], answers, dict(self.times), self.model)

    def goes_on_behind(self, at: int) -> bool:
        """The agent has answered since this message."""
        return any(message["role"] == "assistant" for message in self.messages[at + 1 :])

    def add(self, row: Row, counts: bool) -> int:
        """One more line; gives the place of its message."""
        message, role = row["message"], row["type"]
        content, by = message.get("content") or "", str(message.get("id") or "") if role == "assistant" else ""
        if by and by == self.last[0]:
            return self._join(self.last[1], content)  # each block of an answer has a line, results between them
        if _is_prompt(row):
            self.last = "", 0
        if role == "user" and self.messages and self.messages[-1]["role"] == "user":
            return self._join(len(self.messages) - 1, content)  # and so has each result of calls side by side
        at = len(self.messages)
        self.messages.append({"role": role, "content": content})
        if role == "assistant":
            self.last = by, at
            self._count(row, at, counts and message.get("model") != _INVENTED)
        return at

    def _join(self, at: int, content: object) -> int:
        before = self.messages[at]
        told = _blocks(before["content"])
        more = [block for block in _blocks(content) if before["role"] == "user" or block not in told]
        self.messages[at] = {"role": before["role"], "content": [*told, *more]}
        return at

    def _count(self, row: Row, at: int, counts: bool) -> None:
        if counts:
            self.model = str(row["message"].get("model") or "") or self.model
        if counts and at:
            self.answers.append(at)
            if (time := time_of(row)) is not None:
                self.times[at] = time

    def session(self, name: str, replaced: Mapping[str, str]) -> Session:
        """What was gathered."""
        messages = [_with(message, replaced) for message in self.messages] if replaced else self.messages
        return Session(name, self.model, messages, (), agent="Claude Code", answers=self.answers, times=self.times)


@dataclass(eq=False)
class _File:
    """The lines of a file, each put where it belongs by whose child it is."""

    main: _Thread = field(default_factory=_Thread)
    threads: list[_Thread] = field(default_factory=list)
    places: dict[str, tuple[_Thread, int]] = field(default_factory=dict)
    """Of each line its thread and message, by the line's id."""
    said: dict[str, Row] = field(default_factory=dict)
    kept: dict[str, list[str]] = field(default_factory=dict)
    """Behind which line a compaction put which lines from before it."""
    known: set[str] = field(default_factory=set)
    """Lines that compactions took along."""
    replaced: dict[str, str] = field(default_factory=dict)
    """What was sent in the place of a call's result."""
    left_out: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.threads.append(self.main)

    def take(self, row: Row) -> None:
        """One more line."""
        try:
            self._take(row)
        except ODD:
            self.left_out["not understood"] += 1

    def _take(self, row: Row) -> None:
        kind, message = row.get("type"), row.get("message")
        if kind in _SAID and isinstance(message, dict) and "content" in message and not row.get("isApiErrorMessage"):
            self._say(row)
        elif row.get("subtype") == "compact_boundary":
            self._compact(row)
        else:
            if kind == "content-replacement":
                self._replace(row)
            elif kind not in _OTHERS and not row.get("isApiErrorMessage"):
                why = "without a message" if kind in _SAID else "which is not known"
                self.left_out[f"of type {str(kind)!r}, {why}"] += 1
            if place := self.places.get(str(row.get("parentUuid"))):
                self.places[str(row.get("uuid"))] = place

    def _say(self, row: Row) -> None:
        name, thread = str(row.get("uuid")), self._thread(row)
        self.said[name] = row
        self.places[name] = thread, thread.add(row, counts=name not in self.known)
        for other in self.kept.get(name, ()):
            if other in self.said:
                self.places[name] = self.places[other] = thread, thread.add(self.said[other], counts=False)

    def _thread(self, row: Row) -> _Thread:
        aside, prompt = bool(row.get("isSidechain")), _is_prompt(row)
        place = self.places.get(str(row.get("parentUuid")))
        if place is None:
            anew = aside or (prompt and row.get("parentUuid") is None and self.main.goes_on_behind(-1))
            return self._begin(_Thread(), aside) if anew else self.main
        thread, at = place
        if prompt and thread.goes_on_behind(at):  # another prompt in the place of one
            return self._begin(thread.up_to(at), aside)
        return thread if aside else self.main

    def _begin(self, thread: _Thread, aside: bool) -> _Thread:
        self.threads.append(thread)
        if not aside:
            self.main = thread
        return thread

    def _compact(self, row: Row) -> None:
        thread = self._begin(_Thread(), bool(row.get("isSidechain")))
        self.places[str(row.get("uuid"))] = thread, -1
        about = row.get("compactMetadata")
        kept = about.get("preservedMessages") if isinstance(about, dict) else None
        if isinstance(kept, dict) and isinstance(kept.get("uuids"), list):
            self.kept[str(kept.get("anchorUuid"))] = names = [str(name) for name in kept["uuids"]]
            self.known.update(names)

    def _replace(self, row: Row) -> None:
        replacements = row.get("replacements")
        for one in replacements if isinstance(replacements, list) else ():
            if isinstance(one, dict) and isinstance(one.get("replacement"), str):
                self.replaced[str(one.get("toolUseId"))] = one["replacement"]


def _is_prompt(row: Row) -> bool:
    blocks = _blocks(row["message"].get("content") or "")
    return row["type"] == "user" and not any(isinstance(b, dict) and b.get("type") == "tool_result" for b in blocks)


def _with(message: dict[str, Any], replaced: Mapping[str, str]) -> dict[str, Any]:
    """A message with what was sent in the place of results."""
    if not isinstance(message["content"], list):
        return message
    blocks = [
        {**block, "content": replaced[str(block["tool_use_id"])]}
        if isinstance(block, dict) and block.get("type") == "tool_result" and str(block.get("tool_use_id")) in replaced
        else block
        for block in message["content"]
    ]
    return {**message, "content": blocks}


def _blocks(content: object) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": str(content)}] if content else []
