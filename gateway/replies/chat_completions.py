"""What a chat-completions response says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.replies import Reply, assemble, words_of
from memory import canonical

_ONCE = frozenset({"role", "id", "type", "format", "signature"})
"""Fields that are said whole, and by some providers more than once."""


def read_reply(body: bytes, content_type: str, content_encoding: str = "") -> Reply:
    """Put an answer together, whole or streamed, complete or not."""
    return assemble(_Stream(), body, content_type, content_encoding)


@dataclass(slots=True)
class _Stream:
    """Chunks, or one whole response, on their way to a reply."""

    message: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    error: str | None = None
    ended: bool = False

    def add(self, chunk: object, name: str) -> None:
        if not isinstance(chunk, dict):
            return
        if isinstance(chunk.get("usage"), dict):
            self.usage = chunk["usage"]
        if name == "error" or chunk.get("error"):
            self.error = self.error or words_of(chunk.get("error") or chunk)
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                self._choose(choice)

    def end(self) -> None:
        self.ended = True

    def _choose(self, choice: Mapping[str, Any]) -> None:
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.finish_reason = reason
        delta = choice.get("delta")
        if isinstance(delta, dict):
            for name, value in delta.items():
                self._extend(name, value)
        elif isinstance(choice.get("message"), dict):
            self.message = dict(choice["message"])
            self.ended = bool(self.message)

    def _extend(self, name: str, value: object) -> None:
        if name == "tool_calls" and isinstance(value, list):
            for part in value:
                if isinstance(part, dict):
                    self._call(part)
        elif isinstance(value, str) and name not in _ONCE and self.message.get(name) is None:
            # joined at the end: a long answer in small pieces would be copied over and over
            self.texts.setdefault(name, []).append(value)
        elif value is not None:
            self.message[name] = merge(self._said(name), value, name)

    def _said(self, name: str) -> object:
        pieces = self.texts.pop(name, None)
        return self.message.get(name) if pieces is None else "".join(pieces)

    def _call(self, part: dict[str, Any]) -> None:
        call = self._slot(part)
        function = part.pop("function", None)
        part.pop("index", None)
        call.rest = merge(call.rest, part, "")
        if isinstance(function, dict):
            arguments = function.pop("arguments", None)
            if isinstance(arguments, str):
                call.arguments.append(arguments)
            call.function = merge(call.function, function, "")

    def _slot(self, part: Mapping[str, Any]) -> _Call:
        index, identity = part.get("index"), part.get("id")
        same = [call for call in self.calls if call.index == index] if index is not None else self.calls[-1:]
        named = bool((part.get("function") or {}).get("name"))
        # some providers number all parallel calls 0, or not at all; others send the id with every piece
        if same and not (named and identity and same[-1].rest.get("id") not in (identity, None)):
            return same[-1]
        self.calls.append(_Call(index=index))
        return self.calls[-1]

    def close(self, problem: str | None) -> Reply:
        message = {**self.message, **{name: "".join(pieces) for name, pieces in self.texts.items()}}
        if self.calls:
            message["tool_calls"] = [call.close() for call in self.calls]
        if message:
            message = {"role": message.pop("role", "assistant"), "content": message.pop("content", None), **message}
        error = self.error or problem
        return Reply(
            message=message,
            words=_words(message),
            finish_reason=self.finish_reason,
            usage=self.usage,
            error=error,
            complete=error is None and (self.ended or self.finish_reason is not None),
        )


def _words(message: Mapping[str, Any]) -> str:
    content, calls = message.get("content"), message.get("tool_calls")
    return (content if isinstance(content, str) else "") + (canonical(calls).decode() if calls else "")


@dataclass(slots=True)
class _Call:
    """One tool call on its way."""

    index: object
    rest: Any = field(default_factory=dict)
    function: Any = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def close(self) -> dict[str, Any]:
        whole = {"id": None, "type": "function", **self.rest}
        if self.function or self.arguments:
            whole["function"] = {**self.function, "arguments": "".join(self.arguments)}
        return whole


def merge(old: Any, new: Any, name: str) -> Any:
    """A delta's field added to what was said before: texts grow, objects merge, list items meet by their index."""
    if old is None or new is None:
        return new if old is None else old
    if isinstance(old, str) and isinstance(new, str):
        if name in _ONCE:
            return old or new
        return _grow(old, new) if name == "name" else old + new
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merge(old.get(key), value, key) for key, value in new.items()}
    if isinstance(new, list):
        return _join(old if isinstance(old, list) else [{"type": "text", "text": old}], new)
    if isinstance(old, list):
        return _join(old, [{"type": "text", "text": new}])
    return new


def _grow(old: str, new: str) -> str:
    # a name comes whole, whole again, or in pieces
    return new if new.startswith(old) else old if not new or old.startswith(new) else old + new


def _join(old: list[Any], new: list[Any]) -> list[Any]:
    out = list(old)
    for item in new:
        last = out[-1] if out and isinstance(out[-1], dict) else {}
        same = isinstance(item, dict) and "index" in item and all(last.get(k) == item.get(k) for k in ("index", "type"))
        if same:
            out[-1] = merge(last, {key: value for key, value in item.items() if key != "index"}, "")
        else:
            out.append(item)
    return out
