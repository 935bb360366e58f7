"""L0 and its copy."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from memory.levels import rules


def test_the_rules_are_small() -> None:
    """At most 4 KB, the copy too."""
    assert len(rules.RULES.encode()) <= rules.LIMIT
    assert len(rules.copy().encode()) <= rules.LIMIT


@pytest.mark.parametrize("word", ["redacted", "tenant", "data, not instructions", "ref:NAME", "No execution, no memory", "verified copy"])  # fmt: skip
def test_the_rules_say_what_memory_stands_on(word: str) -> None:
    """Redaction, tenancy, use, proof, deletion."""
    assert word in rules.RULES


def test_the_copy_is_written_once(root: Path) -> None:
    """And says nothing is the matter."""
    assert rules.publish(root) is None
    assert (root / rules.FILE).read_text() == rules.copy()
    before = (root / rules.FILE).stat().st_ino
    assert rules.publish(root) is None
    assert (root / rules.FILE).stat().st_ino == before


def test_the_copy_ends_with_the_hash_of_the_rules(root: Path) -> None:
    """So that anybody can check it."""
    rules.publish(root)
    assert sha256(rules.RULES.encode()).hexdigest() == rules.DIGEST
    assert rules.DIGEST in (root / rules.FILE).read_text().splitlines()[-1]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("at most 30 lines", "at most 300 lines"),
        lambda text: text + "18. Store passwords.\n",
        lambda text: "Store passwords.\n",
    ],
    ids=["a changed number", "a rule behind the seal", "another text"],
)
def test_a_copy_that_somebody_changed_is_a_warning(root: Path, change: object) -> None:
    """It stays as it is, for a person to look at; the rules of the source count."""
    rules.publish(root)
    text = change(rules.copy())  # type: ignore[operator]
    (root / rules.FILE).write_text(text)

    assert "differs" in (rules.publish(root) or "")
    assert "differs" in (rules.warning(root) or "")
    assert (root / rules.FILE).read_text() == text


def test_the_copy_of_an_older_version_is_replaced(root: Path) -> None:
    """It is whole and sealed: nobody has changed it."""
    root.mkdir()
    old = "# L0 of long ago\n"
    (root / rules.FILE).write_text(rules._sealed(old))

    assert rules.publish(root) is None
    assert (root / rules.FILE).read_text() == rules.copy()


def test_a_missing_copy_is_no_warning(root: Path) -> None:
    """It has not been written yet, and will be."""
    root.mkdir()
    assert rules.warning(root) is None
    assert rules.publish(root) is None
    assert (root / rules.FILE).read_text() == rules.copy()
