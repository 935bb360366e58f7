"""The bench of signals, on few sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import planting, signals


def test_losses_are_planted_and_recorded_sessions_are_listened_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found, blamed, and how late; what would be said of sessions without harm, for each way of leaving lines out."""
    monkeypatch.setattr(planting, "SESSIONS", 2)
    output = "".join(f"item {k} of the list is fine\n" for k in range(80))
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    said = [
        {"role": "user", "content": "do it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": output},
        {"role": "assistant", "content": "done"},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"messages": said}) + "\n")
    signals.main([path])

    said = capsys.readouterr().out
    assert "without harm" in said
    assert "as if every line had been dropped: 1 turns, 1 rewrites" in said
