"""Request bodies: a small one, a streamed one, and sessions that grow as an agent's do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from tests.bench.noise import WORDS, cut, output

MODEL = "bench"
MESSAGES, MESSAGE_CHARS = 60, 5_000
"""Tool results that a session has when it is measured."""
STEPS, STEP_CHARS = 10, 20_000
"""Requests that are measured of a session, each with one new result of that size."""

HUGE_CHARS = 10_000_000

_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "bash",
            "description": "Run a command in a shell and read what it prints.",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        },
    }
]
_SYSTEM = "You are a coding agent. Work in small steps, run the tests after each change, and stop when they pass. " * 3


def small(number: int, *, stream: bool = False) -> bytes:
    """A chat request of 0.6 KB."""
    question = f"Question {number}: what does the function load_{WORDS[number % len(WORDS)]} give back, and when?"
    extra: dict[str, object] = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    return _body(_beginning(question), extra)


def growing(seed: int, sizes: list[int]) -> Iterator[bytes]:
    """The requests of one session: each has one more tool result, of the next size."""
    rng = Random(seed)
    messages = _beginning(f"Mend the {rng.choice(WORDS)} module; the ticket is {seed}.")
    for number, chars in enumerate(sizes):
        messages += _turn(f"call_{seed}_{number}", *output(rng, chars))
        yield _body(messages, {"tools": _TOOLS})


def agent(seed: int, step: int = STEP_CHARS) -> tuple[list[bytes], list[bytes]]:
    """One session: its requests until the body has 300 KB, and those to be measured, each with one new result more."""
    bodies = list(growing(seed, [MESSAGE_CHARS] * MESSAGES + [step] * STEPS))
    return bodies[:MESSAGES], bodies[MESSAGES:]


def huge(number: int, command: str, lines: Iterator[str]) -> tuple[bytes, bytes]:
    """A session's first request, and its second, with a result of 10 MB."""
    messages = [*_beginning(f"Look at it; the ticket is {number}."), *_turn(f"call_{number}_first", "true", "Fine.")]
    first = _body(messages, {"tools": _TOOLS})
    result = cut(lines, HUGE_CHARS)
    return first, _body([*messages, *_turn(f"call_{number}_huge", command, result)], {"tools": _TOOLS})


def _beginning(task: str) -> list[dict[str, object]]:
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": task}]


def _turn(name: str, command: str, result: str) -> list[dict[str, object]]:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    call = {"id": name, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": f"Next: {command}", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": result},
    ]


def _body(messages: list[dict[str, object]], extra: dict[str, object]) -> bytes:
    whole = {"model": MODEL, "messages": messages, **extra}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
