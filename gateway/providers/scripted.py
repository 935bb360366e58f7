"""A model provider that plays a scenario: for the demo, for tests, and for the tests of those who use the gateway."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from gateway.encodings import decompress
from gateway.playback import Played, Received
from gateway.scenario import Fault, Scenario, answer, deltas
from gateway.sse import Event, encode

_BORN = 1_700_000_000
_LIMIT = 128 << 20


class Scripted:
    """The provider, as an ASGI application. `received` holds every request in order; `record` names a copy as JSONL."""

    def __init__(self, scenario: Scenario, record: Path | None = None) -> None:
        self.received: list[Received] = []
        self._scenario = scenario
        self._record = record
        self._attempts: Counter[int] = Counter()
        self._seen: set[bytes] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        received = await self._receive(request)
        match received.path:
            case "/v1/models":
                response = _list_models()
            case "/v1/chat/completions":
                response = self._complete(received)
            case path if path.startswith("/v1/"):
                response = Response(received.body, media_type=request.headers.get("content-type"))
            case _:
                response = _fail(404, "there is nothing here but /v1")
        response.headers["x-request-id"] = f"req_{len(self.received)}"
        response.headers["x-ratelimit-remaining-requests"] = str(max(0, 1000 - len(self.received)))
        await response(scope, receive, send)

    async def _receive(self, request: Request) -> Received:
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        received = Received(request.method, request.url.path, headers, await request.body())
        self.received.append(received)
        if self._record:
            row = {"method": received.method, "path": received.path, "headers": headers}
            with self._record.open("a", encoding="ascii") as file:
                file.write(json.dumps(row | {"body": received.body.decode("utf-8", "surrogateescape")}) + "\n")
        return received

    def _complete(self, received: Received) -> Response:
        encoding = dict(received.headers).get("content-encoding", "")
        try:
            request = json.loads(decompress(received.body, encoding, _LIMIT).data)
            due, turn = self._scenario.turn(request["messages"])
            message = answer(turn, due, request)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _fail(400, f"the request cannot be read: {error!r}")
        self._attempts[due] += 1
        fault = turn.fault or Fault()
        if fault.times and self._attempts[due] > fault.times:
            fault = Fault()
        if fault.status:
            return _fail(fault.status, f"turn {due} fails as its scenario says", fault.retry_after)
        head = {"id": f"chatcmpl-{due}", "created": _BORN, "model": request.get("model"), "system_fingerprint": None}
        usage = self._count(request["messages"], message)
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(message)}
            whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            return Played([json.dumps(whole).encode()], fault, received, "application/json")
        wanted = usage if (request.get("stream_options") or {}).get("include_usage") else None
        return Played(list(_stream(head, message, wanted, fault)), fault, received, "text/event-stream")

    def _count(self, messages: list[Any], message: Mapping[str, Any]) -> dict[str, Any]:
        """Usage at four characters a token; a prefix that was sent before counts as cached."""
        prompt = cached = 0
        chain = blake2b(digest_size=16)
        for text in map(json.dumps, messages):
            chain.update(text.encode())
            prompt += len(text) // 4 + 1
            if chain.digest() in self._seen:
                cached = prompt
            self._seen.add(chain.digest())
        completion = len(json.dumps(message)) // 4
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        }


def _stream(
    head: Mapping[str, Any], message: Mapping[str, Any], usage: Mapping[str, Any] | None, fault: Fault
) -> Iterator[bytes]:
    def chunk(choices: list[dict[str, Any]], **more: object) -> bytes:
        whole = {**head, "object": "chat.completion.chunk", "choices": choices, **more}
        return encode(Event(json.dumps(whole)), fault.line_end)

    for delta in deltas(message):
        yield chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}])
    if fault.error_event:
        yield encode(
            Event(json.dumps({"error": {"message": fault.error_event, "type": "server_error"}})), fault.line_end
        )
        return
    yield chunk([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": _reason(message)}])
    if usage:
        yield chunk([], usage=usage)
    if not fault.no_done:
        yield encode(Event("[DONE]"), fault.line_end)


def _reason(message: Mapping[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _list_models() -> Response:
    model = {"id": "scripted", "object": "model", "created": _BORN, "owned_by": "taco-gateway"}
    return JSONResponse({"object": "list", "data": [model]})


def _fail(status: int, message: str, retry_after: float | None = None) -> Response:
    body = {"error": {"message": message, "type": "scripted", "param": None, "code": status}}
    return JSONResponse(body, status, {} if retry_after is None else {"retry-after": f"{retry_after:g}"})
