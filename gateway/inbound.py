"""What comes from a client: its head, its body within the limit, and the moment when it leaves."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Scope

from gateway.config import Config, secret
from gateway.encodings import decompress
from gateway.errors import BadRequest, MissingKey, TooLarge
from gateway.identity import tenant_of
from gateway.types import Headers

_REQUEST_ID = re.compile(r"[\w.:-]{1,100}")


class ClientLeft(Exception):
    """The client closed its connection before the answer ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """The head of a client's request."""

    id: str
    method: str
    path: str
    """With its query, as it came."""
    headers: Headers
    fields: Mapping[str, str]
    """The headers for looking up: the last of each name."""


def read_head(scope: Scope) -> Inbound:
    """The head of a request."""
    headers: Headers = tuple(scope["headers"])
    fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    query = scope["query_string"].decode("latin-1")
    path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
    return Inbound(
        id=_request_id(fields),
        method=scope.get("method", "GET"),  # a WebSocket begins as one
        path=f"{path}?{query}" if query else path,
        headers=headers,
        fields=fields,
    )


def _request_id(fields: Mapping[str, str]) -> str:
    given = fields.get("x-taco-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def key_of(fields: Mapping[str, str]) -> str:
    """The key that a client sends, in whichever header its API has for it."""
    scheme, _, bearer = fields.get("authorization", "").partition(" ")
    bearer = bearer.strip() if scheme.lower() == "bearer" else f"{scheme} {bearer}".strip()
    return bearer or fields.get("x-api-key", "") or fields.get("api-key", "") or fields.get("x-goog-api-key", "")


def admit(got: Inbound, config: Config) -> str:
    """Whose request it is. Raises `MissingKey` where only listed clients are let in and this is none of them."""
    key = key_of(got.fields)
    if not config.clients:
        return tenant_of(key.encode("latin-1"))
    for client in config.clients:
        wanted = secret(client.key_env)
        if wanted is not None and hmac.compare_digest(wanted.encode(), key.encode("latin-1")):
            return client.name
    raise MissingKey("this key is not known to the gateway; use one that is listed under 'clients' in config.yaml")


async def read_body(receive: Receive, got: Inbound, limit_mb: int) -> bytes:
    """The whole body. Raises `TooLarge` without reading on, `ClientLeft` if it never ends."""
    limit = limit_mb << 20
    announced = got.fields.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit_mb)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit_mb)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(limit_mb: int) -> TooLarge:
    return TooLarge(f"the body is over {limit_mb} MB; raise server.max_body_mb in config.yaml if it has to be larger")


def decoded(body: bytes, got: Inbound, limit_mb: int) -> bytes:
    """The body without its content encoding. Raises `BadRequest` if it cannot be undone, `TooLarge` if it is a bomb."""
    if not body:
        raise BadRequest("the body is empty: send a JSON object")
    encoding = got.fields.get("content-encoding", "")
    if not encoding:
        return body
    plain = decompress(body, encoding, limit_mb << 20)
    if len(plain.data) == limit_mb << 20:
        raise _too_large(limit_mb)
    if plain.problem is not None:
        raise BadRequest(f"{plain.problem}; send it plain, or as gzip, br, zstd or deflate")
    return plain.data


def without(headers: Headers, name: bytes) -> Headers:
    """The headers but one."""
    return tuple(pair for pair in headers if pair[0] != name)


def is_json(got: Inbound) -> bool:
    """The body is announced as JSON."""
    return got.fields.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


class Upload:
    """A body that is passed on as it comes in, by the one reader that `receive` may have."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = asyncio.Event()
        self.left = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body's bytes."""
        try:
            while not self.ended.is_set():
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    self.left = True
                    raise ClientLeft
                if message.get("body"):
                    yield message["body"]
                if not message.get("more_body", False):
                    break
        finally:
            self.ended.set()


async def unless_left(receive: Receive, work: Coroutine[Any, Any, None], upload: Upload | None = None) -> None:
    """Do the work; stop it and raise `ClientLeft` as soon as the client leaves.

    `receive` is raced against the work because nothing else tells of a client that leaves while the upstream is
    silent (research on gateways, 3.1).
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(receive, upload))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done() or (upload is not None and upload.left):
            raise ClientLeft
        working.result()
    finally:
        for task in (working, leaving):
            if not task.done():
                task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(receive: Receive, upload: Upload | None) -> None:
    if upload is not None:
        await upload.ended.wait()
        if upload.left:
            return
    while (await receive())["type"] != "http.disconnect":
        pass
