"""The worker beside a gateway that serves: it comes when it is needed, goes with it, and its loss is said."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

from gateway.running import is_alive
from memory import Archive, ExchangeRow
from tests.samples import PROGRESS, SAMPLES, Step, dump
from tests.service import ID, Process, process
from tests.wire import ask, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]
STEPS = [Step("tar cvf a.tar .", PROGRESS), Step("true", "")]
PATIENCE = 20.0


async def send(gateway: Process, *steps: Step) -> str:
    """The request after these steps; its id."""
    answer = await ask(gateway.url, PATH, dump(SAMPLE.request(steps)))
    return answer.header(ID) or ""


async def health(gateway: Process, **wanted: int) -> dict[str, Any]:
    """What the gateway says of itself, once it says this."""
    async with asyncio.timeout(PATIENCE):
        while True:
            said: dict[str, Any] = json.loads((await ask(gateway.url, "/healthz", None, method="GET")).body)
            if said.items() >= wanted.items():
                return said
            await asyncio.sleep(0.05)


async def row(data: Path, name: str) -> ExchangeRow | None:
    """What is on record of a request."""
    archive = await Archive.open(data)
    found = await archive.exchange(name)
    await archive.aclose()
    return found


def children(pid: int) -> list[int]:
    """Processes that this one started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def test_what_was_answered_just_before_the_end_is_on_record(tmp_path: Path) -> None:
    """With its tokens counted; and the worker is gone with the gateway."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up:
        async with process(tmp_path, up.url) as gateway:
            await send(gateway)
            await health(gateway, recorded=1)
            (worker,) = children(gateway.process.pid)
            names = [await send(gateway, *STEPS[:k]) for k in (1, 2)]
        assert not is_alive(worker)
        rows = [await row(tmp_path, name) for name in names]

    assert [found is not None and found.accounts["approximate"] for found in rows] == [False, False]
    assert [found is not None and len(found.rewrites) for found in rows] == [1, 0]


async def test_a_worker_that_is_killed_costs_no_record(tmp_path: Path) -> None:
    """The gateway starts another, hands over again what the first may not have stored, and says that it did."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up, process(tmp_path, up.url) as gateway:
        await send(gateway, *STEPS[:1])
        await health(gateway, recorded=1)
        os.kill(children(gateway.process.pid)[0], signal.SIGKILL)
        name = await send(gateway, *STEPS)
        said = await health(gateway, recorded=2)
        found = await row(tmp_path, name)
        archive = await Archive.open(tmp_path)
        history = await archive.chain((found and found.tip) or "")
        await archive.aclose()

    assert (said["status"], said["restarts"], said["dropped"]) == ("ok", 1, 0)
    assert all(message.content for message in history)
    assert len(history) == len(SAMPLE.request(STEPS)["messages"])


async def test_no_worker_is_left_behind(tmp_path: Path) -> None:
    """Where the gateway was killed, too."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up, process(tmp_path, up.url) as gateway:
        await send(gateway)
        await health(gateway, recorded=1)
        (worker,) = children(gateway.process.pid)
        await gateway.kill()
        async with asyncio.timeout(PATIENCE):
            while is_alive(worker):  # noqa: ASYNC110 - the death of a stranger's child is not told
                await asyncio.sleep(0.02)
