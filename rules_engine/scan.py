"""Finds lines by pattern: one RE2 pass over a whole text, and patterns that others wrote held within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import re2

from rules_engine.types import RuleError

LONGEST = 1000
"""Characters of a pattern in a rule."""
MOST = 64
"""Patterns of one list in a rule."""
KEPT = 4096
"""Triggers that stay compiled: RE2's own memory holds too few for the rules of a pool."""
FEW = 64
"""The same for all triggers of a task together."""
_MEMORY = 4 << 20
"""Bytes that one compiled pattern may take; RE2 refuses what needs more."""
_ANYWHERE = re2._Anchor.UNANCHORED  # noqa: SLF001  (see `find_lines`)


def compile_lines(*parts: str, flags: str = "mi") -> re2._Regexp[str]:
    """A pattern of ours for runs of whole lines in which one of `parts` is found. No part may match a line break."""
    return re2.compile(rf"(?{flags})(?:^.*(?:{'|'.join(parts)}).*$\n?)+")


def compile_given(patterns: Sequence[str], field: str) -> re2._Regexp[str] | None:
    """One pattern for lines in which a rule's `patterns` are found, in any case. Raises `RuleError` naming `field`."""
    if len(patterns) > MOST:
        raise RuleError(f"{field}: {len(patterns)} patterns are too many; leave at most {MOST}")
    options = _options()
    options.never_nl = True
    for place, pattern in enumerate(patterns):
        _check(pattern, f"{field}[{place}]")
        if "\\A" in pattern or "\\z" in pattern:
            raise RuleError(f"{field}[{place}]: patterns see one line at a time; write ^ and $ instead of \\A and \\z")
        for form in (pattern, _line([pattern])):
            _compile(form, f"{field}[{place}]", options)
    return _compile(_line(patterns), field, options) if patterns else None


@lru_cache(KEPT)
def compile_trigger(pattern: str) -> re2._Regexp[str]:
    """A rule's trigger, to be searched in a command of any number of lines, in any case. Raises `RuleError`."""
    _check(pattern, "trigger_regex")
    trigger = _compile(pattern, "trigger_regex", _options())
    if trigger.search(""):
        raise RuleError("trigger_regex: it matches every command; name the command that it is for")
    return trigger


def which(triggers: Sequence[str], command: str) -> tuple[int, ...]:
    """Places of the triggers that are found in a command, ascending; one search for all. Raises `RuleError`."""
    found = _set(tuple(triggers))
    return tuple(sorted(found.Match(command) or ())) if triggers else ()


@lru_cache(FEW)
def _set(triggers: tuple[str, ...]) -> re2.Set:
    options = _options()
    options.max_mem = len(triggers) * _MEMORY
    together = re2.Set.SearchSet(options)
    for trigger in triggers:
        compile_trigger(trigger)  # says what is wrong with it
        together.Add(trigger)
    together.Compile()
    return together


def encode(lines: Iterable[str]) -> bytes:
    """The text that `find_lines` searches; bytes, since offsets in characters cost more than the search."""
    return "\n".join(lines).encode("utf-8", "replace")


def is_encodable(text: str) -> bool:
    """Whether RE2 can search it: it holds no half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def find_lines(pattern: re2._Regexp[str] | None, data: bytes) -> Iterator[int]:
    """Positions of the lines that match, ascending."""
    if pattern is None:
        return
    # What `finditer` does, without an object for each match: those cost more than the search.
    match, count, size = pattern._regexp.Match, data.count, len(data)  # noqa: SLF001
    line = at = unseen = behind = 0
    while True:
        start, end = match(_ANYWHERE, data, at, size)[0]
        if start < 0:
            return
        line += count(b"\n", behind, start)
        after = line + count(b"\n", start, end)
        end_of_run = after if start < end and data[end - 1] == 10 else after + 1
        yield from range(max(line, unseen), end_of_run)
        if at == size:
            return
        unseen = max(unseen, end_of_run)
        line, behind, at = after, end, max(end, at + 1)


def _line(patterns: Sequence[str]) -> str:
    return f"(?m)^.*(?:{'|'.join(f'(?:{pattern})' for pattern in patterns)}).*$"


def _check(pattern: str, field: str) -> None:
    if not pattern:
        raise RuleError(f"{field}: an empty pattern matches everything; say what it should match, or leave it out")
    if len(pattern) > LONGEST:
        raise RuleError(f"{field}: the pattern has {len(pattern)} characters; shorten it to {LONGEST}")


def _options() -> re2.Options:
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def _compile(pattern: str, field: str, options: re2.Options) -> re2._Regexp[str]:
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "refused"
        raise RuleError(f"{field}: {reason}; patterns are RE2's: no lookaround, no back references") from error
    except UnicodeError as error:
        raise RuleError(f"{field}: the pattern holds half a character; write it again") from error
