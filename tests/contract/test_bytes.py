"""What goes through the gateway is the same bytes, but for the text of a tool result that is rewritten."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from tests.samples import PROGRESS, Sample, Step, dump
from tests.service import Wire
from tests.wire import JSON, whole

pytestmark = pytest.mark.asyncio(loop_scope="module")

ODD: dict[str, bytes] = {
    "keys out of order": b'"zz":1,"aa":2',
    "escapes that need not be": rb'"x":"\u00e9\/\u0041\t"',
    "characters beyond ASCII": '"x":"é漢😀\u2028"'.encode(),
    "a float that is whole": b'"x":1.0',
    "an exponent": b'"x":1e2',
    "an integer of 30 digits": b'"x":123456789012345678901234567890',
    "a duplicate key": b'"x":1,"x":2',
    "a lone surrogate": rb'"x":"\ud800"',
    "blanks everywhere": b' \n"x" :\t[ 1 ,2 ] \r\n',
    "no number": b'"x":NaN',
    "nesting": b'"x":' + b"[" * 200 + b"]" * 200,
    "nesting that no reader follows": b'"x":' + b"[" * 50_000 + b"]" * 50_000,
    "objects in objects": b'"x":' + b'{"y":' * 50_000 + rb'"\u00e9"' + b"}" * 50_000,
    "a number beyond all": b'"x":-1e400',
    "nought with a sign": b'"x":-0',
    "a control character in a string": b'"x":"\x01"',
    "bytes that are no characters": b'"x":"\xff\xfe"',
    "fields that nobody knows": b'"reasoning_effort":"xhigh","extra":{"deep":{"er":null}}',
}
ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
NOISY = [Step("tar cvf archive.tar .", PROGRESS)]
odd = pytest.mark.parametrize("member", ODD.values(), ids=ODD)
encoded = pytest.mark.parametrize("encoding", ENCODINGS)


def with_member(body: bytes, member: bytes) -> bytes:
    """A body with one more member in front, and one behind."""
    return b"{" + member + b"," + body[1:-1] + b"," + member.replace(b'"x"', b'"y"') + b"}"


def around(body: bytes, text: str) -> tuple[bytes, bytes]:
    """A body before and after the JSON string `text`."""
    before, found, after = body.partition(json.dumps(text).encode())
    assert found
    return before, after


@odd
async def test_3_15_01_untouched_bodies_reach_the_upstream_byte_for_byte(
    member: bytes, path: str, sample: Sample, line: Wire
) -> None:
    """Where nothing is rewritten the body is the client's, whatever JSON it is; and it is on record."""
    body = with_member(dump(sample.request([Step("ls", "a.py\n")])), member)
    answer = await line.ask(whole(sample.answer("ok")), path, body)

    assert answer.status == 200
    assert line.up.last.body == body
    assert line.up.last.header("content-length") == [str(len(body))]
    assert (await line.gateway.row(answer)).outcome == "completed"


@odd
async def test_3_15_01_a_rewrite_changes_no_byte_outside_its_text(
    member: bytes, path: str, sample: Sample, line: Wire
) -> None:
    """The new text is put in by position; everything else stays as it was written, and is no reason to give up."""
    body = with_member(dump(sample.request(NOISY)), member)
    await line.ask(whole(sample.answer("ok")), path, body)
    before, after = around(body, PROGRESS)
    forwarded = line.up.last.body

    assert len(forwarded) < len(body) - 1000
    assert forwarded.startswith(before)
    assert forwarded.endswith(after)
    assert "wrote archive.tar" in json.loads(forwarded[len(before) : len(forwarded) - len(after)])


@encoded
async def test_3_15_04_an_untouched_body_keeps_its_encoding(
    encoding: str, path: str, sample: Sample, line: Wire
) -> None:
    """Nothing is decompressed on the way to the upstream."""
    body = ENCODINGS[encoding](dump(sample.request()))
    answer = await line.ask(whole(sample.answer("ok")), path, body, headers=[JSON, ("content-encoding", encoding)])

    assert answer.status == 200
    assert line.up.last.body == body
    assert line.up.last.header("content-encoding") == [encoding]
    assert (await line.gateway.row(answer)).model == "m-1"


@encoded
async def test_3_15_04_it_does_so_on_every_turn_of_a_long_conversation(
    encoding: str, path: str, sample: Sample, line: Wire
) -> None:
    """Whatever is remembered of the turns before."""
    steps = [Step(f"./answer {n}", f"{n} is the answer to question {n}. " * 12 * (n + 40)) for n in range(4)]
    for turn in range(1, 5):
        body = ENCODINGS[encoding](dump(sample.request(steps[:turn])))
        await line.ask(whole(sample.answer("ok")), path, body, headers=[JSON, ("content-encoding", encoding)])
        assert line.up.last.body == body


@encoded
async def test_3_15_04_a_rewritten_body_goes_out_plain(encoding: str, path: str, sample: Sample, line: Wire) -> None:
    """Its old encoding and length are not claimed for it."""
    plain = dump(sample.request(NOISY))
    packed = ENCODINGS[encoding](plain)
    await line.ask(whole(sample.answer("ok")), path, packed, headers=[JSON, ("content-encoding", encoding)])

    assert line.up.last.header("content-encoding") == []
    assert line.up.last.header("content-length") == [str(len(line.up.last.body))]
    assert line.up.last.body.startswith(around(plain, PROGRESS)[0])
    assert len(line.up.last.body) < len(plain)


@encoded
async def test_3_15_04_an_encoded_answer_reaches_the_client_as_it_is(
    encoding: str, path: str, sample: Sample, line: Wire
) -> None:
    """The client asked for it; the archive reads it all the same."""
    usage = sample.usage(7, 1)
    packed = ENCODINGS[encoding](sample.answer("ok", usage))
    reply = whole(packed, headers=[JSON, ("content-encoding", encoding)])
    answer = await line.ask(reply, path, dump(sample.request()), headers=[JSON, ("accept-encoding", encoding)])

    assert answer.body == packed
    assert answer.header("content-encoding") == encoding
    assert answer.header("content-length") == str(len(packed))
    assert (await line.gateway.row(answer)).reported == usage


async def test_3_15_11_images_and_unknown_parts_are_never_touched(path: str, sample: Sample, line: Wire) -> None:
    """A part that is no plain text stays, though its text could be rewritten."""
    strange = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 400}},
        {"type": "encrypted", "text": PROGRESS},
        {"type": "thinking", "thinking": PROGRESS, "signature": "c2ln"},
    ]
    request = sample.request(NOISY, parts=strange)
    await line.ask(whole(sample.answer("ok")), path, dump(request))
    first, *others = sample.parts(json.loads(line.up.last.body))

    assert others == strange
    assert len(first["text"]) < 200
