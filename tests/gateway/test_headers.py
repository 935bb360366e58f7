"""Headers on their way through."""

from __future__ import annotations

import pytest

from gateway.config import Upstream
from gateway.errors import MissingKey
from gateway.headers import as_text, forwarded, is_foreign, passing


def test_what_is_about_one_connection_stays_behind() -> None:
    """By its own name, or named by `connection`, or ours; all others go on, in order, repeated ones too."""
    given = [
        (b"X-One", b"1"),
        (b"X-Taco-Request-Id", b"r"),
        (b"Connection", b"close, X-Hop"),
        (b"x-hop", b"2"),
        (b"TE", b"x"),
        (b"x-one", b"3"),
    ]

    assert passing(given) == ((b"x-one", b"1"), (b"x-one", b"3"))


@pytest.mark.parametrize(("value", "text"), [(b"plain", "plain"), ("é".encode(), "é"), (b"\xe9", "é")])
def test_a_value_as_text(value: bytes, text: str) -> None:
    """In whichever of both encodings it came."""
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("origin", "foreign"),
    [
        ("", False),
        ("vscode-webview://1a2b", False),
        ("chrome-extension://abc", False),
        ("http://localhost:3000", False),
        ("http://127.0.0.1:8080", False),
        ("http://[::1]:8080", False),
        ("https://evil.test", True),
        ("null", True),
        ("http://localhost.evil.test", True),
        ("http://[", True),
    ],
)
def test_whether_a_page_of_another_site_asks(origin: str, foreign: bool) -> None:
    """Programs, extensions and this machine's own pages do not."""
    assert is_foreign(origin) is foreign


@pytest.mark.parametrize(
    "headers",
    [
        ((b"origin", b"https://evil.test"), (b"authorization", b"Bearer mine")),
        ((b"origin", b"http://localhost:1"),),
        (),
    ],
    ids=["another site with a key of its own", "a page of this machine", "a program"],
)
def test_who_may_use_a_key_of_ours(headers: tuple[tuple[bytes, bytes], ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever does not come from another site without a key."""
    monkeypatch.setenv("OURS", "ours")
    replaced = forwarded(headers, Upstream(name="up", key_env="OURS", client_key=False))

    assert dict(replaced)[b"authorization"] == b"Bearer ours"


@pytest.mark.parametrize("client_key", [True, False])
@pytest.mark.parametrize("more", [(), ((b"authorization", b"Bearer "),)], ids=["nothing", "an empty key"])
def test_a_page_of_another_site_does_not_spend_our_key(
    more: tuple[tuple[bytes, bytes], ...], client_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser sends whatever a page wants it to, to this machine too."""
    monkeypatch.setenv("OURS", "ours")
    with pytest.raises(MissingKey, match="another site"):
        forwarded(
            ((b"origin", b"https://evil.test"), *more), Upstream(name="up", key_env="OURS", client_key=client_key)
        )


@pytest.mark.parametrize("empty", [(b"authorization", b"Bearer "), (b"authorization", b""), (b"x-api-key", b" ")])
def test_an_empty_key_is_none(empty: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is used instead; where we have none either, it goes on as it came."""
    upstream = Upstream(name="up", key_env="OURS")
    assert forwarded((empty, (b"x-one", b"1")), upstream) == (empty, (b"x-one", b"1"))
    monkeypatch.setenv("OURS", "ours")
    assert forwarded((empty, (b"x-one", b"1")), upstream) == ((b"x-one", b"1"), (b"authorization", b"Bearer ours"))
    assert forwarded((empty, (b"api-key", b"mine")), upstream) == (empty, (b"api-key", b"mine"))
