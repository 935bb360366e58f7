"""The index of memory on its way: over real sockets, across a restart, into no archive."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Memory
from memory.levels import Levels
from tests.samples import LISTING, PROGRESS, SAMPLES, Step, dump
from tests.service import configured, service
from tests.wire import ask, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]
STEPS = [Step(f"cat {k}", LISTING if k % 2 else PROGRESS) for k in range(5)]


def turn(k: int) -> bytes:
    """The request after so many steps."""
    return dump(SAMPLE.request(STEPS[:k]))


@pytest.fixture
def levels(tmp_path: Path) -> Levels:
    """A memory with something to point to."""
    levels = Levels(tmp_path / "memory", lambda: 0.0)
    levels.put_fact("MODELS", "small is served by up", by="person")
    return levels


async def test_off_every_byte_is_the_clients(tmp_path: Path, levels: Levels) -> None:
    """By default, whatever memory holds."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        body = dump(SAMPLE.request())
        await ask(gateway.url, PATH, body)
        assert up.last.body == body


async def test_on_each_turn_begins_with_the_bytes_of_the_one_before(tmp_path: Path, levels: Levels) -> None:
    """Across a restart and a changed index; what is archived is what the client said, and no prefix counts as broken."""
    sent: list[bytes] = []
    async with upstream(whole(SAMPLE.answer("ok"))) as up:
        config = configured(up.url, memory=Memory(inject="index"))
        for turns in (range(3), range(3, 6)):
            async with service(config, tmp_path) as gateway:
                for k in turns:
                    row = await gateway.row(await ask(gateway.url, PATH, turn(k)))
                    sent.append(up.last.body)
                    assert "broken prefix" not in row.kept
                    said = await gateway.gateway.archive.chain(row.tip or "")
                    assert [message for message in said if b"taco-memory" in message.content] == []
                levels.put_fact("LIMITS", f"fact {turns}", by="person")

    for before, after in pairwise(sent):
        assert after.startswith(before[: before.rindex(b'}], "tools"') + 1])
    texts: set[Any] = {json.loads(body)["messages"][0]["content"] for body in sent}
    assert len(texts) == 1
    assert "L2:MODELS" in texts.pop()
