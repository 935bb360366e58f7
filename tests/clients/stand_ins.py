"""Stand-ins for agents that cannot be installed: they run the commands themselves and send what the agent would send.

Small requests of our own in the recorded form: headers, order of the history, framing of the output.
"""

from __future__ import annotations

import asyncio
import copy
import json
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from gateway.scenario import Turn

TASK = "Mend rule 7."
SYSTEM = "You mend shops with a shell. " * 180
ID = "0b9f2d4c-7e51-4c3a-9a34-5d1f6f0a8b21"
_SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}

Items = list[dict[str, Any]]


@dataclass(frozen=True)
class Ran:
    """A command that ran."""

    call: str
    command: str
    code: int
    output: str


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """How one agent tells its model what happened."""

    path: str
    headers: Mapping[str, str]
    key: str
    """The field with the history."""
    head: Mapping[str, Any]
    opening: Items
    say: Callable[[str, Sequence[tuple[str, str]]], Items]
    """An answer of the model, as it is sent back: its words, and (id, command) of its calls."""
    tell: Callable[[Sequence[Ran]], Items]
    first: Mapping[str, Any] | None = None
    """A request that goes before, under the same name of the session."""
    finish: Callable[[Items], Items] = list
    """The history as it goes out."""
    websocket: bool = False


async def act(agent: StandIn, url: str, folder: Path, turns: Sequence[Turn]) -> None:
    """Do in a folder what the turns say, and tell of it, to the end."""
    async with aiohttp.ClientSession(url, headers=agent.headers) as client:
        if agent.websocket:
            await _over_a_socket(client, agent, folder, turns)
            return
        if agent.first:
            await _post(client, agent.path, agent.first)
        history = agent.opening
        for number, turn in enumerate(turns):
            await _post(client, agent.path, {**agent.head, agent.key: agent.finish(history)})
            history = [*history, *await _step(agent, number, turn, folder)]


async def _post(client: aiohttp.ClientSession, path: str, body: Mapping[str, Any]) -> None:
    data = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    async with client.post(path, data=data, headers={"content-type": "application/json"}) as answer:
        said = await answer.read()
        assert answer.status == 200, said


async def _over_a_socket(client: aiohttp.ClientSession, agent: StandIn, folder: Path, turns: Sequence[Turn]) -> None:
    """Only what is new is sent: the rest is named by the response that it follows."""
    items, named = agent.opening, dict[str, str]()
    async with client.ws_connect(agent.path, max_msg_size=0) as socket:
        for number, turn in enumerate(turns):
            await socket.send_str(json.dumps({"type": "response.create", **agent.head, **named, agent.key: items}))
            while (event := json.loads((await socket.receive()).data))["type"] != "response.completed":
                assert event["type"] != "error", event
            named = {"previous_response_id": event["response"]["id"]}
            items = (await _step(agent, number, turn, folder))[len(agent.say(turn.text, _calls(number, turn))) :]


async def _step(agent: StandIn, number: int, turn: Turn, folder: Path) -> Items:
    calls = _calls(number, turn)
    return [*agent.say(turn.text, calls), *agent.tell([await _run(call, command, folder) for call, command in calls])]


def _calls(number: int, turn: Turn) -> list[tuple[str, str]]:
    return [(f"call_{number}_{n}", command) for n, command in enumerate(turn.shell)]


async def _run(call: str, command: str, folder: Path) -> Ran:
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", command, cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
    )
    output, _ = await process.communicate()
    return Ran(call, command, process.returncode or 0, output.decode())


def _function(name: str, key: str = "command") -> dict[str, Any]:
    schema = json.loads(json.dumps(_SCHEMA).replace("command", key))
    return {"name": name, "description": "Runs a command.", "parameters": schema}


def _chat_call(tool: str) -> Callable[[str, Sequence[tuple[str, str]]], Items]:
    def say(text: str, calls: Sequence[tuple[str, str]]) -> Items:
        made = [
            {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps({"command": command})}}
            for name, command in calls
        ]
        return [{"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}]

    return say


def _opencode(ran: Sequence[Ran]) -> Items:
    return [{"role": "tool", "tool_call_id": one.call, "content": one.output or "(no output)"} for one in ran]


def _qwen(ran: Sequence[Ran]) -> Items:
    return [
        {
            "role": "tool",
            "tool_call_id": one.call,
            "content": [
                {
                    "type": "text",
                    "text": f"Command: {one.command}\nDirectory: (root)\nOutput: {one.output.rstrip()}\nError: (none)\n"
                    f"Exit Code: {one.code}\nSignal: 0\nProcess Group PGID: {4000 + len(one.output)}",
                }
            ],
        }
        for one in ran
    ]


def _codex_call(text: str, calls: Sequence[tuple[str, str]]) -> Items:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    made = [
        {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command}), "call_id": name}
        for name, command in calls
    ]
    return [said, *made]


