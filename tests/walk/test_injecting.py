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

PATHS = ["/v1/chat/completions", "/v1/messages"]
STEPS = [Step(f"cat {k}", LISTING if k % 2 else PROGRESS) for k in range(5)]


def system(body: bytes) -> Any:
    """The system text of a request."""
    fields = json.loads(body)
    return fields["system"] if "system" in fields else fields["messages"][0]["content"]


@pytest.fixture
def levels(tmp_path: Path) -> Levels:
    """A memory with something to point to."""
    levels = Levels(tmp_path / "memory", lambda: 0.0)
    levels.put_fact("MODELS", "small is served by up", by="person")
    return levels


@pytest.mark.parametrize("path", PATHS)
async def test_off_every_byte_is_the_clients(path: str, tmp_path: Path, levels: Levels) -> None:
    """By default, whatever memory holds."""
    sample = SAMPLES[path]
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        body = dump(sample.request())
        await ask(gateway.url, path, body)
        assert up.last.body == body


@pytest.mark.parametrize("last", [False, True], ids=["in the order of most", "with the system text at the end"])
@pytest.mark.parametrize("path", PATHS)
async def test_on_each_turn_begins_with_the_bytes_of_the_one_before(
    path: str, last: bool, tmp_path: Path, levels: Levels
) -> None:
    """Across a restart and a changed index; what is archived is what the client said, and no prefix counts as broken."""
    sample, sent = SAMPLES[path], list[bytes]()
    async with upstream(whole(sample.answer("ok"))) as up:
        config = configured(up.url, memory=Memory(inject="index"))
        for turns in (range(3), range(3, 6)):
            async with service(config, tmp_path) as gateway:
                for k in turns:
                    fields = sorted(sample.request(STEPS[:k]).items(), key=lambda item: last and item[0] == "system")
                    row = await gateway.row(await ask(gateway.url, path, dump(dict(fields))))
                    sent.append(sample.unmarked(up.last.body))
                    assert "broken prefix" not in row.kept
                    said = await gateway.gateway.archive.chain(row.tip or "")
                    assert [message for message in said if b"taco-memory" in message.content] == []
                levels.put_fact("LIMITS", f"fact {turns}", by="person")

    for before, after in pairwise(sent):
        assert after.startswith(before[: before.rindex(b'}], "tools"') + 1])
    texts: set[Any] = {system(body) for body in sent}
    assert len(texts) == 1
    assert "L2:MODELS" in texts.pop()
