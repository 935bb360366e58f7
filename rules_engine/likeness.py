"""Lines of one form: the same words in the same places, with other numbers and names between them.

What sets one line of many apart, a value far from the others' or one that few have, keeps it from being ordinary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

Form = tuple[str, ...]
"""The words of a line; numbers and names as masks."""

NUMBER, NAME = "0", "/"

SHOWN = 2
"""Lines at the beginning of a group that show what the others are like; and the last one."""
FEW = 8
"""So many values or fewer are kinds, of which a rare one tells something; more are figures or names."""
RARE = 20
"""A kind is rare that not one line in so many has."""
FAR = 4
"""A figure is far from the others that is so many times what nearly all of them are under."""

_WIDEST = 400
_DATA = ('"', "{", "'")
"""How pieces of data begin: what was asked for."""
_SIGNS = r"[^\sA-Za-z0-9]*"
_NUMBER = re.compile(rf"{_SIGNS}\d\S*|{_SIGNS}(?=[a-f]*\d)[0-9a-f]{{6,}}\S*")
_NAME = re.compile(rf"{_SIGNS}(?:[_/\\@]|[A-Za-z0-9]\S*(?:[_/\\@\d]|[.:=-][A-Za-z]|[a-z][A-Z]))\S*")
_FIGURE = re.compile(r"\d+")


def groups(lines: Sequence[str], places: Iterable[int], fewest: int) -> list[list[int]]:
    """Of the lines at `places`, those of one form that at least so many have; a form has a word and something that varies."""
    masked = _Masked().__getitem__
    found: dict[Form, list[int]] = {}
    for at in places:
        line = lines[at]
        words = line.split() if len(line) <= _WIDEST else []
        if not words or words[0].startswith(_DATA):
            continue
        found.setdefault(tuple(map(masked, words)), []).append(at)
    return [at for form, at in found.items() if len(at) >= fewest and _tells(form)]


def ordinary(lines: Sequence[str], group: Sequence[int]) -> list[int]:
    """Those of a group that say what its others say: without its first and last, and without any that stands out."""
    rows = [lines[at].split() for at in group]
    out = set(range(SHOWN, len(group) - 1))
    for column in zip(*rows, strict=True):
        out.difference_update(_odd(column))
    return [group[at] for at in sorted(out)]


class _Masked(dict[str, str]):
    """Words as they stand in a form, each looked at once."""

    def __missing__(self, word: str) -> str:
        self[word] = mask = _mask(word)
        return mask


def _mask(word: str) -> str:
    if word.isalpha():
        return word
    if word[0].isdigit() or _NUMBER.fullmatch(word):
        return NUMBER
    return NAME if _NAME.fullmatch(word) else word


def _tells(form: Form) -> bool:
    return (NUMBER in form or NAME in form) and any(len(word) > 1 and any(map(str.isalpha, word)) for word in form)


def _odd(column: Sequence[str]) -> set[int]:
    """Places of values that few others have, or that are far from them."""
    if column.count(column[0]) == len(column):
        return set()
    counts = Counter(column)
    if len(counts) <= FEW:
        return _rare(column, counts)
    if len(column[0]) == len(column[-1]) and list(column) == sorted(column):
        return set()  # a clock
    together = "\n".join(column)  # no word holds a line break
    shapes = _FIGURE.sub(NUMBER, together).split("\n")
    kinds = Counter(shapes)
    if len(kinds) > 1:
        return _rare(shapes, kinds) if len(kinds) <= FEW else set()
    figures = [*map(int, _FIGURE.findall(together))]
    each = len(figures) // len(column)
    return {at for place in range(each) for at in _far(figures[place::each])}


def _rare(column: Sequence[str], counts: Counter[str]) -> set[int]:
    fewest = max(1, len(column) // RARE)
    return {at for at, value in enumerate(column) if counts[value] <= fewest}


def _far(values: list[int]) -> list[int]:
    """What only grows is a count or a clock."""
    ranked = sorted(values)
    if ranked == values:
        return []
    most = max(ranked[(len(values) * 19) // 20 - 1], 1)
    return [at for at, value in enumerate(values) if value > FAR * most]
