"""Headers, statuses, methods and paths in both directions."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.samples import PROGRESS, SAMPLES, Sample, Step, dump
from tests.service import ID, Wire
from tests.wire import CHUNKED, JSON, LAST, Call, Headers, ask, chunk, connected, frame, held, streamed, whole

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOP_BY_HOP: Headers = [
    ("connection", "keep-alive, X-Mine"),
    ("x-mine", "1"),
    ("keep-alive", "timeout=5"),
    ("te", "trailers"),
    ("trailer", "x-sum"),
    ("proxy-authorization", "Basic eDp5"),
    ("proxy-connection", "keep-alive"),
]
END_TO_END: Headers = [
    ("user-agent", "Agent/1.0 (test)"),
    ("accept", "*/*"),
    ("authorization", "Bearer client-key"),
    ("openai-organization", "org-1"),
    ("openai-beta", "a"),
    ("openai-beta", "b"),
    ("x-stainless-lang", "python"),
    ("x-nobody-knows", "caf\xc3\xa9"),
    ("cookie", "a=b"),
    ("idempotency-key", "k1"),
    ("x-session-affinity", "ses_1"),
]
LIMITS: Headers = [
    ("retry-after", "17"),
    ("retry-after-ms", "17000"),
    ("x-request-id", "req_abc"),
    ("x-ratelimit-remaining-tokens", "0"),
    ("x-ratelimit-reset-requests", "1m3s"),
    ("openai-processing-ms", "12"),
    ("openai-version", "2020-10-01"),
    ("set-cookie", "a=1; Path=/"),
    ("set-cookie", "b=2"),
    ("server", "somebody"),
    ("date", "Mon, 01 Jan 2024 00:00:00 GMT"),
    ("via", "1.1 elsewhere"),
]


def named(headers: Headers, *without: str) -> Headers:
    """Headers with names in lower case, but for those that are not compared."""
    return [(name.lower(), value) for name, value in headers if name.lower() not in without]


async def test_3_15_04_hop_by_hop_headers_end_at_the_gateway(path: str, sample: Sample, line: Wire) -> None:
    """Those that the connection names, too; all others arrive in their order, none is added."""
    await line.ask(whole(sample.answer("ok")), path, dump(sample.request()), headers=[JSON, *HOP_BY_HOP, *END_TO_END])

    assert named(line.up.last.headers, "host", "content-length") == [JSON, *END_TO_END]
    assert line.up.last.header("host") == [line.up.url.removeprefix("http://")]


async def test_3_15_04_hop_by_hop_headers_of_the_answer_end_at_the_gateway(
    path: str, sample: Sample, line: Wire
) -> None:
    """The rest reaches the client in its order, with nothing but our own id added."""
    back = [
        *LIMITS,
        ("connection", "x-back, keep-alive"),
        ("x-back", "1"),
        ("keep-alive", "timeout=9"),
        ("trailer", "x-sum"),
    ]
    answer = await line.ask(whole(sample.answer("ok"), headers=[JSON, *back]), path, dump(sample.request()))

    assert named(answer.headers, ID, "content-length") == [JSON, *LIMITS]
    assert len([name for name, _ in answer.headers if name == ID]) == 1


async def test_our_own_headers_stay_with_us(path: str, sample: Sample, line: Wire) -> None:
    """The upstream gets none of them; the id that the client gives comes back."""
    ours = [("x-taco-request-id", "my-1"), ("x-taco-rewrite", "off"), ("x-taco-session", "s")]
    answer = await line.ask(whole(sample.answer("ok")), path, dump(sample.request()), headers=[JSON, *ours])

    assert [name for name, _ in line.up.last.headers if name.startswith("x-taco")] == []
    assert answer.header(ID) == "my-1"


async def test_a_gateway_behind_a_gateway_is_one_to_the_client(path: str, sample: Sample, line: Wire) -> None:
    """Each answer has one id, and it is that of the gateway which the client sees."""
    theirs = whole(sample.answer("ok"), headers=[JSON, (ID, "theirs")])
    answer = await line.ask(theirs, path, dump(sample.request()), headers=[JSON, (ID, "ours")])

    assert answer.header(ID) == "ours"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 529])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_3_15_05_an_error_of_the_upstream_reaches_the_client_unchanged(
    status: int, stream: bool, path: str, sample: Sample, line: Wire
) -> None:
    """Status, body, and the headers that say when to come back."""
    body = b'{ "error": {"message":"no", "type": null, "code": 1.0, "more": {}} }'
    reply = whole(body, status, [JSON, *LIMITS])
    answer = await line.ask(reply, path, dump(sample.request(stream=stream)))
    row = await line.gateway.row(answer)

    assert (answer.status, answer.body, answer.clean) == (status, body, True)
    assert named(answer.headers, ID, "content-length") == [JSON, *LIMITS]
    assert (row.status, row.outcome, row.error, row.reported) == (status, "failed", "no", None)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"", "text/plain", id="nothing"),
        pytest.param(b"<html>bad gateway</html>", "text/html", id="a page of a proxy"),
        pytest.param(b"\xff\xfe{", "application/json", id="rubbish that claims to be JSON"),
        pytest.param(b'{"choices": "none"}', "application/json", id="JSON of another form"),
        pytest.param(b"[]", "application/json", id="an empty list"),
    ],
)
async def test_an_answer_that_nobody_can_read_is_relayed(
    body: bytes, kind: str, path: str, sample: Sample, line: Wire
) -> None:
    """What the client makes of it is the client's business; it is on record."""
    answer = await line.ask(whole(body, 200, [("content-type", kind)]), path, dump(sample.request()))

    assert (answer.status, answer.body, answer.clean) == (200, body, True)
    assert (await line.gateway.row(answer)).outcome == "failed"


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "REPORT"])
async def test_3_15_03_other_paths_and_methods_are_relayed(method: str, line: Wire) -> None:
    """With path and query as they were written."""
    target = "/v1/files/a%2Fb%20c?limit=2&after=%C3%A9&x"
    body = None if method in ("GET", "HEAD", "OPTIONS", "DELETE") else b"\x00\xff"
    reply = whole(b"" if method == "HEAD" else b"told", 207, [("content-type", "application/octet-stream")])
    answer = await line.ask(reply, target, body, method=method, headers=[("content-type", "application/x-mine")])

    assert (line.up.last.method, line.up.last.target, line.up.last.body) == (method, target, body or b"")
    assert (answer.status, answer.body) == (207, b"" if method == "HEAD" else b"told")
    assert (await line.gateway.row(answer)).shape is None


