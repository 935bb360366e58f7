"""Reports as JSON objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import json_result, put


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param('[{"output": "a", "exit_code": 0}]', id="an array"),
        pytest.param('{"output": "a", "id": 3}', id="an object that states no ending"),
        pytest.param('{"output": "a", "more": {"returncode": 0}}', id="an ending inside another value"),
        pytest.param('{"returncode": 0, "id": 3}', id="no output at all"),
        pytest.param('{"returncode": 0, "output": ["a"]}', id="output that is no string"),
        pytest.param('{"returncode": 0, "output": "a"} and more', id="text after the object"),
        pytest.param('{"returncode": 0, "output": "a", "output": "b"}', id="a key twice"),
        pytest.param('{"returncode": 0, "output": "a\\/b"}', id="a string that we would write otherwise"),
        pytest.param('{"returncode": 0, "output": "\\u001B[0m"}', id="a capital escape"),
        pytest.param('{"returncode": 0, "output": "a\nb"}', id="a raw line break in a string"),
        pytest.param('{"returncode": 0, "output": "a",}', id="a comma too many"),
        pytest.param('{"output": "one\\ntwo', id="an object cut off that states nothing"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert json_result.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code", "command"),
    [
        pytest.param(
            '{\n  "returncode": 1,\n  "output": "«a \\u003c b \\u0026 c\\n»"\n}', 1, None, id="mini-swe-agent"
        ),
        pytest.param(
            '{\n  "returncode": 0,\n  "output_head": "«first»",\n  "output_tail": "«last»",\n  "elided_chars": 9,\n  "warning": "Output too long."\n}',
            0,
            None,
            id="mini-swe-agent, too long",
        ),
        pytest.param(
            '{"command":"make \\"x\\"","returncode":2,"stderr":"«no rule»","stdout":"«ok\\n»","was_truncated":false}',
            2,
            'make "x"',
            id="both streams of Mistral Vibe",
        ),
        pytest.param(
            '{"stdout":"«out»","stderr":"","exitCode":0,"command":"ls","status":"completed"}',
            0,
            "ls",
            id="an empty stream has no body",
        ),
        pytest.param('{"output": "", "exit_code": 1, "error": null}', 1, None, id="nothing printed"),
        pytest.param(
            '{"output": "«killed»", "exit_code": null, "error": "timeout"}',
            None,
            None,
            id="an exit code that is not known",
        ),
        pytest.param(
            '{"output":"«hi\\n»","metadata":{"exit_code":3,"duration_seconds":0.1}}', 3, None, id="the older Codex"
        ),
        pytest.param(
            '{"status": "success", "output": "«[1]\\n»", "tool_calls_made": 0}', None, None, id="a program of Hermes"
        ),
        pytest.param(
            '{"content": "«     1|import os\\n     2|»", "total_lines": 1, "truncated": false}',
            None,
            None,
            id="a file read by Hermes",
        ),
        pytest.param('{"output": "«a»", "exit_code": true}', None, None, id="a true ending is no code"),
        pytest.param(
            '{"returncode": 0, "output": "«caf\\u00e9 \\ud83d\\ude00»"}', 0, None, id="an encoder that keeps to ASCII"
        ),
        pytest.param('{"stdout":"«one\\ntwo»', None, None, id="cut off in the output"),
        pytest.param('{"stdout":"«one\\n»\\u00', None, None, id="cut off inside an escape"),
        pytest.param(
            '{"stdout":"«one»","stderr":"","exitCode":0,"command":"ls -', 0, None, id="cut off in the command"
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None, command: str | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(json_result.split, marked, code, command)


def test_new_text_is_written_in_the_hand_of_the_old() -> None:
    """Escapes that an encoder makes without need are made in new text, too."""
    text = '{"returncode": 0, "output": "a \\u003c caf\\u00e9"}'
    frame = json_result.split(text)
    assert frame is not None
    assert frame.bodies[0].text == "a < café"
    assert put(text, frame, ['<é\n"b"']) == '{"returncode": 0, "output": "\\u003c\\u00e9\\n\\"b\\""}'
