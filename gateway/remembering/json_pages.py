"""A page about a memory: what it is asked, how it answers in JSON, how it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, is_dataclass
from math import inf
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.remembering.memories import Memory, memory_of
from memory import StoreError, StoreMissing
from memory.errors import EntryRefused

P = ParamSpec("P")
T = TypeVar("T")

BODY = 1 << 20
"""Bytes that a page is sent at most."""

Page = Callable[[Memory, Request], Awaitable[Response]]


class Refused(Exception):
    """What is asked for cannot be done; says why, with the status that goes with it."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


def about(data: Path, page: Page) -> Callable[[Request], Awaitable[Response]]:
    """A page about the memory of the tenant that is asked for, below a data folder."""

    async def answer(request: Request) -> Response:
        request.state.data = data
        try:
            return await page(memory_of(data, request.query_params.get("tenant")), request)
        except Refused as error:
            return _refuse(error, error.status)
        except EntryRefused as error:
            return _refuse(error, 422)
        except StoreMissing as error:
            return _refuse(error, 404)
        except StoreError as error:
            return _refuse(error, 503)
        except ValueError as error:
            return _refuse(error, 400)

    return answer


def _refuse(error: Exception, status: int) -> Response:
    return JSONResponse({"error": str(error)}, status)


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the work gives, which may wait for the disk."""
    return await asyncio.to_thread(work, *args, **kwargs)


def answer(value: Any, status: int = 200) -> Response:
    """A value as JSON; nouns as objects."""
    return JSONResponse(_plain(value), status)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


async def words(request: Request) -> str:
    """The body as text."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > BODY:
            raise Refused(f"the body has more than {BODY} bytes", 413)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Refused("the body is not UTF-8") from error


async def fields(request: Request) -> dict[str, Any]:
    """The body as a JSON object; none where there is no body."""
    try:
        found = json.loads(await words(request) or "{}")
    except (ValueError, RecursionError) as error:
        raise Refused("the body is no JSON") from error
    if not isinstance(found, dict):
        raise Refused("the body is no JSON object")
    return found


def text(given: Mapping[str, Any], name: str) -> str:
    """A text that must be given."""
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(f"{name} is needed, as a text")
    return value


def text_or_none(given: Mapping[str, Any], name: str) -> str | None:
    """A text that may be given."""
    return text(given, name) if given.get(name) is not None else None


def flag(given: Mapping[str, Any], name: str) -> bool:
    """A yes or no that may be given: in a query as 1, true or yes."""
    value = given.get(name, False)
    value = (
        {"1": True, "true": True, "yes": True, "": False, "0": False, "false": False, "no": False}.get(value, value)
        if isinstance(value, str)
        else value
    )
    if not isinstance(value, bool):
        raise Refused(f"{name} is true or false")
    return value


def amount(given: Mapping[str, Any], name: str) -> float | None:
    """A number of 0 or more that may be given."""
    value = given.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf):
        raise Refused(f"{name} is a number, 0 or more")
    return value


def number(given: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """A number of at least 1 that may be given."""
    value = str(given.get(name, default))
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:12]) <= most:
        raise Refused(f"{name} is a number from 1 to {most}")
    return int(value)


def found(value: T | None, what: str) -> T:
    """What must be there."""
    if value is None:
        raise Refused(f"no {what} is called so", 404)
    return value
