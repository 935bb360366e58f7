"""Judges what reached the model from outside: it knows no rules and no marks, only what was sent and what the agent did next.

billed    prompt tokens over all requests; history is sent again, so that early savings count many times
money     the same with a prefix cache: a message is written once, and read by every later request
needed    words that are not of plain language (`use.words`), which a turn can only have from observations
anchors   whole lines that a turn repeats, which it can only have from observations: an edit or a patch must match them
blocks    whole texts of several lines that an edit must match and that stood together in one observation
verdicts  lines of a new observation that state a failure, a result or an end; not the items of a list that passed
foreign   share of rewritten observations' characters in lines that the raw one does not have; disorder: in lines that moved
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from gateway.passes import Shown
from gateway.recording.tokens import TokenCounter
from rules_engine.evolution.use import ANCHOR, cores, words
from tests.bench.passage import Passed

READ, WRITE = 0.1, 1.25
"""Price of a token that is read from the provider's cache, and of one that is written to it."""
FRAME = 4
"""Tokens around each message."""
DEARER = 1.0005

STATES = re.compile(
    r"(?i)\b(?:errors?|exception|traceback|fatal|panic(?:ked)?|fail(?:s|ed|ures?)?|denied|not found|timed? ?out|killed|aborted)\b"
    r"|segmentation fault|undefined reference|\b\d+ (?:passed|failed|errors?|warnings?|tests?)\b|^(?:PASS|FAIL|OK|BUILD)\b"
    r"|\b(?:success(?:ful(?:ly)?)?|succeeded|completed|up to date|nothing to commit|exit(?:ed)? (?:code|status))\b"
)
"""What a person would take for a failure, a result or an end; not the engine's own patterns."""
PASSED = re.compile(r"\(pass\)|✓|✔|\bPASSED\b|(?:^|: )ok \d+|--- PASS|\.\.\. ok$")
"""An item of a list that passed states no failure, whatever its name says."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_PLACE = re.compile(r"^[^\s:]+:\d+[:-]\s*")
_OLD = ("old_str", "old_string", "oldText", "old_text", "search", "old")


@cache
def counter() -> TokenCounter:
    """Counts for all: a vocabulary takes a second to load."""
    return TokenCounter(capacity=200_000)


@dataclass(slots=True)
class Figures:
    """What was found in some sessions; those of others can be added."""

    sessions: int = 0
    requests: int = 0
    raw: int = 0
    sent: int = 0
    raw_money: float = 0.0
    money: float = 0.0
    dearer: int = 0
    untouched: int = 0
    stable: int = 0
    needed: int = 0
    needed_kept: int = 0
    harmed: int = 0
    anchors: int = 0
    anchors_kept: int = 0
    blocks: int = 0
    blocks_kept: int = 0
    verdicts: int = 0
    verdicts_kept: int = 0
    rewritten: int = 0
    foreign: int = 0
    disorder: int = 0

    def add(self, other: Figures) -> None:
        """Count both together."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    @property
    def saved(self) -> float:
        """Per cent of the billed tokens."""
        return 100 * (1 - self.sent / self.raw) if self.raw else 0.0

    @property
    def money_saved(self) -> float:
        """Per cent."""
        return 100 * (1 - self.money / self.raw_money) if self.raw_money else 0.0

    def kept(self, name: str) -> float:
        """Per cent of what `name` counts."""
        of = getattr(self, name)
        return 100 * getattr(self, f"{name}_kept") / of if of else 100.0

    def share(self, name: str, of: str = "requests") -> float:
        """Per cent."""
        whole = getattr(self, of)
        return 100 * getattr(self, name) / whole if whole else 0.0


@dataclass(slots=True)
class Page:
    """A text with what is looked for in it."""

    words: frozenset[str]
    lines: frozenset[str]
    joined: str

    @classmethod
    def read(cls, text: str) -> Page:
        """Look once."""
        text = plain(text)
        whole = cores(text.split("\n"))
        return cls(words(text), frozenset(line for line in whole if len(line) > 2), "\n" + "\n".join(whole) + "\n")


