"""A store that fails costs savings and records, never a request, and the gateway says so."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway import pins
from gateway.config import Store
from gateway.recording import books
from memory import archive
from tests.samples import PROGRESS, Sample, Step, dump
from tests.service import Service, configured, service
from tests.wire import ask, upstream, whole

FIRST, SECOND, THIRD = (
    Step(f"tar cvf {name}.tar .", PROGRESS.replace("archive", name)) for name in ("one", "two", "three")
)
Fault = Callable[[Service], AbstractAsyncContextManager[None]]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds in service takes a moment here."""
    monkeypatch.setattr(pins, "RETRY_SECONDS", 0.3)
    monkeypatch.setattr(books, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(archive, "PATIENCE", 0.05)


@asynccontextmanager
async def locked(gateway: Service) -> AsyncIterator[None]:
    """Somebody else writes, and does not come to an end."""
    holders = [
        sqlite3.connect(gateway.data / name, isolation_level=None) for name in ("decisions.sqlite", "archive.sqlite")
    ]
    for holder in holders:
        holder.execute("BEGIN IMMEDIATE")
    yield
    for holder in holders:
        holder.execute("ROLLBACK")
        holder.close()


@asynccontextmanager
async def read_only(gateway: Service) -> AsyncIterator[None]:
    """Nothing can be written."""
    writers = [gateway.gateway.pins._store._writer, gateway.gateway.archive._writer]
    for writer in writers:
        await writer.rows("PRAGMA query_only=ON")
    yield
    for writer in writers:
        await writer.rows("PRAGMA query_only=OFF")


@asynccontextmanager
async def slow(gateway: Service) -> AsyncIterator[None]:
    """The disk does not come back."""
    released = asyncio.Event()

    async def wait(*_: object) -> None:
        await released.wait()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gateway.gateway.pins._store, "choose", wait)
        yield
    released.set()


FAULTS: dict[str, Fault] = {"locked": locked, "read-only": read_only, "slow": slow}


async def send(gateway: Service, path: str, sample: Sample, *steps: Step) -> str | None:
    """The request after these steps; its id."""
    answer = await ask(gateway.url, path, dump(sample.request(steps)))
    assert (answer.status, answer.clean) == (200, True)
    return answer.header("x-taco-request-id")


async def health(gateway: Service) -> dict[str, Any]:
    """What the gateway says of itself."""
    said: dict[str, Any] = json.loads((await ask(gateway.url, "/healthz", None, method="GET")).body)
    return said


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_3_15_14_requests_flow_while_the_store_fails(
    fault: Fault, path: str, sample: Sample, tmp_path: Path
) -> None:
    """What is pinned is replayed, what is new stays raw, and all is well again once the store is."""
    config = configured("", store=Store(decision_seconds=0.1, commit_seconds=0.2))
    async with (
        upstream(whole(sample.answer("ok"))) as up,
        service(configured(up.url, store=config.store), tmp_path) as gateway,
    ):
        await send(gateway, path, sample, FIRST)
        before = sample.outputs(json.loads(up.last.body))
        async with fault(gateway):
            name = await send(gateway, path, sample, FIRST, SECOND)
            while_down = sample.outputs(json.loads(up.last.body))
            said = await health(gateway)
        assert (said["status"], said["store_failures"] > 0) == ("degraded", True)
        assert any("decisions" in problem for problem in said["problems"])
        async with asyncio.timeout(5):
            while (await health(gateway))["status"] != "ok":
                await send(gateway, path, sample, FIRST)
                await asyncio.sleep(0.02)
        row = await gateway.row(str(name))
        await send(gateway, path, sample, FIRST, SECOND, THIRD)
        after = sample.outputs(json.loads(up.last.body))

    assert while_down == [*before, SECOND.output]
    assert row.kept["store"] == 1
    assert after[:2] == while_down
    assert len(after[2]) < 200


