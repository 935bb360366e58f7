"""What sort of output an observation is: judged by its command, its tool and its content, the strictest winning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

import re2

from rules_engine.scan import compile_lines, encode, find_lines
from rules_engine.shell import pipelines
from rules_engine.types import Nature, Observation


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STRICTEST: tuple[Nature, ...] = ("read", "diff", "structured", "search", "terminal")

_READ = """cat bat batcat head tail less more most nl sed awk gawk mawk tac view zcat xzcat zless xxd hexdump od strings
    fold cut column get-content gc type open goto scroll_down scroll_up edit insert create str_replace_editor pdftotext"""
_SEARCH = """grep egrep fgrep zgrep rg ripgrep ag ack find fd fdfind locate select-string sls findstr ast-grep
    search_dir search_file find_file"""
_DIFF = "diff colordiff sdiff interdiff delta"
_COMMANDS: dict[str, Nature] = {
    **dict.fromkeys(_READ.split(), "read"),
    **dict.fromkeys(_SEARCH.split(), "search"),
    **dict.fromkeys(_DIFF.split(), "diff"),
}
_GIT: dict[str, Nature] = {
    "diff": "diff",
    "show": "diff",
    "format-patch": "diff",
    "range-diff": "diff",
    "blame": "read",
    "annotate": "read",
    "cat-file": "read",
    "grep": "search",
    "ls-files": "search",
    "ls-tree": "search",
}
_PATCH_FLAGS = frozenset({"-p", "-u", "--patch", "-pu", "-up", "--cc"})
_SCRIPTED = frozenset({"git", "hg", "svn", "jj", "gh", "glab"})
_REMOTE = frozenset({"ssh", "docker", "podman", "kubectl", "wsl", "nsenter", "chroot", "xargs", "parallel", "find"})
_FILTERS = _names("cat head tail less more sed awk gawk cut sort uniq tac nl tee tr column fold bat rev fmt")
_LOGS = _names("logs log journalctl dmesg logcat")

_TOOL_WORDS = re2.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_TOOL_READ = _names("read view open cat edit editor replace patch file files fetch notebook")
_TOOL_SEARCH = _names("grep glob search find lsp references symbol symbols")
_TOOL_SHELL = _names("bash shell exec execute terminal command cmd powershell run process console stdin")

_SAMPLE = 5000
_HUNK = re2.compile(r"(?m)^(?:@@ -\d+(?:,\d+)? \+\d+|diff --git |diff -r|Index: |\*\*\* (?:Begin|Update) )")
_GUTTER = re2.compile(r"(?m)^[ \t]*(\d+)(?:→|\t|[:|]| {2})")
_HIT = compile_lines(r"^(?:[A-Za-z]:)?[^\s:]+(?:[:-]\d+[:-]|:\d+$)|^\d+[:-]")
_STAMPED = compile_lines(r"^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d")
"""A time before a line of a log has the form of a line number before a hit."""
_COMPILER = compile_lines(r"^[^\s:]+:\d+(?::\d+)?: *(?:\w+ )?(?:error|warning|note|info|[EWFCR]\d{3,4})\b")
_CODE = compile_lines(
    r"^[ \t]*(?:(?:async +)?def \w+\(|class \w+|import [\w.{*\"]|from [\w.]+ import|(?:export |pub |public |private |protected |static )+\w"
    r"|(?:async )?function\b|(?:const|let|var) [\w{\[]|func [\w(]|package [\w.]+;?$|#include|#define|fn \w|impl\b|struct \w|use [\w:]+;"
    r"|return\b|if *\(|for *\(|while *\(|else\b|elif |@[\w.]+(?:\(|$)|/\*\*|\*/|self\.\w+ = |try *[:{]|[})\]][;,)]*$)",
    r"[;{}]$",
    flags="m",
)
_ENTRY = compile_lines(r"^ *(?:- )*[\w.\"'/$-]+:(?: .*)?$", r"^ *- ", r"^---$|^ *#", flags="m")
_ENTRIES = 8
_MARKUP = ("<?xml", "<!doctype", "<html", "<svg")


def nature(observation: Observation) -> Nature:
    """The strictest nature that the command, the tool's name or the text calls for."""
    if observation.nature is not None:
        return observation.nature
    called = strictest((_of_tool(observation.tool), _of_command(observation.command)))
    return called if called == "read" else strictest((called, _of_text(observation.text)))


