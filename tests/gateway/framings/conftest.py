"""Texts with their bodies marked, so that a table shows what is wrapper and what is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import Frame, put


def check(split: Callable[[str], Frame | None], marked: str, code: int | None, command: str | None = None) -> None:
    """`marked` without its `«` and `»` is split into what stands between them, and put back with other bodies."""
    text = marked.replace("«", "").replace("»", "")
    frame = split(text)
    assert frame is not None
    written = [part.split("»")[0] for part in marked.split("«")[1:]]
    assert [text[body.start : body.end] for body in frame.bodies] == written
    assert (frame.exit_code, frame.command) == (code, command)
    assert put(text, frame, [body.text for body in frame.bodies]) == text
    halves = marked.replace("»", "«").split("«")
    assert put(text, frame, ["new"] * len(written)) == "".join(
        "new" if k % 2 else half for k, half in enumerate(halves)
    )


@pytest.fixture
def splits() -> Callable[..., None]:
    """The check as a fixture."""
    return check
