"""A model from a script: plausible answers by sort of command, some good, some careless, as a real one's would be.

It answers the paper's four calls through the generators of `rules_engine.evolution.planning`; no network, no key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rules_engine import Rule, Sample
from rules_engine.evolution.admission import admit
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.planning import call
from rules_engine.evolution.prompts import Prompt, Uncovered
from rules_engine.evolution.proposals import Outcome
from rules_engine.evolution.skeletons import families
from rules_engine.natures import nature
from tests.bench.judging import counter

ANSWERS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "pip": (
        r"\bpip3?\s+install\b",
        (r"error", r"conflict"),
        (r"^\s*(?:Collecting|Downloading|Using cached|Requirement already)",),
    ),
    "apt": (
        r"\bapt(?:-get)?\s+(?:install|update)\b",
        (r"^E:", r"^W:"),
        (r"^(?:Get|Hit|Ign):\d+", r"^(?:Unpacking|Selecting|Preparing)"),
    ),
    "npm": (r"\b(?:npm|pnpm|yarn)\s+(?:install|ci|add)\b", (r"ERR!", r"vulnerabilit"), (r"deprecated", r"^npm notice")),
    "test": (
        r"\b(?:pytest|jest|vitest|bun\s+test|npm\s+test)\b",
        (r"fail|error|assert",),
        (r"PASSED|✓|\(pass\)|^ok \d+",),
    ),
    "go": (r"\bgo\s+(?:test|build|get)\b", (r"FAIL|panic|error",), (r"^=== RUN", r"^\s*--- PASS", r"^go: downloading")),
    "cargo": (
        r"\bcargo\s+(?:build|test|check|run)\b",
        (r"error|warning",),
        (r"^\s*(?:Compiling|Downloaded|Downloading|Checking) ",),
    ),
    "make": (
        r"\b(?:make|cmake|ninja)\b",
        (r"error|warning|\*\*\*",),
        (r"^\[ *\d+%\]", r"^make\[\d+\]: (?:Entering|Leaving)"),
    ),
    "mvn": (r"\b(?:mvnw?|gradlew?)\b", (r"ERROR|FAIL|Tests run",), (r"^\[INFO\] (?:Download|---)", r"^Progress")),
    "git": (
        r"\bgit\s+(?:clone|fetch|pull|push)\b",
        (r"fatal|rejected|->",),
        (r"(?:Counting|Compressing|Receiving|Resolving|Writing) ",),
    ),
    "docker": (
        r"\bdocker\s+(?:build|pull|compose)\b",
        (r"ERROR|failed",),
        (r"^#\d+ (?:sha256|extracting)", r"^[0-9a-f]{12}: "),
    ),
    "python": (
        r"\bpython3?\s+\S+\.py\b",
        (r"error|traceback|warn",),
        (r"\d{1,3}%\|", r"^(?:Epoch|Step) \d+.*it/s", r"^\s*$"),
    ),
    "grep": (r"\b(?:grep|rg)\s+-\S*r", (), (r"node_modules/", r"\.min\.js:", r"^Binary file")),
    "ls": (r"\b(?:ls|find|tree)\b", (), (r"\.pyc$", r"__pycache__", r"/\.git/", r"^total \d+")),
    "curl": (r"\b(?:curl|wget)\b", (r"HTTP/|saved",), (r"^\s*\d+\s+\d+", r"^\s+% Total", r"^[*<>] ")),
    "sed": (r"\bsed\s+-n\b", (), (r"^\s*(?:#|//)",)),
}
"""Sort of command → trigger, what to keep, what to strip. The last ones are the sort of answer that admission is for."""

_SORTS = (
    ("test", r"\b(?:pytest|jest|vitest|mocha)\b|\b(?:bun|npm|yarn|pnpm) (?:run )?test\b"),
    ("npm", r"\b(?:npm|pnpm|yarn|bun)\b"),
    ("mvn", r"\b(?:mvnw?|gradlew?)\b"),
    ("make", r"\b(?:make|cmake|ninja|gcc|g\+\+)\b"),
    ("apt", r"\bapt(?:-get)?\b"),
    ("pip", r"\bpip3?\b"),
    ("grep", r"\b(?:grep|rg)\b"),
    ("ls", r"\b(?:ls|find|tree)\b"),
    ("curl", r"\b(?:curl|wget)\b"),
)
_SILENT = frozenset({"cd", "export", "source", "set", "mkdir", "true", "sleep", "echo", "timeout", "#"})
"""What stands before a command that prints."""
_DATA = re.compile(r"^([\w' ]+):\n<<(data-\w+)\n(.*?)\n\2>>", re.S | re.M)


@dataclass(slots=True)
class Script:
    """Answers, and counts what the questions and answers cost."""

    tokens: int = 0
    calls: int = 0
    count: Callable[[str], int] = field(default_factory=lambda: counter().count)

    async def ask(self, prompt: Prompt, key: str | None) -> tuple[str, Mapping[str, Any]]:
        """As `gateway.evolving.asking.Model`."""
        return self.answer(prompt), {}

    def answer(self, prompt: Prompt) -> str:
        """The reply's text."""
        data = {name: text for name, _, text in _DATA.findall(prompt.user)}
        match prompt.call:
            case "plan":
                pool = json.loads(data["pool"])
                reply: object = {"selected_rule_ids": [rule["rule_id"] for rule in pool[:7]]}
            case "cold plan":
                reply = {"rules": [_rule(name) for name in ("test", "pip", "git")]}
            case "new rule":
                reply = _rule(_sort(data["command"]), data["command"])
            case "replacement":
                reply = _softer(json.loads(data["old rule"]))
        text = f"Here is the rule.\n{json.dumps(reply)}"
        self.calls += 1
        self.tokens += sum(map(self.count, (prompt.system, prompt.user, text)))
        return text


