"""After a run of L4 the upper levels know what it archived."""

from __future__ import annotations

import json
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Config, Upstream
from gateway.config import Memory as Levelled
from gateway.recording.prices import PriceBook
from gateway.remembering.consolidating import Consolidated, consolidate
from memory import Archive, ExchangeRecord, Message, message_hash
from memory.levels import Levels
from rules_engine.evolution.pool import EMPTY, Pool, PoolEvent, fold
from rules_engine.seeds import SEEDS

CONFIG = Config(upstreams=(Upstream(name="main", url="https://api.example.org/v1"),))
POOL: Pool = fold(EMPTY, [PoolEvent(name="imported", rule=rule) for rule in SEEDS])


def record(name: str, task: str) -> ExchangeRecord:
    """A session with a task and two commands that succeed."""
    told: list[dict[str, Any]] = [{"role": "system", "content": "You use a shell."}, {"role": "user", "content": task}]
    for k, (command, output) in enumerate((("make build", "built\n"), ("make deploy", "deployed\n"))):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        told.append({"role": "assistant", "tool_calls": [{"id": f"c{k}", "type": "function", "function": function}]})
        told.append({"role": "tool", "tool_call_id": f"c{k}", "content": output})
    told.append({"role": "user", "content": "Thanks, kubernetes next"})
    chain: list[Message] = []
    for message in told:
        parent = chain[-1].hash if chain else None
        content = json.dumps(message).encode()
        name_ = message_hash(parent, content)
        chain.append(Message(hash=name_, parent=parent, role=message["role"], content=content))
    return ExchangeRecord(
        id=f"r-{name}", session=name, parent_session=None, tenant="ours", started=1.0, first_byte=1.5, ended=2.0,
        method="POST", path="/v1/chat/completions", shape="chat_completions", upstream="main", model="small", stream=False,
        retry=False, status=200, outcome="completed", error=None, tip=chain[-1].hash, messages=tuple(chain), head=b"{}",
        reply=None, reported=None, accounts={}, kept={},
    )  # fmt: skip


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[Archive]:
    """Three sessions on record."""
    opened = await Archive.open(tmp_path)
    await opened.append(
        [record(f"s{k}", f"Please deploy {task}") for k, task in enumerate(("wechat", "invoices", "支付"))]
    )
    yield opened
    await opened.aclose()


@pytest.fixture
def levels(tmp_path: Path) -> Levels:
    """A memory in whose archive they are."""
    folder = tmp_path / "memory" / "L4_raw_sessions"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "2026-04.zip", "w") as file:
        for k in range(3):
            file.writestr(f"040{k + 1}_1000-040{k + 1}_1100.txt", "words")
    return Levels(tmp_path / "memory", lambda: 9.0)


async def run(archive: Archive, levels: Levels, config: Config = CONFIG) -> Consolidated:
    """Take up all three."""
    names = [(f"s{k}", f"2026-04/040{k + 1}_1000-040{k + 1}_1100") for k in range(3)]
    return await consolidate(archive, levels, "ours", config, PriceBook(Path("none")), POOL, names)


async def test_a_run_that_archived_nothing_changes_no_key(archive: Archive, levels: Levels) -> None:
    """Facts and candidates do not wait for one."""
    done = await consolidate(archive, levels, "ours", CONFIG, PriceBook(Path("none")), EMPTY, [])
    assert done.keys == 0
    assert "L4:2026" not in levels.insight()
    assert len(done.candidates) == 1


async def test_every_level_gains_its_part(archive: Archive, levels: Levels) -> None:
    """L1 keys, L2 facts, an L3 candidate, the evidence of the pool; nothing is the matter."""
    done = await run(archive, levels)

    assert done.problems == done.promoted == ()
    index = levels.insight()
    for words in ("wechat", "支付", "L4:2026-04/0401_1000-0401_1100", "L2:MODELS", "L3:rule_pool"):
        assert words in index
    assert "kubernetes" not in index
    assert {fact.text for fact in levels.facts()} >= {"small is served by main"}
    (candidate,) = levels.candidates()
    assert done.candidates == (candidate.id,)
    assert "2. `make deploy`" in candidate.text


async def test_links_lead_down_and_up_after_it(archive: Archive, levels: Levels) -> None:
    """Each entry names a message that is there; each session, by its name, the entries."""
    await run(archive, levels)
    entries = levels.cited_by("2026-04/0401_1000-0401_1100")
    assert {entry.partition(":")[0] for entry in entries} >= {"L1", "candidate"}
    for entry in entries:
        why = levels.why(entry)
        assert why is not None
        for link in why.links:
            messages = await archive.conversation(link.session)
            assert link.message is None or link.message < len(messages)
            assert link.quote in json.loads(messages[link.message or 0].content).get("content", "") or not link.quote


async def test_a_second_run_changes_nothing(archive: Archive, levels: Levels) -> None:
    """No file is even touched."""
    await run(archive, levels)
    before = {path: path.stat().st_ino for path in levels.root.rglob("*") if path.is_file()}
    await run(archive, levels)
    assert {path: path.stat().st_ino for path in levels.root.rglob("*") if path.is_file()} == before


async def test_a_policy_promotes(archive: Archive, levels: Levels) -> None:
    """What three sessions show, where the operator says that three are enough."""
    done = await run(archive, levels, replace(CONFIG, memory=Levelled(promote_sessions=3)))
    (entry,) = done.promoted
    assert entry.startswith("L3:make_")
    assert levels.candidates() == ()


async def test_a_session_that_was_forgotten_has_no_keys(archive: Archive, levels: Levels) -> None:
    """Nothing of it is there to take them from."""
    await archive.forget("s0")
    done = await run(archive, levels)
    assert "wechat" not in levels.insight()
    assert done.keys > 0
