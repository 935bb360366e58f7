"""What every framing must do, whatever the text."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.framings import FRAMINGS, Framing, Role, find, put, split
from gateway.json_text import encode

pieces = st.sampled_from(
    [
        "Exit code 1\n", "Exit code: 0\n", "Wall time: 1.0 seconds\n", "Chunk ID: a1\n", "Output:\n", "Output: ", "```\n",
        "\n```", "Process exited with code 0\n", "<returncode>0</returncode>\n", "<output>\n", "</output>",
        "<warning>\n", "</warning><output_head>\n", "</output_head>\n<elided_chars>", "</elided_chars>\n<output_tail>\n",
        "</output_tail>", "New Terminal Output:\n", "Current terminal state:\n", "Previous response had warnings:\n",
        "\n\nAre you sure you want to mark the task as complete?", "\n(Open file: n/a)", "\n(Current directory: /x)",
        "\nbash-$", "OBSERVATION:\n", "[exit_code=0]\n\n", "[persisted_output]\n", "[preview]\n", "Command: ls",
        "\nDirectory: /x\n", "\nError: ", "\nStderr: ", "\nExit Code: 1", "\nSignal: 0", "\nProcess Group PGID: 3",
        "<untrusted_context>\n", "\n</untrusted_context>", "\n[The command completed with exit code 0.]",
        "\n[Current working directory: /x]", "\n[Command finished with exit code 0]", "\n<shellId: 0 completed with exit code 0>",
        "\n\n[Process exited with code 0]", "\n\nCommand exited with code 1", "\n\n[Command succeeded with exit code 0]",
        "\n\n<cwd>/x</cwd>", "\nExit code 2", "<persisted-output>\n", "\n</persisted-output>", "<system-reminder>",
        "\n<system-reminder>", "</system-reminder>", "<path>/x</path>\n", "<type>file</type>\n<content>", "</content>",
        "Ran command: `ls`\n\n", "```stdout\n", "```stderr\n", "Return code: 1", '{"stdout":"', '","stderr":"', '","exitCode":0}',
        '{"returncode": 0, "output": "', '"}', '[{"query":"', '","result":"', '","success":true}', "]", ",", "\\", "\\n",
        "<system>The tool output is large.</system>\n<truncated-output>\n", "\n</truncated-output>\n",
        "\\u003c", "\\u00e9", "\\ud800", "é", "\ud800", "\u2028", "\x1b[0m", "\r\n", "\x00", "a", "b\n",
    ]
)  # fmt: skip
WRAPPERS: list[tuple[Role, str, str]] = [
    ("user", "<returncode>0</returncode>\n<output>\n", "</output>"),
    ("user", "New Terminal Output:\n", ""),
    ("user", "", "\n(Open file: n/a)\n(Current directory: /x)\nbash-$"),
    ("user", "OBSERVATION:\n", ""),
    ("user", "EXECUTION RESULT of [execute_bash]:\n", "\n[Command finished with exit code 0]"),
    ("user", "Exit code 0. Output:\n```\n", "\n```"),
    ("tool", '{"returncode": 0, "output": "', '"}'),
    ("tool", '[{"query":"ls","result":"', '","success":true}]'),
    ("tool", "<system>The tool output is large.</system>\n<truncated-output>\n", "\n</truncated-output>\n"),
    ("tool", "Chunk ID: a1\nWall time: 1.0 seconds\nOutput:\n", ""),
    ("tool", "Command: ls\nDirectory: /x\nOutput: ", "\nError: (none)\nExit Code: 0\nSignal: 0\nProcess Group PGID: 3"),
    ("tool", "[exit_code=0]\n\n", ""),
    ("tool", "<path>/x</path>\n<type>file</type>\n<content>", "</content>"),
    ("tool", "", "\n<shellId: 0 completed with exit code 0>"),
    ("tool", "", "\n\n[Process exited with code 0]"),
    ("tool", "", "\n\n<cwd>/x</cwd>"),
]
texts = st.text() | st.lists(pieces | st.text(max_size=4), max_size=14).map("".join)
every = pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)


@every
@settings(max_examples=150)
@given(text=texts)
def test_old_bodies_give_the_old_text(framing: Framing, text: str) -> None:
    """Splitting and putting back is the identity, or the framing declines."""
    frame = framing.split(text)
    if frame is not None:
        assert put(text, frame, [body.text for body in frame.bodies]) == text


@every
@settings(max_examples=150)
@given(text=texts, new=st.text(max_size=10))
def test_bodies_stand_in_order_and_only_they_change(framing: Framing, text: str, new: str) -> None:
    """Bodies are not empty, do not overlap, and leave the rest to the character."""
    frame = framing.split(text)
    if frame is None:
        return
    expected, at = "", 0
    for body in frame.bodies:
        assert at <= body.start < body.end <= len(text)
        assert body.text
        assert body.json is not None or body.text == text[body.start : body.end]
        expected += text[at : body.start] + (new if body.json is None else encode(new, body.json))
        at = body.end
    assert put(text, frame, [new] * len(frame.bodies)) == expected + text[at:]


@pytest.mark.parametrize(("role", "before", "after"), WRAPPERS)
@settings(max_examples=60)
@given(output=texts)
@example(output="[Command finished with exit code 0]")
def test_any_output_in_any_wrapper_comes_back(role: Role, before: str, after: str, output: str) -> None:
    """Output that looks like wrappers itself is a body all the same, and nothing of it is lost."""
    text = before + (json.dumps(output)[1:-1] if before.startswith(("{", "[{")) else output) + after
    frame = split(text, role)
    assert frame is not None
    assert put(text, frame, [body.text for body in frame.bodies]) == text
    if role == "user":
        assert put(text, frame, [""] * len(frame.bodies)).startswith(before)


@every
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("\n" * 50_000, id="line breaks"),
        pytest.param("{" * 50_000, id="braces"),
        pytest.param('[{"query":' * 5_000, id="arrays in arrays"),
        pytest.param('{"returncode":' + "[" * 50_000, id="a deep report"),
        pytest.param("\x00\ud800\uffff\r" * 1_000, id="what looks binary"),
        pytest.param("<system-reminder>\n</system-reminder>\n" * 2_000, id="reminders"),
        pytest.param("Command: " + "\nDirectory: x" * 5_000, id="labels"),
    ],
)
def test_no_text_makes_it_fail(framing: Framing, text: str) -> None:
    """A framing answers to anything, and twice the same."""
    assert framing.split(text) == framing.split(text)


@every
def test_it_names_its_roles(framing: Framing) -> None:
    """Roles are some of the two that there are."""
    assert frozenset() < framing.ROLES <= {"tool", "user"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("Please fix the failing test.", id="a task"),
        pytest.param("I get Exit code 1, see:\n```\nboom\n```", id="a report"),
        pytest.param("What does `bash-$` mean?\n\nbash-$", id="a question about a prompt"),
        pytest.param('{"returncode": 0, "output": "hi"}', id="JSON pasted by a person"),
        pytest.param("Look at this:\nNew Terminal Output:\n$ ls", id="a quoted screen"),
        pytest.param("a\n\nCommand exited with code 1", id="a pasted result"),
    ],
)
def test_what_a_person_writes_is_left_alone(text: str) -> None:
    """A user message is taken only where the wrapper is unmistakable."""
    assert split(text, "user") is None


@given(text=texts)
@example(text="")
def test_a_tool_result_always_has_a_frame(text: str) -> None:
    """The last framing of the table takes whatever the others decline."""
    found = find(text, "tool")
    assert found is not None
    assert found[0] in FRAMINGS
    assert split(text, "tool") == found[1]


def test_the_table_ends_with_plain() -> None:
    """Nothing that stands after it would ever be tried."""
    assert list(FRAMINGS)[-1] == "plain"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("codex", "Exit code: 1\nWall time: 1 seconds\nOutput:\na\n\nCommand exited with code 1"),
        ("json_result", '{"returncode": 0, "output": "a\\n\\nCommand exited with code 1"}'),
        ("fenced", "Exit code 1. Output:\n```\na\n```"),
        ("deepagents", "a\n\nExit code: 1\n[Command failed with exit code 1]"),
        ("droid", "Error: Command failed (exit code: 1)\na\n\n\n[Process exited with code 1]"),
        ("claude_code", "Exit code 1\na"),
        ("plain", "a\nb"),
    ],
    ids=lambda value: value if value in FRAMINGS else "",
)
def test_the_more_specific_comes_first(name: str, text: str) -> None:
    """Where two forms would fit, the table gives the one that says more."""
    found = find(text, "tool")
    assert found is not None
    assert found[0] == name
