"""Raw logs: each exchange once, only what is new in it, no secret, and all of it can be had back."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import ExchangeRecord, Message, StoreError, message_hash
from memory.L4_raw_sessions.exchanges import Conversations, Exchange, read_exchanges
from memory.L4_raw_sessions.sections import read_sections
from memory.rawlog import Logged, RawLog

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]


def exchanges_of(path: Path) -> list[Exchange]:
    """What a log holds."""
    with path.open("rb") as file:
        return list(read_exchanges(read_sections(file)))


@pytest.fixture
def log(tmp_path: Path) -> RawLog:
    """Logs in an empty folder."""
    return RawLog(tmp_path)


def test_the_form_of_the_contract(log: RawLog, tmp_path: Path, chain: Chain, record: Record) -> None:
    """A prompt and a response under markers with their times, each body one line of JSON; readable for its owner only."""
    log.append(
        [
            record(
                "e1",
                chain("hello"),
                model="small",
                reply=Message(
                    hash="b2:00", parent=None, role="assistant", content=b'{"role": "assistant",\n "content": "hi"}'
                ),
            )
        ]
    )
    (path,) = (tmp_path / "temp" / "model_responses").glob("model_responses_*.txt")
    prompt, body, _, response, answer, _ = path.read_text().split("\n")[:-1]
    assert prompt.startswith("=== Prompt === 1970-01-01 00:01:40 len=")
    assert response.startswith("=== Response === 1970-01-01 00:01:41 len=")
    assert "model=small" in response
    assert json.loads(body)["messages"] == [{"role": "user", "content": "hello"}]
    assert json.loads(answer)["message"] == {"role": "assistant", "content": "hi"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_only_what_is_new(log: RawLog, chain: Chain, record: Record) -> None:
    """A history that comes again whole, as after a restart, is not written again; nor are its tools."""
    history = chain("one" * 1000, "two", "three")
    log.append([record("1", history[:1]), record("2", history[:2])])
    log.append([record("3", history)])
    exchanges = exchanges_of(log.path("tenant", "session 1"))
    assert [len(exchange.messages) for exchange in exchanges] == [1, 1, 1]
    assert [exchange.base for exchange in exchanges] == [None, history[0].hash, history[1].hash]
    assert [exchange.head is None for exchange in exchanges] == [False, True, True]


@pytest.mark.parametrize("restarted", [False, True], ids=["in one process", "after a restart"])
def test_an_exchange_is_written_once(tmp_path: Path, chain: Chain, record: Record, restarted: bool) -> None:
    """What was handed over again, as nobody knew what became of it, is in the log once."""
    log = RawLog(tmp_path)
    log.append([record("1", chain("one"))])
    size = log.path("tenant", "session 1").stat().st_size
    log = RawLog(tmp_path) if restarted else log
    log.append([record("1", chain("one"))])
    assert log.path("tenant", "session 1").stat().st_size == size


def test_an_id_that_was_used_twice(log: RawLog, chain: Chain, record: Record) -> None:
    """Clients may give ids to their requests: two requests with one id are two exchanges."""
    log.append([record("1", chain("one")), record("1", chain("one", "two"), started=200.0)])
    assert len(exchanges_of(log.path("tenant", "session 1"))) == 2


def test_two_writers(tmp_path: Path, chain: Chain, record: Record) -> None:
    """Two processes that write one session's log leave out what the other has written."""
    one, other = RawLog(tmp_path), RawLog(tmp_path)
    history = chain("one", "two", "three")
    one.append([record("1", history[:1])])
    other.append([record("2", history[:2])])
    one.append([record("3", history)])
    exchanges = exchanges_of(one.path("tenant", "session 1"))
    assert [len(exchange.messages) for exchange in exchanges] == [1, 1, 1]


def test_a_sealed_log_is_not_written_to(log: RawLog, chain: Chain, record: Record) -> None:
    """After a run has taken the log away, a new one goes on where it ended."""
    history = chain("one", "two")
    log.append([record("1", history[:1])])
    path = log.path("tenant", "session 1")
    sealed = path.rename(path.with_suffix(".sealed"))
    size = sealed.stat().st_size
    log.append([record("2", history[1:])])
    assert sealed.stat().st_size == size
    (first,), (second,) = exchanges_of(sealed), exchanges_of(path)
    assert second.base == history[0].hash
    assert second.head is not None
    parts = Conversations()
    assert parts.expand(second) is None
    parts.expand(first)
    assert parts.expand(second) == [message.content for message in history]


def test_a_torn_end_spoils_nothing(tmp_path: Path, chain: Chain, record: Record) -> None:
    """What a crash has cut off stays as it is, and what follows can be read."""
    log = RawLog(tmp_path)
    log.append([record("1", chain("one")), record("2", chain("one", "two"))])
    path = log.path("tenant", "session 1")
    os.truncate(path, path.stat().st_size - 30)
    RawLog(tmp_path).append([record("2", chain("one", "two"))])
    first, torn, second = exchanges_of(path)
    assert (first.id, torn.id, second.id) == ("1", None, "2")


