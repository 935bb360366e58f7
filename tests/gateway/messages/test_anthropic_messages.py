"""What a message of Anthropic Messages says, and that a client may write it in many ways."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadRequest
from gateway.messages.anthropic_messages import read_message
from gateway.types import Call, Message

MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
THOUGHT = {"type": "thinking", "thinking": "It is a bar.", "signature": "c2ln"}
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "timeout": 3}}


def one(content: Any, role: str = "user") -> Message:
    """A message with this content, read."""
    return read_message(json.dumps({"role": role, "content": content}).encode(), 0)


def text(said: Any) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": said}


def result(content: Any, **more: Any) -> dict[str, Any]:
    """What a tool gave."""
    return {"type": "tool_result", "tool_use_id": "t1", "content": content, **more}


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        pytest.param(one("x", "system"), [], id="nothing of a system message amid the others"),
        pytest.param(one("x", "assistant"), [], id="nothing of the model's"),
        pytest.param(one([result("x")], "assistant"), [], id="nothing of a result that the model sends"),
        pytest.param(one(None), [], id="no content"),
        pytest.param(one({"text": "x"}), [], id="an object as content"),
        pytest.param(one([THOUGHT, "x", 4, None, []]), [], id="what is no text"),
        pytest.param(one([text(4), {"type": 4, "text": "x"}, {"type": "secret", "text": "x"}]), [], id="what looks like text"),
        pytest.param(one([{"type": "web_search_tool_result", "tool_use_id": "t1", "content": "x"}]), [], id="a result of the provider's own tool"),
        pytest.param(one([result([{"type": "image", "source": {"data": "x"}}, {"type": "search_result", "content": [text("x")]}])]), [], id="an image and a source in a result"),
        pytest.param(one([result([result("x")])]), [], id="a result in a result"),
        pytest.param(one([result(None), result({"text": "x"}), {"type": "tool_result"}]), [], id="results that say nothing"),
        pytest.param(one("x"), [("x", "user", None, None)], id="the user's, as a string"),
        pytest.param(one([text("x"), {"text": "y"}]), [("x", "user", None, None), ("y", "user", None, None)], id="the user's, as blocks"),
        pytest.param(one([result("x")]), [("x", "tool", "t1", None)], id="a result"),
        pytest.param(one([result("x", is_error=False)]), [("x", "tool", "t1", None)], id="one that is no error"),
        pytest.param(one([result("x", is_error=True)]), [("x", "tool", "t1", 1)], id="one that is an error"),
        pytest.param(
            one([result([text("x"), {"type": "image"}, text("y")], is_error=True), text("z")]),
            [("x", "tool", "t1", 1), ("y", "tool", "t1", 1), ("z", "user", None, None)],
            id="one in blocks, and then the user's",
        ),
    ],
)  # fmt: skip
def test_texts_that_may_be_observations(message: Message, texts: list[Any]) -> None:
    """Those of the user's messages, each with the call that it answers."""
    assert [(t.value, t.role, t.call, t.exit_code) for t in message.texts] == texts


def test_texts_lead_back_to_their_bytes() -> None:
    """Whatever blanks and escapes there are."""
    raw = b'{"content" : [ {"content":[ {"text" : "a\\u00e9" ,"type":"text"}],"type":"tool_result"} ],"role":"user"}'
    (found,) = read_message(raw, 0).texts

    assert raw[found.start : found.end] == b'"a\\u00e9"'
    assert found.value == "aé"


def test_calls_are_the_clients_own_tools() -> None:
    """With their input as it was written; what the provider runs is no call."""
    server = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    message = one(
        [text("First a look."), CALL, server, {"type": "tool_use"}, CALL | {"id": 4, "name": None}], "assistant"
    )

    assert message.calls == (
        Call(id="t1", tool="Bash", arguments='{"command": "ls", "timeout": 3}'),
        Call(id="", tool="", arguments='{"command": "ls", "timeout": 3}'),
    )
    assert message.words.startswith('First a look.\nBash {"command": "ls"')


