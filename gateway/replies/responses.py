"""What a Responses answer says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.replies import Reply, assemble, words_of
from memory import canonical

_LAST = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_PARTS: Mapping[str, tuple[str, str, str]] = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
}
"""By event: the list that it adds to, the type of the part, and where the part has its text."""
_FIELDS: Mapping[str, str] = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
    "response.mcp_call_arguments.delta": "arguments",
    "response.code_interpreter_call_code.delta": "code",
}


def read_reply(body: bytes, content_type: str, content_encoding: str = "") -> Reply:
    """Put an answer together, whole or streamed, complete or not."""
    return assemble(_Response(), body, content_type, content_encoding)


@dataclass(slots=True)
class _Response:
    """A whole response, or its events, on their way to a reply."""

    said: dict[str, Any] = field(default_factory=dict)
    """The response as it was told last."""
    items: dict[int, _Item] = field(default_factory=dict)
    error: str | None = None
    ended: bool = False

    def add(self, value: object, name: str) -> None:
        if not isinstance(value, dict):
            return
        kind = str(value.get("type") or name)
        response = value.get("response")
        if isinstance(response, dict):
            self._take(response, kind in _LAST)
        elif isinstance(value.get("output"), list):
            self._take(value, last=True)
        elif kind == "error" or value.get("error"):
            self.error = self.error or words_of(value.get("error") or value)
        elif isinstance(place := value.get("output_index", 0), int):
            self._extend(kind, self.items.setdefault(place, _Item()) if kind in _FILLS else None, value)

    def end(self) -> None:
        """The mark that some put behind the last event says nothing that it has not said."""

    def _take(self, response: Mapping[str, Any], last: bool) -> None:
        self.said |= {key: value for key, value in response.items() if value is not None}
        self.ended = self.ended or last
        if response.get("error"):
            self.error = self.error or words_of(response["error"])

    def _extend(self, kind: str, item: _Item | None, event: Mapping[str, Any]) -> None:
        if item is None:
            return
        if isinstance(event.get("item"), dict):
            item.said = event["item"]
            item.done = kind == "response.output_item.done"
        elif isinstance(delta := event.get("delta"), str):
            index = event.get("content_index", event.get("summary_index", 0))
            item.deltas.setdefault((kind, index if isinstance(index, int) else 0), []).append(delta)

    def close(self, problem: str | None) -> Reply:
        made = (self.items[place].close() for place in sorted(self.items))
        told = self.said.get("output")
        output = told if isinstance(told, list) and told else [item for item in made if item]
        message = {"type": "response", "id": self.said.get("id"), "role": "assistant", "output": output}
        error = self.error or problem
        return Reply(
            message=message if self.said or output else {},
            words="\n".join(word for item in output if isinstance(item, dict) for word in _words(item)),
            finish_reason=self._reason() if self.ended else None,
            usage=usage if isinstance(usage := self.said.get("usage"), dict) else None,
            error=error,
            complete=error is None and self.ended,
        )

    def _reason(self) -> str | None:
        details = self.said.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        named = (reason, self.said.get("status"))
        return next((name for name in named if name and isinstance(name, str)), None)


@dataclass(slots=True)
class _Item:
    """One item of the output on its way."""

    said: dict[str, Any] = field(default_factory=dict)
    deltas: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    """By event and place in the item."""
    done: bool = False

    def close(self) -> dict[str, Any]:
        """The item, of deltas where it did not come to its end."""
        if self.done:
            return self.said
        whole = dict(self.said)
        parts: dict[str, list[dict[str, str]]] = {}
        for (kind, _), pieces in sorted(self.deltas.items(), key=lambda found: found[0][1]):
            if kind in _FIELDS:
                whole[_FIELDS[kind]] = "".join(pieces)
            else:
                where, part, name = _PARTS[kind]
                parts.setdefault(where, []).append({"type": part, name: "".join(pieces)})
        return {"type": "message", "role": "assistant", **parts} if "content" in parts and not whole else whole | parts


_FILLS = frozenset({"response.output_item.added", "response.output_item.done", *_PARTS, *_FIELDS})


def _words(item: Mapping[str, Any]) -> Iterator[str]:
    """What an item says and asks for."""
    content = item.get("content") if item.get("type") == "message" else None
    for part in content if isinstance(content, list) else ():
        yield from (str(part[key]) for key in ("text", "refusal") if isinstance(part, dict) and part.get(key))
    asked = next((item[key] for key in ("arguments", "input", "action", "operation", "code") if item.get(key)), None)
    if asked is not None:
        name = item.get("name") or item.get("type")
        yield f"{name} {asked if isinstance(asked, str) else canonical(asked).decode()}"
