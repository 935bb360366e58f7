"""What was forwarded once is forwarded again, byte for byte: the provider's cached prefix holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.config import Rewriting
from gateway.shapes import SHAPES
from rules_engine import Settings
from rules_engine.kinds import LOSSLESS
from tests.samples import LISTING, PROGRESS, SAMPLES, Sample, Step, dump
from tests.service import Service, configured, service
from tests.wire import JSON, Answer, ask, upstream, whole

STEPS = [
    Step("tar cvf archive.tar .", PROGRESS),
    Step("ls -l src", LISTING),
    Step("ls -l src | cat", LISTING),
    Step("tar cvf again.tar .", PROGRESS.replace("archive", "again")),
]
NOTHING = Settings(disabled=frozenset({*LOSSLESS, "shown"}))


def messages(path: str, body: bytes) -> list[bytes]:
    """The bytes of each message of a request."""
    read = SHAPES[path].read(body, BoundedCache(1 << 20))
    return [body[placed.start : placed.end] for placed in read.messages]


def assert_prefix_stands(path: str, calls: Sequence[bytes]) -> None:
    """Each request begins with all the messages of the one before, as they were forwarded."""
    unmarked = SAMPLES[path].unmarked
    for earlier, later in pairwise(map(unmarked, calls)):
        assert messages(path, later)[: len(messages(path, earlier))] == messages(path, earlier)


async def converse(gateway: Service, path: str, sample: Sample, start: int = 0, end: int = len(STEPS)) -> list[Answer]:
    """The requests of a session, from the one after `start` steps to the one after `end` steps."""
    return [await ask(gateway.url, path, dump(sample.request(STEPS[:k]))) for k in range(start, end + 1)]


async def test_3_15_08_the_prefix_stands_over_the_turns(path: str, sample: Sample, tmp_path: Path) -> None:
    """All that can be rewritten is, each at first sight, and never otherwise."""
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        await converse(gateway, path, sample)
        sizes = [len(output) for output in sample.outputs(json.loads(up.last.body))]

        assert_prefix_stands(path, [call.body for call in up.calls])
        assert [size < 400 for size in sizes] == [True, False, True, True]
        assert gateway.gateway.recorder.counters.broken_prefixes == 0


async def test_3_15_08_the_prefix_stands_after_a_change_of_rules(path: str, sample: Sample, tmp_path: Path) -> None:
    """New rules touch what is seen first afterwards: here they switch everything off."""
    async with upstream(whole(sample.answer("ok"))) as up:
        async with service(configured(up.url), tmp_path) as gateway:
            await converse(gateway, path, sample, end=3)
        async with service(configured(up.url, rules=NOTHING), tmp_path) as gateway:
            await converse(gateway, path, sample, start=3)
            assert gateway.gateway.recorder.counters.broken_prefixes == 0

    assert_prefix_stands(path, [call.body for call in up.calls])
    assert up.calls[3].body == up.calls[4].body
    assert sample.outputs(json.loads(up.last.body))[3] == STEPS[3].output


async def test_3_15_08_the_prefix_stands_after_a_restart(path: str, sample: Sample, tmp_path: Path) -> None:
    """In the middle of every turn."""
    async with upstream(whole(sample.answer("ok"))) as up:
        for k in range(len(STEPS) + 1):
            async with service(configured(up.url), tmp_path) as gateway:
                await converse(gateway, path, sample, start=k, end=k)

    assert_prefix_stands(path, [call.body for call in up.calls])
    assert len(sample.outputs(json.loads(up.last.body))[2]) < 400


async def test_3_15_08_the_prefix_stands_on_another_node(path: str, sample: Sample, tmp_path: Path) -> None:
    """Two gateways over one folder serve the turns in alternation."""
    async with (
        upstream(whole(sample.answer("ok"))) as up,
        service(configured(up.url), tmp_path) as one,
        service(configured(up.url), tmp_path) as other,
    ):
        for k in range(len(STEPS) + 1):
            await converse((one, other)[k % 2], path, sample, start=k, end=k)
        await converse(one, path, sample, start=len(STEPS))

    assert_prefix_stands(path, [call.body for call in up.calls])
    assert up.calls[-1].body == up.calls[-2].body


async def test_3_15_08_what_was_forwarded_raw_stays_raw(path: str, sample: Sample, tmp_path: Path) -> None:
    """Rewriting that is switched on in the middle of a session begins with what is new."""
    off = Rewriting(enabled=False)
    async with upstream(whole(sample.answer("ok"))) as up:
        async with service(configured(up.url, rewriting=off), tmp_path) as gateway:
            await converse(gateway, path, sample, end=2)
        async with service(configured(up.url), tmp_path) as gateway:
            await converse(gateway, path, sample, start=2)

    assert_prefix_stands(path, [call.body for call in up.calls])
    assert sample.outputs(json.loads(up.last.body))[0] == PROGRESS


async def test_3_15_08_a_retry_gets_its_first_decisions(path: str, sample: Sample, tmp_path: Path) -> None:
    """A request that failed at the upstream is the same when it is sent again."""
    async with (
        upstream(whole(b'{"error": {"message": "busy"}}', 503)) as up,
        service(configured(up.url), tmp_path) as gateway,
    ):
        body = dump(sample.request(STEPS[:1]))
        await ask(gateway.url, path, body)
        up.reply = whole(sample.answer("ok"))
        answer = await ask(gateway.url, path, body)
        row = await gateway.row(answer)

    assert up.calls[0].body == up.calls[1].body
    assert len(up.calls[0].body) < len(body) - 1000
    assert row.retry


@pytest.mark.parametrize("nodes", [1, 2], ids=["in one process", "in two"])
async def test_3_15_08_rivals_make_one_decision(nodes: int, path: str, sample: Sample, tmp_path: Path) -> None:
    """Requests that see the same output first, at the same time and under other rules, forward the same bytes."""
    async with (
        upstream(whole(sample.answer("ok"))) as up,
        service(configured(up.url), tmp_path) as one,
        service(configured(up.url, rules=Settings(disabled=frozenset({"gutter"}))), tmp_path) as other,
    ):
        where = [one, other if nodes == 2 else one]
        for turn in (1, 3):
            up.calls.clear()
            body = dump(sample.request(STEPS[:turn]))
            await asyncio.gather(*(ask(where[k % 2].url, path, body) for k in range(12)))
            assert len({call.body for call in up.calls}) == 1
            assert len(up.calls[0].body) < len(body)


async def test_a_history_in_another_json_form_has_the_same_rewrites(path: str, sample: Sample, tmp_path: Path) -> None:
    """Clients write older messages anew: with other blanks, keys in another order, a string as parts."""
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        await converse(gateway, path, sample, end=3)
        anew = json.dumps(sample.request(STEPS[:3]), separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        await ask(gateway.url, path, anew.encode())

        assert sample.outputs(json.loads(up.calls[-1].body)) == sample.outputs(json.loads(up.calls[-2].body))


def in_parts(sample: Sample, value: Any) -> Any:
    """A request with each output as a list of one part, marked as the end of what a cache may hold."""
    if isinstance(value, dict):
        return {key: in_parts(sample, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [in_parts(sample, inner) for inner in value]
    part = {"cache_control": {"type": "ephemeral"}, "text": value, "type": sample.text}
    return [part] if value in {step.output for step in STEPS} else value


@pytest.mark.parametrize("first", [False, True], ids=["strings, then lists", "lists, then strings"])
async def test_3_15_09_an_output_as_a_string_and_as_a_list_has_one_rewrite(
    first: bool, path: str, sample: Sample, tmp_path: Path
) -> None:
    """Claude Code sends the newest as a list with a mark, and later as a string."""
    shown = []
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        for listed in (first, not first):
            request = sample.request(STEPS[:3])
            row = await gateway.row(
                await ask(gateway.url, path, dump(in_parts(sample, request) if listed else request))
            )
            outputs: list[Any] = sample.outputs(json.loads(up.last.body))
            shown.append([out[0]["text"] if isinstance(out, list) else out for out in outputs])
            assert isinstance(outputs[0], list) == listed
            assert b"cache_control" in up.last.body or not listed

    assert shown[0] == shown[1]
    assert len(shown[0][2]) < 400
    assert (row.retry, row.rewrites) == (True, ())


async def test_a_pointer_falls_back_where_its_source_is_gone(path: str, sample: Sample, tmp_path: Path) -> None:
    """An edited history may lack what a pointer leads to; then the text stands itself, now and later."""
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        await converse(gateway, path, sample, end=3)
        request = sample.request(STEPS[:3])
        edited = json.loads(json.dumps(request).replace(json.dumps(LISTING), '"[trimmed]"', 1))
        for _ in range(2):
            await ask(gateway.url, path, dump(edited))
            assert sample.outputs(json.loads(up.last.body))[1:] == ["[trimmed]", LISTING]


def with_surrogate(path: str, body: bytes) -> bytes:
    """The odd text holds half a character."""
    return body.replace(b"ODD", rb"\ud83d")


def with_key_twice(path: str, body: bytes) -> bytes:
    """The message of the odd text has a key twice."""
    odd = next(message for message in messages(path, body) if b"ODD" in message)
    return body.replace(odd, b'{"x":1,"x":2,' + odd[1:])


@pytest.mark.parametrize("harm", [with_surrogate, with_key_twice])
async def test_one_message_that_cannot_be_read_costs_only_itself(
    harm: Callable[[str, bytes], bytes], path: str, sample: Sample, tmp_path: Path
) -> None:
    """It stays raw; what is pinned for the others is replayed, and new ones are decided."""
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        await converse(gateway, path, sample, end=1)
        odd = [*STEPS[:1], Step("cat odd", "ODD" + PROGRESS)]
        for steps in (odd, [*odd, STEPS[3]]):
            body = harm(path, dump(sample.request(steps)))
            row = await gateway.row(await ask(gateway.url, path, body))
            assert row.kept["unreadable"] == 1

    sent, forwarded = messages(path, body), messages(path, up.last.body)
    assert_prefix_stands(path, [call.body for call in up.calls])
    changed = [a for a, b in zip(sent, forwarded, strict=True) if a != b]
    assert len(changed) == 2
    assert not [message for message in changed if b"cat odd" in message or b"ud83d" in message or b'"x":2' in message]


async def test_a_prefix_that_breaks_is_counted(path: str, sample: Sample, tmp_path: Path) -> None:
    """Switching rewriting off in the middle of a session is the person's right, and dear."""
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        await converse(gateway, path, sample, end=1)
        body = dump(sample.request(STEPS[:2]))
        answer = await ask(gateway.url, path, body, headers=[JSON, ("x-taco-rewrite", "off")])

        assert up.last.body == body
        assert (await gateway.row(answer)).kept == {"off": 1, "broken prefix": 1}
        assert gateway.gateway.recorder.counters.broken_prefixes == 1