class Judge:
    """Judges sessions; what is found out about a text is remembered."""

    def __init__(self) -> None:
        self.count = counter().count
        self._pages: dict[str, Page] = {}

    def judge(self, passed: Passed, shown: Mapping[str, str] | None = None) -> Figures:
        """The figures of a session; `shown` are other texts to judge, by the observations' keys."""
        texts = shown or {one.item.observation.key: one.text for one in passed.shown}
        found = Figures(sessions=1, requests=len(passed.recorded.session.turns), stable=passed.stable)
        found.untouched = found.requests * _is_untouched(passed)
        self._bill(passed, texts, found)
        self._follow(passed, texts, found)
        for one in passed.shown:
            if texts[one.item.observation.key] != one.item.observation.text:
                _trace(one.item.observation.text, texts[one.item.observation.key], found)
        return found

    def _bill(self, passed: Passed, texts: Mapping[str, str], found: Figures) -> None:
        less: dict[int, int] = {}
        for one in passed.shown:
            raw, text = one.item.observation.text, texts[one.item.observation.key]
            less[one.at] = less.get(one.at, 0) + (self.count(raw) - self.count(text) if text != raw else 0)
        turns = passed.recorded.session.turns
        for at, said in enumerate(passed.said[: turns[-1]]):
            times = sum(turn > at for turn in turns)
            whole = self.count(said) + FRAME
            sent = whole - less.get(at, 0)
            found.raw += times * whole
            found.sent += times * sent
            found.raw_money += whole * (WRITE + READ * (times - 1))
            found.money += sent * (WRITE + READ * (times - 1))
        found.dearer = int(found.money > found.raw_money * DEARER)

    def _follow(self, passed: Passed, texts: Mapping[str, str], found: Figures) -> None:
        """Read along with the agent: is what each turn takes from observations still there?"""
        context = _Context()
        results: dict[int, list[Shown]] = {}
        for one in passed.shown:
            results.setdefault(one.at, []).append(one)
        turns = frozenset(passed.recorded.session.turns)
        for at, said in enumerate(passed.said):
            if at in turns:
                self._turn(passed.recorded.session.messages[at], said, context, found)
            if at not in results:
                context.tell(self._page(said))
            new = [(one.item.observation.text, texts[one.item.observation.key]) for one in results.get(at, ())]
            for raw, text in new:
                context.look(self._page(raw), self._page(text))
            for raw, _ in new:
                _judge_verdicts(raw, context, found)

    def _turn(self, message: Mapping[str, Any], said: str, context: _Context, found: Figures) -> None:
        used = (self._page(said).words & context.words) - context.told
        lost = used - context.standing
        anchors = _quoted(said) & context.lines - context.told_lines
        torn = {line for line in anchors - context.standing_lines if not context.holds(line)}
        found.needed += len(used)
        found.needed_kept += len(used) - len(lost)
        found.anchors += len(anchors)
        found.anchors_kept += len(anchors) - len(torn)
        found.harmed += bool(lost or torn)
        for block in _blocks(message):
            if any(block in page.joined for page in context.raw):
                found.blocks += 1
                found.blocks_kept += any(block in page.joined for page in context.shown)

    def _page(self, text: str) -> Page:
        page = self._pages.get(text)
        if page is None:
            page = self._pages[text] = Page.read(text)
        return page

    def forget(self) -> None:
        """Let go of the texts of sessions that are done with."""
        self._pages.clear()


class _Context:
    """What stands in the context so far: as it was sent, and as it was forwarded."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.lines: set[str] = set()
        self.told: set[str] = set()
        self.told_lines: set[str] = set()
        self.standing: set[str] = set()
        self.standing_lines: set[str] = set()
        self.raw: list[Page] = []
        self.shown: list[Page] = []

    def tell(self, page: Page) -> None:
        """Somebody says something."""
        self.told |= page.words
        self.told_lines |= page.lines

    def look(self, raw: Page, shown: Page) -> None:
        """A tool shows something."""
        self.words |= raw.words
        self.lines |= raw.lines
        self.standing |= shown.words
        self.standing_lines |= shown.lines
        self.raw.append(raw)
        self.shown.append(shown)

    def holds(self, line: str) -> bool:
        """Part of a line that is forwarded: its beginning may stand in a heading."""
        return any(line in page.joined for page in self.shown)


def plain(text: str) -> str:
    """A text without escape codes, and of lines that were drawn over each other the last."""
    text = _ESCAPE.sub("", text)
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")) if "\r" in text else text


def stating(text: str) -> set[str]:
    """Lines that state a failure, a result or an end."""
    lines = (line.strip() for line in plain(text).split("\n") if STATES.search(line) and not PASSED.search(line))
    return {line for line in lines if 3 <= len(line) <= 400}


def _judge_verdicts(raw: str, context: _Context, found: Figures) -> None:
    for line in stating(raw):
        core = cores([line])[0]
        found.verdicts += 1
        found.verdicts_kept += core in context.standing_lines or context.holds(_PLACE.sub("", core))


def _quoted(said: str) -> set[str]:
    lines = said.split("\n")
    whole = cores([*lines, *(line[1:] for line in lines if line[:1] == "-")])
    return {line for line in whole if len(line) >= ANCHOR}


def _blocks(message: Mapping[str, Any]) -> Iterator[str]:
    """Old texts of several lines that the edits of a turn must find, as `Page.joined` would hold them."""
    for call in message.get("tool_calls") or ():
        try:
            arguments = json.loads(call["function"]["arguments"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        for text in _old(arguments):
            lines = cores(text.strip("\n").split("\n"))
            if len(lines) > 1:
                yield "\n" + "\n".join(lines) + "\n"


def _old(arguments: object) -> Iterator[str]:
    for item in arguments if isinstance(arguments, list) else [arguments]:
        if isinstance(item, dict):
            yield from (item[name] for name in _OLD if isinstance(item.get(name), str))
            yield from (text for value in item.values() if isinstance(value, list) for text in _old(value))


def _trace(raw: str, text: str, found: Figures) -> None:
    """How much of a rewritten text is not of the raw one, or has moved in it."""
    source = cores(plain(raw).split("\n"))
    places: dict[str, list[int]] = {}
    for at, line in enumerate(source):
        places.setdefault(line, []).append(at)
    cursor = 0
    for line in cores(plain(text).split("\n")):
        found.rewritten += len(line)
        if not line:
            continue
        if line not in places:
            found.foreign += len(line)
            continue
        later = next((place for place in places[line] if place >= cursor), None)
        found.disorder += len(line) if later is None else 0
        cursor = cursor if later is None else later + 1


def _is_untouched(passed: Passed) -> bool:
    """In the last request all but the text of observations is as the agent sent it."""
    before = passed.recorded.session.messages[: passed.recorded.session.turns[-1]]
    after = json.loads(passed.sent)["messages"]
    results = {one.at for one in passed.shown}
    return len(before) == len(after) and all(
        (_masked(a) == _masked(b)) if at in results else a == b
        for at, (a, b) in enumerate(zip(before, after, strict=True))
    )


def _masked(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        parts: Iterable[Any] = content
        return {**message, "content": [{**p, "text": ""} if isinstance(p, dict) and "text" in p else p for p in parts]}
    return {**message, "content": ""}
