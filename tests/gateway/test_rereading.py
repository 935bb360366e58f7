"""Recorded conversations are read in the form in which they were had."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.identity import Observer, chain
from gateway.rereading import reread

USER = {"role": "user", "content": "do it"}
ARGUMENTS = {"command": "ls"}
CALL = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": json.dumps(ARGUMENTS)}
RESPONSE = {"type": "response", "id": "r", "role": "assistant", "output": [{"type": "reasoning", "id": "x"}, CALL]}
FUNCTION = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": json.dumps(ARGUMENTS)}}
BLOCK = {"type": "tool_use", "id": "c", "name": "bash", "input": ARGUMENTS}

FORMS: dict[str, list[Any]] = {
    "chat completions": [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [FUNCTION]},
        {"role": "tool", "tool_call_id": "c", "content": "a\nb"},
    ],
    "Responses": [USER, CALL, {"type": "function_call_output", "call_id": "c", "output": "a\nb"}],
    "Responses, with an answer": [USER, RESPONSE, {"type": "function_call_output", "call_id": "c", "output": "a\nb"}],
    "Messages": [
        USER,
        {"role": "assistant", "content": [BLOCK]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "a\nb"}]},
    ],
    "Responses, of which some was forgotten": [
        None,
        RESPONSE,
        {"type": "function_call_output", "call_id": "c", "output": "a\nb"},
    ],
}


@pytest.mark.parametrize("messages", FORMS.values(), ids=FORMS)
def test_what_was_run_is_found(messages: list[Any]) -> None:
    """With its command and its place, whatever API it went over."""
    conversation, places = reread(messages)
    (seen,) = Observer().observe(conversation, "", chain(conversation, ""))
    (item,) = seen.items

    assert (item.observation.tool, item.observation.command, item.observation.text) == ("bash", "ls", "a\nb")
    assert places[seen.at] == 2
    assert len(places) == len(conversation.messages)


def test_an_answer_of_several_items_is_as_many_messages() -> None:
    """All of them stand in one."""
    _, places = reread([USER, RESPONSE])
    assert places == (0, 1, 1)


@pytest.mark.parametrize(
    "messages", [[], [None, None], [{"role": 3}], [4]], ids=["none", "forgotten", "no role", "no object"]
)
def test_what_is_no_conversation_is_refused(messages: list[Any]) -> None:
    """As it would be by the wire."""
    with pytest.raises(BadRequest):
        reread(messages)