async def test_3_15_03_the_length_of_a_body_that_is_not_sent_is_kept(line: Wire) -> None:
    """HEAD asks for it."""

    async def reply(call: Call) -> None:
        await call.write(frame(200, [("content-length", "12345"), ("etag", "x")], None))

    line.up.reply = reply
    async with connected(line.gateway.url) as client:
        await client.send("HEAD", "/v1/files/1/content")
        first, headers = await client.stream.head()

    assert first.split(" ")[1] == "200"
    assert named(headers, ID) == [("content-length", "12345"), ("etag", "x")]


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/chat/completions?limit=1"),
        ("POST", "/v1/chat/completions/c1"),
        ("DELETE", "/v1/chat/completions/c1"),
    ],
    ids=["list", "update", "delete"],
)
async def test_3_15_03_what_surrounds_a_shape_is_relayed(method: str, target: str, line: Wire) -> None:
    """Stored completions have paths that begin like ours."""
    body = b'{"metadata": {"n": 1.0}}' if method == "POST" else None
    answer = await line.ask(whole(b'{"data": [1.0]}'), target, body, method=method)

    assert (line.up.last.method, line.up.last.target, line.up.last.body) == (method, target, body or b"")
    assert answer.body == b'{"data": [1.0]}'


SLIPS = {
    "a slash too many in front": (lambda path: f"/{path}", lambda path: path),
    "a slash too many behind the version": (lambda path: path.replace("/v1/", "/v1//"), lambda path: path),
    "the version twice": (lambda path: f"/v1{path}", lambda path: path),
    "no version": (lambda path: path.removeprefix("/v1"), lambda path: path),
    "a slash at the end": (lambda path: f"{path}/", lambda path: f"{path}/"),
}


@pytest.mark.parametrize(("asked", "told"), SLIPS.values(), ids=SLIPS)
async def test_a_base_url_with_a_slip_leads_to_where_it_should(
    asked: Callable[[str], str], told: Callable[[str], str], path: str, sample: Sample, line: Wire
) -> None:
    """And what is asked there is rewritten, and on record, like any other."""
    body = dump(sample.request([Step("tar cvf a.tar .", PROGRESS)]))
    answer = await line.ask(whole(sample.answer("ok")), f"{asked(path)}?a=b", body)

    assert (answer.status, line.up.last.target) == (200, f"{told(path)}?a=b")
    assert len(line.up.last.body) < len(body)
    assert (await line.gateway.row(answer)).shape is not None


