"""Responses through a WebSocket: each message that asks for one is a request, and streams go on beside each other."""

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
            stream = request.get("stream_id")
        except (ValueError, AttributeError):
            request, stream = {}, None
        named = {} if stream is None else {"stream_id": stream}
        try:
            async with self._lanes[stream]:
                fault, events = self._answer(request)
                await self._play(fault, (event | named for event in events))
        except asyncio.CancelledError:
            received.left.set()
            raise
        except OSError:
            received.left.set()

    def _answer(self, request: Mapping[str, Any]) -> tuple[Fault, Iterator[dict[str, Any]]]:
        try:
            if request.get("type") != "response.create":
                raise Refused(400, f"only response.create is understood here, not {request.get('type')!r}")
            answer = self._player.play(responses, request, self._keeper.history(request))
        except Refused as refused:
            return Fault(), iter([_tell(refused)])
        if answer.ends:
            self._keeper.keep(request, answer.whole)
        return answer.fault, _spoken(answer)

    async def _play(self, fault: Fault, events: Iterator[dict[str, Any]]) -> None:
        await asyncio.sleep(fault.delay_first)
        for number, event in enumerate(events):
            if number == fault.break_after and not self._broken:
                self._broken = True
                await self._send({"type": "websocket.close", "code": _BROKEN})
            if self._broken:
                return
            await self._send({"type": "websocket.send", "text": json.dumps(event)})
            await asyncio.sleep(fault.delay_each)


def _spoken(answer: Answer) -> Iterator[dict[str, Any]]:
    for event in responses.events(answer.whole, answer.asked, answer.fault):
        yield event if event["type"] != "error" else _tell(Refused(500, event["message"]))


def _tell(refused: Refused) -> dict[str, Any]:
    return {"type": "error", "status": refused.status, **responses.error(refused)}


async def refuse(refused: Refused, receive: Receive, send: Send) -> None:
    """Answer a handshake with an error."""
    await receive()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "websocket.http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": json.dumps(responses.error(refused)).encode()})