OUTPUTS = {
    "nothing": "",
    "blanks": " \n\n",
    "a bar": PROGRESS,
    "numbered lines": "".join(f"{k:6d}\tvalue_{k % 7} = compute({k * 31 % 97})\n" for k in range(300)),
    "repeats": "waiting for the server\n" * 400 + "ready\n",
    "a failure in noise": PROGRESS + "ERROR: checksum mismatch in block 7\n" + PROGRESS + "3 failed, 9 passed\n",
    "tests": "".join(f"tests/test_{k}.py::test_case_{k * 7} PASSED [{k}%]\n" for k in range(100))
    + "1 failed, 99 passed in 3s\n",
    "JSON": json.dumps([{"id": k, "name": f"item {k}"} for k in range(80)], indent=4),
    "escape codes": "".join(f"\x1b[32m ok \x1b[0m check {k * k}\x1b[K\n" for k in range(90)),
    "carriage returns only": "\r" * 3000,
    "one long line": "x" * 9000,
    "characters of all sorts": "é漢😀\u2028\x00\u0085 " * 400,
}


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
async def test_3_15_10_a_rewrite_is_shorter_and_keeps_what_failed(
    output: str, path: str, sample: Sample, tmp_path: Path
) -> None:
    """In tokens, too; it is never empty; and a text that was rewritten is left alone when it is seen as a new one."""
    steps = [Step("run it", output)]
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        row = await gateway.row(await ask(gateway.url, path, dump(sample.request(steps))))
        (shown,) = sample.outputs(json.loads(up.last.body))
        once = [Step("run it otherwise", shown)]
        await ask(gateway.url, path, dump(sample.request(once)))
        (again,) = sample.outputs(json.loads(up.last.body))

    assert row.accounts["forwarded_tokens"] <= row.accounts["raw_tokens"]  # type: ignore[operator]
    assert len(shown) <= len(output)
    assert bool(shown) == bool(output)
    assert again == shown
    for line in output.split("\n"):
        if "failed" in line or "ERROR" in line:
            assert line in shown
