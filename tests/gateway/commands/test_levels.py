"""`memory index|fact|sop|candidate`: a person's hand on the upper levels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commandline import invoke
from tests.gateway.remembered import remember


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with memories."""
    return remember(tmp_path / "data").root


def ask(data: Path, *words: str | Path) -> str:
    """What a command prints; it succeeds."""
    result = invoke("memory", *words, "--data", data)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        pytest.param(["fact", "put", "lower", "text"], "'lower' is no name of a section", id="a section"),
        pytest.param(["fact", "put", "KEYS", "it is sk-" + "a1" * 20], "write ref:NAME in its place", id="a secret"),
        pytest.param(["fact", "put", "A", "b", "--evidence", "x"], "'x' is no pointer", id="evidence that is none"),
        pytest.param(["fact", "drop", "nix"], "no fact has the id nix", id="an unknown fact"),
        pytest.param(["sop", "show", "nix"], "there is no procedure nix", id="an unknown procedure"),
        pytest.param(["sop", "show", "../nix"], "is no name of a procedure", id="a path"),
        pytest.param(["sop", "drop", "nix"], "there is no procedure nix", id="nothing to drop"),
        pytest.param(["candidate", "promote", "nix"], "there is no candidate nix", id="an unknown candidate"),
    ],
)
def test_refusals(data: Path, words: list[str], why: str) -> None:
    """Each says in a line what is wrong; nothing is written."""
    result = invoke("memory", *words, "--data", data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr


def test_facts(data: Path) -> None:
    """They are written with evidence, listed, proved, and taken out."""
    name = ask(data, "fact", "put", "TOOLS", "tests run with make test", "--evidence", "L4:going#0").strip()
    assert f"{name}  TOOLS    tests run with make test" in ask(data, "fact", "list")
    assert "L4:going#0, user  by person" in ask(data, "why", name)
    assert "L2:TOOLS" in ask(data, "index")
    assert ask(data, "fact", "drop", name) == "Dropped: tests run with make test\n"
    assert name not in ask(data, "fact", "list")


def test_procedures(data: Path, tmp_path: Path) -> None:
    """They are written from files, listed, shown, and taken away."""
    (tmp_path / "sop.md").write_text("---\ntrigger: a release is due\n---\n1. Tag.\n")
    assert ask(data, "sop", "put", "release", tmp_path / "sop.md") == "L3:release\n"
    assert ask(data, "sop", "show", "L3:release").endswith("1. Tag.\n")
    assert "L3:release    release.md    a release is due" in ask(data, "sop", "list")
    assert ask(data, "sop", "drop", "release") == "Dropped: release.md\n"


def test_candidates(data: Path) -> None:
    """One is promoted and becomes a fact; one that was decided is not decided again."""
    id_ = ask(data, "candidate", "list").splitlines()[1].split()[0]
    entry = ask(data, "candidate", "promote", id_).strip()
    assert "“needle three”" in ask(data, "why", entry)
    again = invoke("memory", "candidate", "refuse", id_, "--data", data)
    assert (again.exit_code, "promoted before" in again.stderr) == (2, True)
    assert invoke("memory", "candidate", "list", "--data", data).stderr == "There are none yet.\n"
    assert "promoted" in ask(data, "candidate", "list", "--all")


def test_a_candidate_is_refused(data: Path) -> None:
    """With a reason that is kept."""
    id_ = ask(data, "candidate", "list").splitlines()[1].split()[0]
    assert ask(data, "candidate", "refuse", id_, "--reason", "not so") == f"{id_} is refused.\n"
    assert "refused" in ask(data, "candidate", "list", "--all")


def test_there_is_no_index(data: Path) -> None:
    """What would make one is said."""
    (data / "memory" / "global_mem_insight.txt").unlink()
    result = invoke("memory", "index", "--data", data)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "There is none yet; --rebuild makes it.\n")


def test_the_index_is_made_anew(data: Path) -> None:
    """With pointers to all levels."""
    shown = ask(data, "index", "--rebuild")
    assert {"L2:PLACES", "L3:mend_shop: the shop is down", "shop: L4:2026-05/0501_0147-0501_0147"} <= set(
        shown.splitlines()
    )
