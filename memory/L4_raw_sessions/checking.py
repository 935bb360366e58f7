"""Whether the archive is whole: every zip can be read, every member is what was put there, its block and its words are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.errors import StoreError
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places, places_at
from memory.L4_raw_sessions.reconciling import find_blocks
from memory.L4_raw_sessions.search import searched
from memory.L4_raw_sessions.zips import BROKEN, digest_member, facts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What `verify` found."""

    zips: int
    members: int
    """Members that are what was put there."""
    problems: tuple[str, ...]


def verify(month: str | None = None, *, l4_dir: Path | str | None = None) -> Verified:
    """Read all members of a month's zips, or of all, and compare them with what was put there."""
    places = places_at(l4_dir)
    with searched(places) as index:
        rows = index.rows("SELECT zip, member, sha256 FROM members") if index else []
        known = {(zip_, member): sha256 for zip_, member, sha256 in rows}
        good, problems = 0, list(_index_problems(index)) if index else []
    blocks = find_blocks(places.histories)
    paths = places.zips(month)
    for path in paths:
        try:
            told = facts_of(path)
        except (OSError, *BROKEN) as error:
            problems.append(
                f"{path.name}: {error}; put a copy of it in its place, or run `memory run` to rescue the rest"
            )
            continue
        for member, facts in told.items():
            found = list(_member_problems(path, member, facts, known, (path.name, member) in blocks))
            problems += found
            good += not found
    problems += _missing(places, month, known)
    return Verified(zips=len(paths), members=good, problems=tuple(problems))


def _member_problems(
    path: Path, member: str, facts: dict[str, Any], known: dict[tuple[str, str], str], has_block: bool
) -> Iterator[str]:
    place = f"{path.name}/{member}"
    found = digest_member(path, member)
    if found is None:
        yield f"{place}: cannot be read"
        return
    if found != facts.get("sha256", found):
        yield f"{place}: was changed since it was archived"
    if known.get((path.name, member), found) != found:
        yield f"{place}: the index knows another content; run `memory verify --rebuild` to make it anew"
    if not has_block:
        yield f"{place}: its lines are not in {path.with_name('all_histories.txt').name}"


def _missing(places: Places, month: str | None, known: dict[tuple[str, str], str]) -> Iterator[str]:
    names: dict[str, set[str]] = {}
    for path in places.zips(month):
        try:
            names[path.name] = set(facts_of(path))
        except (OSError, *BROKEN):
            names[path.name] = {member for zip_, member in known if zip_ == path.name}
    for zip_, member in sorted(known):
        if (month is None or zip_.startswith(month)) and member not in names.get(zip_, set()):
            yield f"{zip_}/{member}: is in the index and in no zip"


def _index_problems(index: Index) -> Iterator[str]:
    try:
        index.rows("INSERT INTO words (words) VALUES ('integrity-check')")
        for (said,) in index.rows("PRAGMA quick_check"):
            if said != "ok":
                yield f"index: {said}; make it anew with `memory verify --rebuild`"
        ((texts, words),) = index.rows("SELECT (SELECT count(*) FROM texts), (SELECT count(*) FROM words_docsize)")
        if texts != words:
            yield f"index: it has {texts} texts, and words of {words}; make it anew with `memory verify --rebuild`"
    except StoreError as error:
        yield f"{error}; make it anew with `memory verify --rebuild`"
