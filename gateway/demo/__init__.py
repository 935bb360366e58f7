"""The session that the demo shows: recorded from mini-swe-agent, which ran real commands in a small project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from gateway.recordings import Session
from gateway.scenario import Scenario, Turn


def recorded() -> Session:
    """The session."""
    row = json.loads(files(__name__).joinpath("session.json").read_text(encoding="utf-8"))
    return Session(name="demo", model=row["model"], messages=row["messages"], tools=row["tools"])


def scenario_of(session: Session) -> Scenario:
    """A script with which a scripted model says again what the model of a session said."""
    return Scenario(tuple(_turn(session.messages[at]) for at in session.turns))


def _turn(message: Mapping[str, Any]) -> Turn:
    calls = message.get("tool_calls") or ()
    commands = tuple(json.loads(call["function"]["arguments"])["command"] for call in calls)
    return Turn(text=message.get("content") or "", shell=commands)