def propose(samples: Iterable[Sample], script: Script, numbers: Numbers) -> list[Rule]:
    """What the model proposes for the large terminal outputs of an archive; each sort of command is asked about once."""
    rules: list[Rule] = []
    asked: set[tuple[str, ...]] = set()
    for observation in (sample.observation for sample in samples):
        sort = families(observation.command)
        if len(observation.text) <= numbers.uncovered_chars or nature(observation) != "terminal" or sort in asked:
            continue
        asked.add(sort)
        found = _ask(Uncovered(command=observation.command, text=observation.text), tuple(rules), script, numbers)
        rules += [rule for rule in found if rule.params not in [known.params for known in rules]]
    return rules


def admitted(rules: Iterable[Rule], samples: list[Sample]) -> list[Rule]:
    """Those that admission lets in."""
    verdicts = (admit(rule, samples) for rule in rules)
    return [verdict.rule for verdict in verdicts if verdict.admitted]


def _ask(about: Uncovered, known: tuple[Rule, ...], script: Script, numbers: Numbers) -> tuple[Rule, ...]:
    calling = call(about, lambda: known, numbers)
    try:
        calling.send(script.answer(next(calling)))
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome.proposed
    raise AssertionError("a call asks once")


def _sort(command: str) -> str:
    first = next((name for name, pattern in _SORTS if re.search(pattern, command)), "")
    return first or next((name for name in ANSWERS if re.search(rf"\b{name}\b", command)), "python")


def _rule(sort: str, command: str = "") -> dict[str, object]:
    trigger, keep, strip = ANSWERS[sort]
    if command and not re.search(trigger, command):
        programs = [family for family in families(command) if family.split(" ")[0] not in _SILENT]
        trigger = r"\b" + r"\s+".join(map(re.escape, (programs or [sort])[0].split(" "))) + r"\b"
    return {
        "rule_id": f"model_{sort}",
        "trigger_regex": trigger,
        "description": f"Noise of {sort}.",
        "keep_patterns": list(keep),
        "strip_patterns": list(strip),
        "keep_first_n": 5,
        "keep_last_n": 10,
        "priority": 50,
    }


def _softer(old: Mapping[str, Any]) -> dict[str, object]:
    return {
        "rule_id": f"{old['rule_id'][:50]}_v2",
        "trigger_regex": old["trigger_regex"],
        "keep_patterns": [*old.get("keep_patterns", ()), "error", "warning"],
        "strip_patterns": list(old.get("strip_patterns", ()))[:1],
        "keep_first_n": 2 * int(old.get("keep_first_n", 5)),
        "keep_last_n": 2 * int(old.get("keep_last_n", 10)),
    }
