"""Who and what a thing is: the same under every JSON form, and never the same as another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway import calls, framings
from gateway.cache import BoundedCache
from gateway.identity import Observer, Seen, chain, declares_shell, last_assistant, tenant_of, text_in
from gateway.shapes import chat_completions
from gateway.types import Conversation

TASK = {"role": "user", "content": "fix it"}


def called(command: str = "ls", name: str = "1", tool: str = "bash", **more: Any) -> dict[str, Any]:
    """An assistant message with one call."""
    function = {"name": tool, "arguments": json.dumps({"command": command})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
        **more,
    }


def result(text: Any = "a\nb\n", name: str = "1") -> dict[str, Any]:
    """A tool result."""
    return {"role": "tool", "tool_call_id": name, "content": text}


def conversation(*messages: dict[str, Any], **fields: Any) -> Conversation:
    """A request with these messages, read."""
    body = json.dumps({"model": "m", "messages": list(messages), **fields}).encode()
    return chat_completions.read(body, BoundedCache(1 << 20))


def observe(*messages: dict[str, Any], tenant: str = "t", observer: Observer | None = None) -> list[Seen]:
    """What is seen in such a request."""
    read = conversation(*messages)
    return (observer or Observer()).observe(read, tenant, chain(read, tenant))


def keys(*messages: dict[str, Any], tenant: str = "t") -> list[str]:
    """The keys of all observations."""
    return [item.observation.key for one in observe(*messages, tenant=tenant) for item in one.items]


SAME = {
    "more fields": (TASK, called(id="x"), result() | {"name": "bash", "x": 1.0}),
    "a list of parts": (
        TASK,
        called(),
        result([{"type": "text", "text": "a\nb\n", "cache_control": {"type": "ephemeral"}}]),
    ),
    "the task as parts": ({"role": "user", "content": [{"type": "text", "text": "fix it"}]}, called(), result()),
    "arguments with other blanks": (
        TASK,
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": {"name": "bash", "arguments": '{ "command":"ls" }'}}],
        },
        result(),
    ),
    "no content in the place of null": (TASK, {k: v for k, v in called().items() if k != "content"}, result()),
    "empty content in the place of null": (TASK, called() | {"content": ""}, result()),
    "a turn more": (
        TASK,
        called(),
        result(),
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
    ),
    "another task before it": ({"role": "user", "content": "fix that"}, called(), result()),
}
OTHER = {
    "another text": (TASK, called(), result("a\nc\n")),
    "another command": (TASK, called("pwd"), result()),
    "another tool": (TASK, called(tool="shell"), result()),
    "another call id": (TASK, called(name="2"), result(name="2")),
    "another answer around it": (TASK, called() | {"content": "Let me look."}, result()),
}


@pytest.mark.parametrize("messages", SAME.values(), ids=SAME)
def test_an_observation_keeps_its_key(messages: tuple[dict[str, Any], ...]) -> None:
    """Whatever stands around it, and in whatever form."""
    assert keys(*messages)[0] == keys(TASK, called(), result())[0]


@pytest.mark.parametrize("messages", OTHER.values(), ids=OTHER)
def test_another_observation_has_another_key(messages: tuple[dict[str, Any], ...]) -> None:
    """Even if an agent numbers its calls alike in every session."""
    assert keys(*messages)[0] != keys(TASK, called(), result())[0]


def test_a_key_belongs_to_a_tenant() -> None:
    """No two share one, and the name of a tenant does not tell its key."""
    assert keys(TASK, called(), result(), tenant="a") != keys(TASK, called(), result(), tenant="b")
    assert tenant_of(b"sk-secret") == tenant_of(b"sk-secret") != tenant_of(b"sk-other")
    assert "secret" not in tenant_of(b"sk-secret")


def test_equals_in_one_request_are_told_apart_by_their_order() -> None:
    """And stay so, when later ones are added."""
    twice = (TASK, called(), result(), called(), result())
    first, second = keys(*twice)

    assert first != second
    assert keys(*twice, called(), result())[:2] == [first, second]
    assert keys(TASK, called(), result()) == [first]


def test_an_observer_finds_the_same_again_as_a_new_one() -> None:
    """What it remembers is what it would find."""
    observer = Observer()
    turns = [TASK, called(), result(), called("pwd", "2"), result("/x\n", "2"), called(), result()]
    for end in range(1, len(turns) + 1):
        assert observe(*turns[:end], observer=observer) == observe(*turns[:end])
        assert observe(*turns[:end], observer=observer) == observe(*turns[:end])


def test_a_remembered_observation_is_found_at_its_new_place() -> None:
    """The message may have come in another JSON form, in which its texts stand elsewhere; equal ones stay apart."""
    observer = Observer()
    texts = [{"type": "text", "text": text} for text in ("a", "", "a", "b")]
    observe(TASK, called(), result(texts), observer=observer)
    new = {"x": [1, 2, 3]} | result([texts[1], *texts])
    seen = observe(TASK, called(), new, observer=observer)
    message, raw = conversation(new).messages[0].message, json.dumps(new)
    places = [text_in(message, one) for one in seen]

    assert [raw[text.start : text.end] for text in places] == ['"a"', '"a"', '"b"']
    assert len({text.start for text in places}) == 3


def test_only_what_is_new_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A retry, and what goes on from a history that was known before, are the old history and its new end."""
    looked: list[str] = []
    monkeypatch.setattr(framings, "split", lambda text, role: looked.append(text))
    observer = Observer()
    first = (TASK, called(), result("first"))
    for messages in (first, first, (*first, called(), result("second")), (*first, called(), result("third"))):
        observe(*messages, observer=observer)

    assert looked == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("messages", "count"),
    [
        pytest.param((TASK,), 0, id="nothing but the task"),
        pytest.param(
            ({"role": "user", "content": "New Terminal Output:\nx"},), 0, id="a terminal before the first answer"
        ),
        pytest.param((TASK, called()), 0, id="a call without its result"),
        pytest.param((TASK, called(), {"role": "user", "content": "thanks"}), 0, id="words of a person"),
        pytest.param((TASK, called(), result("")), 0, id="an empty result"),
        pytest.param((TASK, called(), {"role": "user", "content": "New Terminal Output:\nx\n"}), 1, id="a terminal"),
        pytest.param((TASK, result(name="9")), 1, id="a result of no call"),
        pytest.param((TASK, called(), result([{"type": "text", "text": "x"}] * 2)), 2, id="two parts"),
    ],
)
def test_what_is_an_observation(messages: tuple[dict[str, Any], ...], count: int) -> None:
    """Results of tools, and terminals that an agent pastes as the user; never the task."""
    assert len(keys(*messages)) == count


