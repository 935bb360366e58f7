"""Finds in a pattern what belongs to one task: secrets, paths, addresses, file names, long numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rules_engine.shell import pipelines

_PART = re.compile(
    r"(?P<break>\\[A-Za-z]|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[^:)]*[:)]|[.\w]?[*+?]\??|\{\d+(?:,\d*)?\}|[()|^$\s])"
    r"|\\(?P<escaped>.)|(?P<plain>.)"
)
_PRIVATE = re.compile(
    r"(?i)\[?redacted:|[\w.+-]+@[\w-]+\.\w|\d{1,3}(?:\.\d{1,3}){3}|\d{5}|[0-9a-f]{8}-[0-9a-f]{4}"
    r"|(?:^|[^a-z0-9])(?=[a-f]*\d)[0-9a-f]{12}|/(?:home|users|root)/\w|BEGIN [A-Z ]*KEY"
)
"""Literals that are somebody's, whatever the task."""
_NAME = re.compile(r"[A-Za-z0-9][\w-]*(?:\.[\w-]+)*\.[a-z0-9]*[a-z][a-z0-9]*", re.I)
_PATH = re.compile(r"/?(?:[\w.-]+/)+[\w.-]*|/[\w.-]+")
_COMPOUND = re.compile(r"[A-Za-z0-9]+_\w*[A-Za-z0-9]|(?=\w*[a-z])(?=\w*\d\w*\d)\w{8,}", re.I)
_EVERYBODYS = re.compile(
    r"(?:setup|manage|conftest)\.py|package(?:-lock)?\.json|tsconfig\.json|requirements\.txt|pyproject\.toml|cargo\.(?:toml|lock)"
    r"|cmakelists\.txt|go\.(?:mod|sum)|pom\.xml|build\.gradle|docker-compose\.ya?ml|node_modules/?|site-packages/?|x86_64"
    r"|node\.js|/?(?:usr|bin|sbin|dev)/.*",
    re.I,
)
"""Names that stand in most projects, and say nothing of one."""


def find_literal(pattern: str, context: Sequence[str]) -> str | None:
    """A literal in `pattern` that is private, or is the name of something in `context` (a task, a command)."""
    if match := _PRIVATE.search(pattern.replace("\\", "")):
        return match.group()
    programs = {words[0] for text in context for stages in pipelines(text) for words in stages}
    for literal in _literals(pattern):
        for form in (_PATH, _NAME, _COMPOUND):
            for match in form.finditer(literal):
                name = match.group().strip("/")
                if name.lower() in programs or _EVERYBODYS.fullmatch(match.group()):
                    continue
                if name and any(_stands(name, text) for text in context):
                    return match.group()
    return None


def _stands(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I) is not None


def _literals(pattern: str) -> Iterator[str]:
    """Runs of characters that stand for themselves; a dot may be meant as one."""
    run = ""
    for part in _PART.finditer(pattern):
        if part.lastgroup != "break":
            run += part.group(part.lastgroup or 0)
        elif run:
            yield run
            run = ""
    if run:
        yield run
