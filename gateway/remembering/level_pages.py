"""The levels above the archive over HTTP: L0 to L3 and the candidates, read and written with the limits that they have.

l0  GET    l1  GET PUT    l1/rebuild, l1/check  POST    l2  GET POST    l2/ID  PATCH DELETE    l2/ID/provenance  GET
l3  GET    l3/NAME  GET PUT DELETE                      candidates  GET    candidates/ID/promote, …/refuse  POST
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gateway.remembering.json_pages import Page, Refused, answer, fields, flag, found, in_thread, text, words
from gateway.remembering.memories import Memory
from memory.levels import Evidence, insight, read_pointer, rules


async def constants(memory: Memory, request: Request) -> Response:
    """L0, as it is in the source."""
    warning = await in_thread(rules.warning, memory.root / "memory")
    return answer({"text": rules.RULES, "sha256": rules.DIGEST, "warning": warning})


async def index(memory: Memory, request: Request) -> Response:
    """L1."""
    return PlainTextResponse(await in_thread(memory.levels.insight))


async def put_index(memory: Memory, request: Request) -> Response:
    """Put the body in the place of L1, if it keeps the limits."""
    await in_thread(memory.levels.write_insight, await words(request))
    return await index(memory, request)


async def rebuild_index(memory: Memory, request: Request) -> Response:
    """Make L1 anew; with `?dry_run=true` only say how it would be."""
    return answer(await in_thread(memory.levels.rebuild, dry_run=flag(request.query_params, "dry_run")))


async def check_index(memory: Memory, request: Request) -> Response:
    """What is wrong with the body as L1; without one, with L1 as it is."""
    given = await words(request) or await in_thread(memory.levels.insight)
    return answer({"problems": await in_thread(insight.check, memory.root / "memory", given)})


async def facts(memory: Memory, request: Request) -> Response:
    """L2."""
    return answer(await in_thread(memory.levels.facts))


async def put_fact(memory: Memory, request: Request) -> Response:
    """Write a fact down: `section`, `text`, and as `evidence` pointers to L4."""
    body = await fields(request)
    put = partial(memory.levels.put_fact, by="person", evidence=_evidence(body))
    fact, warning = await in_thread(put, text(body, "section"), text(body, "text"))
    return answer({"id": fact.id, "section": fact.section, "text": fact.text, "warning": warning}, 201)


async def amend_fact(memory: Memory, request: Request) -> Response:
    """Give a fact another `text`."""
    body = await fields(request)
    amend = partial(memory.levels.amend_fact, by="person", evidence=_evidence(body))
    return answer(await in_thread(amend, await _fact(memory, request), text(body, "text")))


async def drop_fact(memory: Memory, request: Request) -> Response:
    """Take a fact out."""
    return answer(await in_thread(memory.levels.drop_fact, await _fact(memory, request)))


async def prove_fact(memory: Memory, request: Request) -> Response:
    """What proves a fact."""
    return answer(await in_thread(memory.why, f"L2:{await _fact(memory, request)}"))


async def _fact(memory: Memory, request: Request) -> str:
    return found(await in_thread(memory.fact, request.path_params["id"]), "fact").id


async def procedures(memory: Memory, request: Request) -> Response:
    """L3: names and what they are for."""
    all_ = await in_thread(memory.levels.procedures)
    return answer([{"name": each.name, "front": each.front, "bytes": len(each.text.encode())} for each in all_])


async def procedure(memory: Memory, request: Request) -> Response:
    """The text of a procedure."""
    there = found(await in_thread(memory.procedure, request.path_params["name"]), "procedure")
    return PlainTextResponse(there.text)


async def put_procedure(memory: Memory, request: Request) -> Response:
    """Write a procedure: the body is its text, each `?evidence=` points to L4."""
    evidence = [Evidence(pointer=read_pointer(each)) for each in request.query_params.getlist("evidence")]
    put = partial(memory.levels.put_procedure, by="person", evidence=evidence)
    written, warnings = await in_thread(put, request.path_params["name"], await words(request))
    return answer({"name": written.name, "warnings": warnings}, 201)


async def drop_procedure(memory: Memory, request: Request) -> Response:
    """Take a procedure away."""
    there = found(await in_thread(memory.procedure, request.path_params["name"]), "procedure")
    return answer({"dropped": await in_thread(memory.levels.drop_procedure, there.name)})


async def candidates(memory: Memory, request: Request) -> Response:
    """What waits for a decision; with `?all=true` what was decided, too."""
    work = partial(memory.levels.candidates, None) if flag(request.query_params, "all") else memory.levels.candidates
    return answer(await in_thread(work))


async def promote(memory: Memory, request: Request) -> Response:
    """Make a fact or a procedure of a candidate."""
    return answer({"entry": await in_thread(memory.levels.promote, request.path_params["id"], by="person")})


async def refuse(memory: Memory, request: Request) -> Response:
    """Turn a candidate down for good, for a `reason`."""
    reason = (await fields(request)).get("reason", "by hand")
    return answer(await in_thread(memory.levels.refuse, request.path_params["id"], str(reason)))


def _evidence(body: Mapping[str, Any]) -> list[Evidence]:
    pointers = body.get("evidence", [])
    if not isinstance(pointers, list) or not all(isinstance(each, str) for each in pointers):
        raise Refused("evidence is a list of pointers, each L4:SESSION#MESSAGE")
    return [Evidence(pointer=read_pointer(each)) for each in pointers]


PAGES: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/l0", constants),
    ("GET", "/l1", index),
    ("PUT", "/l1", put_index),
    ("POST", "/l1/rebuild", rebuild_index),
    ("POST", "/l1/check", check_index),
    ("GET", "/l2", facts),
    ("POST", "/l2", put_fact),
    ("PATCH", "/l2/{id}", amend_fact),
    ("DELETE", "/l2/{id}", drop_fact),
    ("GET", "/l2/{id}/provenance", prove_fact),
    ("GET", "/l3", procedures),
    ("GET", "/l3/{name}", procedure),
    ("PUT", "/l3/{name}", put_procedure),
    ("DELETE", "/l3/{name}", drop_procedure),
    ("GET", "/candidates", candidates),
    ("POST", "/candidates/{id}/promote", promote),
    ("POST", "/candidates/{id}/refuse", refuse),
)
