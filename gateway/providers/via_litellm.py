"""The way to models whose API is not the client's: litellm translates. The only file that knows litellm.

litellm takes seconds to import and asks the network for prices unless told otherwise, so it is loaded in a thread,
when the first request needs it, and never by anything else.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

from gateway.config import Upstream, secret
from gateway.encodings import decompress
from gateway.errors import BadRequest, UpstreamBroke, UpstreamUnreachable
from gateway.inbound import key_of
from gateway.translating import FORMS, Form
from gateway.types import Answer, Headers, Request

_OURS = frozenset({"model", "messages", "stream"})
_TRANSLATED = frozenset({
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
    "max_tokens", "modalities", "n", "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
    "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier",
    "stop", "store", "stream_options", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_logprobs",
    "top_p", "user", "verbosity", "web_search_options",
})  # fmt: skip
"""Fields of the API that litellm translates. Others are sent along in the body: among litellm's arguments are some
that say where a request goes and with whose key, and those are not the client's to give."""
_LIMIT = 1 << 30  # bytes of a body without its encoding; what gets here was let in before
_ANTHROPIC = "sk-ant-"  # the beginning of Anthropic's keys and logins
_PASSED_ON = ("retry-after", "x-request-id", "x-ratelimit-")


class ViaLitellm:
    """Any model that litellm knows, by its ``provider/model`` names, for clients of each form in `gateway.translating`."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._litellm: Any = None

    async def send(self, request: Request) -> Answer:
        """Call the model. Raises `BadRequest` for paths that cannot be translated."""
        form = FORMS.get(request.path.partition("?")[0])
        if form is None:
            raise BadRequest(
                f"upstream '{self._upstream.name}' serves {' and '.join(FORMS)} only; {request.path} needs one that passes through"
            )
        assert isinstance(request.body, bytes)
        body = form.ask(_read(request.body, request.headers))
        litellm = await self._load()
        ours = {"api_base": self._upstream.url, "api_key": self._key(request)}
        arguments = translated(body) | {name: value for name, value in ours.items() if value}
        try:
            got = await litellm.acompletion(
                model=request.model, messages=body["messages"], stream=request.stream, num_retries=0, **arguments
            )
        except Exception as error:
            status = getattr(error, "status_code", None)
            if status is None:
                raise
            if int(status) >= 500 and not _headers(error):
                raise UpstreamUnreachable(
                    f"upstream '{self._upstream.name}' gave no answer: {_words(error)}"
                ) from error
            return _Refusal(form, int(status), error)
        return _Stream(form, got, self._upstream.name) if request.stream else _Whole(form, got)

    def _key(self, request: Request) -> str | None:
        sent = key_of({name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers})
        # without a url the model's name says whose key it takes: one of Anthropic's is shown to nobody else
        fits = bool(self._upstream.url) or sent.startswith(_ANTHROPIC) == (request.model or "").startswith("anthropic/")
        return sent if sent and fits and self._upstream.client_key else secret(self._upstream.key_env)

    async def _load(self) -> Any:
        if self._litellm is None:
            self._litellm = await _load()
        return self._litellm

    async def aclose(self) -> None:
        """Close litellm's connections, if it was ever loaded."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()


class _Whole:
    """An answer in one piece."""

    def __init__(self, form: Form, got: Any) -> None:
        self._body = form.write(got.model_dump(exclude_none=True))
        self.status = 200
        self.headers: Headers = _json_headers(self._body)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body."""
        yield self._body

    async def aclose(self) -> None:
        """Nothing is open."""


class _Refusal:
    """The provider's error, with its status and the headers that say when to come back."""

    def __init__(self, form: Form, status: int, error: Exception) -> None:
        detail = {
            "message": _words(error),
            "type": getattr(error, "type", None) or "api_error",
            "param": getattr(error, "param", None),
            "code": getattr(error, "code", None),
        }
        self._body = form.refuse(status, detail)
        self.status = status
        self.headers: Headers = (*_json_headers(self._body), *_passed_on(error))

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The error body."""
        yield self._body

    async def aclose(self) -> None:
        """Nothing is open."""


class _Stream:
    """An answer as server-sent events."""

    def __init__(self, form: Form, got: AsyncIterator[Any], name: str) -> None:
        self._answering = form.start()
        self._got = got
        self._name = name
        self.status = 200
        self.headers: Headers = ((b"content-type", b"text/event-stream; charset=utf-8"),)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The events, as they come. Raises `UpstreamBroke` where litellm gives up."""
        try:
            async for chunk in self._got:
                if told := self._answering.feed(chunk.model_dump(exclude_none=True)):
                    yield told
        except Exception as error:
            raise UpstreamBroke(f"upstream '{self._name}' broke off: {_words(error)}") from error
        yield self._answering.end()

    async def aclose(self) -> None:
        """Stop asking the provider."""
        close = getattr(self._got, "aclose", None)
        if close is not None:
            await close()


async def complete(model: str, messages: list[dict[str, str]], **arguments: Any) -> tuple[str, Mapping[str, Any]]:
    """What a model says to a prompt of ours, and the usage that it reports. Raises what litellm raises."""
    litellm = await _load()
    got = await litellm.acompletion(model=model, messages=messages, num_retries=0, drop_params=True, **arguments)
    body = got.model_dump(exclude_none=True)
    return str(body["choices"][0]["message"].get("content") or ""), body.get("usage") or {}


async def _load() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm: Any = await asyncio.to_thread(importlib.import_module, "litellm")
    litellm.suppress_debug_info = True
    return litellm


def translated(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request as arguments for litellm."""
    arguments = {name: body[name] for name in body if name in _TRANSLATED}
    others = {name: body[name] for name in body if name not in _TRANSLATED | _OURS}
    return arguments | ({"extra_body": others} if others else {})


def _read(data: bytes, headers: Headers) -> dict[str, Any]:
    encoding = dict(headers).get(b"content-encoding", b"").decode("latin-1")
    try:
        return dict(json.loads(decompress(data, encoding, _LIMIT).data))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body cannot be translated: {error}") from error


def _words(error: Exception) -> str:
    return str(getattr(error, "message", "") or error).partition("\nTraceback")[0]


def _json_headers(body: bytes) -> Headers:
    return ((b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()))


def _headers(error: Exception) -> Mapping[str, str]:
    """The headers of the provider's answer; none where it gave none."""
    return getattr(error, "litellm_response_headers", None) or {}


def _passed_on(error: Exception) -> Headers:
    lower = ((name.lower(), value) for name, value in _headers(error).items())
    return tuple((name.encode(), value.encode()) for name, value in lower if name.startswith(_PASSED_ON))
