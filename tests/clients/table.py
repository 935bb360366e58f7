"""The agents that the tests run: a row each. What leads one to the gateway is what `run` gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

PATIENCE = 120.0


@dataclass(frozen=True, kw_only=True)
class Client:
    """One agent in one of its ways to speak."""

    name: str
    """Of its command."""
    package: str
    binary: str
    """Where in `node_modules` its program is, whatever the platform."""
    path: str
    """Of the API that it speaks."""
    arguments: tuple[str, ...]
    """Behind them comes the task."""
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """In its home."""
    websocket: bool = False
    greeted: int = 0
    """Answers that stand in its first request though no model gave them."""

    def program(self, modules: Path) -> Path:
        """The program itself, whatever the platform."""
        return min(modules.glob(self.binary))

    @property
    def version(self) -> str:
        """As it is pinned."""
        pinned = json.loads((Path(__file__).parent / "package.json").read_text())["dependencies"]
        return str(pinned[self.package])


CODEX = Client(
    name="codex",
    package="@openai/codex",
    binary="@openai/codex-*/vendor/*/bin/codex",
    path="/v1/responses",
    arguments=("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.5"),
    variables={"CODEX_API_KEY": "sk-none", "OPENAI_API_KEY": "sk-none"},
    files={".codex/config.toml": "check_for_update_on_startup = false\n[analytics]\nenabled = false\n"},
    websocket=True,
)
CODEX_SCRIPTS = replace(CODEX, arguments=(*CODEX.arguments[:-1], "gpt-6.2-sol"))
"""Its newer models have one tool, which runs a script that calls the others."""
ELSEWHERE = "http://127.0.0.1:9/v1"
"""Where the person's own provider is."""
CODEX_ELSEWHERE = replace(
    CODEX,
    variables={"OWN_KEY": "sk-own"},
    files={
        ".codex/config.toml": 'model_provider = "own"\n[model_providers.own]\nname = "Own"\n'
        f'base_url = "{ELSEWHERE}"\nenv_key = "OWN_KEY"\nwire_api = "responses"\n'
    },
    websocket=False,
)
CLAUDE = Client(
    name="claude",
    package="@anthropic-ai/claude-code",
    binary="@anthropic-ai/claude-code-*/claude",
    path="/v1/messages",
    arguments=("--dangerously-skip-permissions", "--output-format", "json", "--max-turns", "30", "-p"),
    variables={
        "ANTHROPIC_API_KEY": "sk-none",
        "ANTHROPIC_MODEL": "claude-opus-5",
        "ANTHROPIC_SMALL_FAST_MODEL": "claude-haiku-5",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    },
)
_OPENCODE = {"autoupdate": False, "permission": "allow"}
_OWN = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": ELSEWHERE}, "models": {"gpt-5.1": {}}}
OPENCODE = Client(
    name="opencode",
    package="opencode-ai",
    binary="opencode-*/bin/opencode",
    path="/v1/chat/completions",
    arguments=("run", "-m", "own/gpt-5.1"),
    variables={"OPENCODE_DISABLE_MODELS_FETCH": "1"},
    files={".config/opencode/opencode.json": json.dumps({**_OPENCODE, "provider": {"own": _OWN}})},
)
OPENCODE_RESPONSES = Client(
    name="opencode",
    package="opencode-ai",
    binary="opencode-*/bin/opencode",
    path="/v1/responses",
    arguments=("run", "-m", "openai/gpt-5.1"),
    variables={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENAI_API_KEY": "sk-none"},
    files={".config/opencode/opencode.json": json.dumps(_OPENCODE)},
)
_QWEN = {"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False}}
QWEN = Client(
    name="qwen",
    package="@qwen-code/qwen-code",
    binary="@qwen-code/qwen-code/cli.js",
    path="/v1/chat/completions",
    arguments=("--approval-mode", "yolo", "-p"),
    variables={"OPENAI_API_KEY": "none", "OPENAI_MODEL": "gpt-5.1"},
    files={".qwen/settings.json": json.dumps(_QWEN)},
    greeted=1,
)
CLIENTS: Mapping[str, Client] = {
    "codex over its WebSocket": CODEX,
    "codex, whose scripts call tools": CODEX_SCRIPTS,
    "claude": CLAUDE,
    "opencode, chat": OPENCODE,
    "opencode, Responses": OPENCODE_RESPONSES,
    "qwen": QWEN,
}
