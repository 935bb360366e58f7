"""From a record to rows: contents once, blobs apart, texts sealed."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import ExchangeRecord, Message, RewriteRecord
from memory.audit import seal
from memory.rows import BLOB, pack, prepare, strip, unpack

IMAGE = base64.b64encode(bytes(range(256)) * 20).decode()


def unpacked(content: bytes) -> bytes:
    """There and back."""
    packed = pack(content)
    return unpack(packed.data, [(place, data) for place, _, data in packed.blobs])


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b'{"url": "data:image/png;base64,QUJD"}', b"x" * 63, (b"word " * 4000), (b"a" * (BLOB - 1)) + b'"'],
    ids=["empty", "small", "small image", "short word", "words", "almost large enough"],
)
def test_nothing_to_take_out(content: bytes) -> None:
    """Text and small images stay where they are."""
    assert pack(content).blobs == ()
    assert unpacked(content) == content


def test_images_are_kept_once() -> None:
    """The same image in two messages is one blob, and both messages come back whole."""
    contents = [json.dumps({"n": n, "url": f"data:image/png;base64,{IMAGE}", "again": IMAGE}).encode() for n in (1, 2)]
    packed = [pack(content) for content in contents]
    assert len({digest for content in packed for _, digest, _ in content.blobs}) == 1
    assert [len(content.blobs) for content in packed] == [2, 2]
    assert all(len(content.data) < 200 for content in packed)
    assert [unpacked(content) for content in contents] == contents


@given(st.lists(st.one_of(st.binary(max_size=20), st.sampled_from([IMAGE.encode(), b"A" * BLOB, b"_-" * BLOB]))))
def test_any_content_comes_back(parts: list[bytes]) -> None:
    """Whatever bytes, wherever the blobs: unpack(pack(x)) == x."""
    content = b"".join(parts)
    assert unpacked(content) == content


def test_known_messages_lose_their_content(
    chain: Callable[..., tuple[Message, ...]], record: Callable[..., ExchangeRecord]
) -> None:
    """What is stored already is not prepared again, but still named."""
    messages = chain("a", "b")
    (prepared,) = prepare([strip(record("1", messages), frozenset([messages[0].hash]))])
    assert [row[0] for row in prepared.messages] == [message.hash for message in messages]
    assert [row[3] is None for row in prepared.messages] == [True, False]


def test_exact(chain: Callable[..., tuple[Message, ...]], record: Callable[..., ExchangeRecord]) -> None:
    """A message whose hash can be had back from what is stored is marked so; a redacted one cannot."""
    (prepared,) = prepare([record("1", chain("a", "password=hunter2"))])
    assert [row[4] for row in prepared.messages] == [True, False]


def test_facts_seal_the_redacted_texts(
    record: Callable[..., ExchangeRecord], rewrite: Callable[..., RewriteRecord]
) -> None:
    """The facts name each text by a salted digest, and hold no text themselves."""
    (prepared,) = prepare([record("1", rewrites=(rewrite("password=hunter2"),))])
    ((facts, texts),) = prepared.rewrites
    assert [part for part, _, _ in json.loads(facts)["texts"]] == ["command", "before", "after", "omitted"]
    for (_, recall, sealed), text in zip(json.loads(facts)["texts"], texts, strict=True):
        assert recall == text.recall
        assert sealed == seal(text.salt, zlib.decompress(text.data))
    assert zlib.decompress(texts[1].data) == b"password=[redacted:password]"
    assert "one" not in facts
    assert len({text.salt for text in texts}) == len(texts)
