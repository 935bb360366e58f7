"""A conversation as Codex has it: items with thoughts between them, framed output, and all that comes of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.evolving.learning import archived, turns
from gateway.identity import Observer, chain
from memory import ExchangeRow
from rules_engine import find_ids
from tests.commandline import Run, taco
from tests.samples import LISTING, PROGRESS, SAMPLES, TASK, dump
from tests.service import Service, configured, service
from tests.wire import JSON, Answer, Upstream, ask, upstream, whole

__all__ = ["taco"]

PATH = "/v1/responses"
SAMPLE = SAMPLES[PATH]
ID = "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0001"
OPENING = [
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You are an agent."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TASK}]},
]
TOOLS = [{"type": "function", "name": "exec_command", "parameters": {}}, {"type": "function", "name": "write_stdin"}]


def framed(output: str, number: int, code: int | str = 0) -> str:
    """Output as this client shows it; `code` may say how the run goes on instead."""
    ended = f"Process exited with code {code}" if isinstance(code, int) else code
    return f"Chunk ID: {number:06x}\nWall time: 0.{number:04d} seconds\n{ended}\nOriginal token count: 9\nOutput:\n{output}"


def step(name: str, command: str, output: str, number: int = 0) -> list[dict[str, Any]]:
    """A thought, a call, and its result."""
    arguments = json.dumps({"cmd": command})
    return [
        {"type": "reasoning", "id": f"rs_{name}", "summary": [], "content": None, "encrypted_content": f"gAAA{name}"},
        {"type": "function_call", "id": f"fc_{name}", "call_id": name, "name": "exec_command", "arguments": arguments},
        {"type": "function_call_output", "id": f"o_{name}", "call_id": name, "output": framed(output, number)},
    ]


def request(*steps: list[dict[str, Any]], opening: Any = None, **more: Any) -> bytes:
    """A request after these steps."""
    items = [*(OPENING if opening is None else opening), *(item for each in steps for item in each)]
    fields = {"model": "m-1", "input": items, "tools": TOOLS, "store": False, "prompt_cache_key": ID}
    return dump({**fields, "include": ["reasoning.encrypted_content"], **more})


def headers(window: int = 0) -> list[tuple[str, str]]:
    """The headers of this client: the window is another after each compaction."""
    return [JSON, ("session-id", ID), ("thread-id", ID), ("x-codex-window-id", f"{ID}:{window}")]


async def send(gateway: Service, body: bytes, window: int = 0) -> Answer:
    """One request, as this client sends it."""
    return await ask(gateway.url, PATH, body, headers=headers(window))


async def rows(gateway: Service, *bodies: bytes, window: int = 0) -> list[ExchangeRow]:
    """What is on record of requests, one after the other."""
    return [await gateway.row(await send(gateway, body, window)) for body in bodies]


def results(up: Upstream) -> list[Any]:
    """What reached the upstream last of what tools gave."""
    return SAMPLE.outputs(json.loads(up.last.body))


TAR = step("tar", "tar cvf archive.tar .", PROGRESS, 1)
LIST = step("list", "ls -l src", LISTING, 2)
AGAIN = step("again", "ls -l src | cat", LISTING, 3)


async def test_a_session_over_a_restart_with_a_recall_and_its_accounts(tmp_path: Path, taco: Run) -> None:
    """What is rewritten stays so whatever form it is sent in, can be had back, and is on record."""
    anew = [[dict(reversed(item.items())) for item in each] for each in (TAR, LIST, AGAIN)]
    for each in anew:
        for item in each:
            del item["id"]
    anew[0][2]["output"] = [{"type": "input_text", "text": framed(PROGRESS, 1)}]
    usage = SAMPLE.usage(5000, 12, 4000)
    async with upstream(whole(SAMPLE.answer("It is packed.", usage))) as up:
        async with service(configured(up.url), tmp_path) as gateway:
            await rows(gateway, request(), request(TAR), request(TAR, LIST))
            shown = results(up)
            (row,) = await rows(gateway, request(TAR, LIST, AGAIN))
        (name,) = find_ids(results(up)[2])
        recall = step("back", f"echo recall:{name}", f"recall:{name}\n", 4)
        async with service(configured(up.url), tmp_path) as gateway:
            (last,) = await rows(gateway, request(*anew, recall))

    assert shown[0].startswith("Chunk ID: 000001\nWall time: 0.0001 seconds\nProcess exited with code 0\n")
    assert len(shown[0]) < 300
    assert shown[1] == framed(LISTING, 2)
    assert results(up)[:2] == [[{"type": "input_text", "text": shown[0]}], shown[1]]
    assert results(up)[3].removeprefix(framed("", 4)).strip() in LISTING
    assert len(results(up)[3]) > 1000
    assert (row.session, row.kept.get("broken prefix"), last.kept.get("broken prefix")) == (ID, None, None)
    assert last.session == ID
    assert [signal.name for signal in last.signals] == ["recall"]
    assert b"gAAAtar" in up.last.body

    stats = json.loads((await taco("stats", "--json", "--request", row.id, "--data", tmp_path)).out)
    assert stats["accounts"]["reported"] == {
        "input": 5000,
        "cached": 4000,
        "cache_write": None,
        "cache_write_hour": None,
        "output": 12,
    }
    assert stats["accounts"]["raw_tokens"] > stats["accounts"]["forwarded_tokens"] + 1000
    assert "exec_command" in (await taco("audit", "list", "--data", tmp_path)).out
    assert (await taco("audit", "verify", "--data", tmp_path)).code == 0
    assert ID in (await taco("memory", "search", "archive.tar", "--data", tmp_path)).out
    assert "It is packed." in (await taco("memory", "show", ID, "--data", tmp_path)).out
    (exported,) = (await taco("memory", "export", "--format", "openai", "--data", tmp_path)).out.splitlines()
    roles = [message["role"] for message in json.loads(exported)["messages"]]
    assert roles == ["developer", "user", *["assistant", "tool"] * 4, "assistant"]


async def test_what_is_archived_can_be_learned_from(tmp_path: Path) -> None:
    """Turns with their results and commands, the answer among them, and no encrypted thought."""
    async with (
        upstream(whole(SAMPLE.answer("Look at src/module_07.py."))) as up,
        service(configured(up.url), tmp_path) as gateway,
    ):
        (row,) = await rows(gateway, request(TAR, LIST))
        conversation = archived(await gateway.gateway.archive.conversation(row.session))
    seen = Observer().observe(conversation, "", chain(conversation, ""))
    told = [(turn.said, [r.observation.command for r in turn.results]) for turn in turns(conversation, seen)]

    assert told[-3:] == [
        ("tar cvf archive.tar .", ["tar cvf archive.tar ."]),
        ("ls -l src", ["ls -l src"]),
        ("Look at src/module_07.py.", []),
    ]


async def test_a_run_that_is_asked_for_again(tmp_path: Path) -> None:
    """Its output belongs to the command that started it, however late it comes."""
    started = step("run", "make all", "")
    started[2]["output"] = framed("", 1, "Process running with session ID 4242")
    poll = step("poll", "", PROGRESS, 2)
    poll[1] |= {"name": "write_stdin", "arguments": '{"session_id": 4242, "chars": ""}'}
    async with upstream(whole(SAMPLE.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        (row,) = await rows(gateway, request(started, poll))
        rewrite = await gateway.gateway.archive.rewrite(row.rewrites[0])

    assert rewrite is not None
    assert rewrite.texts is not None
    assert (rewrite.tool, rewrite.texts.command) == ("write_stdin", "make all")
    assert len(results(up)[1]) < 300


async def test_sessions_that_share_an_id(tmp_path: Path) -> None:
    """A sub-agent, a title, a retry and a compacted history are told apart, and each goes on by itself."""
    title = [{"type": "message", "role": "user", "content": "Name this conversation in five words."}]
    helper = [{**OPENING[0]}, {"type": "message", "role": "user", "content": "You look after the tests only."}]
    compacted = [OPENING[0], {"type": "message", "role": "user", "content": "So far: the archive is packed."}]
    async with upstream(whole(SAMPLE.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        first, second, retry = await rows(gateway, request(), request(TAR), request(TAR))
        (named,) = await rows(gateway, request(opening=title))
        begun, goes_on = await rows(gateway, request(opening=helper), request(LIST, opening=helper))
        (main,) = await rows(gateway, request(TAR, LIST))
        asked_to = [*TAR, *LIST, {"type": "message", "role": "user", "content": "Write down where you are."}]
        (handed,) = await rows(gateway, request(asked_to))
        anew, later = await rows(gateway, request(opening=compacted), request(LIST, opening=compacted), window=1)

    assert (first.session, second.session, retry.session, main.session) == (ID, ID, ID, ID)
    assert [row.retry for row in (first, second, retry, main)] == [False, False, True, False]
    assert len({ID, named.session, begun.session, handed.session, anew.session}) == 5
    assert (begun.session, anew.session) == (goes_on.session, later.session)
    assert {row.parent_session for row in (named, begun, handed, anew)} == {ID}
    assert not any(row.kept.get("broken prefix") for row in (second, retry, goes_on, later, main))


async def test_a_string_is_a_conversation_too(tmp_path: Path, taco: Run) -> None:
    """It is archived as what the user said, and a list that says the same goes on from it."""
    said = dump({"model": "m-1", "input": f"{TASK} Please.", "store": False})
    listed = [{"role": "user", "content": f"{TASK} Please."}, *TAR]
    async with upstream(whole(SAMPLE.answer("Certainly."))) as up, service(configured(up.url), tmp_path) as gateway:
        first, second = await rows(gateway, said, dump({"model": "m-1", "input": listed, "tools": TOOLS}))
        assert up.calls[0].body == said

    assert first.session == second.session
    found = (await taco("memory", "export", "--format", "openai", "--data", tmp_path)).out
    assert json.loads(found.splitlines()[0])["messages"][0]["content"] == f"{TASK} Please."


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("GET", "/v1/responses/resp_1?include[]=x", None),
        ("GET", "/v1/responses/resp_1?stream=true&starting_after=4", None),
        ("GET", "/v1/responses/resp_1/input_items?limit=2", None),
        ("DELETE", "/v1/responses/resp_1", None),
        ("POST", "/v1/responses/resp_1/cancel", b""),
        ("POST", "/v1/responses/compact", b'{"model": "m-1", "previous_response_id": "resp_1"}'),
        ("POST", "/v1/responses/input_tokens", b'{"model": "m-1", "input" : "x\\u00e9"}'),
        ("POST", "/v1/conversations", b'{"items": [{"role": "user", "content": 1.0}]}'),
        ("POST", "/v1/conversations/conv_1/items?include[]=x", b'{"items": []}'),
        ("GET", "/v1/conversations/conv_1", None),
        ("POST", "/v1/responses", b'{"prompt" : {"id": "pmpt_1", "version": "2"}}'),
        ("POST", "/v1/responses", b'{"model":"m-1", "previous_response_id": "resp_1"}'),
        ("POST", "/v1/responses", b'{"model":"m-1", "conversation": {"id": "conv_1"}, "input": []}'),
    ],
)
async def test_paths_beside_are_relayed(method: str, target: str, body: bytes | None, tmp_path: Path) -> None:
    """With their query and the same bytes, in both directions."""
    said = b'{"id" : "resp_1", "object":"response","status":"cancelled","output":[]}'
    async with upstream(whole(said, 202)) as up, service(configured(up.url), tmp_path) as gateway:
        answer = await ask(gateway.url, target, body, method=method, headers=[JSON] if body else [])
        row = await gateway.row(answer)

    assert (up.last.method, up.last.target, up.last.body) == (method, target, body or b"")
    assert (answer.status, answer.body) == (202, said)
    assert (row.method, row.outcome) == (method, "completed")


async def test_rivals_in_one_conversation(tmp_path: Path) -> None:
    """Calls that are made at once and end in any order are rewritten alike in every request that shows them."""
    both = [TAR[0], TAR[1], LIST[1], LIST[2], TAR[2]]
    async with upstream(whole(SAMPLE.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        await asyncio.gather(*(send(gateway, request(both)) for _ in range(5)))
        await send(gateway, request(both, AGAIN))

    forms = {json.dumps(SAMPLE.outputs(json.loads(call.body))[:2]) for call in up.calls}
    assert len(forms) == 1
    assert len(results(up)[1]) < 300
