"""Agents: what each needs to find the gateway."""

from __future__ import annotations

import json

import pytest

from gateway.agents import AGENTS, base_urls, known, variables

URL = "http://127.0.0.1:1"
BOTH = {"OPENAI_BASE_URL": f"{URL}/v1", "OPENAI_API_BASE": f"{URL}/v1"}


@pytest.mark.parametrize(
    ("command", "environment", "more"),
    [
        pytest.param("my-agent", {}, {}, id="an unknown agent gets the two usual ones"),
        pytest.param(
            "opencode", {"OPENCODE_CONFIG_CONTENT": "{"}, {}, id="settings that cannot be read are left alone"
        ),
        pytest.param(
            "opencode", {"OPENCODE_CONFIG_CONTENT": '{"provider": 3}'}, {}, id="settings of another form, too"
        ),
        pytest.param("mini", {"OPENAI_BASE_URL": "http://other"}, {}, id="what was set before is replaced"),
        pytest.param("/usr/bin/goose", {}, {"OPENAI_HOST": URL}, id="by the name at the end of a path"),
        pytest.param(
            "copilot",
            {"OPENAI_API_KEY": "k"},
            {
                "COPILOT_PROVIDER_TYPE": "openai",
                "COPILOT_PROVIDER_BASE_URL": f"{URL}/v1",
                "COPILOT_PROVIDER_API_KEY": "k",
            },
            id="copilot gets its own names, the key among them",
        ),
    ],
)
def test_variables(command: str, environment: dict[str, str], more: dict[str, str]) -> None:
    """Every agent gets the usual variables, some get their own besides."""
    assert variables(command, URL, environment) == BOTH | more


def test_other_settings_stay() -> None:
    """OpenCode's inline settings are completed, not replaced."""
    given = json.dumps({"theme": "x", "provider": {"openai": {"options": {"apiKey": "k"}}}})
    made = json.loads(variables("opencode", URL, {"OPENCODE_CONFIG_CONTENT": given})["OPENCODE_CONFIG_CONTENT"])
    assert made == {"theme": "x", "provider": {"openai": {"options": {"apiKey": "k", "baseURL": f"{URL}/v1"}}}}


def test_who_needs_more_is_told() -> None:
    """An agent that reads no variable comes with what to do instead."""
    assert known("codex").more.format(url=URL).startswith(f'set openai_base_url = "{URL}/v1"')
    assert known("mini").more == ""
    assert all(agent.more or agent.variables(URL, {}) for agent in AGENTS.values())
    assert base_urls(URL) == BOTH
