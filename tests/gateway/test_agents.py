"""Agents: what each needs to find the gateway."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.agents import AGENTS, base_urls, elsewhere, name_of, place_of, set_up
from gateway.config import ANTHROPIC
from gateway.setup import Setup

URL = "http://127.0.0.1:1"
USUAL = {"OPENAI_BASE_URL": f"{URL}/v1", "OPENAI_API_BASE": f"{URL}/v1", "ANTHROPIC_BASE_URL": URL}


def leads(setup: Setup) -> dict[str, tuple[str, ...]]:
    """Where an agent was set to, and for which models."""
    return {upstream.url: upstream.models for upstream in setup.upstreams}


@pytest.mark.parametrize(
    ("command", "environment", "more"),
    [
        pytest.param("my-agent", {}, {}, id="an unknown agent gets the usual ones"),
        pytest.param("mini", {"OPENAI_BASE_URL": "http://other"}, {}, id="what was set before is replaced"),
        pytest.param(
            "/usr/bin/goose",
            {},
            {"OPENAI_HOST": URL, "OPENAI_BASE_PATH": "v1/chat/completions", "ANTHROPIC_HOST": URL},
            id="by the name at the end of a path",
        ),
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
        pytest.param(
            "copilot",
            {"OPENAI_API_KEY": "k", "COPILOT_PROVIDER_API_KEY": "own"},
            {"COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_BASE_URL": f"{URL}/v1"},
            id="a key that copilot has stays",
        ),
        pytest.param("openhands", {"LLM_MODEL": "openai/x"}, {"LLM_BASE_URL": f"{URL}/v1"}, id="openhands"),
        pytest.param("openhands", {"LLM_MODEL": "anthropic/x"}, {"LLM_BASE_URL": URL}, id="openhands with Claude"),
        pytest.param(
            "crush", {}, {"OPENAI_API_ENDPOINT": f"{URL}/v1", "ANTHROPIC_API_ENDPOINT": URL}, id="crush has its own"
        ),
    ],
)
def test_variables(command: str, environment: dict[str, str], more: dict[str, str]) -> None:
    """Every agent gets the usual variables, some get their own besides."""
    assert set_up(command, URL, environment).variables == USUAL | more


@pytest.mark.parametrize(
    ("command", "place"),
    [
        pytest.param("codex exec qwen", 0, id="an agent itself"),
        pytest.param("my-agent codex", 0, id="a command that starts nothing that we know of"),
        pytest.param("npx", 0, id="a starter alone"),
        pytest.param("npx cowsay", 0, id="a starter of something else"),
        pytest.param("env A=/bin/codex sh -c x", 0, id="a variable that ends like an agent"),
        pytest.param("uvx --from openhands cowsay", 0, id="a package of which something else is started"),
        pytest.param("npx -y @openai/codex exec codex", 2, id="a package with a scope"),
        pytest.param("/usr/bin/npx @anthropic-ai/claude-code@2.1.197 -p x", 1, id="a package with a version"),
        pytest.param("uvx --from openhands openhands -t x", 3, id="a command of a package"),
        pytest.param("npm exec -- opencode-ai run", 3, id="a starter in two words"),
        pytest.param("env A=1 /opt/bin/qwen -p x", 2, id="a path behind a variable"),
    ],
)
def test_an_agent_is_found_behind_what_starts_it(command: str, place: int) -> None:
    """Its own name tells what it needs; a word that only looks like one does not."""
    assert place_of(command.split()) == place


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("", ""),
        ("claude", "claude"),
        ("/usr/bin/codex", "codex"),
        ("@openai/codex@latest", "codex"),
        ("@qwen-code/qwen-code", "qwen"),
        ("opencode-ai@1.18.33", "opencode"),
    ],
)
def test_names(word: str, name: str) -> None:
    """A command is known by its path and by its package, too."""
    assert name_of(word) == name
    assert not name or name in AGENTS


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://gateway.test:1", None),
        (URL, "a.test,127.0.0.1,localhost,::1"),
        ("http://localhost:1", "a.test,127.0.0.1,localhost,::1"),
    ],
    ids=["a gateway elsewhere", "one here", "one here by name"],
)
def test_an_agent_behind_a_proxy_reaches_a_gateway_here_without_it(url: str, told: str | None) -> None:
    """The proxy could not; to whatever else it leads it still does."""
    variables = set_up("mini", url, {"HTTPS_PROXY": "http://proxy:1", "NO_PROXY": "a.test"}).variables

    assert (variables.get("NO_PROXY"), variables.get("no_proxy")) == (told, told)
    assert "HTTPS_PROXY" not in variables


@pytest.mark.parametrize(
    ("command", "environment", "found"),
    [
        pytest.param("qwen", {}, {}, id="nothing was set"),
        pytest.param("qwen", {"OPENAI_BASE_URL": "not a url"}, {}, id="something else was set"),
        pytest.param(
            "qwen",
            {"OPENAI_BASE_URL": "http://own/v1"},
            {ANTHROPIC.url: ("claude*",), "http://own/v1": ("*",)},
            id="one URL for OpenAI's API leaves Anthropic's models where they are",
        ),
        pytest.param(
            "aider",
            {"OPENAI_API_BASE": "http://own/v1", "ANTHROPIC_BASE_URL": "http://their"},
            {"http://their/v1": ("claude*",), "http://own/v1": ("*",)},
            id="one for each",
        ),
        pytest.param("aider", {"ANTHROPIC_BASE_URL": "http://their"}, {"http://their/v1": ("claude*",)}, id="theirs"),
        pytest.param(
            "copilot", {"COPILOT_PROVIDER_BASE_URL": "http://own/v1"}, {"http://own/v1": ("*",)}, id="copilot"
        ),
        pytest.param("openhands", {"LLM_BASE_URL": "http://own"}, {"http://own": ("*",)}, id="openhands"),
        pytest.param(
            "goose",
            {"OPENAI_HOST": "http://own", "OPENAI_BASE_PATH": "api/v3/chat/completions"},
            {ANTHROPIC.url: ("claude*",), "http://own/api/v3": ("*",)},
            id="goose has host and path",
        ),
        pytest.param(
            "crush", {"ANTHROPIC_API_ENDPOINT": "http://their"}, {"http://their/v1": ("claude*",)}, id="crush"
        ),
    ],
)
def test_requests_go_on_to_where_the_agent_was_set(
    command: str, environment: dict[str, str], found: dict[str, tuple[str, ...]]
) -> None:
    """A person who uses another provider still does."""
    assert leads(set_up(command, URL, environment)) == found


def test_every_agent_is_shown_the_way(tmp_path: Path) -> None:
    """By a variable or an option of its own, a file, or words; those that read the usual variables need nothing else."""
    setups = {name: set_up(name, URL, {"HOME": str(tmp_path)}) for name in AGENTS}
    usual = {name for name, s in setups.items() if not (s.options or s.files or s.note or s.variables != USUAL)}

    assert usual == {"qwen", "mini", "aider", "claude"}
    assert base_urls(URL) == USUAL


def test_what_a_gateway_does_anyway_is_not_elsewhere() -> None:
    """Neither the default upstreams, nor the gateway itself after its variables were set for the whole shell."""
    environment = {"OPENAI_BASE_URL": f"{URL}/v1", "ANTHROPIC_BASE_URL": URL}

    assert elsewhere(set_up("qwen", URL, environment), URL) == ()
    assert elsewhere(set_up("qwen", URL, environment), "http://other") == (f"{URL}/v1",)
