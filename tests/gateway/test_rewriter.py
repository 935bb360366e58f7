"""From a request to the bytes that are forwarded, and what stays when something fails on the way."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway import framings
from gateway.cache import BoundedCache
from gateway.identity import chain
from gateway.pins import Pins
from gateway.rewriter import CHARS_A_TOKEN, Outgoing, Rewriter
from gateway.shapes import chat_completions
from memory import Decisions, StoreError
from rules_engine import RuleSet, Settings
from tests.samples import LISTING, PROGRESS, SAMPLES, Step, dump

SAMPLE = SAMPLES[chat_completions.PATH]
NOISY, LATER = Step("tar cvf a.tar .", PROGRESS), Step("tar cvf b.tar .", PROGRESS.replace("archive", "b"))


class Desk:
    """A rewriter over a store, and requests that are put to it."""

    def __init__(self, store: Decisions) -> None:
        self.pins = Pins(store, lambda: 0.0, 0.2)
        self.rules = RuleSet()
        self.texts: dict[str, str] = {}
        self.cached_from = 0
        self.rewriter = Rewriter(self.pins, self.omitted, lambda model: self.cached_from)

    async def omitted(self, tenant: str, name: str) -> str | None:
        """What the redacted store has."""
        return self.texts.get(name)

    async def send(
        self, *steps: Step, known: int = 0, off: tuple[str, ...] = (), body: bytes = b""
    ) -> tuple[bytes, Outgoing]:
        """A request, and what is forwarded of it."""
        body = body or dump(SAMPLE.request(steps))
        read = chat_completions.read(body, BoundedCache(1 << 22))
        links = chain(read, "t")
        outgoing = await self.rewriter.rewrite(
            body,
            read,
            tenant="t",
            chain=links,
            known=known,
            allowed=lambda tool: tool not in off,
            ruleset=lambda: self.rules,
        )
        return body, outgoing


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Decisions]:
    """A store of decisions."""
    decisions = await Decisions.open(tmp_path / "decisions.sqlite")
    yield decisions
    await decisions.aclose()


@pytest.fixture
def desk(store: Decisions) -> Desk:
    """A rewriter at work."""
    return Desk(store)


def outputs(outgoing: Outgoing) -> list[str]:
    """The tool outputs that are forwarded."""
    return SAMPLE.outputs(json.loads(outgoing.body))


@pytest.mark.parametrize(
    ("steps", "more", "kept"),
    [
        pytest.param([], {}, {}, id="no observation"),
        pytest.param([Step("ls", "a\n")], {}, {"short": 1}, id="a short one"),
        pytest.param([NOISY, Step("ls", "")], {}, {}, id="an old one"),
        pytest.param([NOISY], {"known": 99}, {}, id="one that was forwarded before"),
        pytest.param([NOISY], {"off": ("bash",)}, {"off": 1}, id="one of a tool that is off"),
    ],
)
async def test_where_nothing_is_rewritten_the_body_is_the_same(
    steps: list[Step], more: dict[str, Any], kept: dict[str, int], desk: Desk
) -> None:
    """The very object."""
    body, outgoing = await desk.send(*steps, **more)

    assert outgoing.body is body
    assert (outgoing.kept, outgoing.fresh, outgoing.digests, outgoing.committed) == (kept, frozenset(), {}, None)


async def test_what_is_new_is_rewritten_and_pinned(desk: Desk, store: Decisions) -> None:
    """The message is named by what is forwarded of it; and another process finds the decision."""
    body, outgoing = await desk.send(NOISY)
    assert outgoing.committed is not None
    assert await outgoing.committed()
    _, again = await Desk(store).send(NOISY, Step("true", ""))

    assert len(outgoing.body) < len(body) - 1000
    assert outgoing.fresh == {shown.item.observation.key for shown in outgoing.shown}
    assert list(outgoing.digests) == [3]
    assert outputs(again)[0] == outputs(outgoing)[0]
    assert (again.fresh, again.digests) == (frozenset(), outgoing.digests)


async def test_a_rewrite_waits_until_the_prompt_without_it_is_one_that_its_provider_caches(desk: Desk) -> None:
    """What stands before the messages counts, and what went through raw before stays so."""
    steps = [Step(f"tar cvf {n}.tar .", PROGRESS.replace("archive", f"{n}")) for n in range(4)]
    desk.cached_from = 2600
    sent = [await desk.send(*steps[: n + 1]) for n in range(4)]
    head = dump(SAMPLE.request(steps[:1], instructions="Do " * 6000))
    _, headed = await desk.send(body=head)

    assert [dict(outgoing.kept) for _, outgoing in sent] == [
        {"small conversation": 1},
        {"small conversation": 1},
        {},
        {},
    ]
    assert [len(outgoing.fresh) for _, outgoing in sent] == [0, 0, 1, 1]
    assert min(len(outgoing.body) for body, outgoing in sent if outgoing.body != body) > 2600 * CHARS_A_TOKEN
    assert len(headed.fresh) == 1


async def test_a_change_of_rules_changes_nothing_that_is_pinned(desk: Desk) -> None:
    """What is new is decided by the new ones."""
    _, first = await desk.send(NOISY)
    desk.rules = RuleSet(version=2, settings=Settings(minimum_chars=10**9))
    _, second = await desk.send(NOISY, LATER)

    assert outputs(second) == [*outputs(first), LATER.output]
    assert second.kept == {"short": 1}


async def test_who_was_first_decides(desk: Desk, store: Decisions) -> None:
    """Also over one who would have kept the text."""
    other = Desk(store)
    other.rules = RuleSet(settings=Settings(disabled=frozenset({"shown"})))
    twice = [Step("ls", LISTING), Step("ls | cat", LISTING)]
    for each in (desk, other):
        await each.send(twice[0])
    _, first = await desk.send(*twice)
    assert first.committed is not None
    assert await first.committed()
    _, second = await other.send(*twice)

    assert first.body == second.body
    assert len(outputs(first)[1]) < len(LISTING)


async def test_a_store_that_cannot_pin_leaves_new_texts_raw(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is pinned is replayed; while the store is down nobody waits for it again."""
    _, first = await desk.send(NOISY)
    asked = []

    async def fail(*_: object) -> None:
        asked.append(1)
        raise StoreError("no")

    monkeypatch.setattr(desk.pins._store, "choose", fail)
    for _ in range(2):
        _, outgoing = await desk.send(NOISY, LATER)
        assert outputs(outgoing) == [*outputs(first), LATER.output]
        assert (outgoing.kept["store"], outgoing.committed) == (1, None)
    assert asked == [1]


