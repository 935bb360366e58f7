"""The session that the demo shows: recorded from mini-swe-agent, which ran real commands in a small project."""

from __future__ import annotations

import json
from importlib.resources import files

from gateway.recordings import Session
from gateway.scenario import Scenario, Turn


def recorded() -> Session:
    """The session."""
    row = json.loads(files(__name__).joinpath("session.json").read_text(encoding="utf-8"))
    return Session(name="demo", model=row["model"], messages=row["messages"], tools=())


def scenario_of(session: Session) -> Scenario:
    """A script with which a scripted model says again what the model of a session said."""
    return Scenario(tuple(Turn(text=session.messages[at]["content"]) for at in session.turns))
