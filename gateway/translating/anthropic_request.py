"""A Messages request as a chat completion.

system, messages ─chat→ messages;  tools, tool_choice, … ─fields→ fields;  hints ─→ nothing;  all else ─→ `BadRequest`
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gateway.errors import BadRequest

_SAME = frozenset({"model", "stream", "max_tokens", "temperature", "top_p", "top_k"})
_HINTS = frozenset({"metadata", "thinking", "cache_control", "service_tier"})
"""Fields without which the answer is no other in kind."""
_NOTHING: tuple[object, ...] = (None, [], {})
_EFFORT = "effort"
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
"""Blocks that nobody but the provider which made them can read."""
_CHOICES: Mapping[object, str] = {"auto": "auto", "any": "required", "none": "none"}

Chat = dict[str, Any]


def ask(body: Mapping[str, Any]) -> Chat:
    """The request as a chat completion. Raises `BadRequest` with what cannot be translated."""
    out: Chat = {}
    for name, value in body.items():
        if name in _SAME:
            out[name] = value
        elif name not in _HINTS and value not in _NOTHING:
            out |= _field(name, value)
    out["messages"] = [*_system(body.get("system")), *_messages(body.get("messages"))]
    if body.get("stream") is True:
        out["stream_options"] = {"include_usage": True}
    return out


def _field(name: str, value: Any) -> Chat:
    match name:
        case "messages" | "system":
            return {}
        case "stop_sequences":
            return {"stop": value}
        case "tools":
            return {"tools": [_tool(tool, f"tools[{k}]") for k, tool in enumerate(_listed(value, "tools"))]}
        case "tool_choice" if isinstance(value, dict):
            return _choice(value)
        case "output_config" if isinstance(value, dict) and all(key == _EFFORT or value[key] is None for key in value):
            return {}
        case "context_management" if _keeps_results(value):
            return {}
    raise _untold(name)


def _keeps_results(management: Any) -> bool:
    """It only clears what is left out here anyway."""
    edits = management.get("edits") if isinstance(management, dict) else None
    return isinstance(edits, list) and all(
        isinstance(edit, dict) and str(edit.get("type")).startswith("clear_thinking_") for edit in edits
    )


def _tool(tool: Any, at: str) -> Chat:
    if not isinstance(tool, dict) or tool.get("type") not in (None, "custom") or "input_schema" not in tool:
        raise _untold(at, "it is a tool of Anthropic's own")
    function = {"name": tool.get("name"), "parameters": tool["input_schema"]}
    more = {name: tool[name] for name in ("description", "strict") if name in tool}
    return {"type": "function", "function": function | more}


def _choice(choice: Mapping[str, Any]) -> Chat:
    kind = choice.get("type")
    alone = {"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") is True else {}
    if kind == "tool":
        return {"tool_choice": {"type": "function", "function": {"name": choice.get("name")}}, **alone}
    if kind not in _CHOICES:
        raise _untold("tool_choice")
    return {"tool_choice": _CHOICES[kind], **alone}


def _system(system: Any) -> list[Chat]:
    said = _joined(_parts(system, "system", _text))
    return [{"role": "system", "content": said}] if said else []


def _messages(messages: Any) -> Iterator[Chat]:
    for k, message in enumerate(_listed(messages, "messages")):
        if not isinstance(message, dict):
            raise _untold(f"messages[{k}]")
        yield from _message(message.get("role"), message.get("content"), f"messages[{k}].content")


def _message(role: Any, content: Any, at: str) -> Iterator[Chat]:
    match role:
        case "assistant":
            yield _answered(content, at)
        case "system":
            yield {"role": role, "content": _joined(_parts(content, at, _text))}
        case "user":
            yield from _user(content, at)
        case _:
            raise _untold(at.removesuffix("content") + "role")


def _answered(content: Any, at: str) -> Chat:
    parts = _parts(content, at, lambda block, place: _called(block) or _text(block, place))
    calls = [part for part in parts if part["type"] == "function"]
    said = _joined([part for part in parts if part["type"] == "text"])
    return (
        {"role": "assistant", "content": said or None, "tool_calls": calls}
        if calls
        else {"role": "assistant", "content": said}
    )


def _called(block: Mapping[str, Any]) -> Chat | None:
    if block.get("type") != "tool_use":
        return None
    function = {"name": block.get("name"), "arguments": json.dumps(block.get("input"), ensure_ascii=False)}
    return {"type": "function", "id": block.get("id"), "function": function}


def _user(content: Any, at: str) -> Iterator[Chat]:
    """Results first, each a message of its own; pictures in them, which have no place there, with what the user says."""
    parts = _parts(content, at, lambda block, place: _result(block, place) or _shown(block, place))
    seen: list[Chat] = []
    for part in parts:
        if part["type"] == "result":
            yield {"role": "tool", "tool_call_id": part["call"], "content": _joined(part["parts"])}
            seen += [one for one in part["parts"] if one["type"] != "text"]
    seen += [part for part in parts if part["type"] != "result"]
    if seen:
        yield {"role": "user", "content": seen[0]["text"] if _is_plain(seen) else seen}


def _is_plain(parts: Sequence[Chat]) -> bool:
    return len(parts) == 1 and parts[0]["type"] == "text"


def _result(block: Mapping[str, Any], at: str) -> Chat | None:
    if block.get("type") != "tool_result":
        return None
    inner = _parts(block.get("content"), f"{at}.content", _shown)
    return {"type": "result", "call": block.get("tool_use_id"), "parts": inner}


def _shown(block: Mapping[str, Any], at: str) -> Chat:
    source = block.get("source") if block.get("type") == "image" else None
    match source:
        case {"type": "base64", "media_type": kind, "data": data}:
            return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
        case {"type": "url", "url": url}:
            return {"type": "image_url", "image_url": {"url": url}}
    return _text(block, at)


def _text(block: Mapping[str, Any], at: str) -> Chat:
    if block.get("type") != "text" or not isinstance(block.get("text"), str):
        raise _untold(at, f"it is of type '{block.get('type')}'")
    return {"type": "text", "text": block["text"]}


def _parts(content: Any, at: str, read: Callable[[Mapping[str, Any], str], Chat]) -> list[Chat]:
    """The blocks of a content, each read; a string is one text, and thoughts are none."""
    if content is None or isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    out = []
    for k, block in enumerate(_listed(content, at)):
        if not isinstance(block, dict):
            raise _untold(f"{at}[{k}]")
        if block.get("type") not in _THOUGHTS:
            out.append(read(block, f"{at}[{k}]"))
    return out


def _joined(parts: Sequence[Chat]) -> str:
    return "\n\n".join(part["text"] for part in parts if part["type"] == "text")


def _listed(value: Any, at: str) -> list[Any]:
    if not isinstance(value, list):
        raise _untold(at)
    return value


def _untold(at: str, why: str = "") -> BadRequest:
    reason = f" ({why})" if why else ""
    return BadRequest(
        f"'{at}' cannot be said to this model, which is not of the Messages API{reason}: leave it out, or name a model of"
        " an upstream that passes requests through",
        param=at,
    )
