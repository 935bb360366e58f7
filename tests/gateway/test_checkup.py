"""Checks of an installation: each wrong thing is found, and told with its remedy."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from contextlib import closing
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from gateway import checkup
from gateway.config import Client, Config, Rewriting, Server, Upstream
from gateway.running import announced
from gateway.serving import serving
from memory import Decisions


def litellm(monkeypatch: pytest.MonkeyPatch, version: str | None) -> None:
    """An installation with this version, or without one."""

    def installed(name: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", installed)


@pytest.mark.parametrize(
    ("version", "state", "said"),
    [
        pytest.param("1.110.2", "ok", "1.110.2", id="a sound version"),
        pytest.param("1.82.7", "wrong", "uninstall it now and renew every key", id="the first malicious version"),
        pytest.param("1.82.8", "wrong", "uninstall it now and renew every key", id="the second"),
        pytest.param(None, "wrong", "not installed; run: pip install", id="none"),
    ],
)
def test_litellm(monkeypatch: pytest.MonkeyPatch, version: str | None, state: str, said: str) -> None:
    """The version is read without an import."""
    litellm(monkeypatch, version)
    found = next(f for f in checkup.check_installation() if f.what == "litellm")
    assert found.state == state
    assert said in found.says


def test_no_vocabulary_and_no_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures without their sources would be guesses, and are said to be."""
    monkeypatch.setattr(checkup, "TokenCounter", lambda: SimpleNamespace(approximate=True))
    monkeypatch.setattr(checkup, "PriceBook", lambda: SimpleNamespace(find=lambda model: None))
    found = {f.what: f for f in checkup.check_installation()}
    assert "a quarter of the bytes" in found["tokens"].says
    assert "reinstall litellm" in found["prices"].says
    assert {found["tokens"].state, found["prices"].state} == {"wrong"}


def test_an_old_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library without what the store needs is told."""
    monkeypatch.setattr(checkup, "OLDEST_SQLITE", (99, 0, 0))
    found = next(f for f in checkup.check_installation() if f.what == "sqlite")
    assert (found.state, "built with 99.0.0 or newer" in found.says) == ("wrong", True)


@pytest.mark.parametrize(
    ("there", "state", "said"),
    [
        pytest.param([], "note", "none that `run` knows", id="none"),
        pytest.param(["qwen", "codex", "vim"], "ok", "codex, qwen: `taco-gateway run -- codex`", id="two and another"),
    ],
)
def test_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: list[str], state: str, said: str) -> None:
    """Those that can be started through the gateway are named, and how."""
    for name in there:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = checkup.check_agents()
    assert found.state == state
    assert said in found.says


def test_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    """It is not made for the sake of a check."""
    (found,) = checkup.check_folder(tmp_path / "x")
    assert found.state == "note"
    assert not (tmp_path / "x").exists()


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    """Nothing more is checked of what is no folder."""
    (tmp_path / "x").write_text("")
    (found,) = checkup.check_folder(tmp_path / "x")
    assert (found.state, found.what) == ("wrong", "data")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little room is told before there is none; nothing is left in the folder."""
    monkeypatch.setattr(checkup, "LEAST_FREE_MB", 1 << 40)
    found = {f.what: f for f in checkup.check_folder(tmp_path)}
    assert (found["data"].state, found["disk"].state, found["store"].state) == ("ok", "wrong", "ok")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "state", "said"),
    [
        pytest.param(None, "ok", "0 pinned", id="none"),
        pytest.param(b"?", "wrong", "1 of 1 cannot be read", id="of another version"),
    ],
)
async def test_decisions(tmp_path: Path, value: bytes | None, state: str, said: str) -> None:
    """A decision that cannot be replayed would change a prefix."""
    store = await Decisions.open(tmp_path / "decisions.sqlite")
    if value is not None:
        await (await store.choose([("k", value)], 5.0)).committed()
    await store.aclose()
    found = checkup.check_pins(tmp_path)
    assert found.state == state
    assert said in found.says


def test_a_damaged_decisions_file(tmp_path: Path) -> None:
    """A file that is no database is an error with a remedy."""
    (tmp_path / "decisions.sqlite").write_text("no database" * 100)
    found = checkup.check_pins(tmp_path)
    assert (found.state, "restore it from a backup" in found.says) == ("wrong", True)


async def test_a_damaged_archive(tmp_path: Path) -> None:
    """The same for the archive."""
    (tmp_path / "archive.sqlite").write_text("no database" * 100)
    assert (await checkup.check_archive(tmp_path)).state == "wrong"


