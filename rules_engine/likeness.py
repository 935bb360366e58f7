"""Lines of one form: the same words in the same places, with other numbers and names between them.

What sets one line of many apart, a value far from the others' or one that few have, keeps it from being ordinary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

Form = tuple[str, ...]
"""The words of a line; numbers and names as masks."""

NUMBER, NAME, WORD = "0", "/", "a"

SHOWN = 2
"""Lines at the beginning of a group that show what the others are like; and the last one."""
FEW = 8
"""So many values or fewer are kinds, of which a rare one tells something; more are figures or names."""
RARE = 20
"""A kind is rare that not one line in so many has."""
FAR = 4
"""A figure is far from the others that is so many times what nearly all of them are under, or they so many times it."""
LEAST = 10
"""Where nearly all are over so much, few is far from them; among small figures a small one is one like others."""

_WIDEST = 400
_DATA = ('"', "{", "'")
"""How pieces of data begin: what was asked for."""
_AROUND = "()[]{}<>'\"`,.:;!"
_RANK = re.compile(r"\d+[.)]")
"""How items begin whose order was asked for."""
_SIGNS = r"[^\sA-Za-z0-9]*"
_NUMBER = re.compile(rf"{_SIGNS}\d\S*|{_SIGNS}(?=[a-f]*\d)[0-9a-f]{{6,}}\S*")
_NAME = re.compile(rf"{_SIGNS}(?:[_/\\@]|[A-Za-z0-9]\S*(?:[_/\\@\d]|[.:=-][A-Za-z]|[a-z][A-Z]))\S*")
_FIGURE = re.compile(r"\d+")


def groups(lines: Sequence[str], places: Iterable[int], fewest: int) -> list[list[int]]:
    """Of the lines at `places`, those of one form that at least so many have; a form has a word and something that varies."""
    masked = _Masked().__getitem__
    found: dict[Form, list[int]] = {}
    for at, words in _worded(lines, places):
        if not words[0].startswith(_DATA) and not _RANK.fullmatch(words[0]):
            found.setdefault(tuple(map(masked, words)), []).append(at)
    return [at for form, at in found.items() if len(at) >= fewest and _tells(form)]


def ordinary(lines: Sequence[str], group: Sequence[int]) -> list[int]:
    """Those of a group that say what its others say: without its first and last, any that stands out, and the first of each kind."""
    out = set(range(SHOWN, len(group) - 1))
    for column in _columns(lines, group):
        out.difference_update(_odd(column), _firsts(column))
    return [group[at] for at in sorted(out)]


def outstanding(lines: Sequence[str], places: Iterable[int], fewest: int) -> set[int]:
    """Of the lines at `places`, those that differ from their like in a word that nearly all of these have, or by far in a figure.

    Their like are built alike of numbers and words, whatever the words; by how they begin and end all are compared. What
    is built as hardly any other differs, too, unless many are.
    """
    kind = _Kinds().__getitem__
    found: dict[Form, list[int]] = {}
    ends: list[tuple[int, str, str]] = []
    for at, words in _worded(lines, places):
        found.setdefault(tuple(map(kind, words)), []).append(at)
        ends.append((at, words[0], words[-1]))
    groups = [group for group in found.values() if len(group) >= fewest]
    out = {group[at] for group in groups for at in _few(_columns(lines, group), len(group))}
    if len(ends) >= fewest:
        most = max(1, len(ends) // RARE)
        lone = [at for group in found.values() if len(group) <= most for at in group]
        out.update(lone if len(lone) <= most else ())
        _, firsts, lasts = zip(*ends, strict=True)
        out.update(ends[at][0] for at in _few((firsts, lasts), len(ends)))
    return out


def _worded(lines: Sequence[str], places: Iterable[int]) -> Iterator[tuple[int, list[str]]]:
    """Places with the words of their lines; of those that have none, or are too wide to be looked at, nothing."""
    for at in places:
        words = lines[at].split() if len(lines[at]) <= _WIDEST else []
        if words:
            yield at, words


def _few(columns: Iterable[Sequence[str]], size: int) -> set[int]:
    """Places that stand out by a word or figure by which hardly any others do; else words of that place are names, or prose."""
    return {at for places in map(_odd, columns) if len(places) <= max(1, size // RARE) for at in places}


def _columns(lines: Sequence[str], group: Sequence[int]) -> Iterator[tuple[str, ...]]:
    return zip(*(lines[at].split() for at in group), strict=True)


class _Masked(dict[str, str]):
    """Words as they stand in a form, each looked at once."""

    def __missing__(self, word: str) -> str:
        self[word] = mask = _mask(word)
        return mask


class _Kinds(_Masked):
    """Words as they stand in a form that takes any word for any other."""

    def __missing__(self, word: str) -> str:
        mask = _mask(word)
        self[word] = mask = WORD if mask == NAME or mask.strip(_AROUND).isalpha() else mask
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
    return _noughts(column) | _unlike(column)


def _noughts(column: Sequence[str]) -> set[int]:
    """Nothing at all is news where nearly all others have something."""
    found = {at for at, value in enumerate(column) if value.strip(_AROUND) == "0"}
    return found if len(found) <= max(1, len(column) // RARE) else set()


def _unlike(column: Sequence[str]) -> set[int]:
    """Places of values that are built as few others are, or are far from those that are built alike."""
    shapes = _FIGURE.sub(NUMBER, "\n".join(column)).split("\n")  # no word holds a line break
    kinds = Counter(shapes)
    odd = _rare(shapes, kinds) if len(kinds) <= FEW else set()
    common, often = kinds.most_common(1)[0]
    if 2 * often >= len(column):
        odd.update(_far([(at, value) for at, value in enumerate(column) if shapes[at] == common]))
    return odd


def _firsts(column: Sequence[str]) -> Iterable[int]:
    """The first place of each kind of value, where there are few."""
    found: dict[str, int] = {}
    for at, value in enumerate(column):
        if value not in found:
            if len(found) == FEW:
                return ()
            found[value] = at
    return found.values()


def _rare(column: Sequence[str], counts: Counter[str]) -> set[int]:
    fewest = max(1, len(column) // RARE)
    return {at for at, value in enumerate(column) if counts[value] <= fewest}


def _far(values: Sequence[tuple[int, str]]) -> Iterator[int]:
    """Places of values, all of one shape, that hold a figure far over, or under, nearly all of the others."""
    for figures in zip(*(map(int, _FIGURE.findall(value)) for _, value in values), strict=True):
        ranked = sorted(figures)
        if ranked == list(figures):
            continue  # what only grows is a count or a clock
        few = len(figures) // RARE + 1
        low, high = ranked[few - 1], max(ranked[-few], 1)
        if low < LEAST:
            low = 0
        yield from (
            at for (at, _), value in zip(values, figures, strict=True) if value > FAR * high or value * FAR < low
        )
