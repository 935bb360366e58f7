"""Small exchanges to put into a store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memory import Archive, ExchangeRecord, Message, RewriteRecord, SignalRecord, message_hash

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]


@pytest.fixture(scope="session")
def chain() -> Chain:
    """Make a history of user messages from its texts, or from whole messages."""

    def build(*contents: Any) -> tuple[Message, ...]:
        out: list[Message] = []
        for content in contents:
            message = content if isinstance(content, dict) else {"role": "user", "content": content}
            data = json.dumps(message).encode()
            parent = out[-1].hash if out else None
            hash_ = message_hash(parent, data)
            out.append(Message(hash=hash_, parent=parent, role=message["role"], content=data))
        return tuple(out)

    return build


@pytest.fixture(scope="session")
def record() -> Record:
    """Make the record of an exchange; what is not said is plain."""

    def build(id_: str, messages: Sequence[Message] = (), **fields: Any) -> ExchangeRecord:
        plain: dict[str, Any] = {
            "session": "session 1",
            "parent_session": None,
            "tenant": "tenant",
            "started": 100.0,
            "first_byte": 100.5,
            "ended": 101.0,
            "method": "POST",
            "path": "/v1/chat/completions",
            "shape": "chat_completions",
            "upstream": "main",
            "model": "small",
            "stream": False,
            "retry": False,
            "status": 200,
            "outcome": "completed",
            "error": None,
            "tip": messages[-1].hash if messages else None,
            "head": b'{"model":"small"}',
            "reply": None,
            "reported": {"prompt_tokens": 7},
            "accounts": {"raw_tokens": 10, "forwarded_tokens": 8},
            "kept": {"short": 1},
        }
        return ExchangeRecord(id=id_, messages=tuple(messages), **(plain | fields))

    return build


@pytest.fixture(scope="session")
def rewrite() -> Callable[..., RewriteRecord]:
    """Make the record of a rewrite."""

    def build(before: str = "one\ntwo\nthree", **fields: Any) -> RewriteRecord:
        plain: dict[str, Any] = {
            "key": "key 1",
            "tool": "bash",
            "command": "ls",
            "after": "one\nthree",
            "rules": (("gutter", 1),),
            "omissions": (("abc123", "two\n"),),
            "tokens_before": 5,
            "tokens_after": 3,
        }
        return RewriteRecord(before=before, **(plain | fields))

    return build


@pytest.fixture(scope="session")
def signal() -> SignalRecord:
    """A complaint."""
    return SignalRecord(name="recall", key="key 1", rules=(("gutter", 1),), evidence="echo recall:abc123", weight=1.0)


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[Archive]:
    """An open, empty archive."""
    opened = await Archive.open(tmp_path / "data")
    yield opened
    await opened.aclose()
