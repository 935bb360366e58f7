"""Commands that are run for what they do, and lines that say what happened when: what comes by itself, and nobody asked for.

And those that ask: every line that they print is the answer, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import re2

from rules_engine.natures import is_shell, words_of
from rules_engine.scan import compile_lines, encode, find_lines
from rules_engine.seeds import COMMAND
from rules_engine.shell import Words, pipelines
from rules_engine.types import Observation

_ACTORS = (
    "p?np[mx]|yarn|bunx?|cargo|go|dotnet|pip3?|uv|poetry|gem|bundle|composer|apt|apt-get|dnf|yum|apk|brew|conda"
    "|docker|podman|kubectl|helm|terraform|pulumi|stack|cabal|swift|mix|zig|flutter"
    "|nx|turbo|just|task|mise|rake|python3? -m"
)
_ACTIONS = (
    "add|apply|build|check|ci|i|compile|create|deploy|download|fetch|install|lint|migrate|publish|pull|push"
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

_LEVEL = r"(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR)\]?[ :|-]+)?"
STAMPS = (
    rf"^(?:[\w.-]+ +\| ?)?{_LEVEL}[\[(]?(?:\d{{2,4}}[-/]\d\d(?:[-/]\d\d)?[T ])?\d\d:\d\d:\d\d",
    r"^(?:[A-Z][a-z]{2} [ \d]\d|[IWEF]\d{4}) \d\d:\d\d:\d\d[ .]",
    r"^\S+ - \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:",
    r"^\[ *\d+\.\d{6}\] ",
)
"""How lines of logs begin: with a time, perhaps behind the name of a service or a level, or with an address and a time."""

_QUESTIONS = re.compile(
    r"ls|ll|dir|exa|eza|lsd|tree|du|df|ps|pgrep|top|env|printenv|free|lsblk|lsof|ss|netstat|ip|ifconfig|route|arp|mount|findmnt"
    r"|stat|file|wc|sort|(?:md5|sha\d+|b2)sum|shasum|cksum|dig|nslookup|whois|lscpu|lspci|lsusb|lsmod|nvidia-smi|rocm-smi"
    r"|nm|objdump|readelf|ldd|size|otool|sqlite3|psql|mysql|mariadb|mongosh|redis-cli|duckdb|bq|jq|yq|curl|http|xmllint"
    r"|ffprobe|mediainfo|exiftool|identify|nmap|iptables|nft|sysctl|getent|help|man|apt-cache"
)
"""Programs that do nothing but answer."""
_ASKS = re.compile(
    r"(?:ls|list|lists|get|describe|show|status|stat|stats|ps|images|top|history|inspect|search|info|df|du|outdated|tree|freeze"
    r"|view|why|explain|output|outputs|log|env|version|versions|events|query|lookup|policy|queue|usage)(?:[-_:]\w[\w-]*)?"
    r"|(?:list|show|get)[a-z]+"
)
"""Words after a program's name by which it answers; ``list-units``, ``showmigrations``, too."""
_MEASURES = ("-bench", "--bench")
_REHEARSES = re.compile(
    r"(?i)--?(?:dry-?run(?:=.*)?|collect-only|just-print|recon|simulate|no-act|what-?if|list-?tests(?:only)?|print-config)"
)
_BRIEFLY = re.compile(r"(?:make|gmake|ninja|rsync) -[a-zA-Z]*n[a-zA-Z]*|ninja -t|go -n|apt(?:-get)? -[a-z]*s[a-z]*")
"""Programs that only tell what they would do, or all that they know, by a flag that means something else to others."""
_INQUIRES = re.compile(r"(?:bazel|bazelisk|buck2?|pants) (?:[acu]?query|targets|list)")
_INLINE = frozenset(("-", "-c", "-e", "-p", "-r", "--eval", "--print"))
_INTERPRETERS = re.compile(r"(?:python|node|ruby|perl|php)[\d.]*")
_TOOL_ASKS = frozenset(("list", "get", "query", "describe", "show", "status", "info", "lookup", "inspect"))
_TOOL_RUNS_CODE = frozenset(
    ("code", "program", "script", "cell", "repl", "python", "ipython", "jupyter", "javascript", "js", "node")
)
_DOES = re.compile(f"(?:{_ACTIONS}|{_ALONE}|go|echo|cd)(?:[-_:].*)?")
"""Words behind which what would ask is a name: of a test, a package, a target."""

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


def asks(observation: Observation) -> bool:
    """Whether something in the command is run for what it prints: a listing, a table, a question, code written for it."""
    if observation.command and observation.command[:1] != "{":
        return any(_is_question(stages[0]) for stages in pipelines(observation.command))
    words = words_of(observation.tool)
    return not _TOOL_RUNS_CODE.isdisjoint(words) or not (is_shell(observation.tool) or _TOOL_ASKS.isdisjoint(words))


def rehearses(command: str) -> bool:
    """Whether something in `command` only tells what it would do: each line is an answer, although they look like steps."""
    return any(_is_rehearsal(stages[0]) for stages in pipelines(command)) if command[:1] != "{" else False


def _is_rehearsal(words: Words) -> bool:
    name, rest = words[0], words[1:]
    action = next((word for word in rest if not word.startswith("-")), "")
    return bool(_INQUIRES.fullmatch(f"{name} {action}")) or any(
        _REHEARSES.fullmatch(word) or _BRIEFLY.fullmatch(f"{name} {word}") for word in rest
    )


def _is_question(words: Words) -> bool:
    name, rest = words[0], words[1:]
    inline = _INTERPRETERS.fullmatch(name) and (not rest or rest[0] in _INLINE)
    if inline or _QUESTIONS.fullmatch(name) or any(word.startswith(_MEASURES) for word in rest):
        return True
    if any(word.startswith("--log") for word in rest):
        return False
    for word in (word for word in words if not word.startswith("-")):
        if _DOES.fullmatch(word):
            return False
        if word != name and _ASKS.fullmatch(word):
            return True
    return False


def stamped(lines: Sequence[str]) -> frozenset[int]:
    """Positions of the lines of a log."""
    return frozenset(find_lines(_STAMPED, encode(lines)))
