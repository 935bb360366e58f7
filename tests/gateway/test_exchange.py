"""The life of one exchange; what clients and upstreams see of it stands in the contract of the wire."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from gateway.config import Rewriting, Upstream
from gateway.exchange import REPLY_LIMIT, Exchange, may_have_body, may_rewrite, peek_model
from gateway.inbound import Inbound
from gateway.shapes import chat_completions
from tests.samples import SAMPLES, dump
from tests.service import Wire, configured, service
from tests.wire import ask, streamed, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]


def head(**fields: str) -> Inbound:
    """A head with these headers."""
    return Inbound(
        id="r", method="POST", path="/v1/x", headers=(), fields={k.replace("_", "-"): v for k, v in fields.items()}
    )


@pytest.mark.parametrize(
    ("body", "model"),
    [
        (b"", None),
        (b"no JSON", None),
        (b"[]", None),
        (b'{"model": 4}', None),
        (b'{"input": {"model": "inner"}}', None),
        (b'{"model": "m"}', "m"),
        (b'{"x": "\\ud800", "model": "m\\u00e9"}', "m\u00e9"),
        (b'{"model": "\\ud800"}', None),
    ],
)
def test_the_model_of_any_body(body: bytes, model: str | None) -> None:
    """Where it names one on top."""
    assert peek_model(body) == model


@pytest.mark.parametrize(
    ("fields", "announced"),
    [
        ({}, False),
        ({"content_length": "0"}, False),
        ({"content_length": "7"}, True),
        ({"transfer_encoding": "chunked"}, True),
    ],
    ids=["nothing", "a length of nought", "a length", "pieces"],
)
def test_whether_a_body_comes(fields: dict[str, str], announced: bool) -> None:
    """A GET that waits for one would wait for ever."""
    assert may_have_body(head(**fields)) is announced


@pytest.mark.parametrize(
    ("rewriting", "upstream_", "header", "may"),
    [
        (True, True, None, True),
        (True, True, "on", True),
        (True, True, "Off", False),
        (True, True, "0", False),
        (False, True, None, False),
        (True, False, None, False),
        (False, True, "on", False),
    ],
)
def test_rewriting_must_be_on_everywhere(rewriting: bool, upstream_: bool, header: str | None, may: bool) -> None:
    """In general, for the upstream, and for the request; a request cannot switch on what the operator switched off."""
    got = head(**({"x_taco_rewrite": header} if header else {}))
    assert may_rewrite(Rewriting(enabled=rewriting), Upstream(name="u", rewrite=upstream_), got) is may


def test_an_answer_is_heard_up_to_a_limit() -> None:
    """All of it is counted; time is taken at the first byte."""
    exchange = Exchange(id="r", method="POST", path="/", started=0.0)
    for now in (1.0, 2.0, 3.0):
        exchange.hear(b"x" * (REPLY_LIMIT // 2), now)

    assert (exchange.first_byte, exchange.reply_size) == (1.0, 3 * (REPLY_LIMIT // 2))
    assert sum(map(len, exchange.reply)) == REPLY_LIMIT


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_fault_of_our_own_is_an_answer(
    stream: bool, tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the request in the log, is on record, and the next request is served."""
    async with upstream(whole(SAMPLE.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        with monkeypatch.context() as patch:
            patch.setattr(gateway.gateway.walk._rewriter, "rewrite", None)
            answer = await ask(gateway.url, PATH, dump(SAMPLE.request(stream=stream)))
        row = await gateway.row(answer)
        again = await ask(gateway.url, PATH, dump(SAMPLE.request()))

    assert (answer.status, again.status) == (500, 200)
    assert row.id in SAMPLE.error(answer.body)
    assert (row.outcome, str(row.error).startswith("TypeError")) == ("failed", True)
    assert any(
        json.loads(line).get("request") == row.id and "exception" in json.loads(line)
        for line in log.getvalue().splitlines()
    )


async def test_times_and_shape_are_on_record(tmp_path: Path) -> None:
    """In their order."""
    async with upstream(streamed(SAMPLE.events("a b c"))) as up, service(configured(up.url), tmp_path) as gateway:
        line = Wire(up, gateway)
        row = await gateway.row(await line.ask(up.reply, f"{PATH}?x=1", dump(SAMPLE.request(stream=True))))
        other = await gateway.row(await line.ask(whole(b"{}"), "/v1/embeddings", b'{"model": "e"}'))

    assert row.started < (row.first_byte or 0) <= row.ended
    assert (row.method, row.path, row.shape, row.model, row.upstream) == (
        "POST",
        PATH,
        chat_completions.NAME,
        "m-1",
        "up",
    )
    assert (other.path, other.shape, other.model, other.outcome) == ("/v1/embeddings", None, None, "completed")
