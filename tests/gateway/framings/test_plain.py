"""Output without a wrapper."""

from __future__ import annotations

from gateway.framings import plain, put


def test_an_empty_text_has_no_body() -> None:
    """There is nothing to rewrite in it, and it is put back as it is."""
    frame = plain.split("")
    assert frame is not None
    assert frame.bodies == ()
    assert put("", frame, []) == ""


def test_the_whole_text_is_the_body() -> None:
    """Without a wrapper nothing else is known."""
    frame = plain.split("a\nb\n")
    assert frame is not None
    assert [body.text for body in frame.bodies] == ["a\nb\n"]
    assert frame.exit_code is None
