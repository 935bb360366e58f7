"""Headers on their way through."""

from __future__ import annotations

import pytest

from gateway.headers import as_text, passing


def test_what_is_about_one_connection_stays_behind() -> None:
    """By its own name, or named by `connection`; all others go on, in order, repeated ones too."""
    given = [(b"X-One", b"1"), (b"Connection", b"close, X-Hop"), (b"x-hop", b"2"), (b"TE", b"x"), (b"x-one", b"3")]

    assert passing(given) == ((b"x-one", b"1"), (b"x-one", b"3"))


@pytest.mark.parametrize(("value", "text"), [(b"plain", "plain"), ("é".encode(), "é"), (b"\xe9", "é")])
def test_a_value_as_text(value: bytes, text: str) -> None:
    """In whichever of both encodings it came."""
    assert as_text(value) == text