async def test_an_empty_archive(tmp_path: Path) -> None:
    """None yet, or none of anything, is sound."""
    assert (await checkup.check_archive(tmp_path)).says == "nothing recorded yet"
    with closing(sqlite3.connect(tmp_path / "archive.sqlite")):
        pass
    assert (await checkup.check_archive(tmp_path)).says == "0 rewrites and 0 messages as they were recorded"


@pytest.mark.parametrize(
    ("upstream", "state", "said"),
    [
        pytest.param(Upstream(name="u", client_key=True), "note", "each client has to send its own", id="the client's"),
        pytest.param(Upstream(name="u", via="litellm"), "note", "ANTHROPIC_API_KEY", id="litellm's own variables"),
        pytest.param(Upstream(name="u", client_key=False), "wrong", "key_env is not set", id="nobody's"),
        pytest.param(Upstream(name="u", key_env="CHECKED_KEY"), "ok", "CHECKED_KEY is set", id="the gateway's"),
    ],
)
def test_keys(monkeypatch: pytest.MonkeyPatch, upstream: Upstream, state: str, said: str) -> None:
    """Where a key comes from is told; which key it is never is."""
    monkeypatch.setenv("CHECKED_KEY", "very-secret")
    found = checkup._check_key(upstream)
    assert found.state == state
    assert said in found.says
    assert "very-secret" not in found.says


def test_clients() -> None:
    """A client without its key would be shut out."""
    found = {f.what: f for f in checkup.check_config(Config(clients=(Client(name="c", key_env="NO_SUCH_KEY"),)))}
    assert found["client"].says == "c: NO_SUCH_KEY is not set, so it is not let in; set it"
    assert found["client"].state == "wrong"


async def test_rules(tmp_path: Path) -> None:
    """A rule file that is missing would keep the gateway from starting."""
    given = Config(rewriting=Rewriting(rules_file=str(tmp_path / "x")))
    assert (await checkup.check_rules(Config(), tmp_path)).state == "ok"
    assert (await checkup.check_rules(given, tmp_path)).state == "wrong"


async def test_any_answer_is_an_answer(tmp_path: Path) -> None:
    """An upstream that says no is there."""
    async with serving(Starlette()) as url:
        upstream = Upstream(name="u", url=f"{url}/v1")
        assert (await asyncio.to_thread(checkup._check_upstream, upstream)).state == "ok"


async def test_an_upstream_behind_a_proxy_is_looked_for_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As requests will go."""
    async with serving(Starlette()) as url:
        monkeypatch.setenv("http_proxy", url)
        monkeypatch.setenv("no_proxy", "exempt.test")
        behind, past = (Upstream(name="u", url=f"http://{host}.test/v1") for host in ("proxied", "exempt"))
        assert (await asyncio.to_thread(checkup._check_upstream, behind)).state == "ok"
        assert (await asyncio.to_thread(checkup._check_upstream, past)).state == "wrong"


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("", "check url and network"),
        ("http://127.0.0.1:9", "check url and network"),
        ("socks5h://10.0.0.1:1080", "a socks5h proxy is"),
    ],
)
def test_a_proxy_of_a_kind_that_is_not_spoken(monkeypatch: pytest.MonkeyPatch, proxy: str, said: str) -> None:
    """It may be why nothing is reached; what stands in it besides its kind is not told."""
    monkeypatch.setenv("all_proxy", proxy)
    found = checkup._check_upstream(Upstream(name="u", url="http://nobody.test/v1"))
    assert (found.state, said in found.says, "1080" in found.says) == ("wrong", True, False)


@pytest.mark.parametrize(("said", "state"), [("ok", "ok"), ("degraded", "wrong")])
async def test_a_gateway_that_serves(tmp_path: Path, said: str, state: str) -> None:
    """A running gateway is asked how it is."""
    app = Starlette(routes=[Route("/healthz", lambda request: JSONResponse({"status": said, "problems": ["p"]}))])
    async with serving(app) as url:
        with announced(tmp_path, url):
            found = await asyncio.to_thread(checkup.check_gateway, Config(), tmp_path)
    assert found.state == state
    assert found.says == f"serves at {url}, {said} ['p']"


def test_a_port(tmp_path: Path) -> None:
    """A port that somebody else has is told; a free one is left free."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = Config(server=Server(port=taken.getsockname()[1]))
        found = checkup.check_gateway(config, tmp_path)
        assert (found.state, "Address already in use; set server.host" in found.says) == ("wrong", True)
    assert checkup.check_gateway(config, tmp_path).state == "note"
