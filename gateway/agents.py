"""What an agent needs to be pointed at the gateway: environment variables, and where those do not do, what else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

Variables = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent that is known by the name of its command."""

    variables: Callable[[str, Variables], Variables] = lambda url, environment: {}
    """(base URL of the gateway, environment) → what it reads besides `OPENAI_BASE_URL`."""
    more: str = ""
    """What the person has to do besides; `{url}` stands for the base URL."""


def _copilot(url: str, environment: Variables) -> Variables:
    key = environment.get("OPENAI_API_KEY")
    given = {"COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_BASE_URL": f"{url}/v1"}
    return given | ({"COPILOT_PROVIDER_API_KEY": key} if key else {})


def _opencode(url: str, environment: Variables) -> Variables:
    try:
        settings = json.loads(environment.get("OPENCODE_CONFIG_CONTENT", "{}"))
        options = settings.setdefault("provider", {}).setdefault("openai", {}).setdefault("options", {})
        options["baseURL"] = f"{url}/v1"
    except (ValueError, AttributeError, TypeError):
        return {}  # timid: settings that cannot be read are not replaced
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)}


AGENTS: Mapping[str, Agent] = {
    "copilot": Agent(_copilot),
    "goose": Agent(lambda url, _: {"OPENAI_HOST": url}),
    "opencode": Agent(_opencode),
    "openhands": Agent(lambda url, _: {"LLM_BASE_URL": f"{url}/v1"}, "start it with --override-with-envs"),
    "claude": Agent(more="it speaks the Anthropic API, which this version only passes on"),
    "cline": Agent(more="run: cline auth openai-compatible -k KEY -m MODEL -b {url}/v1"),
    "cn": Agent(more="set apiBase: {url}/v1 for the model in its config.yaml"),
    "codex": Agent(more='set openai_base_url = "{url}/v1" in ~/.codex/config.toml'),
    "crush": Agent(more='set "base_url": "{url}/v1" for a provider in crush.json'),
    "droid": Agent(more='set "baseUrl": "{url}/v1" for a custom model in ~/.factory/settings.json'),
    "gemini": Agent(more="it speaks the Gemini API, which is not served here"),
    "pi": Agent(more='set "baseUrl": "{url}/v1" for a provider in ~/.pi/agent/models.json'),
    "vibe": Agent(more='set api_base = "{url}/v1" for a provider in ~/.vibe/config.toml'),
}


def base_urls(url: str) -> dict[str, str]:
    """The two variables that nearly every OpenAI client reads."""
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_BASE": f"{url}/v1"}


def known(command: str) -> Agent:
    """The agent that a command starts; one that is not known needs nothing more."""
    return AGENTS.get(PurePath(command).name, Agent())


def variables(command: str, url: str, environment: Variables) -> dict[str, str]:
    """What to set for the agent that a command starts."""
    return {**base_urls(url), **known(command).variables(url, environment)}
