"""Which lines must stay whatever a rule says: failures with their blocks, and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import re2

from rules_engine import phrases as p
from rules_engine.deeds import is_deed, is_script, stamped
from rules_engine.likeness import groups, ordinary
from rules_engine.natures import nature
from rules_engine.scan import encode, find_lines
from rules_engine.shell import hides_failure
from rules_engine.types import Observation

_BLOCK = 200
"""Lines that a block may have, so that the work stays in proportion."""
_LIST = 8
"""Items from which on a list is long; the last of fewer may be the result."""
_MANY = 20
"""Lines of one form from which on none of them states the result of all."""
_CROWD = 40
"""Lines of one form from which on not even a word of trouble in it, or of a result, makes one of them worth reading."""
_LOOK = 4
"""Lines around a failure in which a caret shows that they belong to it."""
_VERBOSE = re2.compile(r"(?:^|[ \t])(?:-v+|--verbose)(?:$|[ \t;&|)])")


class Reading:
    """What the lines of one text say, as positions; each thing is looked for once, and only if somebody asks."""

    def __init__(self, lines: Sequence[str], command: str = "") -> None:
        """`command` is what printed them."""
        self._lines = lines
        self._command = command

    @cached_property
    def _data(self) -> bytes:
        return encode(self._lines)

    @cached_property
    def failures(self) -> frozenset[int]:
        """Lines that themselves state a failure."""
        return frozenset(_heads(self._data))

    @cached_property
    def criticals(self) -> frozenset[int]:
        """Those, and the lines that belong to them: traces, snippets, what is indented."""
        heads = sorted(self.failures)
        return frozenset(_blocks(_Page.read(self._lines, self._data), heads)) if heads else frozenset()

    @cached_property
    def verdicts(self) -> frozenset[int]:
        """Lines that state a result or an end; the last line that says anything is one."""
        found = set(find_lines(p.VERDICTS, self._data)).difference(find_lines(p.PROGRESS, self._data))
        last = next((at for at in range(len(self._lines) - 1, -1, -1) if self._lines[at].strip()), None)
        return frozenset(found if last is None else found | {last})

    @property
    def stated(self) -> frozenset[int]:
        """Lines that state a failure or a result, with what belongs to them."""
        return self.criticals | self.verdicts

    @cached_property
    def protected(self) -> frozenset[int]:
        """Lines that no rule may leave out: what is stated, but for the items of a long list that passed.

        Their names speak of failures ("returns false when it fails"), and the list's own result stands elsewhere; so it
        does where very many lines of what is run, or of a log, say the same of one thing each. Who asks for every item
        gets it.
        """
        passing = list(find_lines(p.PASSING, self._data))
        if _VERBOSE.search(self._command):
            return self.stated.union(passing)
        return (self.stated - self._told_elsewhere(passing)).union(self._given(), self._rows())

    def _given(self) -> set[int]:
        """Lines that give a name to what was made, where that is not an event among others."""
        found = set(find_lines(p.GIVEN, self._data))
        return found - stamped(self._lines) if found else found

    def _rows(self) -> Iterator[int]:
        """Lines of tables, with their headings."""
        size, end = len(self._lines), 0
        for head in find_lines(p.TABLE, self._data):
            if head >= end:
                end = next((at for at in range(head, size) if not self._lines[at].strip()), size)
                yield from range(head, end)

    def _told_elsewhere(self, passing: Sequence[int]) -> set[int]:
        """Items of long lists, but for those with a word that who looks for trouble looks for."""
        lines, failing, ends = self._lines, self.criticals, self.verdicts
        items = set(passing if len(passing) >= _LIST else ())
        done = is_deed(self._command)
        script = not done and is_script(self._command)
        places = ends - failing if done or script else (ends - failing) & stamped(lines)
        same = groups(lines, sorted(places), _CROWD if script else _MANY)
        items.update(at for group in same for at in ordinary(lines, group))
        listed = sorted(items)
        trouble = {listed[at] for at in find_lines(p.TROUBLE, encode([lines[at] for at in listed]))}
        # A word that all of a great many lines have in the same place sets none of them apart; warnings count if nothing is worse.
        crowds = (
            group for group in same if len(group) >= _CROWD and (failing or "warning" not in lines[group[0]].lower())
        )
        trouble.difference_update(at for group in crowds for at in group)
        return items - trouble

    def is_failing(self, observation: Observation) -> bool:
        """Whether the command failed: by its exit code where that can be trusted, else by what its lines state."""
        if observation.exit_code:
            return True
        if observation.exit_code == 0 and not hides_failure(observation.command):
            return False
        return bool(self.failures) and nature(observation) == "terminal"


class Readings:
    """The texts that one decision comes by, each read once."""

    def __init__(self, command: str) -> None:
        """`command` is what printed them."""
        self._command = command
        self._known: dict[str, Reading] = {}

    def of(self, text: str) -> Reading:
        """What the lines of a text say."""
        if text not in self._known:
            self._known[text] = Reading(text.split("\n"), self._command)
        return self._known[text]


def criticals(lines: Sequence[str]) -> frozenset[int]:
    """Positions of lines that state a failure, and of the lines that belong to them."""
    return Reading(lines).criticals


def failures(lines: Sequence[str]) -> frozenset[int]:
    """Positions of the lines that themselves state a failure."""
    return Reading(lines).failures


def verdicts(lines: Sequence[str]) -> frozenset[int]:
    """Positions of lines that state a result or an end."""
    return Reading(lines).verdicts


def stated(lines: Sequence[str]) -> frozenset[int]:
    """Positions of lines that state a failure or a result, with what belongs to them."""
    return Reading(lines).stated


def protected(lines: Sequence[str], command: str = "") -> frozenset[int]:
    """Positions of lines that no rule may leave out."""
    return Reading(lines, command).protected


def is_failing(observation: Observation, lines: Sequence[str]) -> bool:
    """Whether the command that printed `lines` failed."""
    return Reading(lines).is_failing(observation)


def _heads(data: bytes) -> set[int]:
    data = p.NOTHING.sub(b"", data)
    stated = set(find_lines(p.STATED, data))
    spoken = [at for at in find_lines(p.SPOKEN, data) if at not in stated]
    if spoken:
        lines = data.split(b"\n")
        elsewhere = set(find_lines(p.SAID_ELSEWHERE, b"\n".join(lines[at] for at in spoken)))
        stated.update(at for place, at in enumerate(spoken) if place not in elsewhere)
    return stated


@dataclass(frozen=True, slots=True)
class _Page:
    """Lines, and which of them matter to where a block begins and ends."""

    lines: Sequence[str]
    continued: frozenset[int]
    carets: frozenset[int]
    leading: frozenset[int]
    paragraphs: frozenset[int]
    sections: frozenset[int]
    rules: frozenset[int]

    @classmethod
    def read(cls, lines: Sequence[str], data: bytes) -> _Page:
        patterns = (p.CONTINUED, p.CARET, p.LEADING, p.PARAGRAPH, p.SECTION, p.RULE)
        return cls(lines, *(frozenset(find_lines(pattern, data)) for pattern in patterns))

    def indent(self, at: int) -> int:
        return len(self.lines[at]) - len(self.lines[at].lstrip())

    def find_caret(self, start: int, end: int) -> int | None:
        return next((k for k in range(start, end) if k in self.carets), None) if self.carets else None

    def is_blank(self, at: int) -> bool:
        return not self.lines[at].strip()


def _blocks(page: _Page, heads: Iterable[int]) -> Iterator[int]:
    covered = depth = 0
    for head in heads:
        indent = page.indent(head)
        if head < covered and indent >= depth:
            yield head
            continue
        begin, covered, depth = _begin(page, head, indent), _end(page, head, indent), indent
        yield from range(begin, covered)


def _begin(page: _Page, head: int, indent: int) -> int:
    at = head
    if page.lines[head].lstrip().startswith("--- FAIL"):
        while at > max(head - _BLOCK, 0) and page.indent(at - 1) > indent:
            at -= 1
    while at and at - 1 in page.leading:
        at -= 1
    caret = page.find_caret(max(head - _LOOK, 0), head)
    return at if caret is None else min(at, max(caret - 2, 0))


def _end(page: _Page, head: int, indent: int) -> int:
    size, line = len(page.lines), page.lines[head]
    if head in page.sections:
        return next((k for k in range(head + 1, size) if k in page.rules), size)
    limit = min(size, head + _BLOCK)
    if head in page.paragraphs:
        return next((k for k in range(head + 1, limit) if page.is_blank(k)), limit)
    at = _deeper(page, head + 1, limit, indent)
    if line.lstrip().startswith("Traceback") or (at == head + 1 and line.rstrip().endswith(":")):
        at = min(at + 1, limit)
    caret = page.find_caret(at, min(head + _LOOK, limit))
    return at if caret is None else caret + 1


def _deeper(page: _Page, at: int, limit: int, indent: int) -> int:
    end = at
    for k in range(at, limit):
        if page.is_blank(k):
            if k - end > 1:
                break
        elif page.indent(k) > indent or k in page.continued:
            end = k + 1
        else:
            break
    return end
