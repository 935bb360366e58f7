"""The chain: every change shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.audit import GENESIS, link, seal


def digests(facts: list[str]) -> list[str]:
    """The chain over some facts."""
    out = [GENESIS]
    for fact in facts:
        out.append(link(out[-1], fact))
    return out


@given(st.lists(st.text(), min_size=1), st.data())
def test_any_change_changes_the_end(facts: list[str], data: st.DataObject) -> None:
    """Changing, dropping or moving a row gives another last digest."""
    at = data.draw(st.integers(0, len(facts) - 1))
    changed = [*facts[:at], facts[at] + "x", *facts[at + 1 :]]
    dropped = [*facts[:at], *facts[at + 1 :]]
    assert digests(facts)[-1] != digests(changed)[-1]
    assert digests(facts)[-1] != digests(dropped)[-1]


@given(st.lists(st.text()))
def test_a_prefix_stays(facts: list[str]) -> None:
    """What is appended later changes no digest before it."""
    assert digests([*facts, "later"])[:-1] == digests(facts)


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_seal_tells_texts_apart(one: bytes, other: bytes) -> None:
    """Under one salt equal texts have equal seals and others have others; under another salt a text has another."""
    assert (seal(bytes(16), one) == seal(bytes(16), other)) == (one == other)
    assert seal(bytes(16), one) != seal(b"\x01" * 16, one)
