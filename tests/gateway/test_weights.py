"""What is kept weighs what it says: a cache is bounded by what its entries really take."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from sys import getsizeof

import pytest

from gateway import weights
from gateway.cache import BoundedCache
from gateway.identity import Observer, chain
from gateway.messages import chat_completions
from gateway.pins import Answer, Recalled, weigh
from gateway.shapes import SHAPES
from rules_engine import Context, Observation, Rewritten, Rule, RuleSet, decide, index
from rules_engine.types import Trigger

FETCHES = Rule(
    id="fetches", kind="line_filter", trigger=Trigger(pattern="fetch"), params={"strip_patterns": ["^fetching"]}
)
LISTING = "\n".join(f"{n:6}\tvalue_{n} = compute({n})" for n in range(1, 400))
NOISE = "\n".join(["begin", *(f"fetching part {n} of the archive" for n in range(300)), "end"])
TEXTS = [
    pytest.param("one short line", id="one short line"),
    pytest.param("x" * 50_000, id="one long line"),
    pytest.param("\n" * 3000, id="blank lines"),
    pytest.param("\n".join(f"l {n}" for n in range(3000)), id="many short lines"),
    pytest.param(LISTING, id="numbered lines, which are kept with and without their numbers"),
    pytest.param("ошибка: файл не найден\n" * 20 + "\n".join(f"файл {n}" for n in range(300)), id="wide characters"),
    pytest.param("✅ 测试通过 🎉\n" + "\n".join(f"🎉 {n}" for n in range(300)), id="wider characters"),
]


def measured(value: object, seen: set[int] | None = None) -> int:
    """Bytes that a value takes with all that it holds, each thing once."""
    seen = set() if seen is None else seen
    if id(value) in seen or value is None:
        return 0
    seen.add(id(value))
    inside: list[object] = []
    if isinstance(value, dict):
        inside = [*value.keys(), *value.values()]
    elif isinstance(value, tuple | list | frozenset):
        inside = [*value]
    elif is_dataclass(value):
        inside = [getattr(value, field.name) for field in fields(value)]
    return getsizeof(value) + sum(measured(each, seen) for each in inside)


def is_honest(weight: int, value: object) -> bool:
    """It says no less than the value takes, and not many times as much beside what any entry costs."""
    return measured(value) <= weight <= 5 * measured(value) + 3000


@pytest.mark.parametrize("text", TEXTS)
def test_an_index_weighs_its_lines(text: str) -> None:
    """Those that it finds are in a table."""
    found = index("a" * 32, text)

    assert is_honest(weights.of_index(found), found)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("parts", [1, 3])
def test_a_message_weighs_its_texts(text: str, parts: int) -> None:
    """Where it has several they are kept apart and together."""
    content = text if parts == 1 else [{"type": "text", "text": text}] * parts
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": text})}}
    for raw in ({"role": "tool", "tool_call_id": "c", "content": content}, {"role": "assistant", "tool_calls": [call]}):
        message = chat_completions.read_message(json.dumps(raw).encode(), 0)

        assert is_honest(weights.of_message(message), message)


@pytest.mark.parametrize(
    ("command", "text", "earlier"),
    [
        pytest.param("cat -n a.py", LISTING, "", id="hundreds of slices"),
        pytest.param("fetch all", NOISE, "", id="a mark"),
        pytest.param("cat a.py", LISTING.replace("\t", " "), LISTING.replace("\t", " "), id="a pointer"),
    ],
)
def test_a_decision_weighs_its_slices(command: str, text: str, earlier: str) -> None:
    """In the store it is compressed; in memory it is not."""
    observation = Observation(key="a" * 32, tool="bash", command=command, exit_code=0, text=text)
    context = Context(shell=True, chars=99_999, earlier=(index("before", earlier, "call_1"),) if earlier else ())
    decision = decide(observation, RuleSet(rules=(FETCHES,)), context)

    assert isinstance(decision, Rewritten)
    assert is_honest(weigh(decision), decision)


def test_what_has_no_decision_weighs_something() -> None:
    """Its name is remembered, too."""
    assert weigh(None) >= getsizeof("a" * 32)


def test_a_recall_weighs_its_answers() -> None:
    """One for each name that was asked for."""
    answers = tuple(Answer(id=f"{n:06x}", source="a" * 32, spans=((n, 2 * n), (3 * n, 4 * n))) for n in range(300, 400))
    recalled = Recalled(key="a" * 32, raw_digest="b" * 32, answers=answers)

    assert is_honest(weigh(recalled), recalled)


def test_of_a_conversation_that_goes_on_only_the_last_histories_are_kept() -> None:
    """Each holds nearly all of the one before it; the last but one is what another try goes on from."""
    observer, shape = Observer(), SHAPES["/v1/chat/completions"]
    messages: list[dict[str, object]] = [{"role": "user", "content": "Go."}]
    for n in range(20):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": LISTING},
        ]
        read = shape.read(json.dumps({"model": "m", "messages": messages}).encode(), BoundedCache(0))
        observer.observe(read, "tenant", chain(read, "tenant"))

    assert len(observer._known) == 2
    assert observer._known.size >= measured([history for history, _ in observer._known._entries.values()])
