"""Paths that take a history for another purpose than an answer: token counts, compaction."""

from __future__ import annotations

import gzip
import json

import pytest

from gateway.shapes import BESIDE
from tests.samples import PROGRESS, SAMPLES, Step, dump
from tests.service import Wire
from tests.wire import JSON, whole

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("beside", BESIDE)
async def test_a_history_that_is_sent_for_another_purpose(line: Wire, beside: str) -> None:
    """It is what the model has read of it: pinned rewrites stand, nothing new is decided, and it is no turn."""
    path = BESIDE[beside].PATH
    sample = SAMPLES[path]
    first, second = Step(f"make {beside}", PROGRESS), Step(f"make again {beside}", PROGRESS + "once more\n")
    early, late = sample.request([first]), sample.request([first, second])
    turn = await line.gateway.row(await line.ask(whole(sample.answer("ok")), path, dump(early)))
    sent = json.loads(line.up.last.body)
    other = await line.gateway.row(await line.ask(whole(b"{}"), beside, dump(late)))
    told = json.loads(line.up.last.body)
    next_turn = await line.gateway.row(await line.ask(whole(sample.answer("ok")), path, dump(late)))

    assert sample.outputs(sent)[0] != PROGRESS
    assert sample.outputs(told) == [sample.outputs(sent)[0], second.output]
    assert (other.accounts, other.rewrites, other.shape) == ({}, (), None)
    assert next_turn.session == turn.session
    assert not next_turn.retry
    assert sample.outputs(json.loads(line.up.last.body))[1] != second.output


@pytest.mark.parametrize("beside", BESIDE)
async def test_a_history_that_was_never_seen(line: Wire, beside: str) -> None:
    """Goes on as the same bytes."""
    body = dump(SAMPLES[BESIDE[beside].PATH].request([Step("make", PROGRESS * 2)]))
    answer = await line.ask(whole(b'{"input_tokens": 7}'), beside, body)

    assert (answer.status, answer.body) == (200, b'{"input_tokens": 7}')
    assert line.up.last.body == body


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize(
    ("method", "headers"), [("POST", [("content-type", "text/plain")]), ("DELETE", [JSON])], ids=["no JSON", "no POST"]
)
async def test_what_is_no_such_request(line: Wire, beside: str, method: str, headers: list[tuple[str, str]]) -> None:
    """Is passed on for the provider to judge."""
    answer = await line.ask(whole(b"{}", 415), beside, b"what", method=method, headers=headers)

    assert answer.status == 415
    assert line.up.last.body == b"what"


async def test_a_request_that_names_what_the_provider_has(line: Wire) -> None:
    """There is nothing to read in it: it goes on as it came, compressed as it was."""
    body = gzip.compress(b'{"model": "m", "previous_response_id": "resp_9"}')
    answer = await line.ask(whole(b"{}"), "/v1/responses", body, headers=[JSON, ("content-encoding", "gzip")])

    assert answer.status == 200
    assert line.up.last.body == body
    assert line.up.last.header("content-encoding") == ["gzip"]