@pytest.mark.parametrize(
    "target", ["/openai/chat/completions", "/v1beta/models/m:generateContent", "/v1%2F@evil.test/x"]
)
async def test_where_there_is_nothing_it_is_said_what_there_is(target: str, line: Wire) -> None:
    """In the words of the client's API; no upstream is asked."""
    count = len(line.up.calls)
    ours = await ask(line.gateway.url, target, b"{}")
    theirs = await ask(line.gateway.url, target, b"{}", headers=[JSON, ("anthropic-version", "2023-06-01")])

    assert (ours.status, theirs.status, len(line.up.calls)) == (404, 404, count)
    assert "/v1" in SAMPLES["/v1/chat/completions"].error(ours.body)
    assert "/v1" in SAMPLES["/v1/messages"].error(theirs.body)


@pytest.mark.parametrize(
    ("status", "headers"),
    [(307, [("location", "https://elsewhere.test/v1/x")]), (304, [("etag", '"1"')]), (204, [("x-a", "b")])],
    ids=["redirect", "not modified", "no content"],
)
async def test_3_15_03_answers_without_a_body_are_relayed(status: int, headers: Headers, line: Wire) -> None:
    """A redirect is for the client to follow."""

    async def reply(call: Call) -> None:
        await call.write(frame(status, headers, b"" if status == 307 else None))

    answer = await line.ask(reply, "/v1/files/1", None, method="GET", headers=[])

    assert (answer.status, answer.body, answer.clean) == (status, b"", True)
    assert named(answer.headers, ID, "content-length") == headers


async def test_3_15_03_other_answers_stream(line: Wire) -> None:
    """The first piece is there before the upstream has sent the second."""
    async with connected(line.gateway.url) as client:
        line.up.reply, more = held(b"one", b"two", [("content-type", "audio/mpeg")])
        await client.send("POST", "/v1/audio/speech", [JSON], b'{"model": "m-1", "input": "x"}')
        _, headers = await client.stream.head()
        pieces = client.stream.pieces(headers)

        assert await anext(pieces) == b"one"
        more.set()
        assert [piece async for piece in pieces] == [b"two"]


@pytest.mark.parametrize("body", [b"", b"sound", b"\x00" * 300_000], ids=["nothing", "a short one", "a long one"])
async def test_3_15_03_an_upload_is_as_long_as_the_client_says(body: bytes, line: Wire) -> None:
    """Some upstreams take no upload without its length, and others read nothing of it."""
    await line.ask(whole(b"{}"), "/v1/files", body, headers=[("content-type", "audio/wav")])

    assert line.up.last.header("content-length") == [str(len(body))]
    assert line.up.last.header("transfer-encoding") == []
    assert line.up.last.body == body


async def test_3_15_03_other_uploads_stream(line: Wire) -> None:
    """The first piece of an upload is with the upstream before the client has sent the second."""
    count = len(line.up.calls)
    line.up.reply = whole(b"{}")
    async with connected(line.gateway.url) as client:
        await client.send("POST", "/v1/files", [("content-type", "multipart/form-data; boundary=x"), CHUNKED])
        await client.write(chunk(b"one"))
        call = await line.up.call(count)
        await call.until(b"one")
        await client.write(chunk(b"two") + LAST)
        answer = await client.answer()

    assert (answer.status, call.body) == (200, b"onetwo")


async def test_3_15_03_a_websocket_is_told_to_use_http(line: Wire, path: str, sample: Sample) -> None:
    """Where the upstream has none there: with the status that makes clients fall back at once, in the shape's error form."""
    upgrade = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhpcyBpcyBhIGtleS4uLg=="),
    ]
    answer = await line.ask(whole(b"{}"), path, None, method="GET", headers=upgrade)

    assert answer.status == 426
    assert "HTTP" in sample.error(answer.body)


async def test_3_15_03_unknown_fields_of_an_answer_reach_the_client(path: str, sample: Sample, line: Wire) -> None:
    """Whole or in a stream, and whatever JSON they are."""
    known = json.loads(sample.answer("ok"))
    body = json.dumps(known | {"service_tier": "x", "n": 1.0, "deep": [{"er": None}]}, indent=3).encode()
    assert (await line.ask(whole(body), path, dump(sample.request()))).body == body

    events = [b'event: unheard.of\ndata: {"n":1.0,"n":2}\n\n', *sample.events("one two")]
    answer = await line.ask(streamed(events), path, dump(sample.request(stream=True)))
    assert (answer.body, answer.clean) == (b"".join(events), True)
