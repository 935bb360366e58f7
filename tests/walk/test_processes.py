"""Gateways as people run them: in processes of their own, killed, started again, and several over one folder."""

from __future__ import annotations

import asyncio
import json
import resource
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.shapes import SHAPES
from memory import Archive
from tests.samples import LISTING, PROGRESS, SAMPLES, Step, dump
from tests.service import ID, Process, process
from tests.wire import JSON, Answer, Upstream, ask, connected, held, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]
STEPS = [
    Step("tar cvf archive.tar .", PROGRESS),
    Step("ls -l src", LISTING),
    Step("ls -l src | cat", LISTING),
    Step("tar cvf again.tar .", PROGRESS.replace("archive", "again")),
]


async def send(gateway: Process, turn: int, name: str = "") -> Answer:
    """The request after `turn` steps."""
    headers = [JSON, (ID, name)] if name else [JSON]
    answer = await ask(gateway.url, PATH, dump(SAMPLE.request(STEPS[:turn])), headers=headers)
    assert answer.status == 200
    return answer


def messages(body: bytes) -> list[bytes]:
    """The bytes of each message of a request."""
    read = SHAPES[PATH].read(body, BoundedCache(1 << 20))
    return [body[placed.start : placed.end] for placed in read.messages]


def assert_prefix_stands(up: Upstream) -> None:
    """Each request begins with the one before, as it was forwarded; what could be rewritten was."""
    for earlier, later in pairwise(messages(call.body) for call in up.calls):
        shared = min(len(earlier), len(later))
        assert later[:shared] == earlier[:shared]
    sizes = [len(output) for output in SAMPLE.outputs(json.loads(up.last.body))]
    assert [size < 400 for size in sizes] == [True, False, True, True][: len(sizes)]


async def test_3_15_08_killed_in_the_middle_of_a_session(tmp_path: Path) -> None:
    """After each turn it is killed with -9 and started again: the forwarded prefix is byte-identical."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up:
        for turn in range(1, len(STEPS) + 1):
            async with process(tmp_path, up.url) as gateway:
                await send(gateway, turn)
                if turn == 2:
                    await send(gateway, turn)
                await gateway.kill()

    assert_prefix_stands(up)


async def test_3_15_08_killed_while_it_answers(tmp_path: Path) -> None:
    """What the client could act on was pinned before its first byte."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up:
        async with process(tmp_path, up.url) as gateway, connected(gateway.url) as client:
            up.reply, more = held(SAMPLE.events("one two")[0], b"")
            await client.send("POST", PATH, [JSON], dump(SAMPLE.request(STEPS[:1], stream=True)))
            _, headers = await client.stream.head()
            await anext(client.stream.pieces(headers))
            await gateway.kill()
            more.set()
        up.reply = whole(SAMPLE.answer("ok"))
        async with process(tmp_path, up.url) as gateway:
            await send(gateway, 2)

    assert_prefix_stands(up)


async def test_3_15_08_two_processes_in_alternation_and_at_once(tmp_path: Path) -> None:
    """Another node has the same decisions, and rivals have one."""
    async with (
        upstream(whole(SAMPLE.answer("ok"))) as up,
        process(tmp_path, up.url) as one,
        process(tmp_path, up.url, text="rules:\n  disabled: [gutter]\n") as other,
    ):
        for turn in range(len(STEPS) + 1):
            await send((one, other)[turn % 2], turn)
        assert_prefix_stands(up)
        for turn in (1, 3):
            up.calls.clear()
            fresh = [Step(step.command + f" # {turn}", step.output) for step in STEPS[:turn]]
            body = dump(SAMPLE.request(fresh))
            await asyncio.gather(*(ask((one, other)[k % 2].url, PATH, body) for k in range(16)))
            assert len({call.body for call in up.calls}) == 1
            assert len(up.last.body) < len(body) - 1000


