"""Runs a lossless kind as the engine does, and holds it to what every such kind owes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rules_engine.guards import worthwhile
from rules_engine.kinds import Lossless
from rules_engine.script import render, splice
from rules_engine.types import Observation

Shorten = Callable[..., str]


def shorten_by(kind: Lossless, text: str, command: str = "make", tool: str = "bash", *, escaped: bool = False) -> str:
    """What `kind` makes of `text`: shorter and provably the same, or the text itself."""
    observation = Observation(key="k", tool=tool, command=command, exit_code=None, text=text, escaped=escaped)
    encoded = kind.encode(text, observation)
    if encoded is None:
        return text
    result = render(text, splice(len(text), encoded.edits))
    assert worthwhile(encoded.edits) == encoded.edits
    assert len(result) < len(text)
    assert kind.verify(text, result, encoded.note)
    assert kind.encode(text, observation) == encoded
    assert kind.encode(result, observation) is None
    return result


@pytest.fixture(scope="session")
def shorten() -> Shorten:
    """The run as a fixture."""
    return shorten_by
