"""Our own pages: health, metrics, figures, audit, rules. Under `/_gateway`, so that every `/v1` path is the provider's."""

from __future__ import annotations

import dataclasses
import hmac
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gateway.config import secret
from gateway.errors import UnknownPath
from gateway.evolving.rules import all_live
from gateway.headers import is_foreign
from gateway.inbound import key_of
from gateway.network import is_here
from gateway.shapes import spoken_at
from rules_engine.taco import dump

if TYPE_CHECKING:
    from gateway.app import Gateway

_KEY_NEEDED = (
    "the admin key is needed: Authorization: Bearer KEY; without one these pages are for http://127.0.0.1 and localhost"
)


def _gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


async def health(request: Request) -> Response:
    """Whether requests are served as they should be, and what is not as it should be."""
    gateway = _gateway(request)
    counters = gateway.recorder.counters
    problems = [
        p
        for p in (
            gateway.recorder.problem,
            "decisions cannot be stored" if gateway.pins.is_down else None,
            gateway.evolution.problem,
            gateway.archiving.problem,
        )
        if p
    ]
    state = {
        "status": "degraded" if problems or counters.dropped else "ok",
        "problems": problems,
        "store_failures": gateway.pins.failures,
        **dataclasses.asdict(counters),
    }
    return JSONResponse(state)


async def metrics(request: Request) -> Response:
    """The counters, for Prometheus. No label holds anything of a client's."""
    gateway = _gateway(request)
    values = {**dataclasses.asdict(gateway.recorder.counters), "store_failures": gateway.pins.failures}
    lines = [f"# TYPE taco_{name}_total counter\ntaco_{name}_total {value}\n" for name, value in values.items()]
    return PlainTextResponse("".join(lines))


async def stats(request: Request) -> Response:
    """The sums of all accounts."""
    totals = await _gateway(request).archive.totals()
    return JSONResponse(dataclasses.asdict(totals))


async def exchange(request: Request) -> Response:
    """The accounts of one request."""
    row = await _gateway(request).archive.exchange(request.path_params["id"])
    return JSONResponse(dataclasses.asdict(row)) if row else _unknown("request")


async def audit(request: Request) -> Response:
    """The newest rewrites, without their texts."""
    rows = await _gateway(request).archive.rewrites(limit=200)
    return JSONResponse([dataclasses.asdict(row) for row in rows])


async def rewrite(request: Request) -> Response:
    """One rewrite: before, after, rules."""
    row = await _gateway(request).archive.rewrite(request.path_params["id"])
    return JSONResponse(dataclasses.asdict(row)) if row else _unknown("rewrite")


async def rules(request: Request) -> Response:
    """The live rules, in TACO's JSON."""
    gateway = _gateway(request)
    return Response(dump(all_live(gateway.pools, gateway.config).rules), media_type="application/json")


def _unknown(what: str) -> Response:
    return JSONResponse({"error": f"no {what} has this id"}, status_code=404)


async def nowhere(request: Request, error: Exception) -> Response:
    """What is said at a path where there is nothing, in the words of whoever asks."""
    base = str(request.base_url).rstrip("/")
    problem = UnknownPath(
        f"there is nothing at {request.url.path}: the base URL for clients of OpenAI's API is {base}/v1, for those of "
        f"Anthropic's {base}; our own pages are /healthz, /metrics and /_gateway/…"
    )
    shape = spoken_at(request.url.path, request.headers)
    return Response(shape.error_body(problem), problem.status, media_type="application/json")


def _is_from_here(request: Request) -> bool:
    """This machine asks, and no page of another site has its browser do so, under a name that it gave this address."""
    peer = request.client is not None and is_here(request.client.host)
    asked = f"http://{request.headers.get('host') or 'localhost'}"
    return peer and not is_foreign(asked) and not is_foreign(request.headers.get("origin", ""))


def guarded(page: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Let in whoever has the admin key; without one, this machine."""

    async def guard(request: Request) -> Response:
        wanted = secret(_gateway(request).config.server.admin_key_env)
        if wanted is None:
            allowed = _is_from_here(request)
        else:
            sent = key_of(dict(request.headers))
            allowed = hmac.compare_digest(sent.encode(), wanted.encode())
        if not allowed:
            return JSONResponse({"error": _KEY_NEEDED}, status_code=401)
        return await page(request)

    return guard


ROUTES = [
    Route("/healthz", health),
    Route("/metrics", metrics),
    Route("/_gateway/stats", guarded(stats)),
    Route("/_gateway/stats/{id}", guarded(exchange)),
    Route("/_gateway/audit", guarded(audit)),
    Route("/_gateway/audit/{id}", guarded(rewrite)),
    Route("/_gateway/rules", guarded(rules)),
]
