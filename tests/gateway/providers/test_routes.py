"""Which upstream serves a model."""

from __future__ import annotations

from typing import Literal

import pytest

from gateway.config import Upstream, load
from gateway.errors import UnknownModel
from gateway.providers import Route, Routes, spoken


class Nobody:
    """A provider that counts how often it was closed."""

    closed = 0

    async def send(self, request: object) -> None:
        """Never called."""

    async def aclose(self) -> None:
        """Count."""
        self.closed += 1


def routes(*upstreams: tuple[str, str, Literal["passthrough", "litellm"]]) -> Routes:
    """Routes from (name, pattern, way)."""
    return Routes([Route(Upstream(name=n, models=(p,), via=v), Nobody()) for n, p, v in upstreams])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/claude", "other"),
        ("gpt-5", "first"),
        ("gpt-5-mini", "first"),
        ("o4", "rest"),
        ("a/b/c", "other"),
        ("GPT-5", "rest"),
        ("[x]", "rest"),
    ],
)
def test_the_first_with_a_match_serves(model: str, name: str) -> None:
    """Case matters; a star matches anything."""
    ups = routes(("other", "*/*", "litellm"), ("first", "gpt-*", "passthrough"), ("rest", "*", "passthrough"))
    assert ups.find(model).upstream.name == name


def test_a_model_that_nobody_serves_is_named() -> None:
    """With the patterns that are served, and where to add one."""
    with pytest.raises(UnknownModel) as caught:
        routes(("a", "gpt-*", "passthrough"), ("b", "o?", "passthrough")).find("claude")

    assert caught.value.status == 404
    assert all(part in caught.value.message for part in ("claude", "gpt-*", "o?", "config.yaml"))


def test_paths_without_a_model_go_to_the_first_that_passes_through() -> None:
    """Where there is none, the error says so."""
    ups = routes(("a", "*/*", "litellm"), ("b", "x", "passthrough"), ("c", "*", "passthrough"))

    assert ups.default("openai").upstream.name == "b"
    with pytest.raises(UnknownModel, match="passes requests through"):
        routes(("a", "*/*", "litellm")).default("openai")


@pytest.mark.parametrize(
    ("headers", "name", "asked"),
    [
        pytest.param({}, "openai", ["litellm", "openai"], id="no header tells"),
        pytest.param({"authorization": "Bearer k"}, "openai", ["litellm", "openai"], id="OpenAI's clients"),
        pytest.param(
            {"anthropic-version": "2023-06-01"}, "anthropic", ["litellm", "anthropic"], id="Anthropic's clients"
        ),
    ],
)
def test_a_key_is_shown_only_to_the_api_that_it_is_for(headers: dict[str, str], name: str, asked: list[str]) -> None:
    """By default there are both: what names no model goes to the API that its client speaks."""
    ups = Routes([Route(upstream, Nobody()) for upstream in load(None).upstreams])  # type: ignore[arg-type]

    assert ups.default(spoken(headers)).upstream.name == name
    assert [route.upstream.name for route in ups.speaking(spoken(headers))] == asked


def test_a_client_of_an_api_that_no_upstream_has_is_sent_to_what_there_is() -> None:
    """One URL for everything is what `--upstream` makes."""
    ups = routes(("a", "*", "passthrough"))

    assert ups.default("anthropic").upstream.name == "a"


async def test_all_ways_are_closed() -> None:
    """Each once."""
    ups = routes(("a", "x", "passthrough"), ("b", "y", "passthrough"))
    await ups.aclose()

    assert [route.provider.closed for route in ups.all] == [1, 1]  # type: ignore[attr-defined]
