"""A conversation as Claude Code has it: marks that move on, older messages in another form, and all that comes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rules_engine import find_ids
from tests.commandline import Run, taco
from tests.samples import LISTING, PROGRESS, SAMPLES, TASK, dump
from tests.service import Service, configured, service
from tests.wire import JSON, Answer, Upstream, ask, upstream, whole

__all__ = ["taco"]

PATH = "/v1/messages?beta=true"
SAMPLE = SAMPLES["/v1/messages"]
MARK = {"cache_control": {"type": "ephemeral"}}
USAGE = SAMPLE.usage(5000, 12, 4000)
THOUGHT = {"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmF0dXJl"}


def asked(*commands: str) -> dict[str, Any]:
    """What the model wants to run, with a thought before it."""
    calls = [{"type": "tool_use", "id": f"toolu_{c}", "name": "Bash", "input": {"command": c}} for c in commands]
    return {"role": "assistant", "content": [THOUGHT, *calls]}


def told(**outputs: str) -> dict[str, Any]:
    """What came of it, each under its command."""
    results = [{"tool_use_id": f"toolu_{c}", "type": "tool_result", "content": text} for c, text in outputs.items()]
    return {"role": "user", "content": results}


def request(*messages: dict[str, Any], **more: Any) -> bytes:
    """A request after these messages, with the mark on the last block."""
    fresh = json.loads(json.dumps([{"role": "user", "content": TASK}, *messages]))
    last = fresh[-1]
    if isinstance(last["content"], str):
        last["content"] = [{"type": "text", "text": last["content"]}]
    last["content"][-1] |= MARK
    system = [{"type": "text", "text": "You are an agent."}, {"type": "text", "text": "You use a shell.", **MARK}]
    user = json.dumps({"device_id": "d", "session_id": "11112222-3333-4444-8555-666677778888"})
    fields = {"model": "m-1", "max_tokens": 900, "system": system, "messages": fresh, "metadata": {"user_id": user}}
    edits = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    tools = [{"name": "Bash", "input_schema": {"type": "object"}}]
    return dump({**fields, "tools": tools, "context_management": edits, **more})


async def send(gateway: Service, body: bytes) -> Answer:
    """One request, as this client sends it."""
    return await ask(gateway.url, PATH, body, headers=[JSON, ("anthropic-version", "2023-06-01"), ("x-api-key", "k")])


def results(up: Upstream) -> list[Any]:
    """What reached the upstream last of what tools gave."""
    body = json.loads(up.last.body)
    return SAMPLE.outputs({"messages": [m for m in body["messages"] if isinstance(m["content"], list)]})


async def test_a_session_over_a_restart_with_a_recall_and_its_accounts(tmp_path: Path, taco: Run) -> None:
    """What is rewritten stays so whatever form it is sent in, can be had back, and is on record."""
    reminder = {"role": "system", "content": "The task list is empty."}
    first = [asked("tar", "list"), told(tar=PROGRESS, list=LISTING), reminder]
    again = [*first, asked("again"), told(again=LISTING)]
    anew = json.loads(json.dumps(again))
    anew[1]["content"] = [dict(reversed(block.items())) for block in anew[1]["content"]]
    anew[1]["content"][0]["content"] = [{"type": "text", "text": PROGRESS}]
    async with upstream(whole(SAMPLE.answer("ok", USAGE))) as up:
        async with service(configured(up.url), tmp_path) as gateway:
            await send(gateway, request())
            await send(gateway, request(*first))
            shown = results(up)
            row = await gateway.row(await send(gateway, request(*again)))
        (name,) = find_ids(results(up)[2])
        recall = [asked("back"), {"role": "user", "content": [told(back=f"recall:{name}\n")["content"][0]]}]
        recall[0]["content"][1]["input"]["command"] = f"echo recall:{name}"
        async with service(configured(up.url), tmp_path) as gateway:
            last = await gateway.row(await send(gateway, request(*anew, *recall)))
        body = json.loads(up.last.body)

    assert len(shown[0]) < 200
    assert shown[1] == LISTING
    assert (results(up)[0], results(up)[1]) == ([{"type": "text", "text": shown[0]}], LISTING)
    assert results(up)[3].strip() in LISTING
    assert len(results(up)[3]) > 1000
    assert (row.session, row.kept.get("broken prefix"), last.kept.get("broken prefix")) == (last.session, None, None)
    assert [signal.name for signal in last.signals] == ["recall"]
    assert (body["system"][1], body["messages"][1]) == ({"type": "text", "text": "You use a shell.", **MARK}, anew[0])
    assert up.last.body.count(b"cache_control") == 2

    stats = json.loads((await taco("stats", "--json", "--request", row.id, "--data", tmp_path)).out)
    assert stats["accounts"]["reported"] == {
        "input": 5000,
        "cached": 4000,
        "cache_write": None,
        "cache_write_hour": None,
        "output": 12,
    }
    assert stats["accounts"]["raw_tokens"] > stats["accounts"]["forwarded_tokens"] + 1000
    listed = (await taco("audit", "list", "--data", tmp_path)).out
    assert "Bash" in listed
    assert (await taco("audit", "verify", "--data", tmp_path)).code == 0
    assert row.session in (await taco("memory", "search", "archive.tar", "--data", tmp_path)).out
    (exported,) = (await taco("memory", "export", "--format", "openai", "--data", tmp_path)).out.splitlines()
    roles = [message["role"] for message in json.loads(exported)["messages"]]
    assert json.loads(exported)["messages"][0]["content"] == "You are an agent.\nYou use a shell."
    assert roles == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "system",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]


async def test_results_that_the_provider_may_clear_are_no_source(tmp_path: Path) -> None:
    """Where the client has it clear results unseen, no pointer leads to one."""
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    turns = [asked("list"), told(list=LISTING), asked("again"), told(again=LISTING)]
    async with upstream(whole(SAMPLE.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        for size in (0, 2, 4):
            await send(gateway, request(*turns[:size], context_management=edits))

    assert results(up) == [LISTING, LISTING]


async def test_a_restart_empties_no_cache(tmp_path: Path) -> None:
    """What was marked within the last minutes is cached as far as it comes again, and what was saved before is no news."""
    first = [asked("tar"), told(tar=PROGRESS)]
    head = {"model": "claude-sonnet-4-5", "system": [{"type": "text", "text": "word " * 2000, **MARK}]}
    rows = []
    async with upstream(whole(SAMPLE.answer("ok", USAGE))) as up:
        for more in ([], [asked("ls"), told(ls="a.py")]):
            async with service(configured(up.url), tmp_path) as gateway:
                said = request(*first, *more, **head)
                rows.append((await gateway.row(await send(gateway, said))).accounts)

    assert rows[0]["cached_forwarded"] == 0 < rows[1]["cached_forwarded"]
    assert rows[0]["novel_saved"] == rows[1]["repeat_saved"] > 0 == rows[1]["novel_saved"]
