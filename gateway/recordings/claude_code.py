"""Session files of Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`, a line for each block that was said.

Neither the system prompt nor the tools nor what the agent puts into messages as reminders stands in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.recordings.session import Lines, Note, Session, rows_of, tell

_MARKS = frozenset({"parentUuid", "sessionId", "leafUuid"})
_SAID = ("user", "assistant")
_OTHERS = frozenset(
    {
        "summary", "system", "attachment", "file-history-snapshot", "queue-operation", "last-prompt", "progress",
        "custom-title", "ai-title", "agent-name", "tag", "mode", "permission-mode", "pr-link", "worktree-state",
    }
)  # fmt: skip
"""Lines about a session that are no messages."""
_INVENTED = "<synthetic>"
"""The model of messages that the agent made up itself, such as an error of the API."""


def is_form(first: object) -> bool:
    """It names its session or its parent."""
    return isinstance(first, dict) and isinstance(first.get("type"), str) and not _MARKS.isdisjoint(first)


def read(lines: Lines, path: Path, note: Note) -> Iterator[Session]:
    """The sessions in a file: the main one, one more after each compaction and for each prompt that was written anew, and
    those of sub-agents."""
    left_out: Counter[str] = Counter()
    main = _Thread()
    threads, aside = [main], dict[str, _Thread]()
    for row in rows_of(lines, left_out):
        if row.get("subtype") == "compact_boundary":
            main = _Thread()
            threads.append(main)
        elif row.get("type") in _SAID and isinstance(row.get("message"), dict):
            parent = str(row.get("parentUuid"))
            thread = main
            if row.get("isSidechain"):
                thread = aside.setdefault(str(row.get("uuid")), aside.get(parent) or _Thread())
            elif thread.is_rewound_to(parent, row):
                thread = main = main.up_to(parent)
            if thread not in threads:
                threads.append(thread)
            thread.add(row)
        elif row.get("type") not in _OTHERS:
            why = "without a message" if row.get("type") in _SAID else "which is not known"
            left_out[f"of type {str(row.get('type'))!r}, {why}"] += 1
    tell(left_out, path, note)
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    for number, thread in enumerate((thread for thread in threads if thread.messages), 1):
        yield thread.session(name if number == 1 else f"{name}#{number}")


@dataclass(eq=False)
class _Thread:
    """Messages that follow each other."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    start: int = 0
    model: str | None = None
    said_by: str = ""
    """Id of the last message, where it is the agent's."""
    places: dict[str, int] = field(default_factory=dict)
    """Of each line its message, by the line's id."""

    def is_rewound_to(self, parent: str, row: dict[str, Any]) -> bool:
        """A prompt goes on from a place that the agent has gone on from already."""
        at = self.places.get(parent)
        if at is None or row["type"] != "user" or _has_results(row["message"]):
            return False
        return any(message["role"] == "assistant" for message in self.messages[at + 1 :])

    def up_to(self, parent: str) -> _Thread:
        """The same up to this line, to go on otherwise."""
        end = self.places[parent] + 1
        places = {line: at for line, at in self.places.items() if at < end}
        return _Thread(self.messages[:end], start=end, model=self.model, places=places)

    def add(self, row: dict[str, Any]) -> None:
        """One more line."""
        message, role = row["message"], row["type"]
        if message.get("model") == _INVENTED:
            return
        content, by = message.get("content") or "", str(message.get("id", "")) if role == "assistant" else ""
        last = self.messages[-1] if len(self.messages) > self.start else None
        if last and last["role"] == role and (role == "user" or (by and by == self.said_by)):
            # Calls that ran side by side have a line each, and so has each block of an answer; they are one message.
            self.messages[-1] = {"role": role, "content": [*_blocks(last["content"]), *_blocks(content)]}
        else:
            self.messages.append({"role": role, "content": content})
        self.said_by = by
        self.model = str(message["model"]) if message.get("model") else self.model
        self.places[str(row.get("uuid"))] = len(self.messages) - 1

    def session(self, name: str) -> Session:
        """What was gathered."""
        return Session(name, self.model, self.messages, (), agent="Claude Code", start=self.start)


def _has_results(message: dict[str, Any]) -> bool:
    return any(isinstance(b, dict) and b.get("type") == "tool_result" for b in _blocks(message.get("content") or ""))


def _blocks(content: object) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": str(content)}] if content else []
