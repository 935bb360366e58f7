"""Sessions: which conversation a request continues, and what of it was forwarded before."""

from __future__ import annotations

import json

import pytest

from gateway.cache import BoundedCache
from gateway.identity import chain
from gateway.sessions import History, Sessions, named_session
from gateway.shapes import chat_completions
from gateway.types import Conversation

ASK = {"role": "user", "content": "fix the bug"}
CALL = {
    "role": "assistant",
    "content": "look",
    "tool_calls": [{"id": "1", "function": {"name": "bash", "arguments": "{}"}}],
}
OTHER = {"role": "assistant", "content": "I would rather not"}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "a\nb"}
DONE = {"role": "assistant", "content": "done"}


def conversation(*messages: object, **fields: object) -> Conversation:
    """A request with these messages, read."""
    body = json.dumps({"model": "m", "messages": list(messages), **fields}).encode()
    return chat_completions.read(body, BoundedCache(1 << 20))


class Client:
    """Sends requests of one tenant through a `Sessions`."""

    def __init__(self) -> None:
        self.sessions = Sessions()
        self.whole = True

    def send(self, *messages: object, named: str | None = None, rewritten: dict[int, bytes] | None = None) -> History:
        """The history that was found before the request was forwarded."""
        read = conversation(*messages)
        links = chain(read, "tenant")
        history = self.sessions.resume(read, links, named)
        self.whole = self.sessions.remember(read, links, history, rewritten or {})
        return history


def test_a_request_that_goes_on_after_the_answer_is_the_same_session() -> None:
    """Its known prefix is all that was forwarded before."""
    client = Client()
    first = client.send(ASK)
    second = client.send(ASK, CALL, RESULT)
    third = client.send(ASK, CALL, RESULT, DONE, ASK)

    assert (first.known, second.known, third.known) == (0, 1, 3)
    assert first.session == second.session == third.session
    assert not any(h.retry for h in (first, second, third))


def test_the_same_request_again_is_a_retry() -> None:
    """Nothing in it is new."""
    client = Client()
    first = client.send(ASK, CALL, RESULT)
    again = client.send(ASK, CALL, RESULT)

    assert again.retry
    assert again.known == 3
    assert again.session == first.session


def test_a_second_answer_to_the_same_question_is_another_session() -> None:
    """Two agents that begin alike are told apart by what the model answered."""
    client = Client()
    first = client.send(ASK)
    client.send(ASK, CALL, RESULT)
    second = client.send(ASK, OTHER, ASK)

    assert second.session != first.session
    assert second.parent == first.session
    assert second.known == 1


def test_an_edited_history_is_a_session_of_its_own_with_a_parent() -> None:
    """So is a compacted one: what stands after the common prefix was never forwarded like this."""
    client = Client()
    client.send(ASK)
    first = client.send(ASK, CALL, RESULT)
    edited = client.send(ASK, {"role": "user", "content": "summary of all that was"}, CALL, RESULT)

    assert edited.session != first.session
    assert edited.parent == first.session
    assert edited.known == 1


@pytest.mark.parametrize("forks", [1, 3])
def test_a_question_beside_leaves_the_session_alone(forks: int) -> None:
    """A summary, a suggestion, a side question: the whole history and one more message, and then the session goes on."""
    client = Client()
    main = client.send(ASK, CALL, RESULT)
    beside = [client.send(ASK, CALL, RESULT, {"role": "user", "content": f"sum up {n}"}) for n in range(forks)]
    later = client.send(ASK, CALL, RESULT, DONE, ASK)

    assert later.session == main.session
    assert {one.parent for one in beside} == {main.session}
    assert main.session not in {one.session for one in beside}
    assert later.known == 3


def test_one_client_id_may_hold_several_conversations() -> None:
    """OpenCode's title request carries the id of the main chat."""
    client = Client()
    title = client.send({"role": "system", "content": "You are a title generator"}, ASK, named="ses_1")
    main = client.send({"role": "system", "content": "You are an engineer"}, ASK, named="ses_1")

    assert title.session == "ses_1"
    assert main.session != title.session
    assert main.parent == "ses_1"


@pytest.mark.parametrize(
    ("one", "other"),
    [(None, None), ("ses_1", "ses_2")],
    ids=["no ids", "each with its id"],
)
def test_the_words_of_the_system_make_no_family(one: str | None, other: str | None) -> None:
    """Every session of an agent begins with them."""
    client = Client()
    system = {"role": "system", "content": "You are an engineer"}
    first = client.send(system, ASK, named=one)
    second = client.send(system, {"role": "user", "content": "write a test"}, named=other)

    assert (second.parent, second.known) == (None, 1)
    assert second.session != first.session
    assert other is None or second.session == other


def test_a_compacted_history_has_its_parent_by_the_id() -> None:
    """Nothing else may be left of it but the words of the system."""
    client = Client()
    system = {"role": "system", "content": "You are an engineer"}
    client.send(system, ASK, named="ses_1")
    client.send(system, ASK, CALL, RESULT, named="ses_1")
    compacted = client.send(system, {"role": "user", "content": "so far: all well"}, named="ses_1")
    goes_on = client.send(system, {"role": "user", "content": "so far: all well"}, CALL, RESULT, named="ses_1")

    assert compacted.parent == "ses_1"
    assert goes_on.session == compacted.session != "ses_1"


def test_another_json_form_of_a_message_is_the_same_message() -> None:
    """Claude Code sends a list with a cache mark, and later a string."""
    client = Client()
    marked = {
        "role": "user",
        "content": [{"type": "text", "text": "fix the bug", "cache_control": {"type": "ephemeral"}}],
    }
    client.send(marked)

    assert client.send(ASK, CALL, RESULT).known == 1


def test_arguments_are_compared_by_value() -> None:
    """Most JavaScript agents write the arguments of a call anew."""
    client = Client()
    spaced = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "sh", "arguments": '{"a": 1, "b": 2}'}}],
    }
    tight = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "sh", "arguments": '{"b":2,"a":1}'}}],
    }
    client.send(ASK, spaced, RESULT)

    assert client.send(ASK, tight, RESULT, DONE, ASK).known == 3


def test_tenants_share_nothing() -> None:
    """The same words under another key are another history."""
    read = conversation(ASK)

    assert chain(read, "one") != chain(read, "two")


def test_a_prefix_that_is_forwarded_otherwise_is_noticed() -> None:
    """It is what makes a provider write its cache again."""
    client = Client()
    client.send(ASK, CALL, RESULT, rewritten={2: b"short"})
    client.send(ASK, CALL, RESULT, DONE, ASK, rewritten={2: b"short"})
    assert client.whole

    client.send(ASK, CALL, RESULT, DONE, ASK, DONE, ASK)
    assert not client.whole

    client.send(ASK, CALL, RESULT, DONE, ASK, DONE, ASK, DONE, ASK)
    assert client.whole


@pytest.mark.parametrize(
    ("headers", "field", "name"),
    [
        ({}, None, None),
        ({"session-id": "a b\nc"}, None, None),
        ({"session-id": "abc"}, "key", "abc"),
        ({"x-taco-session": "mine", "session-id": "abc"}, None, "mine"),
        ({}, "pc-1", "pc-1"),
    ],
    ids=["nothing sent", "not a name", "a known header", "our own header first", "the body's field last"],
)
def test_the_client_may_name_its_session(headers: dict[str, str], field: str | None, name: str | None) -> None:
    """In the order in which the names can be trusted."""
    assert named_session(headers, field) == name
