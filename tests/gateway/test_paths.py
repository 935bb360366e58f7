"""Paths as clients write them."""

from __future__ import annotations

import pytest

from gateway.paths import meant, provided


@pytest.mark.parametrize(
    "path",
    [b"/v1/chat/completions", b"/v1/files/a%2Fb", b"/v1/files//v1/x", b"/v1/../x", b"/v1/", b"/v1/v1", b"/v1/v1x/y"],
)
def test_paths_that_are_right_stay_as_they_are(path: bytes) -> None:
    """Whatever comes behind the version is the provider's."""
    scope = {"path": path.decode(), "raw_path": path, "query_string": b"a=b"}

    assert meant(path) == path
    assert provided(scope) is scope


@pytest.mark.parametrize(
    "path",
    [
        b"", b"/", b"/v1", b"/v2/models", b"/V1/models", b"/healthz", b"/_gateway/stats", b"/v1beta/models", b"/modelsx",
        b"/openai/v1/models", b"/v1%2F@evil.test/x", b"/%761/models", b"/chat", b"*",
    ],
)  # fmt: skip
def test_paths_that_are_not_the_providers(path: bytes) -> None:
    """A slash that is part of a name is none that ends the version: an upstream's host cannot be written anew by it."""
    assert meant(path) is None
    assert provided({"path": path.decode(), "raw_path": path}) is None


@pytest.mark.parametrize(
    ("path", "right"),
    [
        (b"//v1/messages", b"/v1/messages"),
        (b"/v1//messages", b"/v1/messages"),
        (b"/v1/v1/messages", b"/v1/messages"),
        (b"/v1//v1/chat%2Fx", b"/v1/chat%2Fx"),
        (b"/messages", b"/v1/messages"),
        (b"//messages/count_tokens", b"/v1/messages/count_tokens"),
        (b"/chat/completions", b"/v1/chat/completions"),
        (b"/responses/r1/input_items", b"/v1/responses/r1/input_items"),
        (b"/models/a%2Fb", b"/v1/models/a%2Fb"),
    ],
)
def test_a_base_url_with_a_slip(path: bytes, right: bytes) -> None:
    """A slash too many, the version twice, or none: it is clear what is meant."""
    scope = {"path": "other", "raw_path": path, "query_string": b"a=b"}

    assert meant(path) == right
    assert provided(scope) == {**scope, "raw_path": right, "path": right.decode().replace("%2F", "/")}


def test_a_server_that_gives_no_raw_path() -> None:
    """The path does."""
    assert provided({"path": "/models"}) == {"path": "/v1/models", "raw_path": b"/v1/models"}
