"""From a conversation to what can be learned from it: turns with their results, and samples of recorded sessions.

recording ─shape.read→ Conversation ─observe→ Seen* ─turns→ Turn* ─samples→ Sample*
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gateway.errors import BadRequest
from gateway.identity import Item, Observer, Seen, chain, text_in
from gateway.quoting import said
from gateway.recordings import Copies, RecordingError, Session, plain_name, read_sessions
from gateway.rereading import reread
from gateway.types import Conversation, Message
from memory import Message as Stored
from rules_engine import Result, Sample, Turn
from rules_engine.evolution.use import samples

Refuse = Callable[[str], None]
"""Is told why a session, or the rest of a file, is left out."""


def raw(item: Item) -> Result:
    """The result of an observation of which nothing was decided."""
    return Result(observation=item.observation)


def turns(
    conversation: Conversation, seen: Sequence[Seen], result: Callable[[Item], Result] = raw, start: int = 0
) -> Iterator[Turn]:
    """A conversation from message `start` on as turns, in order; what others than the agent say are turns without results."""
    found: dict[int, list[Seen]] = defaultdict(list)
    for one in seen:
        found[one.at].append(one)
    words, speaker = "", ""
    results: list[Result] = []
    for at, placed in enumerate(conversation.messages[start:], start):
        message = placed.message
        told = said(message) if message.role == "assistant" else _told(message, found[at])
        if message.role == speaker == "assistant" and not results:
            words = "\n".join(
                filter(None, (words, told))
            )  # some forms have a message for each thing that an agent says
        elif message.role == "assistant" or told:
            yield Turn(said=words, results=tuple(results))
            words, speaker, results = told, message.role, []
        results += [result(item) for one in found[at] for item in one.items]
    yield Turn(said=words, results=tuple(results))


def _told(message: Message, seen: Sequence[Seen]) -> str:
    """What somebody says in a message beside the results of tools in it."""
    if message.role in ("tool", "function"):
        return ""
    if not seen:
        return message.words
    results = [text_in(message, one) for one in seen]
    return "\n".join(text.value for text in message.texts if all(text is not result for result in results))


def read_turns(session: Session) -> list[Turn]:
    """The turns of a recorded session from its start on, with its observations as the walk finds them.

    Raises `RecordingError`.
    """
    try:
        conversation, places = reread(session.messages)
    except BadRequest as error:
        raise RecordingError(f"{session.name}: {error.message}") from error
    seen = Observer().observe(conversation, "", chain(conversation, ""))
    return list(turns(conversation, seen, start=bisect_left(places, session.start)))


def archived(messages: Sequence[Stored]) -> Conversation:
    """A conversation of the archive, without what was forgotten of it. Raises `BadRequest` if that leaves none."""
    return reread([json.loads(message.content) if message.content else None for message in messages])[0]


def read_samples(
    path: Path, refuse: Refuse, heard: Callable[[int], None] | None = None, copies: Copies | None = None
) -> Iterator[Sample]:
    """The samples of all sessions in a file, one session in memory at a time; see `read_sessions` for `heard`.

    Of what `copies` has seen in other files there is no second sample.
    """
    source, sessions = plain_name(path), read_sessions(path, heard, refuse)
    copies = copies or Copies()
    while True:
        try:
            session = next(sessions, None)
            if session is None:
                return
            session = copies.without(session)
            found = samples(read_turns(session), session.name, source) if session.messages else ()
        except RecordingError as error:  # the sessions before it count, and those of other files
            refuse(str(error))
        else:
            yield from found