SAME: dict[str, tuple[Any, Any]] = {
    "a string, and a list of one text": ("x", [text("x")]),
    "a string, and a list of one text with a mark": ("x", [text("x") | MARK]),
    "nothing, and an empty text": ([], [text("")]),
    "a result as a string, and as a list with a mark": ([result("x")], [result([text("x") | MARK]) | MARK]),
    "a result with its keys in another order": ([result("x", is_error=False)], [dict(reversed(result("x").items()))]),
    "an image with a mark, and its keys in another order": (
        [{"type": "image", "source": {"type": "base64", "data": "eA=="}}],
        [{"source": {"data": "eA==", "type": "base64"}, **MARK, "type": "image"}],
    ),
    "a mark within a document": (
        [{"type": "document", "source": {"type": "content", "content": [text("x")]}}],
        [{"type": "document", "source": {"type": "content", "content": [text("x") | MARK]}}],
    ),
    "a call with its input in another order": ([CALL], [CALL | {"input": {"timeout": 3, "command": "ls"}} | MARK]),
}  # fmt: skip
OTHER: dict[str, tuple[Any, Any]] = {
    "one text, and two": ([text("ab")], [text("a"), text("b")]),
    "what the user says, and what a tool gave": ([text("x")], [result("x")]),
    "results of two calls": ([result("x")], [result("x", tool_use_id="t2")]),
    "a result, and an error": ([result("x")], [result("x", is_error=True)]),
    "texts in another order": ([text("x"), result("y")], [result("x"), text("y")]),
    "a text in a result, and behind it": ([result([text("x"), text("y")])], [result("x"), text("y")]),
    "an image in a result, and behind it": ([result([{"type": "image"}])], [result([]), {"type": "image"}]),
    "another image": ([{"type": "image", "source": {"data": "a"}}], [{"type": "image", "source": {"data": "b"}}]),
    "another signature": ([THOUGHT], [THOUGHT | {"signature": "c2ln2"}]),
    "an input that holds the name of a mark": ([CALL], [CALL | {"input": CALL["input"] | MARK}]),  # type: ignore[operator]
    "a provider's input that holds it": (
        [{"type": "server_tool_use", "input": {}}],
        [{"type": "server_tool_use", "input": MARK}],
    ),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_3_15_09_what_says_the_same_has_the_same_name(pair: tuple[Any, Any]) -> None:
    """Claude Code sends an older message again as a string, or with the mark gone and its keys in another order."""
    assert one(pair[0]).canonical == one(pair[1]).canonical


@pytest.mark.parametrize("pair", OTHER.values(), ids=OTHER)
def test_what_says_something_else_has_another_name(pair: tuple[Any, Any]) -> None:
    """However alike it is written."""
    assert one(pair[0]).canonical != one(pair[1]).canonical


def test_the_role_is_part_of_what_is_said() -> None:
    """The same words are another message from another mouth."""
    assert len({one("x", role).canonical for role in ("user", "assistant", "system")}) == 3


@pytest.mark.parametrize(
    ("content", "broken"),
    [
        (b'"\\ud83d\\ude00"', None),
        (b'"\\ud83d"', "lone surrogate"),
        (b'[{"type":"tool_result","content":"\\ud83d"}]', "lone surrogate"),
        (b'[{"type":"text","text":"x","text":"y"}]', "duplicate key"),
        (b'[{"type":"tool_result","content":"x","content":"y"}]', "duplicate key"),
        (b'[{"type":"tool_result","content":[{"type":"text","text":"x","text":"y"}]}]', "duplicate key"),
        (b'[{"type":"tool_use","input":{},"input":{}}]', "duplicate key"),
        (b'"x","content":"y"', "duplicate key"),
        (b'[{"type":"image","data":"\\ud83d","data":"x"}]', None),
    ],
    ids=[
        "a pair", "half a pair", "half a pair in a result", "a key twice", "in a result", "in a text of a result",
        "in a call", "in the message", "in what is left alone",
    ],
)  # fmt: skip
def test_a_message_that_cannot_be_spliced_says_why(content: bytes, broken: str | None) -> None:
    """Its texts are none then."""
    message = read_message(b'{"role":"user","content":' + content + b"}", 0)

    assert message.broken == broken
    assert not (broken and message.texts)


@pytest.mark.parametrize("raw", [b"{}", b'{"role":4}', b'{"role":"\\ud83d"}'], ids=["none", "a number", "half a pair"])
def test_a_message_needs_a_role(raw: bytes) -> None:
    """The error names the message."""
    with pytest.raises(BadRequest, match=r"messages\[3\].role"):
        read_message(raw, 3)


def test_a_block_may_be_as_deep_as_it_likes() -> None:
    """It is left alone, and named by its bytes."""
    deep = '[{"type":"odd","x":' + "[" * 20000 + "]" * 20000 + '},{"type":"tool_result","content":"x"}]'
    message = read_message(f'{{"role":"user","content":{deep}}}'.encode(), 0)

    assert [t.value for t in message.texts] == ["x"]


said = st.text(max_size=20)
plain = st.builds(text, said)
other = st.sampled_from(
    [THOUGHT, {"type": "image", "source": {"data": "eA=="}}, {"type": "redacted_thinking", "data": "x"}]
)
inside = said | st.lists(plain | other, max_size=3)
blocks = st.lists(plain | other | st.builds(result, inside, is_error=st.booleans()) | st.just(CALL), max_size=4)


def anew(draw: st.DrawFn, content: Any) -> Any:
    """A content as a client may write it the next time."""
    if isinstance(content, str):
        return draw(st.sampled_from([content, [text(content)], [text(content) | MARK]]))
    return [_anew(draw, block) for block in content]


def _anew(draw: st.DrawFn, block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "tool_result":
        block = block | {"content": anew(draw, block["content"])}
    marked = block | draw(st.sampled_from([{}, MARK]))
    return {key: marked[key] for key in draw(st.permutations(sorted(marked)))}


@given(data=st.data())
def test_3_15_09_writing_a_message_anew_keeps_its_name_and_its_texts(data: st.DataObject) -> None:
    """Marks that come, go and move, strings for lists, keys in any order."""
    content = data.draw(said | blocks)
    again = data.draw(st.composite(lambda draw: anew(draw, content))())
    first, second = one(content), one(again)

    assert first.canonical == second.canonical
    assert [(t.value, t.call) for t in filled(first)] == [(t.value, t.call) for t in filled(second)]


def filled(message: Message) -> Iterator[Any]:
    """The texts that say something."""
    return (t for t in message.texts if t.value)
