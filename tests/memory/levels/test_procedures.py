"""L3: procedures are text under plain names."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import EntryRefused
from memory.levels import provenance, rules
from memory.levels.pointers import Pointer
from memory.levels.procedures import LARGE, LIMIT, drop, front_of, names, put, read
from memory.levels.provenance import Evidence

TEXT = "---\ntrigger: deploying to staging\nsources: two sessions\n---\n1. build\n"


@pytest.mark.parametrize(
    "name",
    ["", "Deploy", "a-b", "a b", "../x", "a/b", "x.sh", "x.md.py", ".md", "ü", "x" * 65, "a\n", "memory_management_sop", "memory_management_sop.md"],
)  # fmt: skip
def test_a_bad_name_is_refused(root: Path, name: str) -> None:
    """Nothing outside of the folder, nothing in the place of L0."""
    with pytest.raises(EntryRefused):
        put(root, name, TEXT, by="person", now=1.0)
    with pytest.raises(EntryRefused):
        read(root, name)
    assert not root.exists()


@pytest.mark.parametrize("name", ["__init__", "__init__.py", "__main__.py", "__x"])
def test_a_name_that_python_gives_a_meaning_is_refused(root: Path, name: str) -> None:
    """The folder of a memory must not become a package of anybody's."""
    with pytest.raises(EntryRefused, match="meaning to Python"):
        put(root, name, TEXT, by="person", now=1.0)
    assert read(root, name) is None
    put(root, f"a{name}", TEXT, by="person", now=1.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("a\0b", "NUL"),
        ("half \ud800", "half a character"),
        ("x" * (LIMIT + 1), "65537 bytes"),
        ("export DB_PASSWORD=tomato99!\n", "write ref:NAME"),
    ],
)
def test_what_is_no_procedure_is_refused(root: Path, text: str, reason: str) -> None:
    """With the reason."""
    with pytest.raises(EntryRefused, match=reason):
        put(root, "deploy", text, by="person", now=1.0)
    assert names(root) == ()


def test_without_an_ending_it_is_markdown(root: Path) -> None:
    """It is found with and without."""
    procedure, warning = put(root, "deploy_sop", TEXT, by="person", now=1.0)

    assert (procedure.name, procedure.stem, warning) == ("deploy_sop.md", "deploy_sop", None)
    assert read(root, "deploy_sop") == read(root, "deploy_sop.md") == procedure
    assert read(root, "deploy_sop.py") is read(root, "other") is None


def test_a_script_is_kept_and_never_run(root: Path) -> None:
    """It is a text that nobody may execute, and that nothing here imports."""
    put(root, "clean.py", "raise SystemExit('ran')\n", by="person", now=1.0)

    assert (root / "clean.py").stat().st_mode & 0o777 == 0o600
    found = read(root, "clean")
    assert found is not None
    assert found.text == "raise SystemExit('ran')\n"


@pytest.mark.parametrize(("size", "warned"), [(LARGE, False), (LARGE + 1, True), (LIMIT, True)])
def test_a_long_one_is_a_warning(root: Path, size: int, warned: bool) -> None:
    """Over 8 KB; 64 KB are the end."""
    _, warning = put(root, "long", "x" * size, by="person", now=1.0)
    assert (warning is not None) is warned


@pytest.mark.parametrize(
    ("text", "front"),
    [
        ("", {}),
        ("plain\n", {}),
        ("---\ntrigger: never closed\n", {}),
        ("text\n---\ntrigger: later\n---\n", {}),
        ("---\n---\n", {}),
        (TEXT, {"trigger": "deploying to staging", "sources": "two sessions"}),
        ("---\r\ntrigger: x: y\r\nno field\r\n---\r\n", {"trigger": "x: y"}),
    ],
)
def test_the_front_is_optional(text: str, front: dict[str, str]) -> None:
    """It is read where it stands at the top and is closed."""
    assert front_of(text) == front


def test_a_procedure_replaces_one_of_its_name_and_keeps_the_proof(root: Path) -> None:
    """Of both."""
    put(root, "deploy", "one\n", by="gateway", now=1.0, evidence=[Evidence(pointer=Pointer("s1"))])
    put(root, "deploy", "two\n", by="person", now=2.0, evidence=[Evidence(pointer=Pointer("s2"))])

    found = read(root, "deploy")
    assert found is not None
    assert found.text == "two\n"
    assert [link.session for link in provenance.read(root).why("L3:deploy")] == ["s1", "s2"]


def test_a_procedure_can_be_dropped_once(root: Path) -> None:
    """Then there is none."""
    put(root, "deploy", TEXT, by="person", now=1.0)
    assert drop(root, "deploy") == "deploy.md"
    with pytest.raises(EntryRefused, match="no procedure"):
        drop(root, "deploy")


def test_only_procedures_are_listed(root: Path) -> None:
    """Neither L0 nor what others put into the folder."""
    put(root, "b", TEXT, by="person", now=1.0)
    put(root, "a.py", TEXT, by="person", now=1.0)
    rules.publish(root)
    (root / "global_mem.txt").write_text("x")
    (root / "README.md").write_text("x")
    (root / "folder.md").mkdir()

    assert names(root) == ("a.py", "b.md")
