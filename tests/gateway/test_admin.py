"""Our own pages: what they say, and to whom."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from starlette.requests import Request

from gateway import admin
from gateway.config import Config
from gateway.evolving.rules import built_in
from rules_engine.taco import load
from tests.samples import PROGRESS, SAMPLES, Step, dump
from tests.service import ID, Wire, configured, service
from tests.wire import ask, connected, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]
GUARDED = ["/_gateway/stats", "/_gateway/stats/x", "/_gateway/audit", "/_gateway/audit/x", "/_gateway/rules"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Wire, str]]:
    """A gateway that has rewritten one observation, and the id of that request."""
    reply = whole(SAMPLE.answer("ok", {"prompt_tokens": 5, "completion_tokens": 2}))
    async with upstream(reply) as up, service(configured(up.url), tmp_path_factory.mktemp("data")) as gateway:
        line = Wire(up, gateway)
        answer = await line.ask(reply, PATH, dump(SAMPLE.request([Step("tar cvf a.tar .", PROGRESS)])))
        await gateway.row(answer)
        yield line, answer.header(ID) or ""


async def page(served: tuple[Wire, str], target: str, **headers: str) -> tuple[int, str]:
    """Status and text of a page."""
    answer = await ask(served[0].gateway.url, target, None, method="GET", headers=[*headers.items()])
    return answer.status, answer.body.decode()


async def test_health_says_that_all_is_well(served: tuple[Wire, str]) -> None:
    """And what was counted."""
    status, text = await page(served, "/healthz")
    said = json.loads(text)

    assert status == 200
    assert (said["status"], said["problems"], said["recorded"], said["dropped"]) == ("ok", [], 1, 0)


async def test_metrics_are_counters_without_labels(served: tuple[Wire, str]) -> None:
    """Nothing of a client's stands in them."""
    status, text = await page(served, "/metrics")

    assert status == 200
    assert "taco_recorded_total 1\n" in text
    assert "{" not in text
    assert all(line.startswith(("# TYPE taco_", "taco_")) for line in text.splitlines())


async def test_figures(served: tuple[Wire, str]) -> None:
    """In sum, and of one request."""
    _, text = await page(served, "/_gateway/stats")
    totals = json.loads(text)
    _, text = await page(served, f"/_gateway/stats/{served[1]}")
    row = json.loads(text)

    assert (totals["requests"], totals["rewrites"], totals["outcomes"]) == (1, 1, {"completed": 1})
    assert row["accounts"]["raw_tokens"] > row["accounts"]["forwarded_tokens"] > 0
    assert totals["accounts"]["raw_tokens"] == row["accounts"]["raw_tokens"]
    assert row["reported"] == {"prompt_tokens": 5, "completion_tokens": 2}


async def test_audit(served: tuple[Wire, str]) -> None:
    """The list has no texts; one rewrite has before and after."""
    _, text = await page(served, "/_gateway/audit")
    (listed,) = json.loads(text)
    _, text = await page(served, f"/_gateway/audit/{listed['id']}")
    row = json.loads(text)

    assert listed["texts"] is None
    assert (row["exchange"], row["tool"]) == (served[1], "bash")
    assert row["texts"]["before"] == PROGRESS
    assert row["texts"]["after"] in SAMPLE.outputs(json.loads(served[0].up.calls[0].body))
    assert row["rules"]


async def test_rules_are_in_tacos_json(served: tuple[Wire, str]) -> None:
    """They can be imported elsewhere."""
    _, text = await page(served, "/_gateway/rules")
    assert {rule.id for rule in load(text)} == {rule.id for rule in built_in(Config())}


@pytest.mark.parametrize("target", ["/_gateway/stats/unknown", "/_gateway/audit/999", "/_gateway/audit/no-number"])
async def test_what_is_not_there_is_said_to_be_missing(target: str, served: tuple[Wire, str]) -> None:
    """With 404."""
    status, text = await page(served, target)
    assert (status, "no " in json.loads(text)["error"]) == (404, True)


@pytest.mark.parametrize("target", GUARDED)
async def test_with_a_key_only_its_holder_is_let_in(
    target: str, served: tuple[Wire, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from this machine; health and metrics are for everybody."""
    monkeypatch.setenv("TACO_ADMIN_KEY", "admin-key")

    assert (await page(served, target))[0] == 401
    assert (await page(served, target, authorization="Bearer caf\u00e9"))[0] == 401
    assert (await page(served, target, authorization="Bearer admin-key"))[0] in (200, 404)
    assert (await page(served, "/healthz"))[0] == (await page(served, "/metrics"))[0] == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        pytest.param("host: localhost:1", 200, id="by name"),
        pytest.param("host: [::1]", 200, id="by the newer kind of address"),
        pytest.param("host: localhost\r\norigin: http://localhost:3000", 200, id="a page of this machine"),
        pytest.param("x-no-host: 1", 200, id="by no name at all"),
        pytest.param("host: re_bound.test", 401, id="a name with an odd character"),
        pytest.param("host: [", 401, id="a name that is broken"),
        pytest.param("host: rebound.test", 401, id="a name that another site gave this address"),
        pytest.param("host: localhost\r\norigin: https://evil.test", 401, id="a page of another site"),
        pytest.param("host: localhost\r\norigin: null", 401, id="a page that hides where it is from"),
    ],
)
async def test_a_browser_shows_these_pages_to_no_other_site(head: str, status: int, served: tuple[Wire, str]) -> None:
    """Whatever page it is on, its requests come from this machine."""
    async with connected(served[0].gateway.url) as client:
        await client.write(f"GET /_gateway/stats HTTP/1.1\r\n{head}\r\n\r\n".encode())
        assert (await client.answer()).status == status


@pytest.mark.parametrize("host", ["192.0.2.7", "::ffff:192.0.2.7", None])
async def test_without_a_key_only_this_machine_is_let_in(host: str | None, served: tuple[Wire, str]) -> None:
    """A gateway that listens to the world does not show its audit to the world."""
    app = type("App", (), {"state": type("State", (), {"gateway": served[0].gateway.gateway})})
    scope = {
        "type": "http",
        "headers": [],
        "app": app,
        "client": (host, 1) if host else None,
        "method": "GET",
        "path": "/",
    }
    response = await admin.guarded(admin.rules)(Request(scope))

    assert response.status_code == 401


async def test_the_root_has_no_page(served: tuple[Wire, str]) -> None:
    """Nor is anything outside of /v1 relayed."""
    count = len(served[0].up.calls)

    assert (await page(served, "/"))[0] == 404
    assert (await page(served, "/v2/models"))[0] == 404
    assert len(served[0].up.calls) == count
