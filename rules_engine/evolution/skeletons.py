"""What is the same from run to run: the family of a command, and the shape of a line with its variable parts masked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from rules_engine.seeds import COMMAND
from rules_engine.shell import pipelines

Shape = tuple[str, ...]
"""The first tokens of a line, each as it is or as a mask."""

DEPTH = 3
"""Tokens of a line that its longest shape has."""

NUMBER, NAME = "<number>", "<name>"

_ANY = r"[^ \t\r\f]"
_SIGNS = r"[^ \t\r\fA-Za-z0-9]"
_NUMERIC = rf"{_SIGNS}*[0-9]{_ANY}*"
_NAMED = rf"{_SIGNS}*(?:[_/\\@]{_SIGNS}*[A-Za-z]|[A-Za-z]{_ANY}*(?:[_/\\@0-9]|\.[A-Za-z]|(?-i:[a-z][A-Z]))){_ANY}*"
_MASKS = {NUMBER: _NUMERIC, NAME: _NAMED}
_TOKEN = re.compile(f"{_ANY}+")
_NUMBER = re.compile(_NUMERIC)
_NAME = re.compile(_NAMED)
_DRAWN = re.compile(r"([^\w\s])\1{3,}")
_LONGEST = 24
"""Characters of a token that may be a literal: a longer one is content, and the shape ends before it."""
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")

_WORD = re.compile(r"[a-z][a-z-]{1,20}")
_VERSION = re.compile(r"(?<=[a-z])[\d.]+$")
_KEY = re.compile(r"\{\"(\w{1,40})\":")
_OPTIONS = r"\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*"
_ACTING = """apt apt-get aptitude dnf yum apk brew conda mamba pip pipx uv poetry gem bundle composer npm pnpm yarn bun deno npx
    bunx cargo go dotnet gradle gradlew mvn mvnw sbt rake make just task mise git docker podman kubectl helm terraform gh"""
ACTING = frozenset(_ACTING.split())
"""Programs whose first word says what they do."""


def families(command: str) -> tuple[str, ...]:
    """What a command runs, each as a program with the word that says what it does: "git clone", "python -m pytest"."""
    if key := _KEY.match(command):
        return (f'{{"{key[1]}"',)
    return tuple(dict.fromkeys(_family(stages[0]) for stages in pipelines(command)))


def _family(words: Sequence[str]) -> str:
    name = _VERSION.sub("", words[0])
    if name == "python" and words[1:2] == ("-m",) and len(words) > 2:
        return f"python -m {words[2]}"
    return f"{name} {_action(words)}".rstrip() if name in ACTING else name


def _action(words: Sequence[str]) -> str:
    # An option in upper case has an argument: `git -C lib clone`.
    own = (word for before, word in pairwise(words) if not (before[:1] == "-" and before[1:].isupper()))
    return next((word for word in own if _WORD.fullmatch(word)), "")


def trigger(*names: str) -> str:
    """The pattern that finds the commands of these families; arguments in JSON by their first key."""
    keys = [f"^{re.escape(name)}:" for name in names if name.startswith("{")]
    programs = [_program(name) for name in names if not name.startswith("{")]
    if programs:
        keys.append(COMMAND + f"(?:{'|'.join(programs)})" + r"(?:[\s;&|)]|$)")
    return "|".join(keys)


def _program(name: str) -> str:
    program, *rest = (re.escape(word) for word in name.split(" "))
    return program + r"[\d.]*" + (_OPTIONS + r"\s+".join(rest) if rest else "")


def skeleton(line: str) -> Shape:
    """The first tokens of a line; numbers and what looks like a name are masked, plain words and signs stay."""
    masked = [_mask(token[0]) for token, _ in zip(_TOKEN.finditer(line), range(DEPTH), strict=False)]
    return tuple(takewhile(bool, masked))


def pattern(shape: Shape) -> str:
    """The RE2 pattern that finds the lines of a shape."""
    return r"^\s*" + r"\s+".join(_MASKS.get(token) or _literal(token) for token in shape) + r"(?:\s|$)"


def _mask(token: str) -> str:
    if _NUMBER.fullmatch(token):
        return NUMBER
    if _NAME.fullmatch(token):
        return NAME
    drawn = _DRAWN.sub(r"\1\1\1\1", token)
    return drawn.translate(_LOWER) if len(drawn) <= _LONGEST else ""


def _literal(token: str) -> str:
    return re.sub(r"(\\?[^\w\s\\])\1{3}", r"\1{4,}", re.escape(token))
