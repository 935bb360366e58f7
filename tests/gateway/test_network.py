"""The network as the environment of this machine has it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from gateway.network import direct, is_here, open_socket, proxy_to, trusted

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is set."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("api.openai.com", False),
        ("127.0.0.1.evil.test", False),
        ("10.0.0.1", False),
        ("", False),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:10.0.0.1", False),
    ],
)
def test_what_is_this_machine(host: str, here: bool) -> None:
    """By name or by address."""
    assert is_here(host) is here


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        pytest.param({}, "https://api.test/v1", None, id="none is set"),
        pytest.param({"HTTP_PROXY": "http://p:1"}, "https://api.test/v1", None, id="one is set for the other scheme"),
        pytest.param({"HTTPS_PROXY": ""}, "https://api.test/v1", None, id="an empty variable"),
        pytest.param({"ALL_PROXY": "socks5://p:1"}, "https://api.test/v1", None, id="one of a kind that is not spoken"),
        pytest.param({"ALL_PROXY": "http://p:1"}, "http://127.0.0.1:8000/v1", None, id="an address of this machine"),
        pytest.param({"ALL_PROXY": "http://p:1"}, "http://localhost:8000/v1", None, id="this machine by name"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, "https://api.test", None, id="none for anything"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x, .test"}, "https://api.test", None, id="a domain"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.test:8443"}, "https://api.test:8443", None, id="a port"),
        pytest.param({"HTTPS_PROXY": "http://p:1"}, "https://api.test/v1", "http://p:1", id="for its scheme"),
        pytest.param({"https_proxy": "p:1"}, "https://api.test/v1", "http://p:1", id="in small letters, bare"),
        pytest.param({"ALL_PROXY": "http://u:w@p:1"}, "http://api.test", "http://u:w@p:1", id="for everything"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.test"}, "https://api.test", "http://p:1", id="not it"),
    ],
)  # fmt: skip
def test_the_proxy_to_a_url(
    variables: dict[str, str], url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the environment says; this machine is always reached directly."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_to(url) == proxy


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        pytest.param({}, None, id="no proxy"),
        pytest.param({"HTTP_PROXY": "", "NO_PROXY": "x"}, None, id="an empty one"),
        pytest.param({"HTTP_PROXY": "http://p", "NO_PROXY": "*"}, None, id="nothing goes by it"),
        pytest.param({"HTTP_PROXY": "http://p"}, "127.0.0.1,localhost,::1", id="everything goes by it"),
        pytest.param({"all_proxy": "http://p", "no_proxy": "a, localhost"}, "a,localhost,127.0.0.1,::1", id="some do"),
    ],
)
def test_a_program_that_reaches_this_machine_directly(environment: dict[str, str], told: str | None) -> None:
    """What it was told before stays; where nothing has to be said nothing is."""
    assert direct(environment) == ({} if told is None else {"NO_PROXY": told, "no_proxy": told})


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CODEX_CA_CERTIFICATE"])
def test_a_file_that_cannot_be_read_is_passed_over(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one that is not there nor one that holds no certificate ends the gateway."""
    rubbish = tmp_path / "rubbish.pem"
    rubbish.write_text("no certificate")
    before = trusted().cert_store_stats()
    for path in (tmp_path / "missing", rubbish, tmp_path):
        monkeypatch.setenv(variable, str(path))
        assert trusted().cert_store_stats() == before


def test_a_connection_is_kept_alive_through_silence() -> None:
    """Long before a network between forgets it."""
    with open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))) as opened:
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0
        assert opened.getsockopt(socket.IPPROTO_TCP, getattr(socket, "TCP_KEEPIDLE", None) or 0x10) <= 60
