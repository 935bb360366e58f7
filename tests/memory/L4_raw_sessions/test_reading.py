"""A session again: by its name or its id, as a log and as messages; and the message that a pointer names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory import StoreError, read_session, resolve, restore
from tests.memory.L4_raw_sessions.archives import APRIL, House, free
from tests.memory.L4_raw_sessions.talks import Talks

CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
TURN: list[Any] = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "do it"},
]


@pytest.mark.parametrize("name", ["absent", "2026-05/0501_0147-0501_0147", "", "%"])
def test_nobody_is_called_so(tmp_path: Path, name: str) -> None:
    """It is said what to do."""
    talks = Talks(tmp_path)
    with pytest.raises(StoreError, match="memory search"):
        read_session(name, l4_dir=talks.l4)
    talks.say("a", "one")
    with pytest.raises(StoreError, match="memory search"):
        restore(name, l4_dir=talks.l4)


def test_live_archived_and_going_on(tmp_path: Path) -> None:
    """The messages are the same at any time, and those of the last request with its answer."""
    talks = Talks(tmp_path)
    talks.say("a", *TURN, answer={"role": "assistant", "content": None, "tool_calls": [CALL]})
    talks.say("a", {"role": "tool", "tool_call_id": "c1", "content": "out"}, answer="done")
    said = [*TURN, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
    said += [{"role": "tool", "tool_call_id": "c1", "content": "out"}, {"role": "assistant", "content": "done"}]
    assert restore("a", l4_dir=talks.l4) == said
    talks.archive()
    assert restore("a", l4_dir=talks.l4) == said
    assert restore("2026-05/0501_0147-0501_0148", l4_dir=talks.l4) == said
    talks.say("a", "and now", answer=None)
    assert restore("a", l4_dir=talks.l4) == [*said, {"role": "user", "content": "and now"}]
    assert read_session("a", l4_dir=talks.l4).count("=== Prompt ===") == 3


def test_an_edited_history_is_restored_as_it_was_edited(tmp_path: Path) -> None:
    """Not what stood there before."""
    talks = Talks(tmp_path)
    talks.say("a", "one", answer="first")
    talks._tips.clear()
    talks.say("a", "one, edited", answer="second")
    talks.archive()
    assert [message["content"] for message in restore("a", l4_dir=talks.l4)] == ["one, edited", "second"]


def test_names_of_members_come_back_every_year(house: House) -> None:
    """The year says which; without it the last one is meant."""
    for year in (0, 365):
        house.log(str(year), free(f"in year {year}", "yes", start=APRIL + year * 86_400))
    house.run(now=APRIL + 400 * 86_400)
    name = "0403_2013-0403_2014"
    assert "in year 0" in read_session(name, 2026, l4_dir=house.l4)
    assert "in year 365" in read_session(f"{name}.txt", "2027", l4_dir=house.l4)
    assert "in year 365" in read_session(name, l4_dir=house.l4)
    with pytest.raises(StoreError):
        read_session(name, 2028, l4_dir=house.l4)


def test_logs_of_others_become_messages(house: House) -> None:
    """By who speaks."""
    house.log("free", free("what now", "this"))
    house.run()
    assert restore("2026-04/0403_2013-0403_2014", l4_dir=house.l4) == [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "what now"},
        {"role": "assistant", "content": "this"},
    ]


def test_pointers_to_nothing(tmp_path: Path) -> None:
    """A message that is not there is `None`; what is no pointer is refused."""
    talks = Talks(tmp_path)
    assert resolve("L4:a#0", l4_dir=talks.l4) is None
    talks.say("a", "one", answer=None)
    for pointer in ("L4:a#1", "L4:b#0", "L4:2026-05/a#0"):
        assert resolve(pointer, l4_dir=talks.l4) is None
    with pytest.raises(ValueError, match="L4:SESSION#MESSAGE"):
        resolve("L4:a", l4_dir=talks.l4)


def test_a_pointer_outlives_archiving(tmp_path: Path) -> None:
    """By the id a message has one number through all parts of its session; by the name it is counted in its member."""
    talks = Talks(tmp_path)
    texts = []
    for part in range(3):
        talks.say("a", f"question {part}", answer=f"answer {part}")
        texts += [f"question {part}", f"answer {part}"]
        assert [getattr(resolve(f"L4:a#{k}", l4_dir=talks.l4), "text", None) for k in range(len(texts) + 1)] == [
            *texts,
            None,
        ]
        talks.archive()
    assert [getattr(resolve(f"L4:a#{k}", l4_dir=talks.l4), "text", None) for k in range(7)] == [*texts, None]
    told = resolve("L4:a#4", l4_dir=talks.l4)
    assert told is not None
    assert (told.text, told.ordinal, told.role) == ("question 2", 0, "user")
    assert resolve(f"L4:{told.name}#0", l4_dir=talks.l4) == told


def test_a_message_that_was_logged_again_counts_once(tmp_path: Path) -> None:
    """A gateway that was started anew writes down the whole history once more."""
    from dataclasses import replace

    talks = Talks(tmp_path)
    first = talks.say("a", "one", answer=None)
    talks.archive()
    again = talks.say("a", "two", answer=None)
    talks.record(replace(again, id="request-9", messages=(*first.messages, *again.messages), started=again.started + 1))
    talks.archive()
    found = [resolve(f"L4:a#{k}", l4_dir=talks.l4) for k in range(3)]
    assert [told and told.text for told in found] == ["one", "two", None]
    assert json.dumps(restore("a", l4_dir=talks.l4)).count("one") == 1
