"""Agents with files of their own: these are read, and never written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.agents import set_up
from gateway.setup import Setup

URL = "http://127.0.0.1:1"
Files = dict[str, str]


def prepared(command: str, folder: Path, files: Files, **environment: str) -> Setup:
    """What an agent gets whose person has these files; they are as they were afterwards."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    setup = set_up(command, URL, {"HOME": str(folder), **environment})
    assert {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()} == files
    return setup


def leads(setup: Setup) -> dict[str, tuple[str, ...]]:
    """Where it was set to, and for which models."""
    return {upstream.url: upstream.models for upstream in setup.upstreams}


CODEX: dict[str, tuple[Files, str, str]] = {
    "nothing is set": ({}, "openai_base_url", ""),
    "a file that cannot be read": ({".codex/config.toml": "="}, "openai_base_url", ""),
    "a provider that is built in": ({".codex/config.toml": 'model_provider = "openai"'}, "openai_base_url", ""),
    "a URL of its own": (
        {".codex/config.toml": 'openai_base_url = "http://own/v1"'},
        "openai_base_url",
        "http://own/v1",
    ),
    "a provider of its own": (
        {".codex/config.toml": 'model_provider = "x"\n[model_providers.x]\nbase_url = "http://own/v1"'},
        "model_providers.x.base_url",
        "http://own/v1",
    ),
    "a profile with one": (
        {
            ".codex/config.toml": 'profile = "p"\n[profiles.p]\nmodel_provider = "x"\n'
            '[model_providers.x]\nbase_url = "http://own/v1"'
        },
        "model_providers.x.base_url",
        "http://own/v1",
    ),
    "a key": ({".codex/auth.json": '{"OPENAI_API_KEY": "k", "tokens": null}'}, "openai_base_url", ""),
    "a login with ChatGPT": (
        {".codex/auth.json": '{"OPENAI_API_KEY": null, "tokens": {"access_token": "t"}}'},
        "openai_base_url",
        "https://chatgpt.com/backend-api/codex",
    ),
    "a login that is preferred to the key": (
        {".codex/auth.json": '{"auth_mode": "chatgpt", "OPENAI_API_KEY": "k", "tokens": {}}'},
        "openai_base_url",
        "https://chatgpt.com/backend-api/codex",
    ),
}


@pytest.mark.parametrize(("files", "key", "upstream"), CODEX.values(), ids=CODEX)
def test_codex(files: Files, key: str, upstream: str, tmp_path: Path) -> None:
    """An option changes the URL of the provider that the person uses, and login, key and model stay theirs."""
    setup = prepared("codex", tmp_path, files)

    assert setup.options == ("-c", f'{key}="{URL}/v1"')
    assert leads(setup) == ({upstream: ("*",)} if upstream else {})


def test_a_key_in_the_environment_beats_a_login(tmp_path: Path) -> None:
    """So it does in Codex; and its folder may be somewhere else."""
    files = {"c/auth.json": '{"auth_mode": "chatgpt", "tokens": {}}'}

    assert leads(prepared("codex", tmp_path, files, CODEX_HOME=str(tmp_path / "c"))) != {}
    assert leads(prepared("codex", tmp_path, files, CODEX_HOME=str(tmp_path / "c"), CODEX_API_KEY="k")) == {}


@pytest.mark.parametrize(
    ("text", "environment", "options", "upstream"),
    [
        pytest.param("{}", {}, (), "", id="nothing is set"),
        pytest.param("{}", {"ANTHROPIC_BASE_URL": "http://own"}, (), "http://own/v1", id="a variable"),
        pytest.param(
            '{"env": {"ANTHROPIC_BASE_URL": "http://own/x/"}}',
            {"ANTHROPIC_BASE_URL": "http://weaker"},
            ("--settings", json.dumps({"env": {"ANTHROPIC_BASE_URL": URL}})),
            "http://own/x/v1",
            id="a variable in its settings, which only an option overrides",
        ),
    ],
)
def test_claude(
    text: str, environment: dict[str, str], options: tuple[str, ...], upstream: str, tmp_path: Path
) -> None:
    """It adds the version itself, and keeps its key, token or login."""
    setup = prepared("claude", tmp_path, {".claude/settings.json": text}, **environment)

    assert setup.variables["ANTHROPIC_BASE_URL"] == URL
    assert setup.options == options
    assert leads(setup) == ({upstream: ("*",)} if upstream else {})
    assert setup.note == ""


def test_claude_by_way_of_a_cloud(tmp_path: Path) -> None:
    """That has an API of its own, which does not come by here."""
    assert "CLAUDE_CODE_USE_VERTEX" in prepared("claude", tmp_path, {}, CLAUDE_CODE_USE_VERTEX="1").note


