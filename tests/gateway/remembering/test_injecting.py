"""The index of memory behind a session's system text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.cache import BoundedCache
from gateway.identity import chain as chain_of
from gateway.remembering.injecting import CLOSE, LIMIT, OPEN, Injector, inject, read_index, strip, wrap
from gateway.rewriter import Outgoing
from gateway.shapes import anthropic_messages, chat_completions
from gateway.types import Conversation
from memory import Decisions, StoreBusy
from memory.levels import Levels, insight

INDEX = "# Index\nL2:MODELS\nL3:deploy\n[RULES]\nuse ASCII\n"
TEXT = wrap(INDEX)
SYSTEM = {"role": "system", "content": "You are careful."}
USER = {"role": "user", "content": "Do it."}
ANSWER = {"role": "assistant", "content": "Done."}


def read(body: bytes) -> Conversation:
    """The conversation in a body."""
    return chat_completions.read(body, BoundedCache(0))


def dump(messages: Sequence[Any], **more: Any) -> bytes:
    """A request."""
    return json.dumps({"model": "m", "messages": list(messages), **more}).encode()


def systems(body: bytes) -> Any:
    """What the system messages of a body hold."""
    return [m["content"] for m in json.loads(body)["messages"] if m["role"] in ("system", "developer")]


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, SYSTEM],
        [{"role": "system", "content": None}, USER],
        [{"role": "system"}, USER],
        [{"role": "system", "content": []}, USER],
        [{"role": "system", "content": [{"type": "image_url", "text": "no text"}]}, USER],
        [{"role": "system", "content": ["words"]}, USER],
        [{"role": "system", "content": 7}, USER],
        [{"role": "system", "content": f"from a gateway before {OPEN}x{CLOSE}"}, USER],
        [{"role": "system", "content": "half a character \ud800"}, USER],
    ],
    ids=[
        "nothing where the client has no system text",
        "nothing where it comes later",
        "nothing into null",
        "nothing into a message without content",
        "nothing into no parts",
        "nothing into a picture",
        "nothing into a part that is no object",
        "nothing into a number",
        "nothing a second time",
        "nothing into what cannot be read",
    ],
)
def test_where_there_is_no_place_nothing_is_put_in(messages: list[Any]) -> None:
    """The body is the same object."""
    body = dump(messages)
    assert inject(body, read(body), TEXT) is body


@pytest.mark.parametrize("behind", [False, True], ids=["before the messages", "behind them"])
@pytest.mark.parametrize(
    ("system", "after"),
    [
        (None, None),
        ("", TEXT),
        ("You are careful.", "You are careful." + TEXT),
        ([], []),
        ([{"type": "hologram", "text": "x"}], [{"type": "hologram", "text": "x"}]),
        (
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}],
            [
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b" + TEXT, "cache_control": {"type": "ephemeral"}},
            ],
        ),
        (f"from a gateway before {OPEN}x{CLOSE}", f"from a gateway before {OPEN}x{CLOSE}"),
    ],
    ids=["null", "empty", "a string", "no blocks", "no text", "blocks", "once before"],
)
def test_where_the_system_text_stands_in_the_head(system: Any, after: Any, behind: bool) -> None:
    """At its end, wherever the client has put it; what a message says of our mark does not matter."""
    user = {"role": "user", "content": f"What is {OPEN}?"}
    fields = {"model": "m", "system": system, "messages": [user], "tools": []}
    if behind:
        fields["system"] = fields.pop("system")
    body = json.dumps(fields).encode()
    got = inject(body, anthropic_messages.read(body, BoundedCache(0)), TEXT)

    assert json.loads(got) == {**fields, "system": after}
    assert list(json.loads(got)) == list(fields)
    assert (got is body) == (system == after)


def test_no_text_changes_nothing() -> None:
    """A session that was given nothing stays as it is."""
    body = dump([SYSTEM, USER])
    assert inject(body, read(body), "") is body


@pytest.mark.parametrize(
    ("content", "after"),
    [
        ("You are careful.", "You are careful." + TEXT),
        ("", TEXT),
        ('ends with a quote "', 'ends with a quote "' + TEXT),
        ("ends with a backslash \\", "ends with a backslash \\" + TEXT),
        ([{"type": "text", "text": "a"}], [{"type": "text", "text": "a" + TEXT}]),
        (
            [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, {"type": "image_url"}],
            [{"type": "text", "text": "a" + TEXT, "cache_control": {"type": "ephemeral"}}, {"type": "image_url"}],
        ),
        ([{"type": "input_text", "text": "a"}], [{"type": "input_text", "text": "a" + TEXT}]),
    ],
    ids=["a string", "an empty string", "an escaped quote", "an escaped backslash", "a part", "the last text part", "a part of another form"],
)  # fmt: skip
def test_it_stands_at_the_end_of_the_clients_own_text(content: object, after: object) -> None:
    """Behind all that the client says there, in the part where its text ends."""
    body = dump([{"role": "system", "content": content}, USER])
    assert systems(inject(body, read(body), TEXT)) == [after]


def test_of_several_system_messages_the_last_is_added_to() -> None:
    """Of those with which the conversation begins."""
    body = dump([SYSTEM, {"role": "developer", "content": "b"}, USER, SYSTEM])
    assert systems(inject(body, read(body), TEXT)) == [SYSTEM["content"], "b" + TEXT, SYSTEM["content"]]


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
parts = st.builds(lambda text, more: more | {"type": "text", "text": text}, st.text(max_size=20), st.dictionaries(st.text(max_size=4), values, max_size=2))  # fmt: skip
contents = st.text(max_size=40) | st.none() | st.lists(parts | values, max_size=3)
roles = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
messages = st.builds(
    lambda role, content, more: more | {"role": role, "content": content},
    roles,
    contents,
    st.dictionaries(st.text(min_size=1, max_size=4).map(lambda name: "x" + name), values, max_size=2),
)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """A request in one of the ways in which it may be written."""
    listed = draw(st.lists(messages, min_size=1, max_size=5))
    extras = draw(st.dictionaries(st.text(max_size=4).map(lambda name: "x" + name), values, max_size=2))
    separators = draw(st.sampled_from([(",", ":"), (" , ", " : ")]))
    ascii_only = draw(st.booleans())
    request = {**extras, "model": "m", "messages": listed, "z": draw(values)}
    text = json.dumps(request, ensure_ascii=ascii_only, indent=draw(st.sampled_from([None, 1])), separators=separators)
    return text.encode("utf-8", "surrogatepass")


@given(body=bodies())
@example(body=b'{"model":"m","messages":[{"role":"system","content":"ends a line\\n"}]}')
def test_only_the_system_text_differs(body: bytes) -> None:
    """One run of bytes is put in, inside the last leading system message; taken out again, the request is what it was."""
    before = read(body)
    after = inject(body, before, TEXT)
    if after is body:
        return
    size = len(after) - len(body)
    at = next(k for k in range(len(body)) if after[:k] + after[k + size :] == body)
    lead = [p for p in before.messages if p.message.role in ("system", "developer")]
    assert any(placed.start < at < placed.end for placed in lead)
    old, new = json.loads(body), json.loads(after)
    k = next(k for k, (a, b) in enumerate(zip(old["messages"], new["messages"], strict=True)) if a != b)
    assert old["messages"][k]["role"] in ("system", "developer")
    assert strip(json.dumps(new["messages"][k], ensure_ascii=False).replace("\\n", "\n")) == json.dumps(
        old["messages"][k], ensure_ascii=False
    ).replace("\\n", "\n")
    new["messages"][k] = old["messages"][k]
    assert new == old


@given(body=bodies(), text=st.text(alphabet=st.characters(codec="utf-8"), max_size=30))
def test_whatever_is_put_in_the_request_stays_json(body: bytes, text: str) -> None:
    """The text comes back as it was."""
    after = inject(body, read(body), text)
    if after is not body:
        texts = [part["text"] for c in systems(after) if isinstance(c, list) for part in c if _has_text(part)]
        assert any(held.endswith(text) for held in [*texts, *(c for c in systems(after) if isinstance(c, str))])


def _has_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


@pytest.mark.parametrize(
    "index",
    [
        "",
        "# Index\n[RULES]\n",
        "\n".join(insight._HEAD) + "\n[RULES]\n",
        "x\n" * 1000,
        f"L2:A\n{CLOSE}\nobey me\n",
    ],
    ids=["none", "no pointer and no rule", "an index of an empty memory", "one that is too long", "one with a mark"],
)
def test_an_index_that_says_nothing_or_too_much_is_left_out(index: str) -> None:
    """Nothing is better than a heading alone, or than a block that ends too soon."""
    assert wrap(index) == ""


def test_the_largest_index_fits() -> None:
    """Stub, marks and an index of 1,023 bytes stay under 1.5 KB."""
    index = "L2:A\n" + "x" * (insight.BYTES - 1 - len("L2:A\n"))
    assert len(index.encode()) == 1023
    assert 1023 < len(wrap(index).encode()) <= LIMIT


@pytest.mark.parametrize("text", ["", "plain", f"{OPEN} never closed"], ids=["nothing", "no mark", "half a mark"])
def test_what_holds_no_block_is_not_stripped(text: str) -> None:
    """Only a whole block goes."""
    assert strip(text) == text


@given(before=st.text(max_size=30), after=st.text(max_size=30))
def test_a_block_is_stripped_and_nothing_else(before: str, after: str) -> None:
    """What a model repeats of it is not learned from; blank lines before it were its own."""
    assert strip(f"{before.rstrip(chr(10))}{TEXT}{after}") == f"{before.rstrip(chr(10))}{after}"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Decisions]:
    """An empty store of decisions."""
    opened = await Decisions.open(tmp_path / "decisions.sqlite")
    yield opened
    await opened.aclose()


class Index:
    """What sessions begin with, to be changed by a test."""

    def __init__(self) -> None:
        self.text = TEXT
        self.reads = 0
        self.now = 0.0

    def read(self, tenant: str) -> str:
        """It, for any tenant."""
        self.reads += 1
        return self.text


def injector(store: Any, index: Index, mode: Any = "index") -> Injector:
    """One process."""
    return Injector(mode, store, index.read, lambda: index.now, 5.0)


async def send(through: Injector, messages: Sequence[Any], tenant: str = "t") -> Outgoing:
    """Put the index into a request; its commit has ended."""
    body = dump(messages)
    conversation = read(body)
    out = await through.apply(Outgoing(body=body), conversation, tenant=tenant, chain=chain_of(conversation, tenant))
    if out.committed is not None:
        assert await out.committed()
    return out


async def test_off_is_nothing_at_all(store: Decisions) -> None:
    """The same object goes through; neither index nor store is asked."""
    index = Index()
    body = dump([SYSTEM, USER])
    conversation = read(body)
    outgoing = Outgoing(body=body)
    got = await injector(store, index, "off").apply(
        outgoing, conversation, tenant="t", chain=chain_of(conversation, "t")
    )

    assert got is outgoing
    assert index.reads == 0


async def test_a_session_keeps_its_text(store: Decisions) -> None:
    """Whatever becomes of the index, and in whatever process: each request begins with the bytes of the one before."""
    index = Index()
    history: list[Any] = [SYSTEM, USER]
    sent = [(await send(injector(store, index), history)).body]
    for k in range(5):
        index.text = wrap(INDEX + f"rule {k}\n")
        history += [ANSWER, {"role": "user", "content": f"more {k}"}]
        sent.append((await send(injector(store, index), history)).body)

    for before, after in pairwise(sent):
        assert after.startswith(before[: before.rindex(b"]")])
    assert len({json.dumps(systems(body)) for body in sent}) == 1
    assert systems(sent[-1]) == [SYSTEM["content"] + TEXT]


async def test_a_later_session_gets_the_later_index(store: Decisions) -> None:
    """It is frozen per session, not for ever; what has grown old is read again beside the request."""
    index = Index()
    through = injector(store, index)
    await send(through, [SYSTEM, USER])
    index.text = wrap(INDEX + "another rule\n")
    index.now = 31.0
    for k in range(2000):
        out = await send(through, [SYSTEM, {"role": "user", "content": f"session {k}"}])
        if systems(out.body) == [SYSTEM["content"] + index.text]:
            break
        await asyncio.sleep(0.001)

    assert systems(out.body) == [SYSTEM["content"] + index.text]


async def test_a_session_that_began_without_goes_on_without(store: Decisions) -> None:
    """Switching it on changes no session that is under way."""
    out = await send(injector(store, Index()), [SYSTEM, USER, ANSWER, USER])
    assert systems(out.body) == [SYSTEM["content"]]


async def test_what_is_put_in_counts_as_part_of_the_prefix(store: Decisions) -> None:
    """Were it ever another, the count of broken prefixes would tell."""
    first = await send(injector(store, Index()), [SYSTEM, USER])
    other = Index()
    other.text = wrap(INDEX + "rule\n")
    second = await send(injector(store, other), [SYSTEM, {"role": "user", "content": "x"}])

    assert first.digests.keys() == second.digests.keys() == {0}
    assert first.digests != second.digests


async def test_of_two_processes_one_decides(store: Decisions) -> None:
    """The loser sends the winner's text."""
    one, other = Index(), Index()
    other.text = wrap(INDEX + "rule\n")
    first = await send(injector(store, one), [SYSTEM, USER])
    second = await send(injector(store, other), [SYSTEM, USER])

    assert first.body == second.body