def _codex(ran: Sequence[Ran]) -> Items:
    return [
        {
            "type": "function_call_output",
            "call_id": one.call,
            "output": f"Chunk ID: {len(one.output):06x}\nWall time: 0.0{len(one.output) % 997:03} seconds\n"
            f"Process exited with code {one.code}\nOriginal token count: {len(one.output) // 4}\nOutput:\n{one.output}",
        }
        for one in ran
    ]


def _script_call(text: str, calls: Sequence[tuple[str, str]]) -> Items:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    made = [
        {
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": name,
            "name": "exec",
            "namespace": "functions",
            "input": f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(r.output);",
        }
        for name, command in calls
    ]
    return [said, *made]


def _script(ran: Sequence[Ran]) -> Items:
    return [
        {
            "type": "custom_tool_call_output",
            "call_id": one.call,
            "output": [
                {"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"},
                {"type": "input_text", "text": one.output},
            ],
        }
        for one in ran
    ]


def _claude_call(text: str, calls: Sequence[tuple[str, str]]) -> Items:
    blocks = [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": c}} for name, c in calls]
    return [{"role": "assistant", "content": [{"type": "text", "text": text}, *blocks]}]


def _claude(ran: Sequence[Ran]) -> Items:
    blocks = [
        {
            "type": "tool_result",
            "tool_use_id": one.call,
            "content": f"Exit code {one.code}\n{one.output}".rstrip() if one.code else one.output.rstrip(),
            "is_error": one.code != 0,
        }
        for one in ran
    ]
    return [{"role": "user", "content": blocks}] if blocks else []


def _marked(history: Items) -> Items:
    """The cache mark stands on the last block of the last message; the request before had it somewhere else."""
    sent = copy.deepcopy(history)
    sent[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    if len(sent) > 2 and len(sent[0]["content"]) == 1:
        sent[0]["content"] = sent[0]["content"][0]["text"]
    return sent


_RESPONSES = {
    "model": "gpt-5.5",
    "tools": [{"type": "function", **_function("exec_command", "cmd")}],
    "store": False,
    "stream": True,
    "prompt_cache_key": ID,
}
_CODEX = StandIn(
    path="/v1/responses",
    headers={"session-id": ID, "thread-id": ID, "authorization": "Bearer none", "originator": "codex_exec"},
    key="input",
    head=_RESPONSES,
    opening=[
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": SYSTEM}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TASK}]},
    ],
    say=_codex_call,
    tell=_codex,
)
_CHAT = {"model": "gpt-5.1", "stream": True, "stream_options": {"include_usage": True}}
_SESSION = {"x-session-id": "ses_4f1c", "x-session-affinity": "ses_4f1c", "authorization": "Bearer none"}
STAND_INS: Mapping[str, StandIn] = {
    "codex": _CODEX,
    "codex over its WebSocket": StandIn(
        **{name: getattr(_CODEX, name) for name in ("path", "key", "head", "opening", "say", "tell")},
        headers={**_CODEX.headers, "openai-beta": "responses_websockets=2026-02-06"},
        websocket=True,
    ),
    "codex, whose scripts call tools": StandIn(
        path=_CODEX.path,
        headers=_CODEX.headers,
        key=_CODEX.key,
        head={name: value for name, value in _RESPONSES.items() if name != "tools"},
        opening=[
            {
                "type": "additional_tools",
                "role": "developer",
                "tools": [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}],
            },
            *_CODEX.opening,
        ],
        say=_script_call,
        tell=_script,
    ),
    "claude": StandIn(
        path="/v1/messages",
        headers={"x-claude-code-session-id": ID, "x-api-key": "none", "anthropic-version": "2023-06-01"},
        key="messages",
        head={
            "model": "claude-opus-5",
            "max_tokens": 32000,
            "stream": True,
            "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "Bash", "description": "Runs a command.", "input_schema": _SCHEMA}],
            "metadata": {"user_id": json.dumps({"device_id": "d", "session_id": ID})},
        },
        opening=[{"role": "user", "content": [{"type": "text", "text": TASK}]}],
        say=_claude_call,
        tell=_claude,
        finish=_marked,
    ),
    "opencode, chat": StandIn(
        path="/v1/chat/completions",
        headers=_SESSION,
        key="messages",
        head={**_CHAT, "tools": [{"type": "function", "function": _function("bash")}]},
        opening=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": f'"{TASK}"'}],
        say=_chat_call("bash"),
        tell=_opencode,
        first={**_CHAT, "messages": [{"role": "system", "content": "Say a title."}, {"role": "user", "content": TASK}]},
    ),
    "qwen": StandIn(
        path="/v1/chat/completions",
        headers={"authorization": "Bearer none", "x-stainless-retry-count": "0"},
        key="messages",
        head={**_CHAT, "tools": [{"type": "function", "function": _function("run_shell_command")}]},
        opening=[
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": [{"type": "text", "text": "The folder holds noise.sh and rules.py."}]},
            {"role": "assistant", "content": "Good to know."},
            {"role": "user", "content": [{"type": "text", "text": TASK}]},
        ],
        say=_chat_call("run_shell_command"),
        tell=_qwen,
    ),
}
