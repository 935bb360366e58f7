"""A model provider that plays a scenario: for the demo, for tests, and for the tests of those who use the gateway."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from gateway.encodings import decompress
from gateway.playback import Played, Received
from gateway.playing import FORMS, anthropic_messages, chat_completions, responses
from gateway.playing.connection import Connection, refuse
from gateway.playing.counting import size
from gateway.playing.keeping import Keeper, Kept
from gateway.playing.player import Player
from gateway.playing.saying import BORN, Asked, Form, Items, Refused
from gateway.scenario import Scenario
from gateway.sse import encode

_LIMIT = 128 << 20
_RESPONSES = "/v1/responses"


class Scripted:
    """The provider, as an ASGI application. `record` names a file that gets a copy of what it receives, as JSONL."""

    def __init__(self, scenario: Scenario, record: Path | None = None, *, websocket: bool = True) -> None:
        self.received: list[Received] = []
        """Every request in order; a message of a WebSocket is one whose method is WEBSOCKET."""
        self._websocket = websocket
        self._player = Player(scenario)
        self._stored: dict[str, Kept] = {}
        self._record = record

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or all messages of a WebSocket."""
        if scope["type"] == "websocket":
            await self._connect(HTTPConnection(scope), receive, send)
        elif scope["type"] == "http":
            request = Request(scope, receive)
            received = self._take(request.method, request, await request.body())
            await self._respond(received)(scope, receive, send)

    async def _connect(self, head: HTTPConnection, receive: Receive, send: Send) -> None:
        if self._websocket and head.url.path == _RESPONSES:
            take = partial(self._take, "WEBSOCKET", head)
            await Connection(self._player, Keeper(self._stored), take, receive, send).run()
            return
        self._take("GET", head, b"")
        await refuse(Refused(426, "there is no WebSocket here: send the request over HTTP"), receive, send)

    def _respond(self, received: Received) -> Response:
        form = _form_at(received.path)
        try:
            response = self._answer(received, form)
        except Refused as refused:
            wait = {} if refused.retry_after is None else {"retry-after": f"{refused.retry_after:g}"}
            response = JSONResponse(form.error(refused), refused.status, wait)
        response.headers["request-id" if form is anthropic_messages else "x-request-id"] = f"req_{len(self.received)}"
        response.headers["x-ratelimit-remaining-requests"] = str(max(0, 1000 - len(self.received)))
        return response

    def _take(self, method: str, request: HTTPConnection, body: bytes) -> Received:
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        received = Received(method, request.url.path, headers, body)
        self.received.append(received)
        if self._record:
            row = {"method": method, "path": received.path, "headers": headers}
            with self._record.open("a", encoding="ascii") as file:
                file.write(json.dumps(row | {"body": body.decode("utf-8", "surrogateescape")}) + "\n")
        return received

    def _answer(self, received: Received, form: Form) -> Response:
        match received.method, received.path:
            case _, "/":
                return Response()
            case "GET" | "HEAD", "/v1/models":
                return _list_models()
            case "POST", path if path in FORMS:
                return self._play(received, form)
            case "POST", "/v1/messages/count_tokens":
                return JSONResponse({"input_tokens": _count(self._read(received, form)[1])})
            case "POST", "/v1/responses/input_tokens":
                counted = _count(self._read(received, form)[1])
                return JSONResponse({"object": "response.input_tokens", "input_tokens": counted})
            case "POST", "/v1/responses/compact":
                return self._compact(received, form)
            case "POST", "/v1/conversations":
                made = Keeper(self._stored).open(f"conv_{self._player.number()}", _parse(received))
                return JSONResponse(made)
            case method, path if path.startswith(f"{_RESPONSES}/"):
                return self._look_up(method, *path.removeprefix(f"{_RESPONSES}/").split("/", 1))
            case _, path if path.startswith("/v1/"):
                return Response(received.body, media_type=dict(received.headers).get("content-type"))
        raise Refused(404, "there is nothing here but /v1")

    def _play(self, received: Received, form: Form) -> Response:
        request = _parse(received)
        answer = self._player.play(form, request, self._history(form, request))
        fault = answer.fault
        if form is responses and answer.ends:
            Keeper(self._stored).keep(request, answer.whole)
        if not request.get("stream"):
            return Played([json.dumps(answer.whole).encode()], fault, received, "application/json")
        chunks = [encode(event, fault.line_end) for event in answer.stream()]
        return Played(chunks, fault, received, "text/event-stream")

    def _history(self, form: Form, request: Mapping[str, Any]) -> Items:
        return Keeper(self._stored).history(request) if form is responses else ()

    def _read(self, received: Received, form: Form) -> tuple[Mapping[str, Any], Asked]:
        request = _parse(received)
        return request, self._player.read(form, request, self._history(form, request))

    def _compact(self, received: Received, form: Form) -> Response:
        request, asked = self._read(received, form)
        items = (*self._history(form, request), *responses.items_of(request))
        return JSONResponse(responses.compact(items, asked, _count(asked), self._player.number()))

    def _look_up(self, method: str, name: str, what: str = "") -> Response:
        kept = Keeper(self._stored).find(name)
        match method, what:
            case ("GET", "") | ("POST", "cancel"):
                return JSONResponse(kept.response)
            case "DELETE", "":
                del self._stored[name]
                return JSONResponse({"id": name, "object": "response", "deleted": True})
            case "GET", "input_items":
                items = [{"id": f"in_{n}", **item} for n, item in enumerate(kept.given)]
                ends = {"first_id": items[0]["id"], "last_id": items[-1]["id"]} if items else {}
                return JSONResponse({"object": "list", "data": items, "has_more": False, **ends})
        raise Refused(404, f"there is no {method} {what} of a response")


def _form_at(path: str) -> Form:
    """The form in which a path, or what lies under it, is spoken to."""
    under = (form for start, form in FORMS.items() if f"{path}/".startswith(f"{start}/"))
    return next(under, chat_completions)


def _parse(received: Received) -> dict[str, Any]:
    encoding = dict(received.headers).get("content-encoding", "")
    try:
        request = json.loads(decompress(received.body, encoding, _LIMIT).data)
    except ValueError as error:
        raise Refused(400, f"the request cannot be read: {error!r}") from error
    if not isinstance(request, dict):
        raise Refused(400, "the request cannot be read: it is not an object")
    return request


def _count(asked: Asked) -> int:
    return sum(map(size, asked.pieces))


def _list_models() -> Response:
    model = {"id": "scripted", "object": "model", "created": BORN, "owned_by": "taco-gateway"}
    return JSONResponse({"object": "list", "data": [model]})
