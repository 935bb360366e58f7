"""Histories that the provider keeps: each request holds only what is new, and the gateway knows what it follows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.samples import LISTING, PROGRESS, TASK, dump
from tests.service import Wire, configured, service
from tests.wire import Answer, streamed, upstream, whole

PATH = "/v1/responses"
SHELL = {"type": "function", "name": "bash", "parameters": {"type": "object"}}
FIRST = [{"role": "user", "content": TASK}]


def asking(number: int, command: str) -> dict[str, Any]:
    """The answer with this number: it asks for a command."""
    arguments = json.dumps({"command": command})
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "bash"}
    item = {**call, "arguments": arguments, "status": "completed"}
    usage = {"input_tokens": 900, "output_tokens": 9}
    return {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": usage}


def result(number: int, output: str) -> dict[str, Any]:
    """What the command printed."""
    return {"type": "function_call_output", "call_id": f"call_{number}", "output": output}


def as_events(response: Mapping[str, Any]) -> list[bytes]:
    """An answer as a stream."""
    events = [
        {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": response["output"][0]},
        {"type": "response.completed", "response": response},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


async def say(wire: Wire, number: int, items: list[Any], command: str, *, stream: bool = False, **more: Any) -> Answer:
    """One request, which is answered with the answer of this number."""
    response = asking(number, command)
    reply = streamed(as_events(response)) if stream else whole(json.dumps(response).encode())
    body = {"model": "m-1", "input": items, "tools": [SHELL], "stream": stream, **more}
    answer = await wire.ask(reply, PATH, dump(body))
    assert answer.status == 200
    return answer


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_chain_of_answers_is_one_session(tmp_path: Path, stream: bool) -> None:
    """New results are rewritten by the command that the provider's last answer asked for, and counted with all before."""
    async with upstream(whole(b"")) as up, service(configured(up.url), tmp_path) as gateway:
        wire = Wire(up, gateway)
        first = await gateway.row(await say(wire, 0, FIRST, "make", stream=stream))
        second = await gateway.row(
            await say(wire, 1, [result(0, PROGRESS)], "ls", stream=stream, previous_response_id="resp_0")
        )
        third = await gateway.row(
            await say(wire, 2, [result(1, LISTING)], "cat", stream=stream, previous_response_id="resp_1")
        )
        rewritten = json.loads(up.calls[1].body)["input"][0]["output"]
        audit = await gateway.gateway.archive.rewrite(second.rewrites[0])

    assert first.session == second.session == third.session
    assert len(rewritten) < len(PROGRESS)
    assert audit is not None
    assert audit.texts is not None
    assert "make" in audit.texts.command
    assert json.loads(up.calls[2].body)["input"][0]["output"] == LISTING
    sizes = [int(str(row.accounts["raw_tokens"])) for row in (first, second, third)]
    assert sizes == sorted(sizes)
    assert sizes[2] > sizes[0] + 500
    assert third.accounts["repeat_saved"] == second.accounts["novel_saved"]


async def test_a_retry_repeats_its_decision(tmp_path: Path) -> None:
    """Byte for byte, and it is no turn."""
    async with upstream(whole(b"")) as up, service(configured(up.url), tmp_path) as gateway:
        wire = Wire(up, gateway)
        await say(wire, 0, FIRST, "make")
        rows = [
            await gateway.row(await say(wire, 1, [result(0, PROGRESS)], "ls", previous_response_id="resp_0"))
            for _ in range(2)
        ]

    assert up.calls[1].body == up.calls[2].body
    assert [row.retry for row in rows] == [False, True]


async def test_two_that_go_on_from_one_answer(tmp_path: Path) -> None:
    """Are two sessions, the second with the first as its parent, and both know the command."""
    async with upstream(whole(b"")) as up, service(configured(up.url), tmp_path) as gateway:
        wire = Wire(up, gateway)
        await say(wire, 0, FIRST, "make")
        one = await gateway.row(await say(wire, 1, [result(0, PROGRESS)], "ls", previous_response_id="resp_0"))
        told = [result(0, PROGRESS), {"role": "user", "content": "Do it otherwise."}]
        other = await gateway.row(await say(wire, 2, told, "cat", previous_response_id="resp_0"))

    assert other.session == one.session or other.parent_session == one.session
    assert up.calls[1].body != up.calls[2].body
    assert json.loads(up.calls[1].body)["input"][0]["output"] == json.loads(up.calls[2].body)["input"][0]["output"]


async def test_a_conversation_at_the_provider(tmp_path: Path) -> None:
    """It grows under one name."""
    async with upstream(whole(b"")) as up, service(configured(up.url), tmp_path) as gateway:
        wire = Wire(up, gateway)
        first = await gateway.row(await say(wire, 0, FIRST, "make", conversation={"id": "conv_1"}))
        second = await gateway.row(await say(wire, 1, [result(0, PROGRESS)], "ls", conversation="conv_1"))
        third = await gateway.row(await say(wire, 2, [result(1, LISTING)], "cat", conversation="conv_1"))

    assert first.session == second.session == third.session
    assert third.accounts["repeat_saved"] == second.accounts["novel_saved"] != 0


async def test_what_it_goes_on_from_is_not_known(tmp_path: Path) -> None:
    """After a restart: the request stands for itself, is rewritten, and nothing fails."""
    async with upstream(whole(b"")) as up:
        async with service(configured(up.url), tmp_path) as gateway:
            await say(Wire(up, gateway), 0, FIRST, "make")
        async with service(configured(up.url), tmp_path) as gateway:
            told = [result(0, PROGRESS * 3)]
            long = "Pack. " * 2000  # what is not known is not counted
            row = await gateway.row(
                await say(Wire(up, gateway), 1, told, "ls", instructions=long, previous_response_id="resp_0")
            )

    assert len(up.last.body) < len(long) + len(PROGRESS)
    assert row.rewrites
