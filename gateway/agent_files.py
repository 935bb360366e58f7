"""Agents that have settings of their own in files: read, never written, and overridden where the agent lets one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gateway.config import ANTHROPIC, Api, Upstream, read_yaml
from gateway.setup import Setup, Variables, home, led_to, read_settings, section

CHATGPT = "https://chatgpt.com/backend-api/codex"
"""Where Codex sends its requests when it is logged in with ChatGPT."""
ALL_HANDS = "https://llm-proxy.app.all-hands.dev"
"""Where OpenHands sends requests for models of its own."""
MISTRAL = {
    "name": "mistral",
    "api_base": "https://api.mistral.ai/v1",
    "api_key_env_var": "MISTRAL_API_KEY",
    "backend": "mistral",
}


def codex(url: str, environment: Variables) -> Setup:
    """It reads no variable, but an option overrides its file. Its own provider keeps login, key and WebSocket."""
    folder = Path(environment.get("CODEX_HOME") or home(environment) / ".codex")
    settings = read_settings(folder / "config.toml")
    chosen = settings | section(settings, "profiles", str(settings.get("profile", "")))
    name = str(chosen.get("model_provider", "openai"))
    provider = section(settings, "model_providers", name)
    if provider.get("base_url"):
        key, named = f"model_providers.{name}.base_url", led_to(provider["base_url"])
    else:
        key, named = "openai_base_url", led_to(settings.get("openai_base_url"))
        if not named and _has_chatgpt(folder, environment):
            named = led_to(CHATGPT)
    return Setup(options=("-c", f'{key}="{url}/v1"'), upstreams=named)


def _has_chatgpt(folder: Path, environment: Variables) -> bool:
    login = read_settings(folder / "auth.json")
    if environment.get("CODEX_API_KEY"):
        return False
    return login.get("auth_mode") == "chatgpt" or bool(login.get("tokens") and not login.get("OPENAI_API_KEY"))


def claude(url: str, environment: Variables) -> Setup:
    """A variable does, unless its settings set the same one: those are stronger, and an option stronger still."""
    folder = Path(environment.get("CLAUDE_CONFIG_DIR") or home(environment) / ".claude")
    inner = section(read_settings(folder / "settings.json"), "env")
    given = {"ANTHROPIC_BASE_URL": url}
    elsewhere = [name for name in ("BEDROCK", "VERTEX", "FOUNDRY") if environment.get(f"CLAUDE_CODE_USE_{name}")]
    return Setup(
        variables=given,
        options=("--settings", json.dumps({"env": given})) if "ANTHROPIC_BASE_URL" in inner else (),
        upstreams=led_to(inner.get("ANTHROPIC_BASE_URL") or environment.get("ANTHROPIC_BASE_URL"), api="anthropic"),
        note=f"unset CLAUDE_CODE_USE_{elsewhere[0]}: with it nothing comes by here" if elsewhere else "",
    )


def opencode(url: str, environment: Variables) -> Setup:
    """Inline settings are merged over its files; providers of the person's own that have a URL are led here, too."""
    try:
        inline = json.loads(environment.get("OPENCODE_CONFIG_CONTENT") or "{}")
        given = {**inline.get("provider", {})}
    except (ValueError, AttributeError, TypeError):
        return Setup(note="OPENCODE_CONFIG_CONTENT cannot be read, and is left alone")
    folder = Path(environment.get("XDG_CONFIG_HOME") or home(environment) / ".config") / "opencode"
    own = section(read_settings(folder / "opencode.json"), "provider")
    named = list[Upstream]()
    for name in {"openai": 1, "anthropic": 1, **own, **given}:
        provider = {**section(own, name), **section(given, name)}
        options = {**section(own, name, "options"), **section(given, name, "options")}
        built_in, api = name in ("openai", "anthropic"), _api(str(provider.get("npm", name)).removeprefix("@ai-sdk/"))
        if options.get("baseURL"):
            patterns = ANTHROPIC.models if name == "anthropic" else () if built_in else section(provider, "models")
            named += led_to(options["baseURL"], *patterns, api=api)
        if options.get("baseURL") or built_in:
            inner = {**section(given, name, "options"), "baseURL": f"{url}/v1"}
            given[name] = {**section(given, name), "options": inner}
    variables = {"OPENCODE_CONFIG_CONTENT": json.dumps({**inline, "provider": given})}
    return Setup(variables=variables, upstreams=tuple(named))


def pi(url: str, environment: Variables) -> Setup:
    """An extension changes the URL of a provider and nothing else of it."""
    folder = Path(environment.get("PI_CODING_AGENT_DIR") or home(environment) / ".pi" / "agent")
    own = section(read_settings(folder / "models.json"), "providers")
    bases = {"openai": f"{url}/v1", "anthropic": url}
    named = list[Upstream]()
    for name in own:
        provider = section(own, name)
        api = _api(provider.get("api", name))
        named += (upstreams := led_to(provider.get("baseUrl"), *_names(provider.get("models"), "id"), api=api))
        if upstreams:
            bases[name] = url if api == "anthropic" else f"{url}/v1"
    calls = "".join(
        f"  pi.registerProvider({json.dumps(n)}, {{ baseUrl: {json.dumps(b)} }});\n" for n, b in bases.items()
    )
    script = f"export default function (pi) {{\n{calls}}}\n"
    return Setup(files={"gateway.js": script}, options=("-e", "{folder}/gateway.js"), upstreams=tuple(named))