@pytest.mark.parametrize("given", ["{", '{"provider": 3}', "[]", '"x"'])
def test_settings_of_opencode_that_cannot_be_read_are_left_alone(given: str, tmp_path: Path) -> None:
    """And that is said."""
    setup = prepared("opencode", tmp_path, {}, OPENCODE_CONFIG_CONTENT=given)

    assert "OPENCODE_CONFIG_CONTENT" not in setup.variables
    assert "cannot be read" in setup.note


def test_opencode(tmp_path: Path) -> None:
    """Its inline settings are completed, not replaced; providers of its own are led here, and on to where they were."""
    inline = {"theme": "x", "provider": {"openai": {"options": {"apiKey": "k"}}}}
    own = {
        "openai": {"options": {"baseURL": "http://own/v1"}},
        "local": {"npm": "x", "options": {"baseURL": "http://local/v1"}, "models": {"m": {}, "n": {}}},
        "bridge": {"npm": "@ai-sdk/anthropic", "options": {"baseURL": "http://bridge/v1"}, "models": {"o": {}}},
        "broken": 3,
        "keyed": {"options": {"apiKey": "k"}},
    }
    files = {".config/opencode/opencode.json": json.dumps({"provider": own})}
    setup = prepared("opencode", tmp_path, files, OPENCODE_CONFIG_CONTENT=json.dumps(inline))
    here = {"baseURL": f"{URL}/v1"}

    assert json.loads(setup.variables["OPENCODE_CONFIG_CONTENT"]) == {
        "theme": "x",
        "provider": {
            "openai": {"options": {"apiKey": "k", **here}},
            "anthropic": {"options": here},
            "local": {"options": here},
            "bridge": {"options": here},
        },
    }
    assert [(up.url, up.models, up.api) for up in setup.upstreams] == [
        ("http://local/v1", ("m", "n"), "openai"),
        ("http://bridge/v1", ("o",), "anthropic"),
        ("http://own/v1", ("*",), "openai"),
    ]


def test_pi(tmp_path: Path) -> None:
    """An extension changes URLs only; providers of its own are led on to where they were."""
    own = {
        "x": {"baseUrl": "http://x/v1", "api": "openai-completions", "models": [{"id": "m"}]},
        "y": {"baseUrl": "http://y", "api": "anthropic-messages", "models": [{"id": "n"}]},
        "z": {"apiKey": "k"},
    }
    setup = prepared("pi", tmp_path, {".pi/agent/models.json": json.dumps({"providers": own})})

    assert setup.options == ("-e", "{folder}/gateway.js")
    for line in (
        f'"openai", {{ baseUrl: "{URL}/v1" }}',
        f'"x", {{ baseUrl: "{URL}/v1" }}',
        f'"y", {{ baseUrl: "{URL}" }}',
    ):
        assert f"pi.registerProvider({line});" in setup.files["gateway.js"]
    assert '"z"' not in setup.files["gateway.js"]
    assert leads(setup) == {"http://x/v1": ("m",), "http://y/v1": ("n",)}


DROID = [
    {"model": "m", "provider": "generic-chat-completion-api", "baseUrl": "http://x/v1", "apiKey": "k"},
    {"model": "n", "provider": "anthropic", "baseUrl": "http://y"},
    {"model": "o", "provider": "something else", "baseUrl": "http://z"},
]


def test_droid(tmp_path: Path) -> None:
    """Its own models again, with their keys, and other URLs; without one there is nothing to lead."""
    setup = prepared("droid", tmp_path, {".factory/settings.json": json.dumps({"customModels": DROID, "model": "m"})})
    models = [{**DROID[0], "baseUrl": f"{URL}/v1"}, {**DROID[1], "baseUrl": URL}, DROID[2]]

    assert json.loads(setup.files["settings.json"]) == {"customModels": models}
    assert setup.options == ("--settings", "{folder}/settings.json")
    assert leads(setup) == {"http://x/v1": ("m",), "http://y/v1": ("n",)}
    assert "customModels" in set_up("droid", URL, {"HOME": str(tmp_path / "none")}).note