def test_no_secret_is_written(log: RawLog, tmp_path: Path, chain: Chain, record: Record) -> None:
    """Neither in a message, nor in the head, the reply, the model, the path or an error."""
    secret = "sk-ant-api03-" + "Zq7" * 20
    told = json.dumps({"k": secret}).encode()
    fields: dict[str, Any] = {"error": secret, "model": secret, "path": f"/v1?key={secret}", "head": told}
    reply = Message(hash="b2:00", parent=None, role="assistant", content=told)
    log.append([record("1", chain(f"it is {secret}"), reply=reply, reported={"x": secret}, **fields)])
    data = log.path("tenant", "session 1").read_bytes()
    assert b"Zq7Zq7" not in data
    assert data.count(b"[redacted:") == 7


def test_a_disk_that_is_full(log: RawLog, chain: Chain, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """The half that fitted is taken back, the error says what to do, and the next attempt succeeds."""
    log.append([record("1", chain("one"))])
    path = log.path("tenant", "session 1")
    before = path.read_bytes()
    write = os.write

    def full(file: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[:100])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreError, match="space"):
            log.append([record("2", chain("one", "two"))])
    assert path.read_bytes() == before
    log.append([record("2", chain("one", "two"))])
    assert [exchange.id for exchange in exchanges_of(path)] == ["1", "2"]


CONTENTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["=== ASSISTANT ===", "a\n=== USER ===\nb", "=" * 60, "SESSION: x", "</history>", "\ud800", "\u2028"]
    ),
)
MESSAGES = st.one_of(
    st.builds(lambda text: {"role": "user", "content": text}, CONTENTS),
    st.builds(
        lambda text: {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": text}]}, CONTENTS
    ),
    st.builds(lambda text: {"role": "user", "content": [{"type": "image_url", "image_url": {"url": text}}]}, CONTENTS),
    st.builds(
        lambda text: {"role": "assistant", "tool_calls": [{"id": k, "function": {"name": text}} for k in "ab"]},
        CONTENTS,
    ),
)
TURNS = st.lists(
    st.tuples(st.integers(0, 5), st.lists(MESSAGES, min_size=1, max_size=4), st.sampled_from([None, 0, 2])), max_size=8
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TURNS, st.integers(0, 3), st.booleans())
def test_every_request_can_be_had_back(
    tmp_path_factory: pytest.TempPathFactory, record: Record, turns: list[Any], restart_at: int, sealed: bool
) -> None:
    """Whatever clients edit, repeat or take back, and wherever a log was sealed, its parts give each request again."""
    data = tmp_path_factory.mktemp("data")
    log = RawLog(data)
    path = log.path("t", "s")
    sent: list[tuple[Message, ...]] = []
    parts = []
    for k, (back, new, indent) in enumerate(turns):
        history = list(sent[-1][: max(0, len(sent[-1]) - back)]) if sent else []
        for message in new:
            content = json.dumps(message, indent=indent).encode()
            parent = history[-1].hash if history else None
            name = message_hash(parent, content)
            history.append(Message(hash=name, parent=parent, role=message["role"], content=content))
        told = history if k == restart_at else [m for m in history if all(m not in earlier for earlier in sent)]
        sent.append(tuple(history))
        log.append([record(str(k), told, tip=history[-1].hash, tenant="t", session="s")])
        if k == restart_at:
            log = RawLog(data)
            if sealed:
                parts.append(path.rename(path.with_suffix(".sealed")))
    conversations = Conversations()
    expanded = []
    for part in [*parts, *([path] if path.exists() else [])]:
        expanded += [conversations.expand(exchange) for exchange in exchanges_of(part)]
    assert [[json.loads(m) for m in messages or ()] for messages in expanded] == [
        [json.loads(m.content) for m in history] for history in sent
    ]


class Store:
    """Keeps ids, unless it is broken."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.broken = False

    async def append(self, records: Sequence[ExchangeRecord]) -> None:
        """Take all or none."""
        if self.broken:
            raise StoreError("broken")
        self.ids += [record.id for record in records if record.id not in self.ids]


async def test_an_archive_with_logs(log: RawLog, chain: Chain, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exchange is in both or, after an error, is handed over again, and then stands in both once."""
    store = Store()
    both = Logged(store, log)
    one, two = record("1", chain("one")), record("2", chain("one", "two"))
    store.broken = True
    with pytest.raises(StoreError):
        await both.append([one])
    assert not log.path("tenant", "session 1").exists()
    store.broken = False
    with monkeypatch.context() as patch:
        patch.setattr(RawLog, "append", _fail)
        with pytest.raises(StoreError):
            await both.append([one, two])
    await both.append([one, two])
    assert store.ids == ["1", "2"]
    assert [exchange.id for exchange in exchanges_of(log.path("tenant", "session 1"))] == ["1", "2"]


def _fail(*_: object) -> None:
    raise StoreError("the disk is full")
