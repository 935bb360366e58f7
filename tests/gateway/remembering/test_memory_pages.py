"""The memory over HTTP: the same as on the command line, for whoever has the admin key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.remembering import memory_pages
from memory import batch_process
from memory.roots import raw_folder
from tests.gateway.remembered import GOING, LIVE, NAME, OLD, remember
from tests.service import Service, configured, service
from tests.wire import JSON, ask

ROOT = "/_gateway/memory"


@pytest_asyncio.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Service]:
    """A gateway with memories."""
    talks = await asyncio.to_thread(remember, tmp_path / "data")
    # so that none is due when the gateway starts
    await asyncio.to_thread(batch_process, raw_folder(talks.root), talks.l4, dry_run=False)
    async with service(configured("http://127.0.0.1:9"), tmp_path / "data") as served:
        yield served


async def page(
    gateway: Service, target: str, method: str = "GET", body: Any = None, status: int = 200, key: str | None = None
) -> Any:
    """What a page says; text where it is no JSON."""
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else None
    headers = [JSON, *([("authorization", f"Bearer {key}")] if key else [])]
    answer = await ask(gateway.url, ROOT + target, data, method=method, headers=headers)
    assert answer.status == status, answer.body
    kind = answer.header("content-type") or ""
    return json.loads(answer.body) if kind == "application/json" else answer.body.decode()


async def test_only_the_holder_of_the_key_is_let_in(gateway: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """To none of the pages, whatever is asked of them."""
    monkeypatch.setenv("TACO_ADMIN_KEY", "admin-key")
    for method, path, _ in memory_pages.PAGES:
        target = path.replace("{id:path}", OLD).replace("{entry:path}", "x").replace("{id}", "x").replace("{name}", "x")
        assert "admin key" in (await page(gateway, target, method, status=401))["error"]
        assert "admin key" in (await page(gateway, target, method, status=401, key="other"))["error"]
    assert (await page(gateway, "/l4/status", key="admin-key"))["sessions"] == 3


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "why"),
    [
        pytest.param("GET", "/l4/search", None, 400, "q is needed", id="nothing to search for"),
        pytest.param("GET", "/l4/search?q=a&limit=0", None, 400, "from 1 to 1000", id="a limit that is none"),
        pytest.param("GET", "/l4/search?q=a&since=soon", None, 400, "soon", id="a date that is none"),
        pytest.param("GET", "/l4/sessions/nix", None, 404, "no session is called 'nix'", id="an unknown session"),
        pytest.param("GET", f"/l4/sessions/{OLD}?format=pdf", None, 400, "one of json", id="an unknown format"),
        pytest.param("DELETE", "/l4/sessions/nix", None, 404, "no session is called 'nix'", id="nothing to forget"),
        pytest.param("GET", "/l4/export?format=pdf", None, 400, "one of jsonl", id="an unknown form of export"),
        pytest.param("GET", "/l4/export?session=nix", None, 404, "no session is called", id="nothing to export"),
        pytest.param("POST", "/l4/run", "{", 400, "no JSON", id="broken JSON"),
        pytest.param("POST", "/l4/run", [], 400, "no JSON object", id="a list"),
        pytest.param("POST", "/l4/run", {"dry_run": "perhaps"}, 400, "true or false", id="a flag that is none"),
        pytest.param("POST", "/l4/redact", {"pattern": "("}, 400, "no pattern of RE2", id="a broken pattern"),
        pytest.param("POST", "/l4/retain", {}, 400, "days or bytes is needed", id="no limit"),
        pytest.param("POST", "/l4/retain", {"days": "many"}, 400, "days is a number", id="a limit in words"),
        pytest.param("POST", "/l4/retain", {"days": -1}, 400, "0 or more", id="all that will ever be too old"),
        pytest.param("POST", "/l4/retain", {"bytes": -1}, 400, "0 or more", id="less than no room"),
        pytest.param("POST", "/l4/retain", {"days": True}, 400, "days is a number", id="a limit that is none"),
        pytest.param("POST", "/l4/verify", {"month": 5}, 400, "month is needed, as a text", id="a month that is none"),
        pytest.param("GET", "/why/L2:nix", None, 404, "no entry is called so", id="an unknown entry"),
        pytest.param("GET", "/l4/status?tenant=nix", None, 404, "no tenant is called 'nix'", id="an unknown tenant"),
    ],
)
async def test_refusals(gateway: Service, method: str, target: str, body: Any, status: int, why: str) -> None:
    """Each says what is wrong, with the status that goes with it."""
    assert why in (await page(gateway, target, method, body, status))["error"]


async def test_what_is_asked(gateway: Service) -> None:
    """Status, search, sessions, one session in three forms, why."""
    status = await page(gateway, "/l4/status")
    assert (status["sessions"], status["tenants"]) == (3, ["first"])
    (found,) = await page(gateway, "/l4/search?q=%E6%95%B0%E6%8D%AE%E5%BA%93")
    assert found["pointer"] == f"L4:{NAME}#0"
    assert [each["session"] for each in await page(gateway, "/l4/sessions?limit=2")] == [LIVE, GOING]
    shown = await page(gateway, f"/l4/sessions/{LIVE}")
    assert [each["text"] for each in shown["messages"]] == ["The connection was refused", "so it was"]
    assert "=== Prompt ===" in await page(gateway, f"/l4/sessions/{OLD}?format=log")
    messages = (await page(gateway, f"/l4/sessions/{NAME}?format=openai"))["messages"]
    assert [each["role"] for each in messages] == ["user", "assistant"]
    (fact,) = [e for e in (await page(gateway, f"/l4/sessions/{OLD}"))["cited_by"] if e.startswith("L2:")]
    assert (await page(gateway, f"/why/{fact}"))["proofs"][0]["pointer"] == f"L4:{OLD}#1"
    lines = (await page(gateway, "/l4/export")).splitlines()
    assert [json.loads(line)["session"] for line in lines] == [OLD, GOING, LIVE]


async def test_what_is_changed(gateway: Service) -> None:
    """Run, verify, rebuild, redact, forget: in processes of their own."""
    assert (await page(gateway, "/l4/run", "POST", {"dry_run": True}))["dry_run"] is True
    assert (await page(gateway, "/l4/run", "POST"))["state"] == "done"
    assert (await page(gateway, "/l4/verify", "POST"))["problems"] == []
    assert (await page(gateway, "/l4/rebuild", "POST"))["members"] == 2
    gone = (await page(gateway, "/l4/retain", "POST", {"days": 1, "dry_run": True}))["gone"]
    assert [one["session"] for one in gone] == [OLD, GOING]
    assert (await page(gateway, "/l4/redact", "POST", {"pattern": "needle three"}))["problems"] == []
    assert "needle three" not in await page(gateway, f"/l4/sessions/{GOING}?format=log")
    assert (await page(gateway, f"/l4/sessions/{NAME}", "DELETE"))["session"] == OLD
    await page(gateway, f"/l4/sessions/{OLD}", status=404)