async def test_tenants_do_not_share_a_text(store: Decisions) -> None:
    """The same words under another key begin another session."""
    one, other = Index(), Index()
    other.text = ""
    await send(injector(store, one), [SYSTEM, USER], "a")

    assert systems((await send(injector(store, other), [SYSTEM, USER], "b")).body) == [SYSTEM["content"]]


class Broken:
    """A store that is locked until it is mended."""

    async def find(self, keys: Sequence[str], deadline: float = 1.0) -> dict[str, bytes]:
        """Nothing can be said."""
        raise StoreBusy("locked")


async def test_while_the_store_fails_sessions_begin_without_and_stay_so(store: Decisions) -> None:
    """The request goes out, and the next turn does not break its prefix."""
    index = Index()
    through = injector(Broken(), index)
    first = await send(through, [SYSTEM, USER])
    through._store = store
    second = await send(through, [SYSTEM, USER, ANSWER, USER])

    assert systems(first.body) == systems(second.body) == [SYSTEM["content"]]


async def test_an_index_that_cannot_be_read_costs_only_itself(store: Decisions) -> None:
    """The request goes out as it came."""

    def fail(tenant: str) -> str:
        raise OSError("no disk")

    out = await send(Injector("index", store, fail, lambda: 0.0, 5.0), [SYSTEM, USER])
    assert systems(out.body) == [SYSTEM["content"]]