def test_continue(tmp_path: Path) -> None:
    """A copy of its configuration; models whose API is not served here stay where they are."""
    text = """
name: mine
models:
  - {name: a, provider: openai, model: m, apiKey: k}
  - {name: b, provider: anthropic, model: n, apiBase: http://y/v1/}
  - {name: c, provider: ollama, model: o, apiBase: http://z}
"""
    setup = prepared("cn", tmp_path, {".continue/config.yaml": text})
    copy = json.loads(setup.files["config.yaml"])

    assert copy["name"] == "mine"
    assert [model.get("apiBase") for model in copy["models"]] == [f"{URL}/v1", f"{URL}/v1", "http://z"]
    assert setup.options == ("--config", "{folder}/config.yaml")
    assert leads(setup) == {"http://y/v1": ("n",)}
    assert "config.yaml has none" in set_up("cn", URL, {"HOME": str(tmp_path / "none")}).note


def test_cline(tmp_path: Path) -> None:
    """Its data folder with other URLs; where it is not configured yet, how to do that."""

    def providers(url: str) -> dict[str, Any]:
        return {
            "version": 1,
            "providers": {
                "openai-compatible": {"settings": {"apiKey": "k", "model": "m", "baseUrl": url}},
                "cline": {"settings": {}},
            },
        }

    file = ".cline/data/settings/providers.json"
    setup = prepared("cline", tmp_path, {file: json.dumps(providers("http://x/v1"))})

    assert json.loads(setup.files["settings/providers.json"]) == providers(f"{URL}/v1")
    assert (setup.options, setup.beside) == (("--data-dir", "{folder}"), tmp_path / ".cline" / "data")
    assert leads(setup) == {"http://x/v1": ("m",)}
    assert "cline auth openai-compatible" in set_up("cline", URL, {"HOME": str(tmp_path / "none")}).note


@pytest.mark.parametrize(
    ("text", "given", "found"),
    [
        pytest.param(
            "providers = 3\nmodels = {}",
            {"mistral": f"{URL}/v1"},
            {"https://api.mistral.ai/v1": ("*",)},
            id="something else is set",
        ),
        pytest.param("", {"mistral": f"{URL}/v1"}, {"https://api.mistral.ai/v1": ("*",)}, id="nothing is set"),
        pytest.param(
            'providers = [{name = "x", api_base = "http://x/v1"}]\nmodels = [{name = "m", provider = "x"}]',
            {"x": f"{URL}/v1", "mistral": f"{URL}/v1"},
            {"http://x/v1": ("m",), "https://api.mistral.ai/v1": ("*",)},
            id="a provider of its own besides",
        ),
        pytest.param(
            'providers = [{name = "mistral", api_base = "http://x/v1"}, {name = "y"}]',
            {"mistral": f"{URL}/v1"},
            {"http://x/v1": ("*",)},
            id="the usual one at another place",
        ),
    ],
)
def test_vibe(text: str, given: dict[str, str], found: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    """A variable brings its providers with other URLs."""
    setup = prepared("vibe", tmp_path, {".vibe/config.toml": text})
    providers = json.loads(setup.variables["VIBE_PROVIDERS"])

    assert {provider["name"]: provider["api_base"] for provider in providers} == given
    assert leads(setup) == found


@pytest.mark.parametrize(
    ("stored", "environment", "url", "found"),
    [
        pytest.param(None, {}, f"{URL}/v1", {}, id="nothing is set"),
        pytest.param("{", {}, f"{URL}/v1", {}, id="a file that cannot be read"),
        pytest.param({"model": "openai/m"}, {}, f"{URL}/v1", {}, id="a model"),
        pytest.param({"model": "anthropic/m"}, {}, URL, {}, id="a model whose API is another"),
        pytest.param(
            {"model": "openai/m", "base_url": "http://x/v1"},
            {},
            f"{URL}/v1",
            {"http://x/v1": ("*",)},
            id="an address of its own",
        ),
        pytest.param(
            {"model": "openai/m", "base_url": "http://x/v1"},
            {"LLM_MODEL": "anthropic/m", "LLM_BASE_URL": "http://y"},
            URL,
            {"http://y/v1": ("*",)},
            id="variables are stronger",
        ),
        pytest.param(
            {"model": "openhands/m"},
            {},
            f"{URL}/v1",
            {"https://llm-proxy.app.all-hands.dev": ("*",)},
            id="a model of OpenHands' own",
        ),
    ],
)
def test_openhands(
    stored: object, environment: dict[str, str], url: str, found: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    """A variable overrides its file, and its requests go on to where the file leads."""
    text = stored if isinstance(stored, str) else json.dumps({"llm": stored})
    files = {} if stored is None else {".openhands/agent_settings.json": text}
    setup = prepared("openhands", tmp_path, files, **environment)

    assert setup.variables["LLM_BASE_URL"] == url
    assert setup.options == ("--override-with-envs",)
    assert leads(setup) == found
    assert bool(setup.note) == (not isinstance(stored, dict))
