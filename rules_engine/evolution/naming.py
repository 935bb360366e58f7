"""What a rule's trigger names, and whether a task has anything to do with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

_EVERYDAY = """
apt apt-get bash brew bun bundle bunx cabal cargo cat cc clang cmake composer configure ctest curl deno diff docker
dotnet dune echo eslint find flake8 g++ gcc gem git gmake go gpg gradle gradlew grep hatch head java javac jest
kubectl less ls make manage.py mix mocha mvn mvnw mypy ninja node nox npm npx nvm openssl pdm perl php phpunit pip
pip3 pipenv pnpm poetry prettier ps pytest python python3 rails rake rg rspec ruby ruff rustc rustup sbt sed setup.py
ssh-keygen swift tail tar tee tox tree ts-node tsc tsx unittest unzip uv vite vitest webpack wget yarn zig zip
"""
EVERYDAY = frozenset(_EVERYDAY.split())
"""Programs that a session may run whatever its task says."""

_WRAPPERS = frozenset(
    ["sudo", "doas", "env", "time", "timeout", "nice", "nohup", "command", "exec", "then", "do", "else", "sh", "bash"]
)

_MARKS: Mapping[str, str] = {
    "cargo.toml": "cargo rustc",
    "go.mod": "go",
    "package.json": "npm npx node bun bunx yarn pnpm deno tsc jest vitest eslint mocha prettier",
    "pom.xml": "mvn mvnw java javac",
    "build.gradle": "gradle gradlew java javac",
    "gemfile": "ruby rake bundle gem rspec",
    "composer.json": "php composer",
    "package.swift": "swift",
}
"""Files that say in which language a repository is, and the programs that belong to it."""

_HOMES: Mapping[str, frozenset[str]] = {
    name: frozenset(mark for mark, programs in _MARKS.items() if name in programs.split())
    for name in " ".join(_MARKS.values()).split()
}
"""The files by program."""

_SYNTAX = re.compile(
    r"\\([^A-Za-z0-9])|\\[pP]\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?[^:)]*[:)]|\{[\d,]*\}|[?*+|()^$.]",
    re.DOTALL,
)
_NAME = re.compile(r"\w[\w.+-]*[\w+]")
_FILE = re.compile(r"\w\.\w")
_PART = re.compile(r"[a-z0-9]{2,}")
_PLAIN = frozenset(["py", "js", "ts", "txt", "md", "json", "log", "sh", "com", "org", "io", "the", "to", "in"])
"""Parts of names that say nothing."""


def names(pattern: str) -> tuple[str, ...]:
    """The programs, words and files that a trigger spells out, in order, without what any command may begin with."""
    spelled = _SYNTAX.sub(lambda found: found[1] or " ", pattern).lower()
    found = dict.fromkeys(name for name in _NAME.findall(spelled) if any(c.isalpha() for c in name))
    return tuple(name for name in found if name not in _WRAPPERS)


def words(texts: Iterable[str]) -> frozenset[str]:
    """The words of a task, and the parts that they are made of."""
    text = "\n".join(set("\n".join(texts).lower().split()))  # each once: most stand there many times
    whole = {word.strip(".-") for word in re.findall(r"[\w.+-]+", text)}
    return frozenset(whole.union(_parts(text)) - {""})


def foreign(named: tuple[str, ...], task: AbstractSet[str], marks: Collection[str]) -> str:
    """Why a rule whose trigger names these has no business in a task; "" where it has, or where nobody can say."""
    own = [name for name in named if name not in EVERYDAY]
    if not task.isdisjoint(own) or any(
        part in task for name in own for part in _PART.findall(name) if part not in _PLAIN
    ):
        return ""
    # A file by its name is one task's own, even where an everyday program reads it.
    files = [name for name in named if _FILE.search(name) and name not in EVERYDAY]
    programs = [name for name in named if name in EVERYDAY]
    if not programs or files:
        return _absent(files[0] if programs else named[0]) if named else ""
    here = sorted({mark for mark in map(str.lower, marks) if mark in _MARKS})
    return next((reason for name in programs if here and (reason := _misplaced(name, task, here))), "")


def _absent(name: str) -> str:
    return f"trigger names `{name}`: nothing of it in this task"


def _misplaced(name: str, task: Collection[str], here: Sequence[str]) -> str:
    homes = _HOMES.get(name)
    if not homes or name in task or not homes.isdisjoint(here):
        return ""
    return f"trigger names `{name}`: this repository has {', '.join(here)}"


def _parts(text: str) -> frozenset[str]:
    return frozenset(_PART.findall(text)) - _PLAIN
