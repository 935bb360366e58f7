"""What an agent is started with so that it finds the gateway, and where it would have gone without."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.config import Api, Upstream

Variables = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """All that one agent needs for one gateway. A person's own files are read and never written."""

    variables: Variables = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """For its command line, right behind its name; `{folder}` is where `files` are."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts of files that it is told to read, by their paths in a folder of their own."""
    beside: Path | None = None
    """A folder of the person's whose other entries have to stand beside those files."""
    note: str = ""
    """What the person has to do besides, or to know."""
    upstreams: tuple[Upstream, ...] = ()
    """Where its own settings lead, so that its requests get there although it is sent to the gateway."""


def home(environment: Variables) -> Path:
    """The person's home folder."""
    return Path(environment["HOME"]) if environment.get("HOME") else Path.home()


def read_settings(file: Path) -> dict[str, Any]:
    """What stands in a person's file of JSON or TOML; nothing where there is none that can be read."""
    try:
        text = file.read_text(encoding="utf-8")
        said = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def section(settings: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A section of settings, by the names on the way to it; empty where it is something else, or not there."""
    found: object = settings
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def led_to(url: object, *models: str, api: Api = "openai") -> tuple[Upstream, ...]:
    """The upstream that a URL of the person's leads to; without models all of them go there."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return ()
    base = url.rstrip("/")
    if api == "anthropic" and not base.endswith("/v1"):
        base += "/v1"  # its clients add the version themselves
    keys = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
    return (Upstream(name=base, url=base, models=models or ("*",), api=api, key_env=keys[api]),)