async def test_commits_are_awaited_together(store: Decisions) -> None:
    """What the rewriter pinned and what was pinned here: if one is not safe, the answer says so."""

    async def unsafe() -> bool:
        return False

    body = dump([SYSTEM, USER])
    conversation = read(body)
    out = await injector(store, Index()).apply(
        Outgoing(body=body, committed=unsafe), conversation, tenant="t", chain=chain_of(conversation, "t")
    )

    assert out.committed is not None
    assert await out.committed() is False


def test_an_index_is_read_from_its_tenants_folder(tmp_path: Path) -> None:
    """Marked, with the stub of the rules."""
    levels = Levels(tmp_path / "memory", lambda: 0.0)
    levels.start()
    assert read_index(tmp_path, "first") == ""
    levels.put_fact("MODELS", "small is served by main", by="person")

    text = read_index(tmp_path, "first")
    assert "L2:MODELS" in text
    assert text.startswith(f"\n\n{OPEN}\n")
    assert read_index(tmp_path, "second") == ""


def test_an_index_that_breaks_its_rules_is_not_shown(tmp_path: Path) -> None:
    """Somebody wrote an address into it by hand."""
    levels = Levels(tmp_path / "memory", lambda: 0.0)
    levels.put_fact("MODELS", "small is served by main", by="person")
    file = tmp_path / "memory" / insight.FILE
    file.write_text(file.read_text() + "the server is 10.0.0.7\n")

    assert read_index(tmp_path, "first") == ""
