"""The archive of sessions over HTTP, for whoever has the admin key: `/_gateway/memory/l4/…` and `/_gateway/memory/why/…`.

    status, search?q=, sessions, sessions/ID, export     GET       sessions/ID                     DELETE
    run, verify, rebuild, retain, redact                 POST      ../why/ENTRY                    GET

`?tenant=NAME` asks another tenant's memory than the first one's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from gateway import processes
from gateway.admin import guarded
from gateway.remembering import level_pages
from gateway.remembering.json_pages import (
    Page,
    Refused,
    about,
    amount,
    answer,
    fields,
    flag,
    found,
    in_thread,
    number,
    text,
    text_or_none,
)
from gateway.remembering.memories import Memory, apply, tenants
from memory.L4_raw_sessions.export import FORMATS

ROOT = "/_gateway/memory"

WANTED = ("since", "until", "role", "model", "session")


async def status(memory: Memory, request: Request) -> Response:
    """How it stands with the memory, and which tenants there are."""
    return answer({**await in_thread(memory.status), "tenants": list(tenants(request.state.data))})


async def search(memory: Memory, request: Request) -> Response:
    """Sessions that say all words of `q`."""
    asked = request.query_params
    wanted = {name: asked[name] for name in WANTED if asked.get(name)}
    return answer(await in_thread(memory.search, text(asked, "q"), limit=number(asked, "limit", 10, 1000), **wanted))


async def sessions(memory: Memory, request: Request) -> Response:
    """All sessions, part by part, the newest first."""
    limit = number(request.query_params, "limit", 100, 100_000)
    return answer((await in_thread(memory.sessions))[::-1][:limit])


async def session(memory: Memory, request: Request) -> Response:
    """One session and what rests on it; `?format=log`: as it is archived; `?format=openai`: its messages, to go on with it."""
    name, form = request.path_params["id"], request.query_params.get("format", "json")
    if form == "log":
        return PlainTextResponse(await in_thread(memory.read, name))
    if form == "openai":
        return answer({"messages": await in_thread(memory.restore, name)})
    if form != "json":
        raise Refused("format is one of json, log, openai")
    return answer(await in_thread(memory.show, name))


async def forget(memory: Memory, request: Request) -> Response:
    """Take a session out of every file."""
    return answer(await processes.run(apply, Memory.forget, memory.root, request.path_params["id"]))


async def export(memory: Memory, request: Request) -> Response:
    """Sessions as JSON lines."""
    asked = request.query_params
    form = next((each for each in FORMATS if each == asked.get("format", "jsonl")), None)
    if form is None:
        raise Refused(f"format is one of {', '.join(FORMATS)}")
    pool = ThreadPoolExecutor(1)  # the index is asked by the thread that opened it
    lines = _Lines(memory.export(form, asked.get("session")), pool)
    try:
        first = await lines.next()  # what is wrong shows here, before the head is sent
    except BaseException:
        pool.shutdown(wait=False)
        raise
    return StreamingResponse(lines.all(first), media_type="application/x-ndjson")


class _Lines:
    """Lines that are made in a thread of their own."""

    def __init__(self, lines: Generator[str, None, None], pool: ThreadPoolExecutor) -> None:
        self._lines = lines
        self._pool = pool

    async def next(self) -> str | None:
        return await asyncio.get_running_loop().run_in_executor(self._pool, next, self._lines, None)

    async def all(self, first: str | None) -> AsyncIterator[str]:
        line = first
        try:
            while line is not None:
                yield f"{line}\n"
                line = await self.next()
        finally:
            self._pool.submit(self._lines.close)
            self._pool.shutdown(wait=False)


async def run(memory: Memory, request: Request) -> Response:
    """Archive now; with ``{"dry_run": true}`` say what would be done."""
    dry_run = flag(await fields(request), "dry_run")
    config = request.app.state.gateway.config
    report = await processes.run(apply, Memory.run, memory.root, config, dry_run=dry_run)
    return answer(report, 409 if report["state"] == "busy" else 200)


async def verify(memory: Memory, request: Request) -> Response:
    """Read all that is archived, of a `month` or ever, and compare it with what was put there."""
    month = text_or_none(await fields(request), "month")
    return answer(await processes.run(apply, Memory.verify, memory.root, month))


async def keep(memory: Memory, request: Request) -> Response:
    """Let go of sessions that ended more than `days` ago, and of the oldest until the zips have `bytes`; or say which would go."""
    given = await fields(request)
    days, most, dry_run = amount(given, "days"), amount(given, "bytes"), flag(given, "dry_run")
    if days is most is None:
        raise Refused("days or bytes is needed, as a number")
    size = None if most is None else int(most)
    gone = await processes.run(apply, Memory.retain, memory.root, days=days, size=size, dry_run=dry_run)
    return answer({"dry_run": dry_run, "gone": [asdict(one) for one in gone]})


async def rebuild(memory: Memory, request: Request) -> Response:
    """Make the index of the archive anew from its files."""
    return answer(await processes.run(apply, Memory.rebuild, memory.root))


async def redact(memory: Memory, request: Request) -> Response:
    """Redact everything that is stored again, by a `pattern` or by the forms that are known."""
    pattern = text_or_none(await fields(request), "pattern")
    done, files = await processes.run(apply, Memory.redact, memory.root, pattern)
    return answer({**asdict(done), "files": files})


async def why(memory: Memory, request: Request) -> Response:
    """What proves an entry."""
    return answer(found(await in_thread(memory.why, request.path_params["entry"]), "entry"))


PAGES: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/l4/status", status),
    ("GET", "/l4/search", search),
    ("GET", "/l4/sessions", sessions),
    ("GET", "/l4/sessions/{id:path}", session),
    ("DELETE", "/l4/sessions/{id:path}", forget),
    ("GET", "/l4/export", export),
    ("POST", "/l4/run", run),
    ("POST", "/l4/verify", verify),
    ("POST", "/l4/rebuild", rebuild),
    ("POST", "/l4/retain", keep),
    ("POST", "/l4/redact", redact),
    ("GET", "/why/{entry:path}", why),
    *level_pages.PAGES,
)


def routes(data: Path) -> list[Route]:
    """The pages about the memory in a data folder."""
    return [Route(f"{ROOT}{path}", guarded(about(data, page)), methods=[method]) for method, path, page in PAGES]
