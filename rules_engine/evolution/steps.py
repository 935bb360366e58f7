"""What a step of an agent does, read from its command: changes something, polls, looks at the same thing again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from rules_engine.shell import Words, pipelines
from rules_engine.types import Observation


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HARMLESS = _names(
    """cat bat head tail less more nl tac sed awk gawk mawk grep egrep fgrep zgrep rg ag ack ls dir tree find fd locate
    wc sort uniq cut tr column fold comm paste diff cmp file stat du df strings xxd hexdump od jq yq echo printf pwd cd
    pushd popd which whereis type man help true false test [ sleep wait basename dirname realpath readlink date uptime
    ps pgrep jobs top free uname whoami id hostname env printenv history lsof ss netstat nvidia-smi lscpu md5sum
    sha1sum sha256sum zcat xzcat base64 seq get-content gc select-string get-childitem findstr"""
)
_ASKING = _names(
    """log show diff status blame annotate grep ls-files ls-tree rev-parse describe cat-file shortlog reflog logs get
    inspect images top list ls view info freeze checks search outdated why explain version"""
)
"""Actions of a larger program that only tell."""
_MANIFOLD = _names("git hg svn docker podman kubectl helm gh glab pip pip3 npm yarn pnpm cargo go apt brew systemctl")
_SEARCHES_AND_WRITES = re.compile(r"\s(?:-i\b|-i\.|--in-place|-delete\b|-exec\b|-w\b|-ok\b)")
_WRITES = re.compile(r"(?:^|[^0-9&>=<-])1?>>?(?!&|>|\s*/dev/null)")
_SAVES = re.compile(rf"{_WRITES.pattern}|\|\s*tee\s")
_REDIRECT = re.compile(r"2>&1|[012&]?>>?(?!&)")
_POLLING = _names(
    """sleep wait watch ps pgrep jobs top htop free date uptime systemctl service journalctl ping nc curl wget squeue
    nvidia-smi lsof ss netstat docker podman kubectl helm gh glab tmux screen dmesg"""
)
_POLLED = re.compile(r"\b(?:status|health|progress|running|ready|poll|wait|tail -[fF])\b|/proc/")
_TOOL_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LOOKING = _names("read view open cat grep glob search find ls list fetch get lsp references symbols think")
_WRITING = _names("edit editor write create patch replace insert delete remove move rename apply update set run stdin")
_ASIDE = _names("cd pushd popd echo printf sleep true export set source . test [ wait")
_PLAIN = re.compile(r"[a-z][a-z._+-]{0,19}[0-9]{0,2}")


def is_change(observation: Observation) -> bool:
    """Whether the step may have changed what a later command prints; whatever is not known to be harmless may."""
    command = observation.command
    if not command or command[:1] == "{":
        named = {word.lower() for word in _TOOL_WORDS.findall(observation.tool)}
        return bool(named & _WRITING) or not named & _LOOKING
    if _WRITES.search(command) or _SEARCHES_AND_WRITES.search(command):
        return True
    return not all(_is_harmless(stage) for stages in pipelines(command) for stage in stages)


def is_poll(observation: Observation) -> bool:
    """Whether the step asks how something is getting on, so that doing it again is its nature."""
    command = observation.command
    if not command or command[:1] == "{":
        return is_change(observation)
    return bool(_POLLED.search(command)) or any(
        stage[0] in _POLLING for stages in pipelines(command) for stage in stages
    )


def is_saving(observation: Observation) -> bool:
    """Whether the step writes what a command prints to a file."""
    return bool(_SAVES.search(observation.command)) and observation.command[:1] != "{"


def is_same_target(earlier: Observation, later: Observation) -> bool:
    """Whether the later step looks at something that the earlier one looked at, as far as the commands tell."""
    if earlier.command == later.command:
        return True
    before, after = list(_targets(earlier)), list(_targets(later))
    return any(_meet(one, other) for one in before for other in after)


def name(observation: Observation) -> str:
    """What ran, in a word that can be shown to anybody."""
    if observation.command[:1] != "{":
        for program, _ in _targets(observation):
            if _PLAIN.fullmatch(program.split(" ")[0]):
                return program.split(" ")[0]
    return observation.tool if re.fullmatch(r"[\w.-]{1,40}", observation.tool) else "a command"


def _is_harmless(words: Words) -> bool:
    if words[0] in _MANIFOLD:
        action = next((word for word in words[1:] if not word.startswith("-")), "version")
        return action in _ASKING or (words[0] == "docker" and action == "ps")
    return words[0] in _HARMLESS


def _targets(observation: Observation) -> Iterator[tuple[str, frozenset[str]]]:
    """Each program of a step with what it works on."""
    if observation.command[:1] == "{":
        yield observation.tool, frozenset(map(str, _values(observation.command)))
        return
    # What is written to a file is looked at there: the file is a target like any other.
    for stages in pipelines(_REDIRECT.sub(" ", observation.command)):
        for program, *rest in stages:
            if program not in _ASIDE:
                operands = list(_operands(rest))
                action = operands.pop(0) if operands and program in _MANIFOLD else ""
                yield f"{program} {action}".rstrip(), frozenset(operands)


def _operands(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if not word.startswith("-") and not word.isdigit() and len(word) > 1:
            yield word.removeprefix("./").rstrip("/")


def _meet(one: tuple[str, frozenset[str]], other: tuple[str, frozenset[str]]) -> bool:
    if one[1] & other[1]:
        return True
    if one[0] == other[0] and (not one[1] or not other[1]):
        return True
    return any(a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in one[1] for b in other[1])


def _values(arguments: str) -> Iterator[str]:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return
    values = given.values() if isinstance(given, dict) else ()
    yield from (value for value in values if isinstance(value, str) and len(value) > 1)
