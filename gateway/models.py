"""`/v1/models` where several upstreams have a list: one of what they all serve."""

from __future__ import annotations

import asyncio
import json

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from gateway import inbound
from gateway.errors import GatewayError
from gateway.providers import Route, Routes, spoken
from gateway.types import Request


def has_several(routes: Routes, scope: Scope) -> bool:
    """Whether several upstreams have a list for this client; the list of one is passed on as it is."""
    listing = routes.speaking(spoken(inbound.read_head(scope).fields))
    return sum(route.upstream.via == "passthrough" or bool(_named(route)) for route in listing) > 1


async def list_models(routes: Routes, scope: Scope, receive: Receive, send: Send) -> None:
    """The union of the upstreams' lists, first come first; an upstream that does not answer is left out."""
    got = inbound.read_head(scope)
    lists = await asyncio.gather(*(_models_of(route, got) for route in routes.speaking(spoken(got.fields))))
    seen: dict[str, dict[str, object]] = {}
    for listed in lists:
        for model in listed:
            seen.setdefault(str(model.get("id")), model)
    await JSONResponse({"object": "list", "data": list(seen.values())})(scope, receive, send)


async def _models_of(route: Route, got: inbound.Inbound) -> list[dict[str, object]]:
    if route.upstream.via == "litellm":
        return [{"id": name, "object": "model", "owned_by": route.upstream.name} for name in _named(route)]
    headers = inbound.without(got.headers, b"accept-encoding")
    request = Request(id=got.id, method="GET", path=got.path, headers=headers, body=b"", model=None, stream=False)
    try:
        answer = await route.provider.send(request)
        try:
            listed = json.loads(b"".join([chunk async for chunk in answer.chunks()]))
        finally:
            await answer.aclose()
    except (GatewayError, ValueError):
        return []
    data = listed.get("data") if isinstance(listed, dict) else None
    return [model for model in data if isinstance(model, dict)] if isinstance(data, list) else []


def _named(route: Route) -> list[str]:
    return [pattern for pattern in route.upstream.models if "*" not in pattern]
