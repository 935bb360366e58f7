"""OpenAI Responses, as a scripted model speaks them."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from itertools import chain, dropwhile, groupby
from typing import Any

from gateway.playing.commands import Tool, fill
from gateway.playing.saying import BORN, Asked, Items, Refused, Said, Usage, pieces, text_of
from gateway.scenario import Fault
from gateway.sse import Event

_SETTINGS: Mapping[str, object] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}
"""What an answer repeats of its request, and what it says where the request says nothing."""


def items_of(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The items that a request brings."""
    given = request.get("input") or ()
    return [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else list(given)


def read(request: Mapping[str, Any], history: Items = ()) -> Asked:
    """What is asked: items of the model that stand together are a turn."""
    items = [*history, *items_of(request)]
    since = dropwhile(lambda item: not _is_said(item), items)
    added = (item["tools"] for item in items if _kind(item) == "additional_tools")
    declared = [*(request.get("tools") or ()), *chain.from_iterable(added)]
    return Asked(
        request=request,
        answers=sum(said for said, _ in groupby(items, key=_is_said)) + sum(map(_compacted, items)),
        told=tuple(text_of(item.get("output") or item.get("content")) for item in since if not _is_said(item)),
        tools=tuple(_tools(declared)),
        pieces=tuple(map(_piece, (declared, request.get("instructions"), *items))),
        silent=request.get("generate") is False,
    )


def _kind(item: Mapping[str, Any]) -> str:
    return str(item.get("type") or "message")


def _piece(part: Any) -> str:
    """The same text for the same item, whatever the order of its keys and whether it says that it is a message."""
    return json.dumps({**part, "type": _kind(part)} if isinstance(part, Mapping) else part, sort_keys=True)


def _is_said(item: Mapping[str, Any]) -> bool:
    kind = _kind(item)
    return kind in ("reasoning", "item_reference") or kind.endswith("_call") or item.get("role") == "assistant"


def compact(items: Items, asked: Asked, prompt: int, serial: int) -> dict[str, Any]:
    """A conversation made short: what people said, and an item that stands for the rest."""
    mark = {"type": "compaction", "id": f"cmp_{serial}", "encrypted_content": b64encode(b"%d" % asked.answers).decode()}
    usage = Usage(prompt=prompt, cached=0, written=0, answer=1, reasoning=0)
    return {
        "id": f"resp_{serial}",
        "object": "response.compaction",
        "created_at": BORN,
        "output": [*(_message(item) for item in items if item.get("role") == "user"), mark],
        "usage": _usage(usage),
    }


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    said = item["content"]
    parts = [{"type": "input_text", "text": said}] if isinstance(said, str) else said
    return {**item, "type": "message", "content": parts}


def _compacted(item: Mapping[str, Any]) -> int:
    return int(b64decode(item["encrypted_content"])) if _kind(item) == "compaction" else 0


def _tools(declared: Items, namespace: str | None = None) -> Iterator[Tool]:
    for tool in declared:
        match tool:
            case {"type": "custom", "name": name, "description": str(told)} if "tools.exec_command(" in told:
                yield Tool(name=name, kind="script", namespace=namespace)
            case {"type": "function" | "custom" as kind, "name": name}:
                yield Tool(name=name, kind=kind, schema=tool.get("parameters") or {}, namespace=namespace)
            case {"type": "shell" | "local_shell" as kind}:
                yield Tool(name=kind, kind=kind)
            case {"type": "namespace", "name": name, "tools": members}:
                yield from _tools(members, name)


def answer(said: Said, asked: Asked, usage: Usage, serial: int) -> dict[str, Any]:
    """The whole response."""
    asks = asked.request
    settings = {key: default if asks.get(key) is None else asks[key] for key, default in _SETTINGS.items()}
    named = asks.get("conversation")
    return {
        "id": f"resp_{serial}",
        "object": "response",
        "created_at": BORN,
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": asks.get("model"),
        **settings,
        **({"conversation": {"id": named} if isinstance(named, str) else named} if named else {}),
        "output": list(_output(said, asked, serial)),
        "usage": _usage(usage),
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.answer,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + usage.answer,
    }


def _output(said: Said, asked: Asked, serial: int) -> Iterator[dict[str, Any]]:
    if said.reasoning:
        thought: dict[str, Any] = {"type": "reasoning", "id": f"rs_{serial}"}
        if "reasoning.encrypted_content" in (asked.request.get("include") or ()):
            thought["encrypted_content"] = b64encode(said.reasoning.encode()).decode()
        yield {**thought, "summary": [{"type": "summary_text", "text": said.reasoning}]}
    if said.text:
        part = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
        whole = {"type": "message", "id": f"msg_{serial}", "role": "assistant", "status": "completed"}
        yield {**whole, "content": [part]}
    if said.tool:
        for n, command in enumerate(said.commands):
            yield _call(said.tool, command, f"{serial}_{n}", f"call_{said.number}_{n}")


def _call(tool: Tool, command: str, place: str, name: str) -> dict[str, Any]:
    head = {"status": "completed", "call_id": name}
    where = {"namespace": tool.namespace} if tool.namespace else {}
    match tool.kind:
        case "custom" | "script":
            script = f"const run = await tools.exec_command({{cmd: {json.dumps(command)}}});\ntext(run.output);"
            given = {"name": tool.name, "input": command if tool.kind == "custom" else script}
            return {"type": "custom_tool_call", "id": f"ctc_{place}", **head, **given, **where}
        case "shell":
            action: dict[str, Any] = {"commands": [command], "max_output_length": None, "timeout_ms": None}
            return {"type": "shell_call", "id": f"sh_{place}", **head, "action": action}
        case "local_shell":
            action = {"type": "exec", "command": ["bash", "-lc", command], "env": {}}
            return {"type": "local_shell_call", "id": f"lsh_{place}", **head, "action": action}
    called = {"name": tool.name, "arguments": json.dumps(fill(tool, command))}
    return {"type": "function_call", "id": f"fc_{place}", **head, **called, **where}


def stream(whole: Mapping[str, Any], asked: Asked, fault: Fault) -> Iterator[Event]:
    """The response, item by item; its last event holds all of it, and nothing comes after that."""
    for event in events(whole, asked, fault):
        yield Event(json.dumps(event), event["type"])


def events(whole: Mapping[str, Any], _asked: Asked, fault: Fault) -> Iterator[dict[str, Any]]:
    """The same as they go through a WebSocket."""
    for number, event in enumerate(_events(whole, fault)):
        yield event | {"sequence_number": number}


def _events(whole: Mapping[str, Any], fault: Fault) -> Iterator[dict[str, Any]]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield _event("created", response=begun)
    yield _event("in_progress", response=begun)
    for index, item in enumerate(whole["output"]):
        yield from _item_events(index, item)
    if fault.error_event:
        yield {"type": "error", "code": "server_error", "message": fault.error_event, "param": None}
        return
    yield _event("completed", response=whole)


def _item_events(index: int, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    empty: dict[str, object] = {} if item["type"] == "reasoning" else {"status": "in_progress"}
    inside: Iterator[dict[str, Any]] = iter(())
    match item["type"]:
        case "reasoning":
            empty["summary"] = []
            inside = _summary_events(item["summary"][0])
        case "message":
            empty["content"] = []
            inside = _text_events(item["content"][0])
        case "function_call":
            empty["arguments"] = ""
            inside = _growing("function_call_arguments", "arguments", item["arguments"])
        case "custom_tool_call":
            empty["input"] = ""
            inside = _growing("custom_tool_call_input", "input", item["input"])
        case "shell_call":
            empty["action"] = {**item["action"], "commands": []}
            inside = _command_events(item["action"]["commands"])
    at = {"output_index": index}
    named = at if item["type"] == "shell_call" else at | {"item_id": item["id"]}
    yield _event("output_item.added", **at, item={**item, **empty})
    yield from (event | named for event in inside)
    yield _event("output_item.done", **at, item=item)


def _summary_events(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    at = {"summary_index": 0}
    yield _event("reasoning_summary_part.added", **at, part={**part, "text": ""})
    yield from (event | at for event in _growing("reasoning_summary_text", "text", part["text"]))
    yield _event("reasoning_summary_part.done", **at, part=part)


def _text_events(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    at: dict[str, Any] = {"content_index": 0}
    yield _event("content_part.added", **at, part={**part, "text": ""})
    yield from (event | at | {"logprobs": []} for event in _growing("output_text", "text", part["text"]))
    yield _event("content_part.done", **at, part=part)


def _command_events(commands: list[str]) -> Iterator[dict[str, Any]]:
    for place, command in enumerate(commands):
        at = {"command_index": place}
        yield _event("shell_call_command.added", **at, command="")
        yield from (event | at for event in _growing("shell_call_command", "command", command))


def _growing(kind: str, field: str, text: str) -> Iterator[dict[str, Any]]:
    for piece in pieces(text, 16):
        yield _event(f"{kind}.delta", delta=piece)
    yield _event(f"{kind}.done", **{field: text})


def _event(kind: str, **fields: object) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def error(refused: Refused) -> dict[str, Any]:
    """An error's body."""
    kind = "server_error" if refused.status >= 500 else "invalid_request_error"
    code = refused.code or ("rate_limit_exceeded" if refused.status == 429 else None)
    return {"error": {"message": refused.message, "type": kind, "param": refused.param, "code": code}}
