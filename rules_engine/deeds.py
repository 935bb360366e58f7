"""Commands that are run for what they do, and lines that say what happened when: what comes by itself, and nobody asked for."""

from __future__ import annotations

from collections.abc import Sequence

import re2

from rules_engine.scan import compile_lines, encode, find_lines
from rules_engine.seeds import COMMAND

_ACTORS = (
    "p?np[mx]|yarn|bunx?|cargo|go|dotnet|pip3?|uv|poetry|gem|bundle|composer|apt|apt-get|dnf|yum|apk|brew|conda"
    "|docker|podman|kubectl|helm|terraform|just|task|mise|rake|python3? -m"
)
_ACTIONS = (
    "add|apply|build|check|ci|compile|create|deploy|download|fetch|install|lint|migrate|publish|pull|push"
    "|restore|run|start|sync|test|unittest|up|update|upgrade|vet"
)
_ALONE = (
    r"make|ninja|cmake|ctest|meson|bazel|gradlew?|mvnw?|sbt|gcc|g\+\+|clang(?:\+\+)?|javac|rustc|tsc|pytest|jest|vitest|mocha"
    "|rspec|phpunit|playwright|webpack|vite|esbuild|eslint|tox|nox|rsync|wget"
)
DEEDS = COMMAND + rf"(?:(?:{_ACTORS})\s+(?:[^\s;&|]+\s+){{0,3}}?(?:{_ACTIONS}|{_ALONE})|{_ALONE})(?:[\s;&|)\"']|$)"
"""Builds, tests, installations, transfers; a pattern to be searched in a command. Not what prints what was asked for."""

SCRIPTS = (
    r"(?:^|[;&|(\n])\s*(?:\w+=\S*\s+)*(?:(?:sudo|time|nohup|timeout\s+\S+)\s+)*(?:\./\S+|(?:ba|z)?sh\s+[\w./-]+"
    r"|(?:python[\d.]*|node|ruby|perl|php|rscript|julia|java|torchrun|bun|tsx)\s+(?:-[\w-]+(?:=\S+)?\s+)*[\w./-]+\.\w+)"
)
"""Programs of the project itself; code that is written on the command line prints what it is written for."""

STAMPS = (
    r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d",
    r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ",
    r"^\S+ - \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:",
)
"""How lines of logs begin: with a time, or an address and a time."""

_DEED = re2.compile(f"(?i){DEEDS}")
_SCRIPT = re2.compile(f"(?i){SCRIPTS}")
_CHECK = re2.compile(r"(?i)lint|\b(?:check|clippy|vet|typecheck|flake8|ruff|mypy|pyright|audit|biome|shellcheck)\b")
_STAMPED = compile_lines(*STAMPS, flags="m")


def is_deed(command: str) -> bool:
    """Whether something in `command` is run for what it does, and nothing for what it finds."""
    return bool(_DEED.search(command)) and not _CHECK.search(command)


def is_script(command: str) -> bool:
    """Whether a program of the project runs in `command`."""
    return bool(_SCRIPT.search(command)) and not _CHECK.search(command)


def stamped(lines: Sequence[str]) -> frozenset[int]:
    """Positions of the lines of a log."""
    return frozenset(find_lines(_STAMPED, encode(lines)))
