"""What each agent needs to be pointed at the gateway: environment variables, and where those do not do, what else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath
from urllib.parse import urlsplit

from gateway.agent_files import claude, cline, codex, continue_cli, droid, opencode, openhands, pi, vibe
from gateway.config import ANTHROPIC, OPENAI
from gateway.network import direct, is_here
from gateway.setup import Setup, Variables, led_to

Agent = Callable[[str, Variables], Setup]
"""(base URL of the gateway, environment) → what it needs besides `base_urls`, or in their place."""


def plain(url: str, environment: Variables) -> Setup:
    """One that reads the usual variables: what they named before is where its requests go on to."""
    theirs = led_to(environment.get("ANTHROPIC_BASE_URL"), *ANTHROPIC.models, api="anthropic")
    named = led_to(environment.get("OPENAI_BASE_URL") or environment.get("OPENAI_API_BASE"))
    return Setup(upstreams=(*(theirs or (ANTHROPIC,)), *named) if named else theirs)


def _copilot(url: str, environment: Variables) -> Setup:
    key = environment.get("OPENAI_API_KEY")
    given = {"COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_BASE_URL": f"{url}/v1"}
    if key and not environment.get("COPILOT_PROVIDER_API_KEY"):
        given["COPILOT_PROVIDER_API_KEY"] = key
    named = led_to(environment.get("COPILOT_PROVIDER_BASE_URL"))
    return Setup(
        variables=given,
        upstreams=named,
        note="it needs a model's name (COPILOT_MODEL) and key; the models of a GitHub login cannot be led through here",
    )


def _goose(url: str, environment: Variables) -> Setup:
    host, path = environment.get("OPENAI_HOST"), environment.get("OPENAI_BASE_PATH", "v1/chat/completions")
    named = led_to(f"{host}/{path.removesuffix('/chat/completions')}") if host else ()
    theirs = led_to(environment.get("ANTHROPIC_HOST"), *ANTHROPIC.models, api="anthropic")
    given = {"OPENAI_HOST": url, "OPENAI_BASE_PATH": "v1/chat/completions", "ANTHROPIC_HOST": url}
    return Setup(variables=given, upstreams=(*(theirs or (ANTHROPIC,)), *named) if named else theirs)


def _crush(url: str, environment: Variables) -> Setup:
    theirs = led_to(environment.get("ANTHROPIC_API_ENDPOINT"), *ANTHROPIC.models, api="anthropic")
    named = led_to(environment.get("OPENAI_API_ENDPOINT"))
    return Setup(
        variables={"OPENAI_API_ENDPOINT": f"{url}/v1", "ANTHROPIC_API_ENDPOINT": url},
        upstreams=(*(theirs or (ANTHROPIC,)), *named) if named else theirs,
        note=f'a provider of your own in crush.json needs "base_url": "{url}/v1"',
    )


def _gemini(url: str, environment: Variables) -> Setup:
    return Setup(note="it speaks the Gemini API, which is not served here: its requests do not come by")


AGENTS: Mapping[str, Agent] = {
    "codex": codex,
    "claude": claude,
    "opencode": opencode,
    "qwen": plain,
    "mini": plain,
    "aider": plain,
    "pi": pi,
    "copilot": _copilot,
    "cline": cline,
    "cn": continue_cli,
    "droid": droid,
    "vibe": vibe,
    "openhands": openhands,
    "goose": _goose,
    "crush": _crush,
    "gemini": _gemini,
}
"""By the name of the command."""
_PACKAGES: Mapping[str, str] = {
    "claude-code": "claude",
    "opencode-ai": "opencode",
    "qwen-code": "qwen",
    "mini-swe-agent": "mini",
    "aider-chat": "aider",
    "pi-coding-agent": "pi",
    "gemini-cli": "gemini",
}
"""Names under which agents are installed, where their commands have others."""
_STARTERS = frozenset(
    ("npx", "bunx", "pnpx", "npm", "bun", "pnpm", "yarn", "uvx", "uv", "pipx", "env", "nohup", "time")
)
_OF_A_PACKAGE = ("-p", "--package", "--from", "--with", "--spec")
"""Behind these a starter is told what to install, not what to start."""


def base_urls(url: str) -> dict[str, str]:
    """The variables that nearly every client of either API reads."""
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_BASE": f"{url}/v1", "ANTHROPIC_BASE_URL": url}


def name_of(word: str) -> str:
    """The name of an agent's command, from its path or its package: `@openai/codex@latest` is `codex`."""
    name = PurePath(word).name.partition("@")[0]
    return _PACKAGES.get(name, name)


def place_of(command: Sequence[str]) -> int:
    """Where the agent stands in a command: at its beginning, or behind what starts it, as in `npx @openai/codex`."""
    if PurePath(command[0]).name not in _STARTERS:
        return 0
    named = (
        place
        for place, (before, word) in enumerate(pairwise(command), 1)
        if before not in _OF_A_PACKAGE and "=" not in word and name_of(word) in AGENTS
    )
    return next(named, 0)


def set_up(command: str, url: str, environment: Variables) -> Setup:
    """What to start a command with; one that is not known gets the usual variables."""
    own = AGENTS.get(name_of(command), plain)(url, environment)
    upstreams = tuple(
        sorted(own.upstreams, key=lambda upstream: "*" in upstream.models)
    )  # the first with a match serves
    here = direct(environment) if is_here(urlsplit(url).hostname or "") else {}
    return replace(own, variables={**base_urls(url), **here, **own.variables}, upstreams=upstreams)


def elsewhere(setup: Setup, ours: str) -> tuple[str, ...]:
    """URLs to which the person's own settings lead, but for those that a gateway goes to anyway, or is itself at."""
    expected = (f"{ours}/v1", ANTHROPIC.url, OPENAI.url)
    return tuple(dict.fromkeys(upstream.url for upstream in setup.upstreams if upstream.url not in expected))