async def test_killed_after_an_answer_nothing_that_was_recorded_is_lost(tmp_path: Path) -> None:
    """The store and the audit are whole after a kill, and every exchange that the log speaks of is there."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up:
        async with process(tmp_path, up.url) as gateway:
            for turn in range(4):
                await send(gateway, turn, f"turn-{turn}")
            await counted(gateway, "recorded", 4)
            await gateway.kill()
        async with process(tmp_path, up.url) as gateway:
            await send(gateway, 4, "turn-4")
        archive = await Archive.open(tmp_path)
        rows = [await archive.exchange(f"turn-{turn}") for turn in range(5)]
        report = await archive.verify()
        await archive.aclose()

    assert all(row is not None and row.outcome == "completed" for row in rows)
    assert report.problems == ()
    assert report.rewrites == 3


async def test_told_to_stop_it_finishes_what_is_under_way(tmp_path: Path) -> None:
    """A stream comes to its end, and is on record."""
    events = SAMPLE.events("one two")
    async with upstream(whole(b"")) as up, process(tmp_path, up.url) as gateway, connected(gateway.url) as client:
        up.reply, more = held(events[0], b"".join(events[1:]))
        await client.send("POST", PATH, [JSON, (ID, "last")], dump(SAMPLE.request(stream=True)))
        _, headers = await client.stream.head()
        pieces = client.stream.pieces(headers)
        await anext(pieces)
        gateway.process.terminate()
        more.set()
        rest = b"".join([piece async for piece in pieces])
        assert await asyncio.wait_for(gateway.process.wait(), 15) == 0
        archive = await Archive.open(tmp_path)
        row = await archive.exchange("last")
        await archive.aclose()

    assert rest == b"".join(events[1:])
    assert row is not None
    assert row.outcome == "completed"


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of a running process are set on Linux only")
async def test_3_15_14_a_full_disk_stops_no_request(tmp_path: Path) -> None:
    """Drops are counted, and new observations stay raw; what was forwarded is pinned as soon as there is room."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up:
        async with process(tmp_path, up.url) as gateway:
            await send(gateway, 1)
            await counted(gateway, "recorded", 1)
            limit = resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE)
            limit_files(gateway, 1, limit[1])
            await send(gateway, 3)
            await send(gateway, 4)
            assert SAMPLE.outputs(json.loads(up.last.body))[3] == STEPS[3].output
            said = await counted(gateway, "dropped", 2)
            limit_files(gateway, *limit)
            async with asyncio.timeout(20):
                while not await rewrites(gateway, up) or (await counted(gateway, "recorded"))["recorded"] < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            assert (await counted(gateway, "recorded"))["dropped"] == said["dropped"]
            await gateway.kill()
        async with process(tmp_path, up.url) as gateway:
            await ask(gateway.url, PATH, dump(SAMPLE.request([*STEPS, Step("true", "")])))

    assert said["status"] == "degraded"
    while_full = messages(up.calls[2].body)
    assert messages(up.last.body)[: len(while_full)] == while_full
    assert len(SAMPLE.outputs(json.loads(up.last.body))[2]) < 400


def limit_files(gateway: Process, soft: int, hard: int) -> None:
    """Let no file of the gateway, or of its worker, grow past a size."""
    pid = gateway.process.pid
    for one in (pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())):
        resource.prlimit(one, resource.RLIMIT_FSIZE, (soft, hard))


async def rewrites(gateway: Process, up: Upstream) -> bool:
    """Whether something new is rewritten now."""
    new = Step(f"tar cvf {len(up.calls)}.tar .", PROGRESS)
    await ask(gateway.url, PATH, dump(SAMPLE.request([*STEPS, new])))
    return len(SAMPLE.outputs(json.loads(up.last.body))[-1]) < 400


async def counted(gateway: Process, name: str, least: int = 0) -> dict[str, Any]:
    """What the gateway says of itself once a counter has come so far."""
    async with asyncio.timeout(10):
        while (said := json.loads((await ask(gateway.url, "/healthz", None, method="GET")).body))[name] < least:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return dict(said)
