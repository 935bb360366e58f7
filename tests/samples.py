"""For each shape a small conversation in its own JSON, so that every contract of the wire holds for every shape."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.shapes import SHAPES

PROGRESS = (
    "".join(f"\r{k:3d}% [{'=' * (k // 4):25s}] {k * 37} kB" for k in range(101)) + "\nwrote archive.tar, 3737 kB\n"
)
"""What a terminal got: a bar drawn over and over. What it shows at the end is two lines."""
LISTING = "".join(f"src/module_{k:02d}.py  {1000 + k * 77}  {chr(97 + k % 26) * 12}\n" for k in range(60))
"""Lines of which each is its own; shown twice, the second showing can be a pointer."""
TASK = "Pack the archive and say what is in it. " * 150
"""Long enough that any provider caches what comes after it."""


@dataclass(frozen=True)
class Step:
    """One command that the agent ran, and what it printed."""

    command: str
    output: str


class Sample(Protocol):
    """A conversation in one shape."""

    key: str
    """The field that lists the messages."""
    needed: bool
    """A message needs a role to be one."""
    text: str
    """The type of a part that is text for the model."""

    def request(
        self, steps: Sequence[Step] = (), *, stream: bool = False, parts: Sequence[Any] = (), **more: Any
    ) -> dict[str, Any]:
        """The request after `steps`; with `parts` after the last output, which is then a part itself."""

    def parts(self, body: Mapping[str, Any]) -> list[Any]:
        """The parts of the last output."""

    def outputs(self, body: Mapping[str, Any]) -> list[str]:
        """The tool outputs that stand in a request, in order."""

    def unmarked(self, body: bytes) -> bytes:
        """A request without what a client moves on from turn to turn."""

    def usage(self, prompt: int, answer: int, cached: int | None = None) -> dict[str, Any]:
        """What a provider reports."""

    def answer(self, text: str, usage: Mapping[str, Any] | None = None) -> bytes:
        """A whole answer of an upstream."""

    def events(self, text: str, usage: Mapping[str, Any] | None = None) -> list[bytes]:
        """The same as server-sent events."""

    def error_event(self, data: bytes) -> str:
        """The message in an error event of this shape; fails if it is none, or not alone."""

    def error(self, body: bytes) -> str:
        """The message in an error body of this shape; fails if it is none."""


class ChatCompletions:
    """OpenAI chat completions."""

    key, needed, text = "messages", True, "text"

    def request(
        self, steps: Sequence[Step] = (), *, stream: bool = False, parts: Sequence[Any] = (), **more: Any
    ) -> dict[str, Any]:
        """Messages with one call and one result for each step."""
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": "You use a shell."},
            {"role": "user", "content": TASK},
        ]
        for k, step in enumerate(steps):
            call = {
                "id": f"call_{k}",
                "type": "function",
                "function": {"name": "bash", "arguments": json.dumps({"command": step.command})},
            }
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"call_{k}", "content": step.output})
        if parts:
            messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"]}, *parts]
        parameters = {"type": "object", "properties": {"command": {"type": "string"}}}
        tools = [{"type": "function", "function": {"name": "bash", "parameters": parameters}}]
        return {"model": "m-1", "messages": messages, "tools": tools, **({"stream": True} if stream else {}), **more}

    def parts(self, body: Mapping[str, Any]) -> list[Any]:
        """Those of the last message."""
        return list(body["messages"][-1]["content"])

    def outputs(self, body: Mapping[str, Any]) -> list[str]:
        """The contents of the role `tool`."""
        return [message["content"] for message in body["messages"] if message["role"] == "tool"]

    def unmarked(self, body: bytes) -> bytes:
        """The same."""
        return body

    def usage(self, prompt: int, answer: int, cached: int | None = None) -> dict[str, Any]:
        """Tokens of prompt and completion."""
        details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
        return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer, **details}

    def answer(self, text: str, usage: Mapping[str, Any] | None = None) -> bytes:
        """One choice."""
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return json.dumps({"id": "c1", "object": "chat.completion", "choices": [choice], **_usage(usage)}).encode()

    def events(self, text: str, usage: Mapping[str, Any] | None = None) -> list[bytes]:
        """A chunk for each word, the end, usage, the mark."""
        choices: list[list[dict[str, Any]]] = [[{"index": 0, "delta": {"content": word}}] for word in text.split(" ")]
        choices.append([{"index": 0, "delta": {}, "finish_reason": "stop"}])
        chunks: list[dict[str, Any]] = [
            {"id": "c1", "object": "chat.completion.chunk", "choices": choice} for choice in choices
        ]
        if usage:
            chunks.append({"id": "c1", "object": "chat.completion.chunk", "choices": [], **_usage(usage)})
        return [b"data: " + json.dumps(c, ensure_ascii=False).encode() + b"\n\n" for c in chunks] + [
            b"data: [DONE]\n\n"
        ]

    def error_event(self, data: bytes) -> str:
        """The error body as the data of an event."""
        assert data.startswith(b"data: ")
        assert data.endswith(b"}\n\n")
        return self.error(data[6:-2])

    def error(self, body: bytes) -> str:
        """``{"error": {message, type, param, code}}``."""
        detail = json.loads(body)["error"]
        assert set(detail) == {"message", "type", "param", "code"}
        assert isinstance(detail["message"], str)
        return detail["message"]


class Responses:
    """OpenAI Responses."""

    key, needed, text = "input", False, "input_text"

    def request(
        self, steps: Sequence[Step] = (), *, stream: bool = False, parts: Sequence[Any] = (), **more: Any
    ) -> dict[str, Any]:
        """Items with one call and one output for each step."""
        items: list[dict[str, Any]] = [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You use a shell."}]},
            {"role": "user", "content": TASK},
        ]
        for k, step in enumerate(steps):
            arguments = json.dumps({"command": step.command})
            items.append({"type": "function_call", "call_id": f"call_{k}", "name": "bash", "arguments": arguments})
            items.append({"type": "function_call_output", "call_id": f"call_{k}", "output": step.output})
        if parts:
            items[-1]["output"] = [{"type": "input_text", "text": items[-1]["output"]}, *parts]
        tools = [{"type": "function", "name": "bash", "parameters": {"type": "object"}}]
        return {"model": "m-1", "input": items, "tools": tools, **({"stream": True} if stream else {}), **more}

    def parts(self, body: Mapping[str, Any]) -> list[Any]:
        """Those of the last item."""
        return list(body["input"][-1]["output"])

    def outputs(self, body: Mapping[str, Any]) -> list[str]:
        """Those of the type `function_call_output`."""
        return [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]

    def unmarked(self, body: bytes) -> bytes:
        """The same."""
        return body

    def usage(self, prompt: int, answer: int, cached: int | None = None) -> dict[str, Any]:
        """Tokens of input and output."""
        details = {} if cached is None else {"input_tokens_details": {"cached_tokens": cached}}
        return {"input_tokens": prompt, "output_tokens": answer, "total_tokens": prompt + answer, **details}

    def answer(self, text: str, usage: Mapping[str, Any] | None = None) -> bytes:
        """One message."""
        return json.dumps(self._response("completed", [self._message(text)], usage)).encode()

    def events(self, text: str, usage: Mapping[str, Any] | None = None) -> list[bytes]:
        """The beginning, a piece for each word, the end with everything; and the mark, as some others write it."""
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        told: list[dict[str, Any]] = [{"type": "response.created", "response": self._response("in_progress", [])}]
        told += [{"type": "response.output_text.delta", "delta": word, **place} for word in text.split(" ")]
        told.append({"type": "response.output_item.done", "output_index": 0, "item": self._message(text)})
        done = self._response("completed", [self._message(text)], usage)
        told.append({"type": "response.completed", "response": done})
        written = (json.dumps({**event, "sequence_number": k}, ensure_ascii=False) for k, event in enumerate(told))
        named = zip(told, written, strict=True)
        return [f"event: {event['type']}\ndata: {data}\n\n".encode() for event, data in named] + [b"data: [DONE]\n\n"]

    def _response(self, status: str, output: list[Any], usage: Mapping[str, Any] | None = None) -> dict[str, Any]:
        told = {"id": "resp_1", "object": "response", "status": status, "error": None, "output": output}
        return told | _usage(usage)

    def _message(self, text: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}

    def error_event(self, data: bytes) -> str:
        """An event of its own name and type."""
        assert data.startswith(b"event: error\ndata: ")
        assert data.endswith(b"}\n\n")
        detail = json.loads(data.removeprefix(b"event: error\ndata: "))
        assert set(detail) == {"type", "code", "message", "param", "sequence_number"}
        assert detail["type"] == "error"
        return str(detail["message"])

    def error(self, body: bytes) -> str:
        """``{"error": {message, type, param, code}}``."""
        return ChatCompletions().error(body)


class AnthropicMessages:
    """Anthropic Messages."""

    key, needed, text = "messages", True, "text"

    def request(
        self, steps: Sequence[Step] = (), *, stream: bool = False, parts: Sequence[Any] = (), **more: Any
    ) -> dict[str, Any]:
        """Messages with one call and one result for each step, the last with the mark of a cache."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": TASK}]}]
        for k, step in enumerate(steps):
            call = {"type": "tool_use", "id": f"toolu_{k}", "name": "bash", "input": {"command": step.command}}
            result = {"type": "tool_result", "tool_use_id": f"toolu_{k}", "content": step.output}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        last = messages[-1]["content"][-1]
        last["cache_control"] = {"type": "ephemeral"}
        if parts:
            last["content"] = [{"type": "text", "text": last["content"]}, *parts]
        tools = [{"name": "bash", "input_schema": {"type": "object"}}]
        head = {"model": "m-1", "max_tokens": 1000, "system": "You use a shell.", "messages": messages, "tools": tools}
        return {**head, **({"stream": True} if stream else {}), **more}

    def parts(self, body: Mapping[str, Any]) -> list[Any]:
        """Those of the last result."""
        return list(body["messages"][-1]["content"][-1]["content"])

    def outputs(self, body: Mapping[str, Any]) -> list[str]:
        """The contents of results in messages of the user's."""
        blocks = [block for m in body["messages"] if m["role"] == "user" for block in m["content"]]
        return [block["content"] for block in blocks if block["type"] == "tool_result"]

    def unmarked(self, body: bytes) -> bytes:
        """Without the mark of a cache."""
        return body.replace(b', "cache_control": {"type": "ephemeral"}', b"")

    def usage(self, prompt: int, answer: int, cached: int | None = None) -> dict[str, Any]:
        """Tokens of input and output; those from the cache are beside the input."""
        beside = {} if cached is None else {"cache_read_input_tokens": cached}
        return {"input_tokens": prompt - (cached or 0), **beside, "output_tokens": answer}

    def answer(self, text: str, usage: Mapping[str, Any] | None = None) -> bytes:
        """One block."""
        return json.dumps(self._message([{"type": "text", "text": text}], "end_turn", usage)).encode()

    def events(self, text: str, usage: Mapping[str, Any] | None = None) -> list[bytes]:
        """The beginning with what the prompt costs, a delta for each word, the reason and what the answer costs, the end."""
        begun = self._message([], None, {**usage, "output_tokens": 1} if usage else None)
        told: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
        told.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        told.append({"type": "ping"})
        words = ({"type": "text_delta", "text": word} for word in text.split(" "))
        told += [{"type": "content_block_delta", "index": 0, "delta": word} for word in words]
        told.append({"type": "content_block_stop", "index": 0})
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        counted = {"usage": {"output_tokens": usage["output_tokens"]}} if usage else {}
        told += [{"type": "message_delta", "delta": ended, **counted}, {"type": "message_stop"}]
        return [f"event: {e['type']}\ndata: {json.dumps(e, ensure_ascii=False)}\n\n".encode() for e in told]

    def _message(self, content: list[Any], reason: str | None, usage: Mapping[str, Any] | None) -> dict[str, Any]:
        told = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": content}
        return {**told, "stop_reason": reason, "stop_sequence": None, **_usage(usage)}

    def error_event(self, data: bytes) -> str:
        """The error body as the data of an event of this name."""
        assert data.startswith(b"event: error\ndata: ")
        assert data.endswith(b"}\n\n")
        return self.error(data.removeprefix(b"event: error\ndata: "))

    def error(self, body: bytes) -> str:
        """``{"type": "error", "error": {type, message}}``."""
        whole = json.loads(body)
        assert set(whole) == {"type", "error"}
        assert set(whole["error"]) == {"type", "message"}
        assert whole["type"] == "error"
        return str(whole["error"]["message"])


def _usage(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"usage": dict(usage)} if usage else {}


SAMPLES: dict[str, Sample] = {
    "/v1/chat/completions": ChatCompletions(),
    "/v1/responses": Responses(),
    "/v1/messages": AnthropicMessages(),
}
"""By path, as the table of the shapes."""

assert SAMPLES.keys() == SHAPES.keys(), "a shape without a sample would go untested"


def dump(body: Mapping[str, Any]) -> bytes:
    """A request as most clients write it."""
    return json.dumps(body).encode()