def droid(url: str, environment: Variables) -> Setup:
    """A settings file for the run brings its custom models again, with other URLs."""
    own = read_settings(home(environment) / ".factory" / "settings.json").get("customModels")
    bases = {"generic-chat-completion-api": f"{url}/v1", "openai": f"{url}/v1", "anthropic": url}
    models, named = _rerouted(own, "baseUrl", bases)
    if not named:
        return Setup(note="it reaches models of your own only: put one in ~/.factory/settings.json under customModels")
    settings = json.dumps({"customModels": models}, indent=2)
    return Setup(files={"settings.json": settings}, options=("--settings", "{folder}/settings.json"), upstreams=named)


def continue_cli(url: str, environment: Variables) -> Setup:
    """A copy of its configuration, with other URLs."""
    file = Path(environment.get("CONTINUE_GLOBAL_DIR") or home(environment) / ".continue") / "config.yaml"
    own = read_yaml(file)
    models, named = _rerouted(own.get("models"), "apiBase", {"openai": f"{url}/v1", "anthropic": f"{url}/v1"})
    if not models:
        return Setup(note=f"it needs a configuration with a model of provider openai or anthropic: {file} has none")
    copy = json.dumps({**own, "models": models}, indent=2)
    return Setup(files={"config.yaml": copy}, options=("--config", "{folder}/config.yaml"), upstreams=named)


def _rerouted(models: object, key: str, bases: Variables) -> tuple[list[Any], tuple[Upstream, ...]]:
    """Models of a file with the URL of the gateway, by their providers, and where those that had one led."""
    out, named = [], list[Upstream]()
    for model in models if isinstance(models, list) else ():
        provider = str(model.get("provider")) if isinstance(model, dict) else ""
        if provider in bases:
            named += led_to(model.get(key), *_names([model], "model"), api=_api(provider))
            model = {**model, key: bases[provider]}
        out.append(model)
    return out if any(isinstance(m, dict) and m.get(key) in bases.values() for m in out) else [], tuple(named)


def cline(url: str, environment: Variables) -> Setup:
    """Its data folder again, with links to all that is in it but the file with the URLs."""
    folder = Path(environment.get("CLINE_DATA_DIR") or home(environment) / ".cline" / "data")
    own = read_settings(folder / "settings" / "providers.json")
    named = list[Upstream]()
    for name in section(own, "providers"):
        settings = section(own, "providers", name, "settings")
        named += (upstreams := led_to(settings.get("baseUrl"), *_names([settings], "model"), api=_api(name)))
        if upstreams:
            settings["baseUrl"] = url if _api(name) == "anthropic" else f"{url}/v1"
    if not named:
        return Setup(note=f"run once: cline auth openai-compatible -k KEY -m MODEL -b {url}/v1")
    return Setup(
        files={"settings/providers.json": json.dumps(own, indent=2)},
        beside=folder,
        options=("--data-dir", "{folder}"),
        upstreams=tuple(named),
    )


def openhands(url: str, environment: Variables) -> Setup:
    """An option lets variables override its file; the model stays that of the file where no variable names one."""
    folder = Path(environment.get("OPENHANDS_PERSISTENCE_DIR") or home(environment) / ".openhands")
    stored = section(read_settings(folder / "agent_settings.json"), "llm")
    model = environment.get("LLM_MODEL") or str(stored.get("model") or "")
    theirs = model.startswith(("anthropic/", "claude"))
    base = (
        environment.get("LLM_BASE_URL")
        or stored.get("base_url")
        or (ALL_HANDS if model.startswith("openhands/") else None)
    )
    return Setup(
        variables={"LLM_BASE_URL": url if theirs else f"{url}/v1"},
        options=("--override-with-envs",),
        upstreams=led_to(base, api="anthropic" if theirs else "openai"),
        note="" if model else "it needs a model and a key: set LLM_MODEL and LLM_API_KEY",
    )


def vibe(url: str, environment: Variables) -> Setup:
    """A variable brings a provider again, with another URL: merged by its name over those in its file."""
    folder = Path(environment.get("VIBE_HOME") or home(environment) / ".vibe")
    settings = read_settings(folder / "config.toml")
    own = [provider for provider in _sections(settings.get("providers")) if provider.get("api_base")]
    providers = own if any(p.get("name") == "mistral" for p in own) else [*own, MISTRAL]
    models = _sections(settings.get("models"))
    named = list[Upstream]()
    for provider in providers:
        its = _names([model for model in models if model.get("provider") == provider.get("name")], "name")
        if its or provider is providers[-1]:
            named += led_to(provider["api_base"], *its)
    given = [{**provider, "api_base": f"{url}/v1"} for provider in providers]
    return Setup(variables={"VIBE_PROVIDERS": json.dumps(given)}, upstreams=tuple(named))


def _api(provider: object) -> Api:
    return "anthropic" if str(provider).startswith("anthropic") else "openai"


def _names(models: object, key: str) -> tuple[str, ...]:
    return tuple(str(model[key]) for model in _sections(models) if model.get(key))


def _sections(listed: object) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
