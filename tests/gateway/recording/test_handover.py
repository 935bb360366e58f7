"""What is handed over of an exchange: all of it once, and afterwards only what is new."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.exchange import Exchange
from gateway.identity import chain
from gateway.recording.handover import Handover
from gateway.sessions import Sessions
from gateway.shapes import chat_completions


class Agent:
    """An agent whose requests were served, each as it comes."""

    def __init__(self) -> None:
        self.sessions = Sessions()

    def ask(self, *said: str, name: str = "r", **more: Any) -> Exchange:
        """The exchange of a request in which user and assistant speak in turn."""
        roles = ("user", "assistant")
        messages = [{"role": roles[k % 2], "content": text} for k, text in enumerate(said)]
        body = json.dumps({"model": "m", "messages": messages, **more}).encode()
        conversation = chat_completions.read(body, BoundedCache(1 << 20))
        links = chain(conversation, "t")
        history = self.sessions.resume(conversation, links, None)
        self.sessions.remember(conversation, links, history, {})
        exchange = Exchange(id=name, method="POST", path="/v1/x?q=1", started=1.0, shape=chat_completions, body=body)
        exchange.conversation, exchange.history, exchange.status = conversation, history, 200
        return exchange


LONG = "word " * 10_000


@pytest.mark.parametrize(
    ("said", "same", "told"),
    [
        ((LONG, "b", "c"), 3, []),
        ((LONG, "b", "c", "d", "e"), 3, ["d", "e"]),
        ((LONG, "b", "other"), 2, ["other"]),
        (("other", "b", "c"), 0, ["other", "b", "c"]),
    ],
    ids=["nothing is new", "it goes on", "it goes on otherwise", "it begins otherwise"],
)
def test_only_what_is_new_is_handed_over(said: tuple[str, ...], same: int, told: list[str]) -> None:
    """Seen from what the session's last entry had; another session brings all of its own."""
    agent, handover = Agent(), Handover()
    first, second = agent.ask(LONG, "b", "c"), agent.ask(*said)
    handover.entry(first)
    entry = handover.entry(second)
    is_same_session = first.history == second.history or (
        first.history is not None and second.history is not None and first.history.session == second.history.session
    )

    assert entry.same == (same if is_same_session else 0)
    assert [json.loads(one.content)["content"] for one in entry.messages][-len(told) or len(said) :] == told


def test_a_long_history_costs_nothing_again() -> None:
    """The second entry of 50 KB is small."""
    agent, handover = Agent(), Handover()
    first = handover.entry(agent.ask(LONG))
    second = handover.entry(agent.ask(LONG, "fine", "go on"))

    assert len(pickle.dumps(first)) > len(LONG)
    assert len(pickle.dumps(second)) < 3000


def test_tools_are_handed_over_once() -> None:
    """By whatever session; and the head is the body without its messages."""
    handover = Handover()
    first, second = (handover.entry(Agent().ask(text, tools=[])) for text in ("one", "two"))

    assert first.head is not None
    assert second.head is not None
    assert json.loads(first.head.content or b"") == {"model": "m", "messages": [], "tools": []}
    assert (second.head.name, second.head.content) == (first.head.name, None)


def test_after_a_loss_all_is_handed_over_again() -> None:
    """Head and messages."""
    agent, handover = Agent(), Handover()
    first = handover.entry(agent.ask("a"))
    handover.forget()

    assert handover.entry(agent.ask("a")).messages == first.messages
    assert first.head is not None


def test_what_was_never_read_is_handed_over_with_what_is_known() -> None:
    """No messages, no head; and an answer that is only relayed is nobody's to read."""
    exchange = Exchange(id="r9", method="POST", path="/v1/x?q=1", started=1.0, reply=[b"x" * 100])
    entry = Handover().entry(exchange)

    assert (entry.head, entry.messages, entry.reply) == (None, (), None)
    assert (entry.record.session, entry.record.path) == ("r-r9", "/v1/x")
