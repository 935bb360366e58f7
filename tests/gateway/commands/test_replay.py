"""`replay`: what recorded sessions would have cost, and what would have been lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.commands.replay import Sums, _describe
from gateway.demo import recorded
from gateway.recordings import Session as Recorded
from gateway.replaying import Replayed
from tests.commandline import invoke


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """The demo's session as a file."""
    path = tmp_path / "session.jsonl"
    one = recorded()
    path.write_text(json.dumps({"id": "one", "model": one.model, "messages": one.messages}) + "\n")
    return path


@pytest.mark.parametrize("text", [None, "{"], ids=["no such file", "broken JSON"])
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str | None) -> None:
    """The error names the file; nothing is replayed."""
    path = tmp_path / "x.jsonl"
    if text is not None:
        path.write_text(text)
    result = invoke("replay", path, "--data", tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {path}")


def test_rules_that_cannot_be_used(session: Path, tmp_path: Path) -> None:
    """A broken rule file is told."""
    (tmp_path / "rules.json").write_text("[3]")
    (tmp_path / "config.yaml").write_text(f"rewriting:\n  rules_file: {tmp_path / 'rules.json'}\n")
    result = invoke("replay", session, "--data", tmp_path)
    assert result.exit_code == 2
    assert "rules.json" in result.stderr


def test_an_empty_file(tmp_path: Path) -> None:
    """No session is no error, and no figure; what is taken for one is said."""
    (tmp_path / "x.jsonl").write_text("")
    result = invoke("replay", tmp_path / "x.jsonl", "--data", tmp_path)
    assert result.exit_code == 0
    assert "0 requests in 0 sessions" in result.stdout
    assert "Tokens" not in result.stdout
    assert "No session was found" in result.stderr


def test_a_session(session: Path, tmp_path: Path) -> None:
    """Requests, tokens, money and shares, for a person and as JSON; nothing is kept."""
    data = tmp_path / "data"
    plain = invoke("replay", session, "--data", data)
    sums = json.loads(invoke("replay", session, "--json", "--data", data).stdout)
    assert (sums["sessions"], sums["requests"], sums["lost"], sums["dearer"]) == (1, 10, 0, [])
    accounts = sums["accounts"]
    assert accounts["forwarded_tokens"] < 0.9 * accounts["raw_tokens"]
    assert accounts["cost_forwarded"] < 0.9 * accounts["cost_raw"]
    assert f"{accounts['raw_tokens']:,} sent by the agent" in plain.stdout
    assert "10 requests in 1 session" in plain.stdout
    results = sums["natures"].values()
    saved = sum(tokens["raw"] - tokens["forwarded"] for tokens in results)
    assert saved == accounts["raw_tokens"] - accounts["forwarded_tokens"]
    assert all(f"of {tokens['raw']:,}" in " ".join(plain.stdout.split()) for tokens in results)
    assert not data.exists()


def test_replaying_is_serving(session: Path, data: Path, tmp_path: Path) -> None:
    """A replay finds the same savings as the gateway that served the session."""
    served = json.loads(invoke("stats", "--json", "--data", data).stdout)["accounts"]
    replayed = json.loads(invoke("replay", session, "--json", "--data", tmp_path / "none").stdout)["accounts"]
    same = ("raw_tokens", "forwarded_tokens", "novel_saved", "repeat_saved", "saved_by_rule")
    assert {name: replayed[name] for name in same} == {name: served[name] for name in same}


def test_losses_are_named() -> None:
    """A string that was used and no longer stood is counted, with the place where it was missed."""
    sums = Sums()
    used = frozenset({"a/b.py", "x_\x1b1"})
    found = Replayed(
        accounts={"raw_tokens": 1, "approximate": True}, kept={}, rewrites=0, natures={}, used=used, lost=used
    )
    sums.add(Recorded("s", None, (), ()), 4, found)
    rows = _describe(sums)
    assert ("", "a/b.py  (s, message 4)") in rows
    assert ("", "x_␛1  (s, message 4)") in rows
    assert dict(rows)["Lost"].endswith("(100.00% of 2 that were used)")
    assert sums.accounts == {"raw_tokens": 1}


OUTPUT = "".join(f"\r{k:3d} %" for k in range(101)) + "\nall is well\n" + "x " * 2600
CLAUDE = (
    {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "Pack it."}},
    {
        "type": "assistant",
        "uuid": "2",
        "parentUuid": "1",
        "message": {
            "id": "m",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}],
        },
    },
    {
        "type": "user",
        "uuid": "3",
        "parentUuid": "2",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": OUTPUT}]},
    },
    {
        "type": "assistant",
        "uuid": "4",
        "parentUuid": "3",
        "message": {"id": "n", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "Done."}]},
    },
)
CODEX = (
    {"type": "session_meta", "payload": {"id": "1"}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "Pack it."}},
    {
        "type": "response_item",
        "payload": {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": '{"cmd": "make"}'},
    },
    {
        "type": "response_item",
        "payload": {
            "type": "function_call_output",
            "call_id": "c",
            "output": f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{OUTPUT}",
        },
    },
    {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": "Done."}},
)


def test_the_folders_of_agents(tmp_path: Path) -> None:
    """Sessions of Claude Code and of Codex, each in its own form; whatever else lies there is named, and costs nothing."""
    for name, rows in {"claude/a.jsonl": CLAUDE, "codex/b.jsonl": CODEX, "claude/other.jsonl": [[1]]}.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    folders = tmp_path / "claude", tmp_path / "codex"
    plain = invoke("replay", *folders, "--data", tmp_path / "data")
    sums = json.loads(invoke("replay", *folders, "--json", "--since", "1", "--data", tmp_path / "data").stdout)

    assert (sums["sessions"], sums["requests"], sums["rewrites"]) == (2, 4, 2)
    assert sums["agents"].keys() == {"Claude Code", "Codex"}
    assert [(one["sessions"], one["requests"], one["lost"]) for one in sums["agents"].values()] == [(1, 2, 0)] * 2
    assert all(one["accounts"]["forwarded_tokens"] < one["accounts"]["raw_tokens"] for one in sums["agents"].values())
    assert "other.jsonl" in plain.stderr
    assert "Claude Code  2 requests in 1 session, −" in plain.stdout


def test_what_agents_copied_counts_once(tmp_path: Path) -> None:
    """A branch of a session has the whole history in its file."""
    asked = {"type": "user", "uuid": "5", "parentUuid": "4", "message": {"role": "user", "content": "Really?"}}
    said = {**CLAUDE[3], "uuid": "6", "parentUuid": "5"}
    for name, rows in {"a": CLAUDE, "b": (*CLAUDE, asked, said), "c": CLAUDE}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sums = json.loads(invoke("replay", tmp_path, "--json", "--data", tmp_path / "data").stdout)

    assert (sums["sessions"], sums["requests"]) == (2, 3)


def test_long_lists_are_cut(tmp_path: Path) -> None:
    """A folder may hold many files of other forms; all are told in JSON."""
    for number in range(12):
        (tmp_path / f"{number}.jsonl").write_text("[]")
    plain = invoke("replay", tmp_path, "--data", tmp_path / "data")
    sums = json.loads(invoke("replay", tmp_path, "--json", "--data", tmp_path / "data").stdout)

    assert plain.stderr.splitlines()[-1] == "Left out: and 2 more, which --json lists"
    assert len(sums["left_out"]) == 12
