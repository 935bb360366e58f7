"""Saying: a turn becomes calls of the request's own tool, words, or a plain text."""

from __future__ import annotations

import pytest

from gateway.playing.commands import COMMAND, Tool
from gateway.playing.saying import Asked, Said, pieces, say, text_of
from gateway.scenario import Turn

BASH = Tool(name="bash", schema=COMMAND)
LOOK = Turn(text="Look.", reasoning="Hm.", shell=("ls",))
FENCED = "Look.\n\n```bash\nls\n```"


@pytest.mark.parametrize(
    ("turn", "tools", "words", "said"),
    [
        pytest.param(LOOK, (), None, Said(number=4, text="Look.", reasoning="Hm."), id="a form without words"),
        pytest.param(Turn(shell=("ls",)), (), None, Said(number=4, text="Nothing to say."), id="never nothing"),
        pytest.param(LOOK, (), "go", Said(number=4, text=FENCED, reasoning="Hm."), id="a form with words"),
        pytest.param(
            LOOK,
            (BASH,),
            "go",
            Said(number=4, text="Look.", reasoning="Hm.", tool=BASH, commands=("ls",)),
            id="a tool",
        ),
        pytest.param(
            Turn(find=r"see (\w+)", shell=("cat {found}",)),
            (BASH,),
            "go",
            Said(number=4, text="", tool=BASH, commands=("cat this",)),
            id="a turn that reads",
        ),
    ],
)
def test_says(turn: Turn, tools: tuple[Tool, ...], words: str | None, said: Said) -> None:
    """Whoever has no tool for commands gets a text."""
    asked = Asked(request={}, answers=4, told=("see this",), tools=tools, words=words, pieces=())
    assert say(turn, asked) == said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (7, ""),
        ("x", "x"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, "b"], "a\nb"),
        ([{"stdout": "out", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}], "out"),
        ({"type": "tool_result", "content": [{"text": "a"}]}, "a"),
    ],
)
def test_text(value: object, text: str) -> None:
    """All text is found, whatever parts it comes in."""
    assert text_of(value) == text


def test_pieces() -> None:
    """They make up the text, and none is longer than it may be."""
    assert list(pieces("abcde", 2)) == ["ab", "cd", "e"]
    assert list(pieces("", 2)) == []
