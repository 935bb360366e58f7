"""The upper levels over HTTP: read, written within their limits, refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from memory.levels import rules
from tests.gateway.remembering.test_memory_pages import gateway, page
from tests.service import Service

__all__ = ["gateway"]


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "why"),
    [
        pytest.param("PUT", "/l1", "line\n" * 31, 422, "31 lines", id="an index that is too long"),
        pytest.param("PUT", "/l1", "see L3:nix\n", 422, "L3:nix points to nothing", id="a pointer to nothing"),
        pytest.param("POST", "/l2", {"section": "A"}, 400, "text is needed", id="a fact without text"),
        pytest.param("POST", "/l2", {"section": "a", "text": "b"}, 422, "no name of a section", id="a section"),
        pytest.param("POST", "/l2", {"section": "A", "text": "b", "evidence": "x"}, 400, "a list", id="evidence"),
        pytest.param("POST", "/l2", {"section": "A", "text": "b", "evidence": ["x"]}, 422, "pointer", id="a pointer"),
        pytest.param("PATCH", "/l2/nix", {"text": "b"}, 404, "no fact", id="an unknown fact"),
        pytest.param("DELETE", "/l2/nix", None, 404, "no fact", id="nothing to drop"),
        pytest.param("GET", "/l2/nix/provenance", None, 404, "no fact", id="nothing to prove"),
        pytest.param("GET", "/l3/nix", None, 404, "no procedure", id="an unknown procedure"),
        pytest.param("PUT", "/l3/UP", "text", 422, "no name of a procedure", id="a name in capitals"),
        pytest.param("PUT", "/l3/__init__.py", "text", 422, "a meaning to Python", id="a name of Python"),
        pytest.param("PUT", "/l3/key", "it is sk-" + "a1" * 20, 422, "ref:NAME", id="a secret"),
        pytest.param("PUT", "/l3/big", "x" * 70_000, 422, "split it", id="a procedure that is too long"),
        pytest.param("PUT", "/l3/huge", "x" * 2_000_000, 413, "more than", id="a body that is too long"),
        pytest.param("DELETE", "/l3/nix", None, 404, "no procedure", id="nothing to take away"),
        pytest.param("POST", "/candidates/nix/promote", None, 422, "no candidate", id="an unknown candidate"),
    ],
)
async def test_refusals(gateway: Service, method: str, target: str, body: Any, status: int, why: str) -> None:
    """Each says what is wrong; nothing is written."""
    before = await page(gateway, "/l1")
    assert why in (await page(gateway, target, method, body, status))["error"]
    assert await page(gateway, "/l1") == before


async def test_constants(gateway: Service) -> None:
    """L0 is the source's."""
    told = await page(gateway, "/l0")
    assert (told["text"], told["sha256"], told["warning"]) == (rules.RULES, rules.DIGEST, None)


async def test_index(gateway: Service) -> None:
    """L1 is read, checked, put and made anew."""
    built = await page(gateway, "/l1")
    assert "L3:mend_shop" in built
    assert (await page(gateway, "/l1/check", "POST"))["problems"] == []
    assert (await page(gateway, "/l1/check", "POST", "x\n" * 31))["problems"] == ["it has 31 lines; 30 are allowed"]
    assert await page(gateway, "/l1", "PUT", built + "ask before a release\n") == built + "ask before a release\n"
    assert (await page(gateway, "/l1/rebuild?dry_run=true", "POST"))["text"] == built + "ask before a release\n"


async def test_facts(gateway: Service) -> None:
    """L2 is written with evidence, amended, proved, and taken out."""
    fact = await page(
        gateway, "/l2", "POST", {"section": "TOOLS", "text": "make runs them", "evidence": ["L4:going#0"]}, 201
    )
    assert fact["id"] in [each["id"] for each in await page(gateway, "/l2")]
    assert (await page(gateway, f"/l2/{fact['id']}", "PATCH", {"text": "make test runs them"}))["section"] == "TOOLS"
    proved = await page(gateway, f"/l2/{fact['id']}/provenance")
    assert (proved["text"], proved["proofs"][0]["pointer"]) == ("make test runs them", "L4:going#0")
    assert (await page(gateway, f"/l2/{fact['id']}", "DELETE"))["id"] == fact["id"]


async def test_procedures(gateway: Service) -> None:
    """L3 is written, listed, read and taken away."""
    assert (await page(gateway, "/l3/release?evidence=L4:going%230", "PUT", "1. Tag.\n", 201))["name"] == "release.md"
    assert [each["name"] for each in await page(gateway, "/l3")] == ["mend_shop.md", "release.md"]
    assert await page(gateway, "/l3/release") == "1. Tag.\n"
    assert (await page(gateway, "/why/L3:release"))["proofs"][0]["pointer"] == "L4:going#0"
    assert await page(gateway, "/l3/release", "DELETE") == {"dropped": "release.md"}


async def test_candidates(gateway: Service) -> None:
    """One is promoted; one that was decided is not decided again."""
    (one,) = await page(gateway, "/candidates")
    assert (await page(gateway, f"/candidates/{one['id']}/promote", "POST"))["entry"].startswith("L2:")
    assert "promoted before" in (await page(gateway, f"/candidates/{one['id']}/refuse", "POST", {}, 422))["error"]
    assert (await page(gateway, "/candidates"), len(await page(gateway, "/candidates?all=1"))) == ([], 1)