async def test_3_15_14_what_the_archive_cannot_take_is_spilled_and_replayed(
    path: str, sample: Sample, tmp_path: Path
) -> None:
    """No exchange is lost, and each is stored once."""
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        async with read_only(gateway):
            names = [await send(gateway, path, sample, *[FIRST] * k) for k in range(3)]
            await until(lambda: gateway.gateway.recorder.counters.spilled == 3)
            said = await health(gateway)
            assert (said["status"], said["spilled"], said["recorded"]) == ("degraded", 3, 0)
            assert "writable" in said["problems"][0]
            assert list((tmp_path / "spill").iterdir())
        await asyncio.sleep(0.1)
        await send(gateway, path, sample)
        for name in names:
            await gateway.row(str(name))

        assert (await health(gateway))["replayed"] == 3
        assert list((tmp_path / "spill").iterdir()) == []


async def test_3_15_14_what_was_spilled_is_replayed_after_a_restart(path: str, sample: Sample, tmp_path: Path) -> None:
    """With the first exchange that the store takes."""
    async with upstream(whole(sample.answer("ok"))) as up:
        async with service(configured(up.url), tmp_path) as gateway, read_only(gateway):
            name = await send(gateway, path, sample)
            await until(lambda: gateway.gateway.recorder.counters.spilled == 1)
        async with service(configured(up.url), tmp_path) as gateway:
            await send(gateway, path, sample)
            assert (await gateway.row(str(name))).outcome == "completed"


async def test_3_15_14_where_nothing_can_be_written_drops_are_counted(
    path: str, sample: Sample, tmp_path: Path
) -> None:
    """And said, with both reasons."""
    (tmp_path / "spill").write_text("in the way of the folder")
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        async with read_only(gateway):
            for _ in range(3):
                await send(gateway, path, sample)
            await until(lambda: gateway.gateway.recorder.counters.dropped == 3)
        said = await health(gateway)

    assert (said["status"], said["dropped"], said["recorded"]) == ("degraded", 3, 0)
    assert "spill file" in said["problems"][0]


async def test_3_15_14_a_deleted_folder_stops_no_request(path: str, sample: Sample, tmp_path: Path) -> None:
    """What is pinned is replayed from memory; what cannot be kept is said."""
    data = tmp_path / "data"
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), data) as gateway:
        await gateway.row(str(await send(gateway, path, sample, FIRST)))
        before = sample.outputs(json.loads(up.last.body))
        shutil.rmtree(data)
        for _ in range(2):
            await send(gateway, path, sample, FIRST, SECOND)
            assert sample.outputs(json.loads(up.last.body)) == [*before, SECOND.output]
        await until(lambda: gateway.gateway.recorder.counters.spilled + gateway.gateway.recorder.counters.dropped == 2)
        said = await health(gateway)

    assert said["status"] == "degraded"
    assert any("deleted" in problem for problem in said["problems"])


async def test_3_15_14_a_commit_that_is_late_delays_no_answer_for_long(
    path: str, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer goes on after the deadline; the decision is replayed from memory."""
    store = Store(commit_seconds=0.05)
    async with (
        upstream(whole(sample.answer("ok"))) as up,
        service(configured(up.url, store=store), tmp_path) as gateway,
    ):
        hanging = asyncio.Event()

        async def never(_: object) -> None:
            await hanging.wait()

        monkeypatch.setattr("memory.decisions.Choice.committed", never)
        name = await send(gateway, path, sample, FIRST)
        await send(gateway, path, sample, FIRST, SECOND)
        row = await gateway.row(str(name))
        said = await health(gateway)
        hanging.set()

    assert sample.outputs(json.loads(up.calls[1].body))[0] == sample.outputs(json.loads(up.calls[0].body))[0]
    assert row.kept["late commit"] == 1
    assert said["late_commits"] == 2


async def test_3_15_14_a_fault_of_the_recorder_ends_nothing(
    path: str, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it was about is dropped and counted; the next exchange is recorded."""
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        with monkeypatch.context() as patch:
            patch.setattr(gateway.gateway.archive, "append", None)
            await send(gateway, path, sample)
            await until(lambda: gateway.gateway.recorder.counters.dropped == 1)
        name = await send(gateway, path, sample)
        assert (await gateway.row(str(name))).outcome == "completed"


async def until(done: Callable[[], bool]) -> None:
    """Return once something is so."""
    async with asyncio.timeout(5):
        while not done():  # noqa: ASYNC110 - a counter tells nobody that it has moved
            await asyncio.sleep(0.005)
