"""A session's text behind the client's own system text, and nothing else changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.cache import BoundedCache
from gateway.remembering.placing import CLOSE, OPEN, inject
from gateway.shapes import anthropic_messages
from tests.gateway.indexed import SYSTEM, TEXT, USER, dump, read, systems


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
    assert json.dumps(new["messages"][k], ensure_ascii=False).replace("\\n", "\n").replace(TEXT, "") == json.dumps(
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
