"""What an agent ran: the shell command of a tool call, or of an assistant message without one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from json import JSONDecoder, loads
from shlex import join

from gateway.scripts import commands_of, is_script

_SHELLS = frozenset(
    {
        "bash", "sh", "zsh", "shell", "terminal", "tmux", "execute", "exec", "powershell", "cmd",
        "exec_command", "execute_command", "run_command", "run_commands", "run_shell_command", "run_terminal_cmd",
        "run_in_terminal", "run_terminal_command", "execute_bash", "execute_shell", "run_bash", "run_shell", "local_shell",
        "shell_command", "container.exec", "bash_command", "terminal_exec", "shell_exec", "developer__shell",
    }
)  # fmt: skip
_KEYS = ("command", "cmd", "commands", "script", "keystrokes", "input", "code")
_INTERPRETERS = frozenset({"bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/usr/bin/bash", "/bin/zsh"})
_BESIDE = frozenset(
    {
        "command", "cmd", "timeout", "timeout_ms", "timeout_seconds", "cwd", "workdir", "working_dir", "directory",
        "working_directory", "description", "explanation", "reason", "summary", "background", "is_background",
        "run_in_background", "security_risk", "requires_approval", "shell", "env",
    }
)  # fmt: skip
"""What stands beside a command in the arguments of a shell tool."""
_NAMESPACE = re.compile(r"^(?:functions\.|mcp__.*__|.*[:/])")
_FENCE = re.compile(r"^```([\w-]*)[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_FENCE_NAMES = frozenset({"", "bash", "sh", "shell", "zsh", "console", "mswea_bash_command"})
_read = JSONDecoder().raw_decode


def is_shell(tool: str) -> bool:
    """Whether a tool of this name runs shell commands."""
    name = _NAMESPACE.sub("", tool).lower().replace("-", "_")
    return name in _SHELLS


def declares_shell(tools: Iterable[str]) -> bool:
    """Whether one of these tools does."""
    return any(map(is_shell, tools))


def command_of(tool: str, arguments: str) -> str:
    """The shell command in a call's arguments (JSON text, or a script); the arguments as they are where there is none."""
    try:
        given = loads(arguments)
    except (ValueError, RecursionError):
        return commands_of(arguments) if is_shell(tool) and is_script(arguments) else arguments
    if not isinstance(given, dict):
        return arguments
    # timid: an editor's "command" says what to do to a path, a browser's what to do to a page.
    keys = _KEYS if is_shell(tool) else _KEYS[:2] if given.keys() <= _BESIDE else ()
    found = next((key for key in keys if key in given), None)
    return arguments if found is None else _joined(given[found], found == "commands") or arguments


def _joined(value: object, several: bool) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return ""
    if several:
        return "\n".join(value)
    if len(value) == 3 and value[0] in _INTERPRETERS and value[1].startswith("-"):
        return str(value[2])
    return join(value)


def commands_in(text: str) -> str:
    """The commands that an assistant message asks for in its text; "" if there are none."""
    if '"keystrokes"' in text and (keys := _keystrokes(text)):
        return keys
    blocks = [found[2].strip("\n") for found in _FENCE.finditer(text) if found[1].lower() in _FENCE_NAMES]
    return blocks[-1] if blocks else ""


def _keystrokes(text: str) -> str:
    at = text.find("{")
    try:
        answer, _ = _read(text, at)
    except (ValueError, RecursionError):
        return ""
    commands = answer.get("commands") if isinstance(answer, dict) else None
    keys = [item.get("keystrokes") for item in commands if isinstance(item, dict)] if isinstance(commands, list) else []
    return "\n".join(key.rstrip("\n") for key in keys if isinstance(key, str))
