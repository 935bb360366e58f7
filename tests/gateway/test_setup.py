"""Reading what a person has set: whatever it is, it never stands in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.config import Upstream
from gateway.setup import home, led_to, read_settings, section


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        pytest.param("a.json", None, {}, id="no file"),
        pytest.param("a.json", "{// c\n}", {}, id="JSON with comments"),
        pytest.param("a.json", "[1]", {}, id="JSON that is no section"),
        pytest.param("a.toml", "a = ", {}, id="broken TOML"),
        pytest.param("a.json", '{"a": 1}', {"a": 1}, id="JSON"),
        pytest.param("a.toml", "[a]\nb = 1", {"a": {"b": 1}}, id="TOML"),
    ],
)
def test_settings(name: str, text: str | None, found: dict[str, Any], tmp_path: Path) -> None:
    """What cannot be read says nothing."""
    if text is not None:
        (tmp_path / name).write_text(text)

    assert read_settings(tmp_path / name) == found


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"a": 3}, {}, id="a number on the way"),
        pytest.param({"a": {"b": []}}, {}, id="a list at its end"),
        pytest.param({"a": {"b": {"c": 1}}}, {"c": 1}, id="a section"),
    ],
)
def test_section(settings: dict[str, Any], found: dict[str, Any]) -> None:
    """It is empty where something else stands."""
    assert section(settings, "a", "b") == found


@pytest.mark.parametrize("url", [None, 3, "", "unix:/x", "${HOST}/v1"])
def test_what_is_no_url_leads_nowhere(url: object) -> None:
    """Then the default upstreams serve."""
    assert led_to(url) == ()


def test_a_url_leads_to_an_upstream_of_its_api() -> None:
    """Clients of Anthropic's API add the version themselves."""
    openai = Upstream(name="http://a/v1", url="http://a/v1", key_env="OPENAI_API_KEY")
    theirs = Upstream(
        name="http://a/v1", url="http://a/v1", models=("m",), api="anthropic", key_env="ANTHROPIC_API_KEY"
    )

    assert led_to("http://a/v1/") == (openai,)
    assert led_to("http://a", "m", api="anthropic") == led_to("http://a/v1", "m", api="anthropic") == (theirs,)


def test_the_home_is_that_of_the_environment() -> None:
    """Or, without one, that of the person who runs us."""
    assert (home({"HOME": "/x"}), home({})) == (Path("/x"), Path.home())
