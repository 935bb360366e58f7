"""Which contents are let go of, as the rows say it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory import Archive, ExchangeRecord, Message
from memory.canon import digest
from memory.letting_go import SHARED

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]


def held(*messages: Message) -> dict[str, str]:
    """What a zip holds of them."""
    return {message.hash: digest(message.content) for message in messages}


async def nothing(archive: Archive, chain: Chain, record: Record) -> int:
    """Without a word from a zip."""
    await archive.append([record("1", chain("a", "b"))])
    return await archive.let_go("session 1", {}, lambda session, message: True)


async def unknown(archive: Archive, chain: Chain, record: Record) -> int:
    """Messages that were never stored."""
    return await archive.let_go("session 1", held(*chain("a", "b")), lambda session, message: True)


async def otherwise(archive: Archive, chain: Chain, record: Record) -> int:
    """The zip holds something else under those names."""
    await archive.append([record("1", chain("a", "b"))])
    told = {name: digest(b"else") for name in held(*chain("a", "b"))}
    return await archive.let_go("session 1", told, lambda session, message: False)


async def shared(archive: Archive, chain: Chain, record: Record) -> int:
    """Another session has them, too, and its zip does not hold them."""
    await archive.append([record("1", chain("a", "b")), record("2", chain("a", "b"), session="other")])
    return await archive.let_go("session 1", held(*chain("a", "b")), lambda session, message: False)


async def said_elsewhere(archive: Archive, chain: Chain, record: Record) -> int:
    """Another session says the same words after others."""
    await archive.append([record("1", chain("a", "b")), record("2", chain("b", "a"), session="other")])
    return await archive.let_go("session 1", held(*chain("a", "b")), lambda session, message: False)


async def popular(archive: Archive, chain: Chain, record: Record) -> int:
    """So many sessions have them that they are kept once for all."""
    await archive.append([record(str(k), chain("a", "b"), session=f"session {k}") for k in range(SHARED + 1)])
    return await archive.let_go("session 1", held(*chain("a", "b")), lambda session, message: True)


async def a_common_head(archive: Archive, chain: Chain, record: Record) -> int:
    """The tools of an agent, which all of its sessions have."""
    made = record("1", chain("a"))
    await archive.append([made, record("2", chain("b"), session="other")])
    return await archive.let_go("session 1", {digest(made.head): digest(made.head)}, lambda session, message: True)


@pytest.mark.parametrize("case", [nothing, unknown, otherwise, shared, said_elsewhere, popular, a_common_head])
async def test_what_stays(
    case: Callable[[Archive, Chain, Record], object], archive: Archive, chain: Chain, record: Record
) -> None:
    """Nothing is dropped that is needed here."""
    assert await case(archive, chain, record) == 0  # type: ignore[misc]


async def test_what_goes(archive: Archive, chain: Chain, record: Record) -> None:
    """What the zip of each session that has it holds; the names and the chain stay."""
    history = chain("a", "b")
    await archive.append([record("1", history), record("2", history, session="other")])
    asked: set[str] = set()

    def is_held(session: str, message: str) -> bool:
        asked.add(session)
        return True

    assert await archive.let_go("session 1", held(*history), is_held) == 2
    assert asked == {"other"}
    assert await archive.known([message.hash for message in history]) == frozenset()
    assert [message.hash for message in await archive.chain(history[-1].hash)] == [m.hash for m in history]
    assert await archive.depth(history[-1].hash) == 2


async def test_what_is_said_again_is_stored_again(archive: Archive, chain: Chain, record: Record) -> None:
    """Also in other words for the same name, as after a pattern of redaction was added."""
    history = chain("a")
    await archive.append([record("1", history)])
    await archive.let_go("session 1", held(*history), lambda session, message: True)
    again = Message(hash=history[0].hash, parent=None, role="user", content=b'{"content":"A"}')
    await archive.append([record("2", (again,))])
    assert (await archive.chain(again.hash))[0].content == again.content
    assert (await archive.verify()).problems == ()


async def test_what_was_let_go_with_its_zip(archive: Archive, chain: Chain, record: Record) -> None:
    """Is marked as forgotten; what is stored, or another session has, is not."""
    mine, stored, both = chain("mine"), chain("stored"), chain("both")
    await archive.append([record("1", mine), record("2", stored), record("3", both)])
    await archive.append([record("4", both, session="other")])
    await archive.let_go("session 1", held(*mine, *both), lambda session, message: True)
    assert await archive.forget_lost("session 1", [m.hash for m in (*mine, *stored, *both)]) == 1
    problems = (await archive.verify()).problems
    assert problems == (f"message {both[0].hash}: its content is missing",)


async def test_room_is_given_back(archive: Archive, chain: Chain, record: Record) -> None:
    """No free page is left in the file."""
    history = chain(*(f"{k} " * 3000 for k in range(200)))
    await archive.append([record("1", history)])
    await archive.let_go("session 1", held(*history), lambda session, message: True)
    assert await archive._writer.rows("PRAGMA freelist_count") != [(0,)]
    await archive.reclaim()
    assert await archive._writer.rows("PRAGMA freelist_count") == [(0,)]
