"""A hundred forms of secrets go through the gateway, everywhere that a secret may stand; none is in any file."""

from __future__ import annotations

import json
import sqlite3
import time
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from memory import batch_process, export, search_sessions
from memory.roots import raw_folder
from tests.corpus.secrets import Form, forms
from tests.samples import PROGRESS, SAMPLES, Step, dump
from tests.service import configured, service
from tests.wire import JSON, Answer, ask, streamed, upstream

PATH = "/v1/chat/completions"
FORMS = {form.name: form for form in forms()}
DAY = 86_400.0

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Passed:
    """What became of one form: the request as it was sent and forwarded, the answer as it was sent and received."""

    sent: dict[str, Any]
    forwarded: dict[str, Any]
    told: list[bytes]
    answer: Answer


@dataclass(frozen=True)
class Kept:
    """The forms that passed, and everything that is in files then, laid open."""

    passed: dict[str, Passed]
    texts: dict[str, bytes]


def request(form: Form) -> dict[str, Any]:
    """A secret in the words of the user, in the arguments of a call, and in a dump of an environment that is rewritten."""
    dump_ = f"PATH=/usr/bin\n{form.line}\nHOME=/srv/ada\n"
    body = SAMPLES[PATH].request([Step(f"echo '{form.line}'", f"{PROGRESS}{dump_}")], stream=True)
    body["messages"][1]["content"] += f"\nI have this: {form.line}"
    return body


def events(text: str) -> list[bytes]:
    """An answer of which each piece has five characters, so that every secret is torn."""
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    deltas = [{"index": 0, "delta": {"content": piece}} for piece in pieces]
    chunks = [*deltas, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    told = [{"id": "c1", "object": "chat.completion.chunk", "choices": [each]} for each in chunks]
    return [b"data: " + json.dumps(each).encode() + b"\n\n" for each in told] + [b"data: [DONE]\n\n"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kept]:
    """All forms passed; then everything was archived, indexed, searched. What the run takes away was there, too."""
    data, passed = tmp_path_factory.mktemp("data"), {}
    async with upstream(streamed([])) as up, service(configured(up.url), data) as gateway:
        for form in FORMS.values():
            body, told = request(form), events(f"So it is {form.line}, as you said.")
            up.reply = streamed(told)
            answer = await ask(
                gateway.url, PATH, dump(body), headers=[JSON, ("x-session-id", form.name.replace(" ", "-"))]
            )
            passed[form.name] = Passed(body, json.loads(up.last.body), told, answer)
        await gateway.gateway.recorder.drain()
        texts = {f"before the run: {name}": text for name, text in laid_open(data)}
    report = batch_process(raw_folder(data), dry_run=False, clock=lambda: time.time() + DAY)
    assert report["new_sessions"] == len(FORMS)
    l4 = data / "memory" / "L4_raw_sessions"
    texts |= dict(laid_open(data))
    texts["found"] = repr(search_sessions("as you said", limit=1000, l4_dir=l4)).encode()
    texts["exported"] = "".join(export(l4_dir=l4)).encode()
    yield Kept(passed, texts)


def laid_open(data: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, every member of a zip, every cell of a table, uncompressed."""
    for path in sorted(path for path in data.rglob("*") if path.is_file()):
        yield str(path), path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as file:
                yield from ((f"{path}/{name}", file.read(name)) for name in file.namelist())
        if path.suffix == ".sqlite":
            yield from cells(path)


def cells(path: Path) -> Iterator[tuple[str, bytes]]:
    """What the tables of a database hold."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
        for (table,) in tables.fetchall():
            rows = database.execute(f'SELECT * FROM "{table}"')
            held = [cell for row in rows for cell in row if isinstance(cell, str | bytes)]
            yield f"{path}:{table}", b"\n".join(map(opened, held))


def opened(cell: str | bytes) -> bytes:
    """A cell as it would be read."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "surrogatepass")
    try:
        return zlib.decompress(cell)
    except zlib.error:
        return cell


async def test_what_was_laid_open_is_all_of_it(kept: Kept) -> None:
    """Words that are no secret stand in the raw log, the archive, the audit, the zips, the histories and the index."""
    places = {name.rpartition("/")[2] for name, text in kept.texts.items() if b"wrote archive.tar" in text}
    assert {"archive.sqlite:contents", "archive.sqlite:texts", "index.sqlite:texts"} <= places
    assert any(name.startswith("model_responses_") for name in places)
    assert sum(name.endswith(".txt") and ".zip/" in path for path in kept.texts for name in [path]) == len(FORMS)
    assert len(FORMS) > 100
    assert b"as you said" in kept.texts["found"]
    assert b"wrote archive.tar" in kept.texts["exported"]
    assert any(name.endswith("all_histories.txt") and b"as you said" in text for name, text in kept.texts.items())


@pytest.mark.parametrize("name", FORMS)
async def test_no_secret_is_in_any_file(kept: Kept, name: str) -> None:
    """Neither in the words of user and model, nor in arguments, nor in outputs, nor before or after a rewrite."""
    found = [
        (file, k) for file, text in kept.texts.items() for k, s in enumerate(FORMS[name].secrets) if s.encode() in text
    ]
    assert found == []


@pytest.mark.parametrize("name", FORMS)
async def test_what_is_forwarded_is_not_redacted(kept: Kept, name: str) -> None:
    """The model gets what the agent sent, the agent what the model said, byte for byte."""
    form, passed = FORMS[name], kept.passed[name]
    *before, result = passed.sent["messages"]
    *forwarded, output = passed.forwarded["messages"]
    assert forwarded == before
    assert [line for line in form.line.split("\n") if line.strip() not in output["content"]] == []
    assert output["content"] != result["content"]
    assert passed.answer.body == b"".join(passed.told)
