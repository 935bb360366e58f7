"""`learn`: rules from recorded sessions, and what is said of files that teach nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rules_engine.taco import load
from tests.commandline import invoke


def session(number: int) -> dict[str, Any]:
    """A session that builds something and goes on to use none of what the build printed."""
    crates = "\n".join(f"{k}/30 Compiling crate_{number}_{k} v1.{k}.0" for k in range(30))
    text = f"begin\none\ntwo\n{crates}\nthree\nfour\nfive\nsix\nend"
    call = {"id": "c", "function": {"name": "bash", "arguments": json.dumps({"command": "cargo build"})}}
    messages = [
        {"role": "user", "content": "build it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
        {"role": "assistant", "content": "It is built."},
    ]
    return {"id": f"s{number}", "messages": messages}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Four sources of twelve sessions each."""
    paths = [tmp_path / f"source{n}.jsonl" for n in range(4)]
    for n, path in enumerate(paths):
        path.write_text("".join(json.dumps(session(12 * n + k)) + "\n" for k in range(12)))
    return paths


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(None, "cannot be read", id="no such file"),
        pytest.param("{", "not JSON", id="broken JSON"),
        pytest.param('{"messages": []}', "no tool results", id="an empty session"),
    ],
)
def test_files_that_teach_nothing(tmp_path: Path, text: str | None, reason: str) -> None:
    """It says what is wrong, and writes no pool."""
    if text is not None:
        (tmp_path / "x.jsonl").write_text(text)
    result = invoke("learn", tmp_path / "x.jsonl", "--out", tmp_path / "pool.json")
    assert result.exit_code == 2
    assert reason in result.stderr
    assert not (tmp_path / "pool.json").exists()


def test_a_pool(files: list[Path], tmp_path: Path) -> None:
    """The pool holds the admitted rules with their evidence; a broken file costs itself only, and is told once."""
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{")
    result = invoke("learn", broken, *files, "--out", tmp_path / "pool.json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("broken.jsonl, line 1: not JSON") == 1
    assert "48 tool results in 48 sessions: 1 rule mined, 1 admitted." in result.stdout
    assert result.stderr.endswith(f"Put them in use: taco-gateway rules import {tmp_path / 'pool.json'}\n")
    assert "nothing is kept: --out FILE writes the pool" in invoke("learn", *files).stderr
    (rule,) = load((tmp_path / "pool.json").read_text())
    assert (rule.id, rule.provenance, rule.evidence["sources"]) == ("mined_cargo_build", "mined", 4)
    assert "crate" not in (tmp_path / "pool.json").read_text()


def test_refusals_are_told(files: list[Path], tmp_path: Path) -> None:
    """One part of the evidence is not enough, and the reason is said; without --out nothing is written."""
    for path in files:
        path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:1] * 2))
    before = set(tmp_path.iterdir())
    result = invoke("learn", *files)
    assert result.exit_code == 0
    assert "0 admitted" in result.stdout
    assert result.stderr == ""
    assert set(tmp_path.iterdir()) == before
