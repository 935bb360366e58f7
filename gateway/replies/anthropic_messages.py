"""What an answer of Anthropic Messages says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.replies import Reply, assemble, parse, words_of
from memory import canonical

_GROWING: Mapping[str, tuple[str, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
    "compaction_delta": ("content", "content"),
}
"""By kind of delta: where it has its piece, and the field of the block that the pieces make up."""


def read_reply(body: bytes, content_type: str, content_encoding: str = "") -> Reply:
    """Put an answer together, whole or streamed, complete or not."""
    return assemble(_Answer(), body, content_type, content_encoding)


@dataclass(slots=True)
class _Answer:
    """Events, or one whole message, on their way to a reply."""

    said: dict[str, Any] = field(default_factory=dict)
    """The message without its content."""
    blocks: dict[int, _Block] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    error: str | None = None
    ended: bool = False

    def add(self, value: object, name: str) -> None:
        if not isinstance(value, dict):
            return
        kind = value.get("type") or name
        if kind == "error" or value.get("error"):
            self.error = self.error or words_of(value.get("error") or value)
        elif kind == "message_start" and isinstance(value.get("message"), dict):
            self._take(value["message"])
        elif kind == "message":
            self._take(value)
            self.ended = True
        elif kind == "message_delta":
            delta = value.get("delta")
            self.said |= {k: v for k, v in delta.items() if v is not None} if isinstance(delta, dict) else {}
            self._count(value.get("usage"))
        elif kind == "message_stop":
            self.ended = True
        elif isinstance(place := value.get("index"), int):
            self._extend(self.blocks.setdefault(place, _Block()), value)

    def end(self) -> None:
        """The mark that some put behind the last event says nothing that it has not said."""

    def _take(self, message: Mapping[str, Any]) -> None:
        self.said |= {key: value for key, value in message.items() if key not in ("content", "usage")}
        content = message.get("content")
        for place, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                self.blocks[place] = _Block(dict(block))
        self._count(message.get("usage"))

    def _count(self, usage: object) -> None:
        """What is reported later replaces what was before: it counts from the beginning. A 0 says that nobody counted."""
        if isinstance(usage, dict):
            told = self.usage or {}
            self.usage = told | {key: value for key, value in usage.items() if value or not told.get(key)}

    def _extend(self, block: _Block, event: Mapping[str, Any]) -> None:
        started, delta = event.get("content_block"), event.get("delta")
        if isinstance(started, dict):
            block.said = dict(started)
        elif isinstance(delta, dict):
            block.extend(delta)

    def close(self, problem: str | None) -> Reply:
        content = [self.blocks[place].close() for place in sorted(self.blocks)]
        error = self.error or problem
        reason = self.said.get("stop_reason")
        return Reply(
            message={"role": "assistant", "content": content} if self.said or content else {},
            words="\n".join(word for block in content for word in _words(block)),
            finish_reason=reason if isinstance(reason, str) else None,
            usage=self.usage,
            error=error,
            complete=error is None and (self.ended or reason is not None),
        )


@dataclass(slots=True)
class _Block:
    """One block of the content on its way."""

    said: dict[str, Any] = field(default_factory=dict)
    pieces: dict[str, list[str]] = field(default_factory=dict)
    citations: list[Any] = field(default_factory=list)

    def extend(self, delta: Mapping[str, Any]) -> None:
        """Take what comes next."""
        kind = str(delta.get("type"))
        if kind == "citations_delta":
            self.citations.append(delta.get("citation"))
        elif kind in _GROWING:
            source, name = _GROWING[kind]
            if isinstance(piece := delta.get(source), str):
                self.pieces.setdefault(name, []).append(piece)

    def close(self) -> dict[str, Any]:
        """The block; input that does not come to its end stays text."""
        whole = {"type": "text"} | self.said if "text" in self.pieces else dict(self.said)
        for name, pieces in self.pieces.items():
            text = "".join(pieces)
            before = whole.get(name)
            whole[name] = _input(text, before) if name == "input" else (before or "") + text
        if self.citations:
            whole["citations"] = [*(whole.get("citations") or ()), *self.citations]
        return whole


def _input(text: str, before: object) -> object:
    try:
        return parse(text) if text else before
    except (ValueError, RecursionError):
        return text


def _words(block: Mapping[str, Any]) -> Iterator[str]:
    """What a block says and asks for."""
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        yield block["text"]
    elif "input" in block:
        given = block["input"]
        yield f"{block.get('name')} {given if isinstance(given, str) else canonical(given).decode()}"
