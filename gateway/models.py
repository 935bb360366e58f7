"""`/v1/models` where several upstreams have a list: one of what they all serve."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from gateway import inbound
from gateway.config import Config
from gateway.errors import GatewayError, UpstreamUnreachable
from gateway.providers import Route, Routes, spoken
from gateway.shapes import spoken_at
from gateway.types import Request

PATIENCE = 10.0
"""Seconds that one upstream has for its list: the others' should not wait for longer."""


def has_several(routes: Routes, scope: Scope) -> bool:
    """Whether several upstreams have a list for this client; the list of one is passed on as it is."""
    listing = routes.speaking(spoken(inbound.read_head(scope).fields))
    return sum(route.upstream.via == "passthrough" or bool(_named(route)) for route in listing) > 1


async def list_models(routes: Routes, config: Config, scope: Scope, receive: Receive, send: Send) -> None:
    """The union of the upstreams' lists, first come first. An upstream that does not give one is left out; where none
    does, what the first said instead."""
    got = inbound.read_head(scope)
    try:
        inbound.admit(got, config)
    except GatewayError as error:
        await _refusal(error, got)(scope, receive, send)
        return
    with suppress(inbound.ClientLeft):
        await inbound.unless_left(receive, _list(routes, got, scope, receive, send))


async def _list(routes: Routes, got: inbound.Inbound, scope: Scope, receive: Receive, send: Send) -> None:
    lists = await asyncio.gather(*(_models_of(route, got) for route in routes.speaking(spoken(got.fields))))
    seen: dict[str, dict[str, object]] = {}
    for model in (one for listed in lists if isinstance(listed, list) for one in listed):
        seen.setdefault(str(model.get("id")), model)
    refused = [said for said in lists if isinstance(said, Response)]
    union = JSONResponse({"object": "list", "data": list(seen.values())})
    await (refused[0] if refused and not seen else union)(scope, receive, send)


async def _models_of(route: Route, got: inbound.Inbound) -> list[dict[str, object]] | Response:
    """The list of an upstream, or what it says instead."""
    if route.upstream.via == "litellm":
        return [{"id": name, "object": "model", "owned_by": route.upstream.name} for name in _named(route)]
    headers = inbound.without(got.headers, b"accept-encoding")
    request = Request(id=got.id, method="GET", path=got.path, headers=headers, body=b"", model=None, stream=False)
    try:
        async with asyncio.timeout(PATIENCE):
            answer = await route.provider.send(request)
            try:
                body = b"".join([chunk async for chunk in answer.chunks()])
            finally:
                await answer.aclose()
    except GatewayError as error:
        return _refusal(error, got)
    except TimeoutError:
        return _refusal(UpstreamUnreachable(f"upstream '{route.upstream.name}' gave no list in {PATIENCE:g} s"), got)
    data = _listed(body)
    if data is not None:
        return data
    said = Response(body, answer.status)
    said.raw_headers = list(answer.headers)
    return said


def _listed(body: bytes) -> list[dict[str, object]] | None:
    try:
        listed = json.loads(body)
    except ValueError:
        return None
    data = listed.get("data") if isinstance(listed, dict) else None
    return [model for model in data if isinstance(model, dict)] if isinstance(data, list) else None


def _refusal(error: GatewayError, got: inbound.Inbound) -> Response:
    return Response(spoken_at(got.path, got.fields).error_body(error), error.status, media_type="application/json")


def _named(route: Route) -> list[str]:
    return [pattern for pattern in route.upstream.models if "*" not in pattern]
