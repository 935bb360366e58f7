"""What is known of a body is not read again, and nobody can tell."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.cache import BoundedCache
from gateway.errors import BadRequest
from gateway.reading import LONG, MOST_KNOWN, Reader
from gateway.shapes import chat_completions, responses
from gateway.types import Conversation, Message

SYSTEM = b'{"role":"system","content":"%s"}' % (b"x" * LONG)
ANSWER = b'{"role":"assistant","content":"a"}'
RESULT = b'{"role":"tool","tool_call_id":"c","content":"r"}'
MARKED = b'{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}'

HEAD = b'{"model":"m","messages":['
TWICE = b'],"model":"m","messages":[' + ANSWER + b"]}"

heads = st.sampled_from([HEAD, b'{ "messages" : [ ', b'{"messages":[1],"model":"m","messages":['])
readable = [
    ANSWER,
    RESULT,
    MARKED,
    b'{"role":"user","content":[{"type":"text","text":"[{"}], "x": NaN}',
    b'{"role":"user","content":"\\ud800"}',
    b'{"role":"user","role":"tool","content":"twice"}',
    b'{"role":"user","content":"\xff"}',
]
raws = st.lists(st.sampled_from([*readable, b'{"role":7}', b"0", b'"', b""]), max_size=3)
tails = st.sampled_from(
    [
        b'],"model":"m"}',
        b' ] , "model":"n", "stream":true,"tools":[{"function":{"name":"bash"}}]}',
        TWICE,
        b'],"model":"m","mess\\u0061ges":0}',
        b'],"model":"m","prompt_cache_key":"k","truncation":NaN}',
        b"]",
        b"}",
        b']} "more"',
        b"",
    ]
)


class Counting:
    """A shape that notes which bodies it was given with one that they begin with."""

    NAME, PATH = chat_completions.NAME, chat_completions.PATH
    read_reply = staticmethod(chat_completions.read_reply)
    error_body = staticmethod(chat_completions.error_body)
    error_event = staticmethod(chat_completions.error_event)

    def __init__(self) -> None:
        self.known: list[int] = []

    def read(
        self, body: bytes, cache: BoundedCache[bytes, Message], before: Conversation | None = None
    ) -> Conversation:
        """Read it, and note of how many messages nothing had to be read."""
        self.known.append(len(before.messages) if before else 0)
        return chat_completions.read(body, cache, before)


def body(*messages: bytes) -> bytes:
    """A request with these messages."""
    return b'{"model":"m","messages":[' + b",".join(messages) + b"]}"


def known_of(*bodies: bytes) -> list[int]:
    """Read some bodies one after the other: of each, how many messages were known."""
    counting, reader = Counting(), Reader()
    for one in bodies:
        reader.read(counting, one)
    return counting.known


def outcome(reader: Reader, given: bytes) -> Conversation | str:
    """The conversation, or what is wrong with the body."""
    try:
        return reader.read(chat_completions, given)
    except BadRequest as error:
        return error.message


@pytest.mark.parametrize(
    ("bodies", "known"),
    [
        pytest.param([body(ANSWER), body(ANSWER, RESULT)], [0, 0], id="short ones are read whole"),
        pytest.param([body(SYSTEM), body(SYSTEM[:-9] + b'y"}', RESULT)], [0, 0], id="so is what begins otherwise"),
        pytest.param([body(SYSTEM), body(SYSTEM, ANSWER), body(SYSTEM, ANSWER, RESULT)], [0, 1, 2], id="a turn is new"),
        pytest.param([body(SYSTEM, ANSWER), body(SYSTEM, ANSWER)], [0, 2], id="nothing of a retry is"),
        pytest.param(
            [body(SYSTEM, ANSWER), body(SYSTEM, RESULT), body(SYSTEM, ANSWER, ANSWER), body(SYSTEM, RESULT, ANSWER)],
            [0, 0, 2, 2],
            id="conversations side by side",
        ),
        pytest.param(
            [body(SYSTEM, ANSWER, MARKED), body(SYSTEM, ANSWER, RESULT, ANSWER, MARKED)], [0, 2], id="a mark moves on"
        ),
        pytest.param(
            [body(SYSTEM, MARKED, ANSWER), body(SYSTEM, RESULT, ANSWER, MARKED)], [0, 1], id="one of two does"
        ),
        pytest.param(
            [body(MARKED + b" " * LONG), body(MARKED + b" " * LONG, ANSWER)], [0, 1], id="the first one stays"
        ),
    ],
)
def test_what_an_earlier_body_began_with_is_known(bodies: list[bytes], known: list[int]) -> None:
    """So much of it is not read again."""
    assert known_of(*bodies) == known


def test_of_each_conversation_the_last_body_is_kept() -> None:
    """One that went back behind it is read whole, and so is what came after too many others."""
    turn = [body(SYSTEM), body(SYSTEM, ANSWER), body(SYSTEM, RESULT)]
    others = [body(SYSTEM.replace(b"xx", b"%02d" % at, 1)) for at in range(MOST_KNOWN)]

    assert known_of(*turn) == [0, 1, 0]
    assert known_of(turn[0], *others, turn[1]) == [0] * (MOST_KNOWN + 2)


def test_what_is_known_in_one_form_is_not_in_another() -> None:
    """The same bytes may mean something else there."""
    first, second, reader = Counting(), Counting(), Reader()
    reader.read(first, body(SYSTEM))
    reader.read(second, body(SYSTEM))

    assert first.known == second.known == [0]


@given(heads, st.lists(st.sampled_from(readable), max_size=3), raws, tails, st.sampled_from([b",", b" ,\n", b",,"]))
@example(HEAD, [], [], TWICE, b",")
def test_nobody_can_tell(head: bytes, before: list[bytes], after: list[bytes], tail: bytes, comma: bytes) -> None:
    """A body is read to the same conversation, or refused in the same words, whatever was read before it."""
    first = head + b",".join([SYSTEM, *before])
    reader = Reader()
    outcome(reader, first + b'],"model":"m"}')
    second = first + b"".join(comma + raw for raw in after) + tail

    assert outcome(reader, second) == outcome(Reader(), second)


LINE = "x" * LONG
ITEMS = json.dumps([{"role": "user", "content": LINE}]).encode()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (b'"%s"' % LINE.encode(), b'"%s y"' % LINE.encode()),
        (b'"%s"' % LINE.encode(), ITEMS),
        (ITEMS, ITEMS[:-1] + b',{"type":"reasoning"}]'),
        (ITEMS, b'"%s"' % LINE.encode()),
        (b'"%s"' % LINE.encode(), b'"%s", "x": "y"' % LINE.encode()),
    ],
    ids=["strings", "a string, then a list", "lists", "a list, then a string", "a string, then more beside it"],
)
def test_a_string_in_the_place_of_all_messages(first: bytes, second: bytes) -> None:
    """What was read before it makes no difference either."""
    reader = Reader()
    reader.read(responses, b'{"model":"m","input":%s}' % first)
    given_ = b'{"model":"m","input":%s}' % second

    assert reader.read(responses, given_) == Reader().read(responses, given_)


def test_the_words_of_a_refusal_count_from_the_beginning() -> None:
    """Where the body goes wrong is told as if all of it had been read."""
    reader = Reader()
    outcome(reader, body(SYSTEM))
    broken = json.dumps({"at": 1}).encode() + b"]}"

    assert outcome(reader, body(SYSTEM)[:-2] + broken) == outcome(Reader(), body(SYSTEM)[:-2] + broken)
