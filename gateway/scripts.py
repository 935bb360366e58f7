"""Scripts that call tools instead of being a command: the code mode of Codex, `await tools.exec_command({cmd: "ls"})`."""

from __future__ import annotations

import re

import re2

_SHELL = "exec_command"
_STRING = r"""(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)"""
_CALLED = re2.compile(r"\btools\s*\.\s*(\w+)\(")
_OTHERWISE = re2.compile(r"\btools\s*\[|=\s*tools\b")
"""A tool that is called by a name which is made up, or under another one."""
_GIVEN = re2.compile(rf"(?s)\bcmd\s*:\s*{_STRING}")
_STRINGS = re2.compile(rf"(?s){_STRING}")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BREAKS = {"n": "\n", "t": "\t"}


def is_script(text: str) -> bool:
    """Whether what a tool was given calls other tools."""
    text = _encodable(text)
    return _CALLED.search(text) is not None or _OTHERWISE.search(text) is not None


def commands_of(script: str) -> str:
    """The shell commands that a script runs, a line each; "" where it may print what came from elsewhere.

    What is put together as it runs cannot be known: then whatever it has as a string may be a command.
    """
    script = _encodable(script)
    called = [found[1] for found in _CALLED.finditer(script)]
    if set(called) != {_SHELL} or _OTHERWISE.search(script):
        return ""
    given = list(_GIVEN.finditer(script))
    if len(given) != len(called):
        given = list(_STRINGS.finditer(script))
    return "\n".join(_unescaped(found[1] or found[2] or found[3] or "") for found in given)


def _encodable(text: str) -> str:
    """RE2 reads no halves of characters."""
    return text.encode("utf-8", "replace").decode()


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _BREAKS.get(found[1], found[1]), text)
