"""Turns that stand in several recordings: agents copy a history into the file of each branch of it."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b

from gateway.recordings.session import Session


class Copies:
    """Remembers all turns of agents that it has been shown, by what they answered and what they said."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def without(self, session: Session) -> Session:
        """The session with those turns only that no session before had."""
        if not session.agent:
            return session  # whoever wrote the others down had each of them
        new, chain, told = [], blake2b(digest_size=16), 0
        for at in session.turns:
            end = at + len(session.turn(at))
            for message in session.messages[told:end]:
                chain.update(json.dumps(message).encode())
            told, name = end, chain.digest()
            if name not in self._seen:
                self._seen.add(name)
                new.append(at)
        return replace(session, answers=new)
