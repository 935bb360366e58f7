"""Calls that ask for news of a run: their results are output of the command that started it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from json import loads

from gateway import calls
from gateway.types import Call, Message

_HANDLES = (
    *("session_id", "sessionId", "shell_id", "shellId", "bash_id", "task_id", "taskId"),
    *("process_id", "processId", "terminal_id", "terminalId", "cell_id"),
)
_TYPED = ("chars", "input", "data", "text", "keys")
"""What is typed into a run that is asked for: it may be a command of its own."""
_STARTED = re.compile(
    r"(?i)\b(?:session(?:[ _]?id)?|(?:shell|bash|task|process|terminal|cell)[ _]?id|background with id)\"?[>:= ]+\"?([\w.-]*\w)"
)
_EDGE = 500
"""Characters at each end of a result in which an agent names the run that goes on."""


def followed(call: Call, runs: Mapping[str, str]) -> Call:
    """The call, with the command of the run that it asks for; `runs` are commands by the name of their run."""
    given = _arguments(call) if runs else {}
    started = next((runs[name] for key in _HANDLES if (name := str(given.get(key, ""))) in runs), "")
    if not started:
        return call
    typed = [value.strip() for key in _TYPED if isinstance(value := given.get(key), str)]
    return replace(call, command="\n".join([started, *filter(None, typed)]))


def started(message: Message, asked: Mapping[str, tuple[Call, Message]]) -> Iterator[tuple[str, str]]:
    """Names by which the results in `message` say that their run goes on, each with its command."""
    for text in message.texts:
        call, _ = asked.get(text.call or "", (None, None))
        if call is None:
            continue
        command = call.command or calls.command_of(call.tool, call.arguments)
        if command == call.arguments:
            continue
        ends = text.value[:_EDGE], text.value[_EDGE:][-_EDGE:]
        yield from ((found[1], command) for end in ends for found in _STARTED.finditer(end))


def _arguments(call: Call) -> dict[str, object]:
    try:
        given = loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