async def test_a_store_that_cannot_be_read_leaves_what_is_remembered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted, for the prefix may break."""
    _, first = await desk.send(NOISY)

    async def fail(*_: object) -> None:
        raise StoreError("no")

    monkeypatch.setattr(desk.pins._store, "find", fail)
    _, outgoing = await desk.send(NOISY, LATER)

    assert outputs(outgoing) == [*outputs(first), LATER.output]
    assert (outgoing.kept["unread"], outgoing.kept["store"]) == (1, 1)


async def test_a_framing_that_fails_is_counted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text stays, the others are rewritten."""
    split = framings.split

    def fail(text: str, role: Any) -> Any:
        if text == "odd":
            raise RuntimeError
        return split(text, role)

    monkeypatch.setattr(framings, "split", fail)
    _, outgoing = await desk.send(Step("odd", "odd"), NOISY)

    assert outgoing.kept["failed"] == 1
    assert outputs(outgoing)[0] == "odd"
    assert len(outputs(outgoing)[1]) < 200


async def test_an_unreadable_message_is_counted(desk: Desk) -> None:
    """Its bytes stay."""
    body = dump(SAMPLE.request([Step("odd", "ODD" + PROGRESS)])).replace(b"ODD", rb"\ud800")
    _, outgoing = await desk.send(body=body)

    assert outgoing.body is body
    assert outgoing.kept == {"unreadable": 1}


async def test_parts_of_one_message_are_rewritten_together(desk: Desk) -> None:
    """Each in its place."""
    parts = [{"type": "image_url", "image_url": {"url": "u"}}, {"type": "text", "text": LATER.output}]
    body, outgoing = await desk.send(body=dump(SAMPLE.request([NOISY], parts=parts)))
    first, image, second = SAMPLE.parts(json.loads(outgoing.body))

    assert image == parts[0]
    assert (len(first["text"]) < 200, len(second["text"]) < 200) == (True, True)
    assert len(outgoing.fresh) == 2
    assert len(outgoing.body) < len(body)
