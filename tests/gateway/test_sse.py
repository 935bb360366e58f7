"""Server-sent events: what is one, and that no cut of the bytes matters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sse import Event, SseDecoder, encode


def decode(*pieces: bytes) -> list[Event]:
    """All events of a stream that came in these pieces."""
    decoder = SseDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.flush()


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"\n\n\r\n\r", [], id="only blank lines"),
        pytest.param(b": keep-alive\n\n", [], id="only a comment"),
        pytest.param(b"event: ping\n\n", [], id="a name without data"),
        pytest.param(b"retry: 3\nid: 7\n\n", [], id="fields that are not ours"),
        pytest.param(b"data: a\n\n", [Event("a")], id="one line of data"),
        pytest.param(
            b"data:a\n\ndata:  b\n\n", [Event("a"), Event(" b")], id="one space after the colon goes, no more"
        ),
        pytest.param(b"data\n\n", [Event("")], id="a field without a colon is empty"),
        pytest.param(b"data: a\ndata: b\n\n", [Event("a\nb")], id="data lines are joined"),
        pytest.param(
            b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [Event("a"), Event("b"), Event("c")], id="all line ends"
        ),
        pytest.param(
            b"event: error\ndata: a\n\ndata: b\n\n", [Event("a", "error"), Event("b")], id="a name is for one event"
        ),
        pytest.param(b": hi\ndata: a\n: ho\n\n", [Event("a")], id="comments around data"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [Event("a")], id="a byte order mark"),
        pytest.param(b"data: a", [Event("a")], id="the last line without its end"),
        pytest.param(b"data: a\n", [Event("a")], id="the last event without its blank line"),
        pytest.param(b"event: x\n\ndata: a\n\n", [Event("a")], id="a name does not outlive its blank line"),
        pytest.param(
            "data: a\u2028b\u2029c\x85d\x0be\x0cf\n\n".encode(),
            [Event("a\u2028b\u2029c\x85d\x0be\x0cf")],
            id="other line separators are text",
        ),
        pytest.param(b"data: \xff\n\n", [Event("\ufffd")], id="bytes that are not UTF-8"),
    ],
)
def test_decodes(stream: bytes, expected: list[Event]) -> None:
    """A stream gives these events, whole and byte by byte."""
    assert decode(stream) == expected
    assert decode(*(stream[k : k + 1] for k in range(len(stream)))) == expected


LINES = st.lists(
    st.sampled_from(
        [
            b"data: ",
            b"data:x",
            "data: größe 漢字 🙂".encode(),
            b"event: e",
            b": c",
            b"",
            b"",
            b"id: 1",
            b"\xef\xbb\xbf",
            "\u2028".encode(),
        ]
    ),
    max_size=12,
)
ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])


@given(st.data())
def test_cuts_do_not_matter(data: st.DataObject) -> None:
    """However the bytes are cut, the events are the same."""
    stream = b"".join(line + data.draw(ENDS) for line in data.draw(LINES)) + data.draw(
        st.sampled_from([b"", b"data: z"])
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decode(*pieces) == decode(stream)


@given(st.lists(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]))), ENDS)
def test_what_was_encoded_is_decoded(texts: list[str], end: bytes) -> None:
    """`encode` and the decoder are inverse, whatever ends the lines."""
    events = [Event(text, "message" if k % 2 else "") for k, text in enumerate(texts)]
    assert decode(*(encode(event, end.decode()) for event in events)) == events


def test_an_event_comes_as_soon_as_it_is_whole() -> None:
    """Nothing is held back once the blank line is there."""
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\n") == []
    assert decoder.feed(b"\r") == [Event("a")]
    assert decoder.feed(b"\ndata: b\n\n") == [Event("b")]
    assert decoder.flush() == []
