"""Ways to a model, and which one serves a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol, runtime_checkable

from gateway.config import Api, Upstream
from gateway.errors import UnknownModel
from gateway.types import Answer, Channel, Request


class Provider(Protocol):
    """A way to models, open for requests."""

    async def send(self, request: Request) -> Answer:
        """Send a request; return once status and headers are known. Raises `GatewayError` where there is no answer."""

    async def aclose(self) -> None:
        """Let all connections go."""


@runtime_checkable
class Connects(Protocol):
    """A way to models that has WebSockets as well."""

    async def connect(self, request: Request, protocols: Sequence[str]) -> Channel:
        """Open one at the request's path. Raises `UpgradeRefused` where the upstream answers otherwise."""


@dataclass(frozen=True, slots=True)
class Route:
    """An upstream and the way to it."""

    upstream: Upstream
    provider: Provider


def spoken(fields: Mapping[str, str]) -> Api:
    """The API that a client speaks, by the headers of its request."""
    return "anthropic" if "anthropic-version" in fields else "openai"


class Routes:
    """The upstreams in the order in which they are asked."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.all = tuple(routes)

    def find(self, model: str) -> Route:
        """The first upstream that serves a model. Raises `UnknownModel` with the patterns there are."""
        for route in self.all:
            if any(fnmatchcase(model, pattern) for pattern in route.upstream.models):
                return route
        patterns = ", ".join(p for route in self.all for p in route.upstream.models)
        raise UnknownModel(
            f"no upstream serves the model '{model}'; served are: {patterns}. Add it under 'upstreams' in config.yaml",
            param="model",
        )

    def default(self, api: Api) -> Route:
        """The upstream for paths that name no model: the first that passes requests of this API through."""
        for route in self.speaking(api):
            if route.upstream.via == "passthrough":
                return route
        raise UnknownModel("no upstream passes requests through; add one under 'upstreams' in config.yaml")

    def speaking(self, api: Api) -> tuple[Route, ...]:
        """The upstreams that a client of this API may be sent to with its key, whatever the model: a key of one API is
        not shown to the other. Where none is of it, nothing is known, and it is all of them."""
        of = tuple(route for route in self.all if route.upstream.via == "litellm" or route.upstream.api == api)
        return of if any(route.upstream.via == "passthrough" for route in of) else self.all

    async def aclose(self) -> None:
        """Close every way."""
        for route in self.all:
            await route.provider.aclose()