def strictest(natures: Iterable[Nature]) -> Nature:
    """The one that allows least."""
    return min(natures, key=_STRICTEST.index, default="terminal")


def is_shell(tool: str) -> bool:
    """Whether a tool of this name runs commands, or shows what they print."""
    return not _TOOL_SHELL.isdisjoint(words_of(tool))


def words_of(tool: str) -> set[str]:
    return {word.lower() for word in _TOOL_WORDS.findall(tool)}


def _of_tool(name: str) -> Nature:
    if is_shell(name):
        return "terminal"
    words = words_of(name)
    if words & _TOOL_READ:
        return "read"
    return "search" if words & _TOOL_SEARCH else "terminal"


def _of_command(command: str) -> Nature:
    if not command or command[:1] == "{":
        return "terminal"
    return strictest(map(_of_pipeline, pipelines(command)))


def _of_pipeline(stages: Sequence[Sequence[str]]) -> Nature:
    found: Nature = "terminal"
    for place, words in enumerate(stages):
        if place and words[0] in _FILTERS:
            continue
        own = _of_words(words)
        # A build's output that is narrowed is still a build's; a log's lines are those that somebody looked for.
        narrowed = place and own == "search" and words[0] not in _REMOTE and _LOGS.isdisjoint(stages[0])
        found = "terminal" if narrowed and found == "terminal" else own
    return found


def _of_words(words: Sequence[str]) -> Nature:
    name, rest = words[0], words[1:]
    if name in _SCRIPTED:
        return _of_version_control(rest)
    if name in _REMOTE:
        inner = (_COMMANDS[word] for word in " ".join(rest).split() if word in _COMMANDS)
        return next(inner, _COMMANDS.get(name, "terminal"))
    if name == "sed" and any(word.startswith(("-i", "--in-place")) for word in rest):
        return "terminal"
    return _COMMANDS.get(name, "terminal")


def _of_version_control(words: Sequence[str]) -> Nature:
    action = next((word for word in words if word in _GIT), None)
    if action == "show" and any(":" in word and not word.startswith("-") for word in words):
        return "read"
    if action is None and _PATCH_FLAGS.intersection(words) and not {"add", "commit", "push"}.intersection(words):
        return "diff"
    return _GIT[action] if action else "terminal"


def _of_text(text: str) -> Nature:
    if _is_structured(text):
        return "structured"
    if _HUNK.search(text):
        return "diff"
    lines = text[:_SAMPLE].split("\n")
    if len(lines) < 4:
        return "terminal"
    sample = encode(lines)
    if _is_numbered(sample, len(lines)) or 5 * _count(_CODE, sample) >= 2 * sum(map(bool, lines)):
        return "read"
    hits = _count(_HIT, sample) - _count(_COMPILER, sample) - _count(_STAMPED, sample)
    return "search" if 2 * hits >= len(lines) else "terminal"


def _count(pattern: re2._Regexp[str], sample: bytes) -> int:
    return sum(1 for _ in find_lines(pattern, sample))


def _is_numbered(sample: bytes, lines: int) -> bool:
    numbers = [int(digits[-9:]) for digits in _GUTTER.findall(sample)]
    steps = sum(after - before == 1 for before, after in pairwise(numbers))
    return 2 * steps >= lines - 1 and steps >= 3


def _is_structured(text: str) -> bool:
    body = text.strip()
    if body[:1] + body[-1:] not in ("{}", "[]"):
        return body[:9].lower().startswith(_MARKUP) or _is_yaml(text)
    if _parses(body):
        return True
    lines = body.split("\n")
    return (
        len(lines) > 1 and all(line[:1] == "{" for line in lines if line) and _parses(lines[0]) and _parses(lines[-1])
    )


def _is_yaml(text: str) -> bool:
    """Nearly every line is an entry, and some are entries of others."""
    lines = [line for line in text[:_SAMPLE].split("\n") if line.strip()][:-1]
    if len(lines) < _ENTRIES or not any(line.startswith("  ") for line in lines):
        return False
    entries = _count(_ENTRY, encode(lines))
    return 10 * entries >= 9 * len(lines)


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
