"""Responses through a WebSocket: each message that asks for one is a request, and streams go on beside each other.

As the API does it: a `response.create` is the body of a request without `stream`; its `stream_id`, if it has one, stands
in each of its events, and one stream answers in order. `generate: false` only warms up: its response is created and
completed, and can be gone on from. The connection remembers what is not to be stored, too. A request that fails is an
event `{type: error, status, error, headers}` in the place of the answer. A `response.steer` names a response of this
connection, and no stream: its input is accepted at once, and read by whoever goes on from that response.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from starlette.types import Receive, Send

from gateway.playback import Received
from gateway.playing import responses
from gateway.playing.keeping import Keeper
from gateway.playing.player import Answer, Player
from gateway.playing.saying import Refused
from gateway.scenario import Fault

_BROKEN = 1011


class Connection:
    """One WebSocket of a scripted provider."""

    def __init__(
        self, player: Player, keeper: Keeper, take: Callable[[bytes], Received], receive: Receive, send: Send
    ) -> None:
        self._player = player
        self._keeper = keeper
        self._take = take
        self._receive = receive
        self._send = send
        self._lanes: defaultdict[object, asyncio.Lock] = defaultdict(asyncio.Lock)
        """By stream: each answers in order."""
        self._streams: dict[str, dict[str, Any]] = {}
        """By response: the stream that it was said on, as events name it."""
        self._broken = False

    async def run(self) -> None:
        """Take the handshake, and answer until the client leaves."""
        await self._receive()
        await self._send({"type": "websocket.accept"})
        async with asyncio.TaskGroup() as tasks:
            answering = []
            while (message := await self._receive())["type"] == "websocket.receive":
                text = message.get("text")
                received = self._take(message["bytes"] if text is None else text.encode("utf-8", "surrogatepass"))
                answering.append(tasks.create_task(self._hear(received)))
            for task in answering:
                task.cancel()

    async def _hear(self, received: Received) -> None:
        try:
            request = json.loads(received.body)
            stream = None if (given := request.get("stream_id")) is None else str(given)
        except (ValueError, AttributeError):
            request, stream = {}, None
        try:
            if request.get("type") == "response.steer":
                await self._say(self._steer(request))
                return
            async with self._lanes[stream]:
                await self._play(*self._answer(request, {} if stream is None else {"stream_id": stream}))
        except asyncio.CancelledError:
            received.left.set()
            raise
        except OSError:
            received.left.set()

    def _answer(self, request: Mapping[str, Any], stream: dict[str, Any]) -> tuple[Fault, Iterator[dict[str, Any]]]:
        try:
            if request.get("type") != "response.create":
                raise Refused(
                    400, f"only response.create and response.steer are understood here, not {request.get('type')!r}"
                )
            answer = self._player.play(responses, request, self._keeper.history(request))
        except Refused as refused:
            return Fault(), iter([_tell(refused) | stream])
        if answer.ends:
            self._keeper.keep(request, answer.whole)
            self._streams[answer.whole["id"]] = stream
        return answer.fault, (event | stream for event in _spoken(answer))

    def _steer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        name = str(request.get("previous_response_id"))
        steer = {"previous_response_id": name}
        if name not in self._streams:
            problem = {"type": "invalid_request_error", "code": "response_not_found"}
            error = problem | {"message": f"there is no response '{name}' on this connection"}
            failed = {"type": "response.steer.failed", "sequence_number": 0, "error": error}
            return failed | {"steer": steer | {"input": request.get("input")}}
        self._keeper.steer(name, request)
        accepted = {"type": "response.steer.accepted", "sequence_number": 0}
        return accepted | {"steer": steer | {"id": f"steer_{self._player.number()}"}} | self._streams[name]

    async def _play(self, fault: Fault, events: Iterator[dict[str, Any]]) -> None:
        await asyncio.sleep(fault.delay_first)
        for number, event in enumerate(events):
            if number == fault.break_after and not self._broken:
                self._broken = True
                await self._send({"type": "websocket.close", "code": _BROKEN})
            if self._broken:
                return
            await self._say(event)
            await asyncio.sleep(fault.delay_each)

    async def _say(self, event: Mapping[str, Any]) -> None:
        await self._send({"type": "websocket.send", "text": json.dumps(event)})


def _spoken(answer: Answer) -> Iterator[dict[str, Any]]:
    for event in responses.events(answer.whole, answer.asked, answer.fault):
        yield event if event["type"] != "error" else _tell(Refused(500, event["message"]))


def _tell(refused: Refused) -> dict[str, Any]:
    wait = {} if refused.retry_after is None else {"headers": {"retry-after": f"{refused.retry_after:g}"}}
    return {"type": "error", "status": refused.status, **responses.error(refused), **wait}


async def refuse(refused: Refused, receive: Receive, send: Send) -> None:
    """Answer a handshake with an error."""
    await receive()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "websocket.http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": json.dumps(responses.error(refused)).encode()})