def test_a_result_of_several_parts_is_named_by_none() -> None:
    """Lines are counted in a whole message, and a part does not know how many stand before it."""
    one = [{"type": "text", "text": "x"}]
    alone, *parts = observe(TASK, called(), result(one), called("pwd", "2"), result(one * 2, "2"))

    assert alone.items[0].source == "1"
    assert [part.items[0].source for part in parts] == ["", ""]


def test_a_command_is_found_in_call_wrapper_or_words() -> None:
    """In this order."""
    (called_,) = observe(TASK, called("ls -l"), result())
    words = {"role": "assistant", "content": "Look.\n```bash\nls -a\n```"}
    (typed,) = observe(TASK, words, {"role": "user", "content": "OBSERVATION:\na\n"})

    assert called_.items[0].observation.command == "ls -l"
    assert typed.items[0].observation.command == "ls -a"


def test_a_framing_that_fails_costs_its_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are found."""
    split = framings.split

    def fail(text: str, role: Any) -> Any:
        if "odd" in text:
            raise RuntimeError
        return split(text, role)

    monkeypatch.setattr(framings, "split", fail)
    odd, fine = observe(TASK, called(), result("odd"), called("pwd", "2"), result("/x\n", "2"))

    assert (odd.failed, odd.items) == (True, ())
    assert (fine.failed, len(fine.items)) == (False, 1)


def test_a_command_that_cannot_be_read_costs_its_results_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other calls are found."""
    command_of = calls.command_of

    def fail(tool: str, arguments: str) -> str:
        if "odd" in arguments:
            raise RuntimeError
        return command_of(tool, arguments)

    monkeypatch.setattr(calls, "command_of", fail)
    odd, fine = observe(TASK, called("odd"), result("a\n"), called("pwd", "2"), result("/x\n", "2"))

    assert (odd.failed, odd.items) == (True, ())
    assert (fine.failed, len(fine.items)) == (False, 1)


@pytest.mark.parametrize(
    ("messages", "tools", "shell"),
    [
        ((TASK,), [], None),
        ((TASK, called(tool="search"), result()), [{"function": {"name": "search"}}], False),
        ((TASK,), [{"function": {"name": "bash"}}], True),
        ((TASK, called(), result()), [], True),
        ((TASK, called(), {"role": "user", "content": "New Terminal Output:\nx\n"}), [], True),
    ],
    ids=["not said", "another tool", "declared", "used", "a terminal"],
)
def test_whether_there_is_a_shell(messages: tuple[dict[str, Any], ...], tools: list[Any], shell: bool | None) -> None:
    """Only then can a recall be asked for; some do not say."""
    assert declares_shell(conversation(*messages, tools=tools), observe(*messages)) is shell


def test_the_last_answer_is_found() -> None:
    """-1 where there is none."""
    assert last_assistant(conversation(TASK)) == -1
    assert last_assistant(conversation(TASK, called(), result(), called(), result())) == 3


def test_a_poll_is_known_by_the_command_that_it_asks_for() -> None:
    """However many turns after it, and when the history comes to be known piece by piece."""
    poll = called(name="2", tool="write_stdin")
    poll["tool_calls"][0]["function"]["arguments"] = '{"session_id": 7, "chars": ""}'
    again = json.loads(json.dumps(poll).replace('"2"', '"3"'))
    turns = [
        TASK,
        called("make all"),
        result("Process running with session ID 7\n"),
        poll,
        result("session_id: 7", "2"),
        again,
        result("done", "3"),
    ]
    observer = Observer()
    pieces = [observe(*turns[:end], observer=observer) for end in (3, 5, 7)]

    assert [one.items[0].observation.command for one in pieces[-1]] == ["make all"] * 3
    assert pieces[-1] == observe(*turns)
