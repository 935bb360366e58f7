"""Reads a shell command as far as judging its output needs: pipelines, stages and words, wrappers taken off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

Words = tuple[str, ...]
"""One program call: its bare name in lower case, then its arguments without quotes."""

_LIMIT = 4000
_TOKEN = re.compile(
    r"(?s)(?P<space>[ \t\r]+|\\\n|#[^\n]*)|(?P<redirect>[012&]?>>?(?:&[\d-])?|<<<?-?|<)"
    r"|(?P<end>\|\|?&?|&&?|;+|[\n()`])"
    r"|(?P<word>(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[^\s'\"\\|&;<>()`])+|.)"
)
_QUOTED = re.compile(r"(?s)'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)")
_HEREDOC = re.compile(r"(?:^|[^<])<<-?[ \t]*['\"]?(\w+)")
_SKIPPED = re.compile(r"^(?:-|\d+[smhd]?$)")
_ASSIGNMENT = re.compile(r"^\w+=")
_PREFIXES = frozenset(
    (
        "sudo",
        "doas",
        "env",
        "time",
        "timeout",
        "nice",
        "ionice",
        "nohup",
        "stdbuf",
        "command",
        "builtin",
        "exec",
        "eval",
    )
)
_RESERVED = frozenset(("then", "do", "else", "if", "while", "until", "!", "{"))
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd"))


def pipelines(command: str) -> Iterator[tuple[Words, ...]]:
    """Each pipeline of `command`, as the stages whose output may be seen; commands given to a shell are opened."""
    stages: list[Words] = []
    for words, end in _calls(_without_heredocs(command)[:_LIMIT]):
        script = _script(words)
        if script:
            yield from pipelines(script)
        elif words:
            stages.append(words)
        if end not in ("|", "|&") and stages:
            yield tuple(stages)
            stages = []


def _calls(command: str) -> Iterator[tuple[Words, str]]:
    words: list[str] = []
    hidden = skip = False
    for token in _TOKEN.finditer(command):
        kind, text = token.lastgroup, token.group()
        if kind == "end":
            yield (() if hidden else _bare(words)), text
            words, hidden, skip = [], False, False
        elif kind == "redirect":
            hidden = hidden or text in (">", ">>", "1>", "1>>", "&>", "&>>")
            skip = "&" not in text[1:]
        elif kind == "word" and not skip:
            words.append(_unquoted(text))
        elif kind == "word":
            skip = False
    yield (() if hidden else _bare(words)), "\n"


def _bare(words: Sequence[str]) -> Words:
    at = 0
    while at < len(words) and (words[at] in _PREFIXES or words[at] in _RESERVED or _ASSIGNMENT.match(words[at])):
        prefix = words[at] in _PREFIXES
        at += 1
        while prefix and at < len(words) and _SKIPPED.match(words[at]):
            at += 1
    name = words[at].rstrip("/").rsplit("/", 1)[-1].lower().removesuffix(".exe") if at < len(words) else ""
    return (name, *words[at + 1 :]) if name else ()


def _script(words: Words) -> str:
    if words and words[0] in _SHELLS:
        for flag, script in pairwise(words):
            if flag.lower() in ("-c", "-lc", "-ic", "-lic", "-ec", "/c", "-command"):
                return script
    return ""


def _unquoted(word: str) -> str:
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    return str(_QUOTED.sub(lambda m: m.group(1) or m.group(2) or m.group(3) or "", word))


def _without_heredocs(command: str) -> str:
    at = 0
    while start := _HEREDOC.search(command, at):
        body = command.find("\n", start.end())
        end = command.find(f"\n{start.group(1)}", body) if body >= 0 else -1
        at = start.end()
        if end >= 0:
            command = command[:body] + command[end + 1 + len(start.group(1)) :]
    return command


def hides_failure(command: str) -> bool:
    """Whether exit code 0 of `command` does not say that all of it succeeded: a pipe, a list, or nobody knows."""
    return not command or any(mark in command for mark in ("|", ";", "&\n", "\n"))
