"""Keys stand nowhere but on the wire; large and binary content is kept by reference."""

from __future__ import annotations

import base64
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.config import Upstream
from tests.samples import PROGRESS, Sample, Step, dump
from tests.service import Service, configured, service
from tests.wire import JSON, Answer, ask, upstream, whole

KEY = "sk-" + "proj-4f9QxLr27TzWc81mVb60KdYp35HnSa"
OWN = "zq17" + "Unusual_Form.of-a~key+0123456789abcdefXYZ"
"""A key in no form that anybody knows."""
PLACES = {
    "bearer": ("authorization", "Bearer {}"),
    "x-api-key": ("x-api-key", "{}"),
    "api-key": ("api-key", "{}"),
    "x-goog-api-key": ("x-goog-api-key", "{}"),
    "basic": ("authorization", "Basic {}"),
    "cookie": ("cookie", "session={}"),
    "a header of nobody's": ("x-secret-thing", "{}"),
}


def kept(folder: Path) -> dict[str, bytes]:
    """Every file of a data folder."""
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def assert_nowhere(secret: str, gateway: Service, log: io.StringIO, answers: list[Answer]) -> None:
    """No file of the data folder, no line of the log and no head of an answer holds it, plain or in base64."""
    forms = [secret.encode(), base64.b64encode(secret.encode())[:-4]]
    texts = kept(gateway.data)
    texts |= {"log": log.getvalue().encode()}
    texts |= {f"head {k}": repr(answer.headers).encode() for k, answer in enumerate(answers)}
    assert len(texts) > 4
    assert [name for name, text in texts.items() for form in forms if form in text] == []


async def pages(gateway: Service) -> list[Answer]:
    """Everything that we say of ourselves."""
    targets = ["/healthz", "/metrics", "/_gateway/stats", "/_gateway/audit", "/_gateway/rules"]
    answers = [await ask(gateway.url, target, None, method="GET") for target in targets]
    rewrites = json.loads(answers[3].body)
    return answers + [await ask(gateway.url, f"/_gateway/audit/{row['id']}", None, method="GET") for row in rewrites]


@pytest.mark.parametrize("secret", [KEY, OWN], ids=["of a known form", "of no known form"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
async def test_3_15_13_the_client_key_is_nowhere(
    place: tuple[str, str], secret: str, path: str, sample: Sample, tmp_path: Path, log: io.StringIO
) -> None:
    """Whether the request succeeds, is refused by the upstream or by us, or finds nobody."""
    header = (place[0], place[1].format(secret))
    async with upstream(whole(sample.answer("ok"))) as up:
        down = Upstream(name="down", url="http://127.0.0.1:9/v1", models=("d-*",))
        ups = (replace(configured(up.url).upstreams[0], models=("m-*",)), down)
        async with service(configured(up.url, upstreams=ups), tmp_path) as gateway:
            answers = [
                await ask(gateway.url, target, body, headers=[JSON, header])
                for target, body in [
                    (path, dump(sample.request([Step("tar", PROGRESS)]))),
                    (path, dump(sample.request(model="d-1"))),
                    (path, b"{"),
                    ("/v1/files?x=1", b"{}"),
                ]
            ]
            up.reply = whole(b'{"error": {"message": "no"}}', 401)
            answers.append(await ask(gateway.url, path, dump(sample.request()), headers=[JSON, header]))
            for answer in answers:
                await gateway.row(answer)
            told = await pages(gateway)
            assert secret in str(up.calls[0].headers)
            assert_nowhere(secret, gateway, log, answers + told)

    assert [answer.status for answer in answers] == [200, 502, 400, 200, 401]
    assert secret.encode() not in b"".join(answer.body for answer in [*answers, *told])


async def test_3_15_13_the_key_of_the_configuration_is_nowhere(
    path: str, sample: Sample, tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes to the upstream that it is for, in the place of the client's, and nowhere else."""
    monkeypatch.setenv("UP_KEY", OWN)
    async with upstream(whole(sample.answer("ok"))) as up:
        ups = (Upstream(name="up", url=f"{up.url}/v1", client_key=False, key_env="UP_KEY"),)
        async with service(configured(up.url, upstreams=ups), tmp_path) as gateway:
            answer = await ask(
                gateway.url, path, dump(sample.request()), headers=[JSON, ("authorization", f"Bearer {KEY}")]
            )
            await gateway.row(answer)
            told = [answer, *await pages(gateway)]
            for secret in (OWN, KEY):
                assert_nowhere(secret, gateway, log, told)

    assert up.last.header("authorization") == [f"Bearer {OWN}"]
    assert up.last.header("x-api-key") == []


@pytest.mark.parametrize(
    "secret", [KEY, "ghp_" + "a1B2" * 9, "AKIA" + "ABCD1234EFGH5678"], ids=["OpenAI", "GitHub", "AWS"]
)
async def test_3_15_13_keys_in_texts_are_forwarded_but_not_kept(
    secret: str, path: str, sample: Sample, tmp_path: Path, log: io.StringIO
) -> None:
    """In tool results that are rewritten, commands, answers, errors of the upstream, and names of models."""
    step = Step(f"curl -H 'Authorization: Bearer {secret}' api.test", f"KEY={secret}\n{PROGRESS}KEY={secret}\n")
    echoed = json.dumps({"error": {"message": f"Incorrect API key provided: {secret}."}}).encode()
    async with (
        upstream(whole(sample.answer(f"your key is {secret}"))) as up,
        service(configured(up.url), tmp_path) as gateway,
    ):
        answers = [await ask(gateway.url, path, dump(sample.request([step])))]
        up.reply = whole(echoed, 401)
        answers.append(await ask(gateway.url, path, dump(sample.request([step, Step("true", "")]))))
        answers.append(await ask(gateway.url, path, dump(sample.request(model=secret))))
        rows = [await gateway.row(answer) for answer in answers]
        told = await pages(gateway)
        assert_nowhere(secret, gateway, log, told)

    assert len(rows[0].rewrites) == 1
    assert up.calls[0].body.count(secret.encode()) == 3
    assert secret.encode() in answers[0].body
    assert answers[1].body == echoed
    assert secret.encode() not in b"".join(answer.body for answer in told)


async def test_3_15_12_a_body_of_32_megabytes_is_served(
    path: str, sample: Sample, tmp_path: Path, log: io.StringIO
) -> None:
    """An image in it is forwarded as it is, kept by reference, and once in the session's raw log; in no log of ours."""
    image = base64.b64encode(os.urandom(300)).decode() * 84_000
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image}"}}
    first = dump(sample.request([Step("shot", PROGRESS)], parts=[part]))
    assert len(first) > 32 << 20
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url), tmp_path) as gateway:
        for _ in range(2):
            answer = await ask(gateway.url, path, first)
            row = await gateway.row(answer)
            assert (answer.status, row.outcome, row.error) == (200, "completed", None)
            assert image.encode() in up.last.body
            assert up.last.header("content-length") == [str(len(up.last.body))]
        stored = await gateway.gateway.archive.chain(str(row.tip))

    found = kept(tmp_path)
    logged = b"".join(data for path, data in found.items() if "model_responses" in path)
    assert logged.count(image.encode()) <= 1
    assert sum(len(data) for data in found.values()) - len(logged) < 4 << 20
    assert image[:200] not in log.getvalue()
    assert image.encode() in stored[-1].content
