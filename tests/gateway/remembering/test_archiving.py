"""The archive's rounds: where it is due, in a process of its own, once."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Config, Memory
from gateway.exchange import Exchange
from gateway.processes import Worker
from gateway.recording.handover import Handover
from gateway.remembering import archiving
from gateway.remembering.archiving import Archiving, archive
from memory import StoreBusy, batch_process, search_history
from memory.levels import Evidence, Levels
from memory.levels.pointers import Pointer
from memory.roots import raw_folder, root_of
from tests.memory.L4_raw_sessions.archives import NOW, House, free


class Work:
    """Archives in this process, or fails."""

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock
        self.done: list[Path] = []
        self.fails = False

    async def __call__(self, root: Path) -> dict[str, Any]:
        """A run."""
        self.done.append(root)
        if self.fails:
            raise OSError("no process")
        return batch_process(raw_folder(root), dry_run=False, clock=lambda: self.clock[0])


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A data folder."""
    return House(tmp_path)


@pytest.fixture
def clock() -> list[float]:
    """A clock that is set by hand."""
    return [NOW]


async def test_nothing_to_archive(tmp_path: Path, clock: list[float]) -> None:
    """Where nothing was ever logged no run begins, and nothing is made."""
    work = Work(clock)
    await Archiving(tmp_path, lambda: clock[0], work).round()
    assert work.done == []
    assert os.listdir(tmp_path) == []


async def test_every_twelve_hours(house: House, clock: list[float]) -> None:
    """At once, then after 43,201 seconds and not after 43,200, in another process as well."""
    house.log("1", free("one", "1"))
    work = Work(clock)
    await Archiving(house.root, lambda: clock[0], work).round()
    assert len(house.members()) == 1
    house.log("2", free("two", "2"))
    clock[0] = NOW + 43_200
    await Archiving(house.root, lambda: clock[0], work).round()
    assert len(work.done) == 1
    clock[0] = NOW + 43_201
    await Archiving(house.root, lambda: clock[0], work).round()
    assert len(house.members()) == 2


async def test_every_tenant(house: House, clock: list[float]) -> None:
    """Each has an archive of its own."""
    house.log("1", free("one", "1"))
    assert root_of(house.root, "first") == house.root
    other = House(root_of(house.root, "second"))
    other.log("1", free("two", "2"))
    await Archiving(house.root, lambda: clock[0], Work(clock)).round()
    assert b"one" in b"".join(house.members().values())
    assert b"two" in b"".join(other.members().values())
    assert b"two" not in b"".join(house.members().values())


async def test_a_round_that_fails(house: House, clock: list[float]) -> None:
    """It is said, and tried again at the next look."""
    house.log("1", free("one", "1"))
    work = Work(clock)
    work.fails = True
    archiving_ = Archiving(house.root, lambda: clock[0], work)
    await archiving_.round()
    assert archiving_.problem is not None
    assert "no process" in archiving_.problem
    work.fails = False
    await archiving_.round()
    assert archiving_.problem is None
    assert len(house.members()) == 1


async def test_it_goes_on_until_it_is_cancelled(
    house: House, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One look after the other."""
    monkeypatch.setattr(archiving, "TICK", 0.001)
    rounds = asyncio.Semaphore(0)

    async def work(root: Path) -> dict[str, Any]:
        rounds.release()
        clock[0] += 43_201
        return batch_process(raw_folder(root), dry_run=False, clock=lambda: clock[0])

    task = asyncio.create_task(Archiving(house.root, lambda: clock[0] + 43_201, work).run())
    for _ in range(3):
        await rounds.acquire()
    task.cancel()


async def test_in_a_process_of_its_own(house: House) -> None:
    """What is archived is found, and the levels above it are brought up to date."""
    house.log("1", free("compile the frobnicator", "done"))
    report = await archiving.in_a_process(Config())(house.root)
    assert report["new_sessions"] == 1
    assert "frobnicator" in search_history("frobnicator", l4_dir=house.l4)[0]
    assert "L3:rule_pool" in (house.root / "memory" / "global_mem_insight.txt").read_text()


def test_a_run_without_news(house: House) -> None:
    """Nothing was archived, and no index is written."""
    assert archive(Config(), house.root)["archived"] == []
    assert not (house.root / "memory" / "global_mem_insight.txt").exists()


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        pytest.param({}, 2, id="for ever, where nothing is said"),
        pytest.param({"retain_days": 1e6}, 2, id="none is that old"),
        pytest.param({"retain_megabytes": 1.0}, 2, id="there is room"),
        pytest.param({"retain_days": 30.0}, 1, id="the old one goes"),
        pytest.param({"retain_megabytes": 0.0006}, 1, id="the oldest goes until the rest has room"),
    ],
)
def test_how_long_sessions_are_kept(house: House, limits: dict[str, float], left: int) -> None:
    """After each run, by age and by size; what only it proved is marked."""
    now = time.time()
    for name, age in (("old", 100.0), ("new", 1.0)):
        text = " ".join(sha256(f"{name} {k}".encode()).hexdigest() for k in range(8))
        house.log(name, free(text, "ok", start=now - age * 86_400), now=now)
    levels = Levels(house.root / "memory", time.time)
    evidence = [Evidence(pointer=Pointer("model_responses_old", 0))]
    fact, _ = levels.put_fact("SAID", "something old", by="gateway", evidence=evidence)
    report = archive(replace(Config(), memory=Memory(**limits)), house.root)
    assert (report["errors"], report["new_sessions"]) == ([], 2)
    assert len(house.members()) == left
    assert any("kept no longer" in detail for detail in report["details"]) == (left == 1)
    why = levels.why(f"L2:{fact.id}")
    assert why is not None
    assert [link.gone for link in why.links] == [left == 1]


def test_retention_that_cannot_be(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and what the run did stays."""

    def busy(*_: object, **__: object) -> None:
        raise StoreBusy("somebody holds it")

    monkeypatch.setattr(archiving, "let_go", busy)
    house.log("1", free("one", "1"))
    report = archive(replace(Config(), memory=Memory(retain_days=1.0)), house.root)
    assert (report["errors"], report["new_sessions"]) == (["retention: somebody holds it"], 1)


async def test_the_worker_writes_the_logs_that_are_archived(tmp_path: Path) -> None:
    """An exchange that was handed over is in a raw log, and from there in the histories."""
    worker = Worker(tmp_path)
    exchange = Exchange(id="e1", method="POST", path="/v1/models", started=NOW, ended=NOW + 1)
    await worker.take([Handover().entry(exchange)])
    await worker.aclose()
    (path,) = raw_folder(tmp_path).glob("model_responses_*.txt")
    assert b" id=e1 " in path.read_bytes()
