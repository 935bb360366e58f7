"""What an agent ran."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.calls import command_of, commands_in, declares_shell, is_shell


@pytest.mark.parametrize(
    ("tool", "shell"),
    [
        pytest.param("", False, id="no name"),
        pytest.param("Read", False, id="a reader"),
        pytest.param("read_bash", False, id="a reader of a shell's output"),
        pytest.param("str_replace_editor", False, id="an editor"),
        pytest.param("execute_code", False, id="an interpreter"),
        pytest.param("write_stdin", False, id="keys for a shell that runs"),
        pytest.param("bash", True, id="SWE-agent and many more"),
        pytest.param("Bash", True, id="Claude Code"),
        pytest.param("exec_command", True, id="Codex"),
        pytest.param("local_shell", True, id="the Responses API"),
        pytest.param("container.exec", True, id="older Codex"),
        pytest.param("run_shell_command", True, id="Qwen Code"),
        pytest.param("run_commands", True, id="Cline"),
        pytest.param("Execute", True, id="Droid"),
        pytest.param("functions.exec_command", True, id="with a namespace"),
        pytest.param("mcp__box__execute_command", True, id="from an MCP server"),
        pytest.param("run-terminal-cmd", True, id="with hyphens"),
    ],
)
def test_shells_are_known_by_name(tool: str, shell: bool) -> None:
    """A tool counts as a shell if its name is one that shells have."""
    assert is_shell(tool) is shell


def test_one_shell_among_the_tools_is_enough() -> None:
    """A client has a shell if any tool is one."""
    assert declares_shell(["read", "bash"])
    assert not declares_shell(["read", "edit"])
    assert not declares_shell([])


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        pytest.param("bash", "", "", id="no arguments"),
        pytest.param("bash", "not JSON", "not JSON", id="arguments that are no JSON"),
        pytest.param("bash", "[1]", "[1]", id="an array"),
        pytest.param("bash", '{"command": 3}', '{"command": 3}', id="a command that is no text"),
        pytest.param(
            "bash", '{"command": ["ls", 3]}', '{"command": ["ls", 3]}', id="a list that holds more than words"
        ),
        pytest.param("bash", '{"command": ""}', '{"command": ""}', id="an empty command"),
        pytest.param("Read", '{"file_path": "/x"}', '{"file_path": "/x"}', id="a reader"),
        pytest.param(
            "str_replace_editor",
            '{"command": "view", "path": "/x"}',
            '{"command": "view", "path": "/x"}',
            id="an editor",
        ),
        pytest.param("python", '{"code": "1 + 1"}', '{"code": "1 + 1"}', id="code for another tool"),
        pytest.param("bash", '{"command": "ls -a", "timeout": 3}', "ls -a", id="a command"),
        pytest.param("exec_command", '{"cmd": "ls"}', "ls", id="Codex"),
        pytest.param("shell", '{"command": ["bash", "-lc", "ls | wc"]}', "ls | wc", id="a script for an interpreter"),
        pytest.param("shell", '{"command": ["git", "log", "a b"]}', "git log 'a b'", id="words"),
        pytest.param("run_commands", '{"commands": ["a", "b c"]}', "a\nb c", id="several commands"),
        pytest.param("tmux", '{"keystrokes": "ls\\n"}', "ls\n", id="keys"),
        pytest.param("sandbox", '{"command": "ls", "cwd": "/x"}', "ls", id="a name that we do not know"),
    ],
)
def test_the_command_is_read_from_the_arguments(tool: str, arguments: str, command: str) -> None:
    """A shell's command is taken out; everything else stays as it was sent."""
    assert command_of(tool, arguments) == command


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("I am done.", "", id="prose"),
        pytest.param("See:\n```python\n1\n```", "", id="a block in another language"),
        pytest.param("See:\n```bash\nls", "", id="a block that does not end"),
        pytest.param('{"commands": [], "task_complete": true}', "", id="no keys"),
        pytest.param('{"commands": [{"keystrokes": 3}]}', "", id="keys that are no text"),
        pytest.param('"keystrokes" [', "", id="keys without an object"),
        pytest.param("THOUGHT: look\n\n```bash\nls -a\n```", "ls -a", id="mini-swe-agent"),
        pytest.param("```mswea_bash_command\nls\n```", "ls", id="mini-swe-agent, text mode"),
        pytest.param("DISCUSSION\nNow open it.\n```\nopen a.py\n```\n", "open a.py", id="SWE-agent"),
        pytest.param("```sh\na\n```\nthen\n```sh\nb\nc\n```", "b\nc", id="the last block counts"),
        pytest.param(
            '{"analysis": "x", "commands": [{"keystrokes": "ls\\n", "duration": 1}, {"keystrokes": "q"}]}',
            "ls\nq",
            id="Terminus",
        ),
        pytest.param('Fine.\n{"commands": [{"keystrokes": "ls\\n"}]} so', "ls", id="Terminus between words"),
        pytest.param('```json\n{"commands": [{"keystrokes": "ls\\n"}]}\n```', "ls", id="Terminus in a block"),
    ],
)
def test_commands_are_read_from_words(text: str, commands: str) -> None:
    """An answer without tool calls asks for what its last block or its keystrokes say."""
    assert commands_in(text) == commands


@given(st.text() | st.sampled_from(["bash", "exec"]), st.text(st.characters() | st.sampled_from("\ud800\udfff")))
@example("exec", "\ud800 tools.exec_command({cmd: '\udfff'})")
def test_anything_has_a_command(tool: str, text: str) -> None:
    """Neither names nor arguments nor answers that make no sense raise."""
    assert isinstance(command_of(tool, text), str)
    assert isinstance(commands_in(text), str)


def test_deep_arguments_do_no_harm() -> None:
    """JSON that is nested beyond reason is passed on as it is."""
    deep = "[" * 100_000
    assert command_of("bash", deep) == deep
    assert commands_in('{"keystrokes": ' + deep) == ""
