"""Decisions as bytes and back."""

from __future__ import annotations

import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import codec
from rules_engine.script import render, text_digest
from rules_engine.types import Applied, EngineError, Form, Omission, Rewritten, Source

SPAN = st.tuples(st.integers(0, 10**7), st.integers(0, 10**7))
NAME = st.text(max_size=12)
RULE = st.tuples(NAME, st.integers(0, 99))
FORM = st.builds(
    Form,
    script=st.lists(st.one_of(SPAN, st.text(max_size=30))).map(tuple),
    digest=NAME,
    applied=st.lists(
        st.builds(Applied, rule=RULE, loss=st.sampled_from(["lossless", "lossy"]), removed=st.integers())
    ).map(tuple),
    sources=st.lists(st.builds(Source, key=NAME, digest=NAME)).map(tuple),
    omissions=st.lists(
        st.builds(
            Omission,
            id=NAME,
            spans=st.lists(SPAN).map(tuple),
            lines=st.integers(0, 10**6),
            rules=st.lists(RULE).map(tuple),
        )
    ).map(tuple),
)
DECISION = st.builds(Rewritten, key=st.just("key"), raw_digest=NAME, forms=st.lists(FORM, max_size=3).map(tuple))


def large(slices: int) -> tuple[str, Rewritten]:
    """A text and a decision that keeps so many slices of it."""
    text = "       1\tsome line of a file\n" * slices
    script = tuple((at * 29 + 7, at * 29 + 29) for at in range(slices))
    form = Form(script=script, digest=text_digest(render(text, script)), applied=())
    return text, Rewritten(key="key", raw_digest=text_digest(text), forms=(form,))


@given(DECISION)
def test_what_is_dumped_loads(decision: Rewritten) -> None:
    """Nothing is lost or changed; dumping again gives the same bytes."""
    data = codec.dump(decision)

    assert codec.load("key", data) == decision
    assert codec.dump(codec.load("key", data)) == data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x01", id="a version alone"),
        pytest.param(b"\x01jnot json", id="no JSON"),
        pytest.param(b"\x01j[1]", id="JSON of another form"),
        pytest.param(b'\x01j["d",[["x",[5],[],[],[]]]]', id="half a slice"),
        pytest.param(b"\x01znot zlib", id="not compressed"),
        pytest.param(b"\x01z" + zlib.compress(b"x" * 999)[:-5], id="cut off"),
    ],
)
def test_damaged(data: bytes) -> None:
    """What cannot be read is an error of the engine, not of a library."""
    with pytest.raises(EngineError):
        codec.load("key", data)


def test_a_newer_version_is_refused() -> None:
    """With what it is, so that an operator knows."""
    with pytest.raises(EngineError, match="version 02; this gateway reads up to 1"):
        codec.load("key", b"\x02j[]")


def test_many_slices_are_small() -> None:
    """Two thousand slices take less than three bytes each."""
    _, decision = large(2000)

    assert len(codec.dump(decision)) < 6000


def test_many_slices_load_and_render_fast() -> None:
    """Two thousand slices, in the best of twenty tries, with room for a busy machine."""
    text, decision = large(2000)
    data = codec.dump(decision)

    def once() -> float:
        begin = time.perf_counter()
        render(text, codec.load("key", data).forms[0].script)
        return time.perf_counter() - begin

    assert min(once() for _ in range(20)) < 0.005
