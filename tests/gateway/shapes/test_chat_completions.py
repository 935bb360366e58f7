"""What a chat completion says, wherever in its JSON it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cache import BoundedCache
from gateway.errors import BadRequest, UnknownModel
from gateway.shapes import chat_completions
from gateway.types import Call, Conversation, Message

USER = {"role": "user", "content": "hi"}


def read(body: bytes) -> Conversation:
    """The conversation in a body."""
    return chat_completions.read(body, BoundedCache(1 << 20))


def one(message: dict[str, Any] | bytes) -> Message:
    """A message, read."""
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    return read(b'{"model":"m","messages":[' + raw + b"]}").messages[0].message


def test_the_fields_of_a_request() -> None:
    """In any order, with any others."""
    tools = [
        {"type": "function", "function": {"name": "bash"}},
        {"type": "custom", "custom": {"name": "patch"}},
        {"name": "flat"},
        {},
    ]
    body = {"x": 1, "stream": True, "messages": [USER, USER], "tools": tools, "prompt_cache_key": "pc", "model": "m"}
    found = read(json.dumps(body).encode())

    assert (found.model, found.stream, found.tools, found.session) == ("m", True, ("bash", "patch", "flat"), "pc")
    assert len(found.messages) == 2


def test_spans_lead_back_to_the_bytes() -> None:
    """Those of the list, of each message, and of each text within."""
    body = b' {"messages" : [ {"role":"user","content":"a\\u00e9"} , {"content":"b","role":"tool"}\n] ,"model":"m"} '
    found = read(body)
    first, second = found.messages

    assert body[slice(*found.head)] == b'[ {"role":"user","content":"a\\u00e9"} , {"content":"b","role":"tool"}\n]'
    assert body[first.start : first.end] == b'{"role":"user","content":"a\\u00e9"}'
    text = second.message.texts[0]
    assert body[second.start + text.start : second.start + text.end] == b'"b"'
    assert first.message.texts[0].value == "a\u00e9"


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        pytest.param({"role": "system", "content": "x"}, [], id="system"),
        pytest.param({"role": "developer", "content": "x"}, [], id="developer"),
        pytest.param({"role": "assistant", "content": "x"}, [], id="assistant"),
        pytest.param({"role": "tool"}, [], id="no content"),
        pytest.param({"role": "tool", "content": None}, [], id="null"),
        pytest.param({"role": "tool", "content": {"text": "x"}}, [], id="an object"),
        pytest.param({"role": "tool", "content": [{"type": "image_url", "image_url": {}}]}, [], id="an image"),
        pytest.param(
            {"role": "tool", "content": [{"type": "secret", "text": "x"}, "x", 4, None]}, [], id="unknown parts"
        ),
        pytest.param({"role": "tool", "content": [{"type": "text", "text": 4}]}, [], id="a text that is none"),
        pytest.param({"role": "tool", "content": "x"}, ["x"], id="a string"),
        pytest.param({"role": "function", "content": "x"}, ["x"], id="of the old role"),
        pytest.param({"role": "user", "content": "x"}, ["x"], id="of the user"),
        pytest.param(
            {"role": "tool", "content": [{"text": "a", "type": "text"}, {"type": "text", "text": "b"}]},
            ["a", "b"],
            id="parts",
        ),
        pytest.param({"role": "tool", "content": [{"text": "a"}]}, ["a"], id="a part without a type"),
    ],
)
def test_texts_that_may_be_observations(message: dict[str, Any], texts: list[str]) -> None:
    """What a person, a model or an operator wrote is none."""
    assert [text.value for text in one(message).texts] == texts


@pytest.mark.parametrize(
    ("raw", "broken"),
    [
        (b'{"role":"tool","content":"x"}', None),
        (b'{"role":"tool","content":"\\ud83d\\ude00"}', None),
        (b'{"role":"tool","content":"\\ud83d"}', "lone surrogate"),
        (b'{"role":"tool","content":[{"type":"text","text":"\\ude00"}]}', "lone surrogate"),
        (b'{"role":"tool","content":"x","content":"y"}', "duplicate key"),
        (b'{"role":"tool","content":[{"type":"text","text":"x","text":"y"}]}', "duplicate key"),
    ],
    ids=["whole", "a pair", "half a pair", "half a pair in a part", "a key twice", "a key twice in a part"],
)
def test_a_message_that_cannot_be_spliced_says_why(raw: bytes, broken: str | None) -> None:
    """It has no texts then, and is named by its bytes."""
    message = one(raw)

    assert message.broken == broken
    assert bool(message.texts) == (broken is None)
    assert (message.canonical == one(raw.replace(b'"role"', b' "role"')).canonical) == (broken is None)


CALLS: list[tuple[Any, tuple[Call, ...]]] = [
    ([{"id": "1", "function": {"name": "bash", "arguments": "{}"}}], (Call(id="1", tool="bash", arguments="{}"),)),
    (
        [{"id": "1", "custom": {"name": "patch", "input": "*** Begin"}}],
        (Call(id="1", tool="patch", arguments="*** Begin"),),
    ),
    (
        [{"id": 7, "function": {"name": None, "arguments": {"a": 1}}}],
        (Call(id="7", tool="None", arguments="{'a': 1}"),),
    ),
    ([{}], (Call(id="", tool="", arguments=""),)),
    (["x", None, 4], ()),
    ([{"function": "x"}], (Call(id="", tool="", arguments=""),)),
    ("x", ()),
    (None, ()),
]


@pytest.mark.parametrize(
    ("calls", "read_"),
    CALLS,
    ids=["function", "custom", "odd types", "empty", "no objects", "no body", "no list", "null"],
)
def test_calls(calls: Any, read_: tuple[Call, ...]) -> None:
    """Of whatever kind; what is none is left out."""
    assert one({"role": "assistant", "content": None, "tool_calls": calls}).calls == read_


SAME_MESSAGE: list[dict[str, Any]] = [
    {"role": "tool", "tool_call_id": "1", "content": "x"},
    {"content": "x", "tool_call_id": "1", "role": "tool", "name": "bash", "extra": 1},
    {
        "role": "tool",
        "tool_call_id": "1",
        "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": ""}]},
]
OTHER_MESSAGE: list[dict[str, Any]] = [
    {"role": "tool", "tool_call_id": "2", "content": "x"},
    {"role": "tool", "tool_call_id": "1", "content": "y"},
    {"role": "user", "tool_call_id": "1", "content": "x"},
    {
        "role": "tool",
        "tool_call_id": "1",
        "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}],
    },
    {
        "role": "tool",
        "tool_call_id": "1",
        "content": "x",
        "tool_calls": [{"id": "1", "function": {"name": "b", "arguments": ""}}],
    },
]


@pytest.mark.parametrize("message", SAME_MESSAGE)
def test_a_message_has_one_name_in_all_its_forms(message: dict[str, Any]) -> None:
    """Clients write older messages anew."""
    assert one(message).canonical == one(SAME_MESSAGE[0]).canonical


@pytest.mark.parametrize("message", OTHER_MESSAGE)
def test_another_message_has_another_name(message: dict[str, Any]) -> None:
    """Whatever it has in common."""
    assert one(message).canonical != one(SAME_MESSAGE[0]).canonical


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_names_do_not_run_together(first: list[str], second: list[str]) -> None:
    """Two texts are not one that is as long as both."""
    names = [
        one({"role": "tool", "content": [{"type": "text", "text": t} for t in parts]}).canonical
        for parts in (first, second)
    ]
    assert (names[0] == names[1]) == ([t for t in first if t] == [t for t in second if t])


def test_a_message_is_read_once() -> None:
    """The next request that holds it finds it read."""
    cache: BoundedCache[bytes, Message] = BoundedCache(1 << 20)
    first = chat_completions.read(json.dumps({"model": "m", "messages": [USER]}).encode(), cache)
    second = chat_completions.read(json.dumps({"messages": [USER, USER], "model": "m"}).encode(), cache)

    assert second.messages[0].message is second.messages[1].message is first.messages[0].message


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b'{"model": "m"}', "messages"),
        (b'{"model": "m", "messages": {}}', "messages"),
        (b'{"model": "m", "messages": []}', "messages"),
        (b'{"messages": [{"role": "user"}]}', "model"),
        (b'{"model": 4, "messages": [{"role": "user"}]}', "model"),
        (b'{"model": "m", "messages": [{"role": "user"}, 4]}', "messages[1]"),
        (b'{"model": "m", "messages": [{"content": "x"}]}', "messages[0].role"),
        (b'{"model": "m", "messages": [{"role": "user" "content": 1}]}', None),
    ],
)
def test_what_is_wrong_is_named(body: bytes, param: str | None) -> None:
    """By the field, as the API does."""
    with pytest.raises(BadRequest) as caught:
        read(body)
    assert caught.value.param == param


def test_an_error_is_in_the_form_of_the_api() -> None:
    """As a body and as an event."""
    error = UnknownModel('no "m"\n', param="model")
    detail = {"message": 'no "m"\n', "type": "invalid_request_error", "param": "model", "code": "model_not_found"}

    assert json.loads(chat_completions.error_body(error)) == {"error": detail}
    event = chat_completions.error_event(error)
    assert (event[:6], event[-2:], event.count(b"\n")) == (b"data: ", b"\n\n", 2)
    assert json.loads(event[6:]) == {"error": detail}
