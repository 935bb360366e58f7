"""What a trigger names, and whether a task has to do with it."""

from __future__ import annotations

import pytest

from rules_engine.evolution.naming import foreign, names, words
from rules_engine.seeds import SEEDS


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param(r"\S", (), id="nothing"),
        pytest.param(r"[a-z]{2,}\s*(?:\d+|.+)$", (), id="syntax only"),
        pytest.param(r"^\s*(?:sudo\s+|env\s+)*make\b", ("make",), id="wrappers do not count"),
        pytest.param(r"\b7z\s+x\b.*secrets\.7z", ("7z", "secrets.7z"), id="a program and a file"),
        pytest.param(r"(?:g\+\+|clang(?:\+\+)?)\s", ("g++", "clang"), id="a plus that is meant"),
        pytest.param(r"(?i)\bnpm (?:ci|install)\b", ("npm", "ci", "install"), id="alternatives"),
        pytest.param(r"apt-get|python[\d.]*\s+-m", ("apt-get", "python"), id="hyphens and classes"),
    ],
)
def test_names(pattern: str, expected: tuple[str, ...]) -> None:
    """Literal words of a pattern, in order."""
    assert names(pattern) == expected


TASK = words(["Extract the archive secrets.7z and fix tests/test_io.py, then run nginx"])


@pytest.mark.parametrize(
    ("named", "task", "marks", "reason"),
    [
        pytest.param((), TASK, (), "", id="a trigger that names nothing"),
        pytest.param(("git", "clone"), TASK, (), "", id="an everyday program"),
        pytest.param(("7z", "secrets.7z"), TASK, (), "", id="what the task speaks of"),
        pytest.param(("nginx",), TASK, (), "", id="a program that the task names"),
        pytest.param(("7z",), words(["fix the login"]), (), "trigger names `7z`: nothing of it in this task", id="7z"),
        pytest.param(
            ("python", "train_model.py"),
            words(["fix the login"]),
            (),
            "trigger names `train_model.py`: nothing of it in this task",
            id="one task's own file, though python is everywhere",
        ),
        pytest.param(
            ("cargo", "build"),
            words(["fix the login"]),
            ("package.json",),
            "trigger names `cargo`: this repository has package.json",
            id="another language",
        ),
        pytest.param(("cargo",), TASK, ("Cargo.toml", "package.json"), "", id="two languages"),
        pytest.param(("cargo",), TASK, ("README.md",), "", id="marks that say nothing"),
        pytest.param(("cargo",), words(["port it to cargo"]), ("package.json",), "", id="the task names it"),
    ],
)
def test_foreign(named: tuple[str, ...], task: frozenset[str], marks: tuple[str, ...], reason: str) -> None:
    """A rule is left out only where what it names is somebody else's."""
    assert foreign(named, task, marks) == reason


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.id)
def test_the_seeds_are_for_every_task(seed: object) -> None:
    """They name programs that any session may run."""
    assert foreign(names(seed.trigger.pattern), words(["fix the login"]), ()) == ""  # type: ignore[attr-defined]
