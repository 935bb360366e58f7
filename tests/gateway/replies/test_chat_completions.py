"""Replies: what a response says, in all the ways in which providers say it and fail to."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.replies import Reply, parse
from gateway.replies.chat_completions import read_reply
from memory import canonical

SSE = "text/event-stream; charset=utf-8"
DONE = "data: [DONE]\n\n"


def stream(*chunks: object, end: str = "\n") -> bytes:
    """Chunks as a stream; a string is put in as it is."""
    texts = (chunk if isinstance(chunk, str) else f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return "".join(texts).replace("\n", end).encode()


def delta(fields: dict[str, Any], finish: str | None = None, **more: object) -> dict[str, Any]:
    """A chunk with one choice."""
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}], **more}


def call(index: int | None = None, id: str | None = None, name: str | None = None, arguments: str | None = None) -> Any:  # noqa: A002
    """A chunk with a piece of one tool call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    piece = {"index": index, "id": id, "function": function}
    return delta({"tool_calls": [{key: value for key, value in piece.items() if value is not None}]})


def said(id: str, name: str, arguments: str) -> dict[str, Any]:  # noqa: A002
    """A tool call, put together."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def reply(**fields: Any) -> Reply:
    """A reply with these fields and nothing in the others."""
    empty: dict[str, Any] = {"message": {}, "finish_reason": None, "usage": None, "error": None, "complete": False}
    message = fields.get("message") or {}
    calls = canonical(message["tool_calls"]).decode() if "tool_calls" in message else ""
    return Reply(**(empty | {"words": (message.get("content") or "") + calls} | fields))


def words(text: object, **more: Any) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": text, **more}


STOP = delta({}, "stop")
USAGE = {"prompt_tokens": 3, "completion_tokens": 2}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"", reply(error="the response is empty"), id="nothing"),
        pytest.param(b" \n", reply(error="the response is empty"), id="only blanks"),
        pytest.param(b"<html>502</html>", reply(error="the response is not JSON"), id="a page"),
        pytest.param(b'{"choices": [{"mess', reply(error="the response is not JSON"), id="cut off"),
        pytest.param(b"[" * 100_000, reply(error="the response is not JSON"), id="too deep"),
        pytest.param(b"null", reply(), id="null"),
        pytest.param(b"[]", reply(), id="an empty list"),
        pytest.param(b'{"choices": null}', reply(), id="no choices"),
        pytest.param(b'{"choices": [7, {"message": null}]}', reply(), id="choices of the wrong type"),
        pytest.param(b'{"error": {"message": "no", "code": 1}}', reply(error="no"), id="an error object"),
        pytest.param(b'{"error": "no"}', reply(error="no"), id="an error string"),
        pytest.param(
            b'[{"error": {"code": 5}}]', reply(error='{"code": 5}'), id="an error in a list, without a message"
        ),
    ],
)
def test_nothing_said(body: bytes, expected: Reply) -> None:
    """A body that holds no message gives an empty one, and why."""
    assert read_reply(body, "application/json") == expected


def test_whole() -> None:
    """A whole response gives its first choice as it is, unknown fields and all."""
    message = {"content": None, "role": "assistant", "tool_calls": [said("a", "f", "{}")], "x": [1, {"y": None}]}
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}, {"index": 1, "message": words("other")}]
    body = json.dumps({"choices": choices, "usage": USAGE}).encode()
    assert read_reply(body, "application/json") == reply(
        message=message, finish_reason="tool_calls", usage=USAGE, complete=True
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"", reply(), id="nothing"),
        pytest.param(stream(": ping\n\n", DONE), reply(complete=True), id="only an end"),
        pytest.param(stream('data: "x"\n\n', "data: [1]\n\n"), reply(), id="chunks that are no objects"),
        pytest.param(stream(delta({"content": "a"})), reply(message=words("a")), id="cut off between chunks"),
        pytest.param(
            stream(delta({"content": "a"}), 'data: {"choi'),
            reply(message=words("a"), error="a chunk of the stream is not JSON"),
            id="cut off in a chunk",
        ),
        pytest.param(
            stream(delta({"content": "a"}), DONE), reply(message=words("a"), complete=True), id="done without a reason"
        ),
        pytest.param(
            stream(delta({"content": "a"}), STOP),
            reply(message=words("a"), finish_reason="stop", complete=True),
            id="a reason without done",
        ),
        pytest.param(
            stream(delta({"content": "a"}), STOP)[:-2],
            reply(message=words("a"), finish_reason="stop", complete=True),
            id="no blank line after the last event",
        ),
        pytest.param(
            stream(delta({"content": "a"}), {"error": {"message": "overloaded"}}, DONE),
            reply(message=words("a"), error="overloaded"),
            id="an error after some text",
        ),
        pytest.param(
            stream(delta({"content": "a"}), 'event: error\ndata: {"detail": 1}\n\n'),
            reply(message=words("a"), error='{"detail": 1}'),
            id="an event named error",
        ),
        pytest.param(
            stream(STOP, {"choices": [], "usage": USAGE}, DONE),
            reply(finish_reason="stop", usage=USAGE, complete=True),
            id="usage in a chunk without choices",
        ),
        pytest.param(
            stream(delta({}, usage={"prompt_tokens": 1}), delta({}, "length", usage=USAGE), delta({}, usage=None)),
            reply(finish_reason="length", usage=USAGE, complete=True),
            id="usage that grows in every chunk",
        ),
        pytest.param(
            stream({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}),
            reply(),
            id="another choice",
        ),
    ],
)
def test_stream_ends(body: bytes, expected: Reply) -> None:
    """What came before the end counts, and whether there was one."""
    assert read_reply(body, SSE) == expected


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param([delta({"role": "assistant", "content": ""})], words(""), id="an empty text"),
        pytest.param([delta({"role": "assistant", "content": None})], words(None), id="no text"),
        pytest.param(
            [delta({"role": "assistant", "content": x}) for x in "abc"], words("abc"), id="a role in every chunk"
        ),
        pytest.param(
            [delta({"reasoning_content": "h", "content": "a"}), delta({"reasoning_content": "m", "content": None})],
            words("a", reasoning_content="hm"),
            id="reasoning and text in one chunk",
        ),
        pytest.param(
            [delta({"reasoning_details": [{"type": "t", "index": 0, "text": x}]}) for x in ("h", "m")]
            + [delta({"reasoning_details": [{"type": "sealed", "index": 0, "data": "#"}]})],
            words(
                None,
                reasoning_details=[
                    {"type": "t", "index": 0, "text": "hm"},
                    {"type": "sealed", "index": 0, "data": "#"},
                ],
            ),
            id="lists of parts meet by index and type",
        ),
        pytest.param(
            [delta({"content": [{"type": "thinking", "thinking": "h"}]}), delta({"content": "a"})],
            words([{"type": "thinking", "thinking": "h"}, {"type": "text", "text": "a"}]),
            id="a list, then a text",
        ),
        pytest.param(
            [delta({"content": "a"}), delta({"content": [{"type": "image"}]})],
            words([{"type": "text", "text": "a"}, {"type": "image"}]),
            id="a text, then a list",
        ),
        pytest.param(
            [
                delta({"audio": {"id": "x", "data": "AA", "expires_at": 0}}),
                delta({"audio": {"data": "BB", "expires_at": 1}}),
            ],
            words(None, audio={"id": "x", "data": "AABB", "expires_at": 1}),
            id="objects merge",
        ),
        pytest.param(
            [delta({"function_call": {"name": "f", "arguments": "{"}}), delta({"function_call": {"arguments": "}"}})],
            words(None, function_call={"name": "f", "arguments": "{}"}),
            id="the call of an old API",
        ),
        pytest.param(
            [delta({"content": "\u2028\n"}), delta({"content": "\U0001f642"})],
            words("\u2028\n\U0001f642"),
            id="odd text",
        ),
    ],
)
def test_assembles(chunks: list[object], expected: dict[str, Any]) -> None:
    """Deltas become the message that the provider would have sent whole."""
    assert read_reply(stream(*chunks), SSE).message == expected


TWO = [said("a", "f", '{"x": 1}'), said("b", "g", "{}")]


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(
            [call(0, "a", "f", ""), call(0, arguments='{"x"'), call(0, arguments=": 1}"), call(1, "b", "g", "{}")],
            id="one after the other",
        ),
        pytest.param(
            [call(0, "a", "f"), call(1, "b", "g"), call(1, arguments="{}"), call(0, arguments='{"x": 1}')],
            id="interleaved",
        ),
        pytest.param([call(0, "a", "f", '{"x": 1}'), call(0, "b", "g", "{}")], id="all numbered 0"),
        pytest.param(
            [call(None, "a", "f", '{"x"'), call(arguments=": 1}"), call(None, "b", "g", "{}")], id="not numbered"
        ),
        pytest.param(
            [call(0, "a", "f", '{"x"'), call(0, "a", "f", ": 1}"), call(1, "b", "g"), call(1, "b", "", "{}")],
            id="id and name in every piece",
        ),
        pytest.param(
            [call(0, "a", "f", '{"x"'), call(0, "z", None, ": 1}"), call(1, "b", "g", "{}")],
            id="a new id in a nameless piece",
        ),
    ],
)
def test_tool_calls(chunks: list[object]) -> None:
    """Pieces of calls find together, whatever the provider numbers."""
    assert read_reply(stream(*chunks), SSE).message["tool_calls"] == TWO


def test_tool_calls_keep_unknown_fields() -> None:
    """What a provider adds to a call stays in it."""
    chunk = delta({"tool_calls": [{"index": 0, "id": "a", "extra_content": {"s": 1}, "function": {"name": "f"}}]})
    calls = read_reply(stream(chunk), SSE).message["tool_calls"]
    assert calls == [
        {"id": "a", "type": "function", "extra_content": {"s": 1}, "function": {"name": "f", "arguments": ""}}
    ]


def test_content_encoding() -> None:
    """A compressed stream is read, and one that broke as far as it goes."""
    body = gzip.compress(stream(*(delta({"content": f"word {k} "}) for k in range(500)), STOP, DONE))
    assert read_reply(body, SSE, "gzip").complete
    broken = read_reply(body[: len(body) // 2], SSE, "gzip")
    assert not broken.complete
    assert broken.error == "a chunk of the stream is not JSON"
    assert broken.message["content"].startswith("word 0 word 1 ")


def test_undeclared_stream() -> None:
    """A stream is known by its first line where the content type says something else."""
    assert read_reply(stream(": hi\n\n", delta({"content": "a"}), DONE), "application/json").message == words("a")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_ends(end: str) -> None:
    """All line ends are read alike."""
    assert read_reply(stream(delta({"content": "a"}), STOP, DONE, end=end), SSE).complete


def test_parse_takes_lone_surrogates() -> None:
    """JSON that strict parsers refuse is read."""
    assert parse(b'{"a": "\\ud800", "b": NaN}')["a"] == "\ud800"
    assert parse(b'{"a": "\xff"}') == {"a": "\ufffd"}


@given(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.integers(1, 5), min_size=1))
def test_streamed_equals_whole(text: str, sizes: list[int]) -> None:
    """A text streamed in any pieces is the text sent whole."""
    pieces, at = [], 0
    for k in range(len(text)):
        if at < len(text):
            pieces.append(text[at : at + sizes[k % len(sizes)]])
            at += len(pieces[-1])
    streamed = read_reply(stream(*(delta({"content": piece}) for piece in pieces or [""]), STOP, DONE), SSE)
    whole = json.dumps({"choices": [{"index": 0, "message": words(text), "finish_reason": "stop"}]}).encode()
    assert streamed == read_reply(whole, "application/json")
