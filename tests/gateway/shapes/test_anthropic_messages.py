"""What a Messages request says beside its messages, and the errors of this form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.errors import BadRequest, GatewayError, MissingKey, TooLarge, UnknownModel, UpstreamBroke
from gateway.shapes import anthropic_messages, spoken_at
from gateway.types import Conversation

USER = {"role": "user", "content": "hi"}
UUID = "8f0c2d4e-1111-4222-8333-94445555aaaa"


def read(**fields: Any) -> Conversation:
    """The conversation in a request with these fields."""
    body = {"model": "m", "max_tokens": 9, "messages": [USER]} | fields
    return anthropic_messages.read(json.dumps(body).encode(), BoundedCache(1 << 20))


def test_the_fields_of_a_request() -> None:
    """The system's words stand in the head; a tool of the provider's goes by its name, or by its type without version."""
    tools = [
        {"name": "Bash", "input_schema": {}}, {"type": "custom", "name": "Read"},
        {"type": "bash_20250124", "name": "bash"}, {"type": "bash_20250124"}, {"type": "mcp_toolset"}, {},
    ]  # fmt: skip
    body = json.dumps({"system": "x", "messages": [USER, USER], "stream": True, "tools": tools, "model": "m"}).encode()
    found = anthropic_messages.read(body, BoundedCache(1 << 20))

    assert (found.model, found.stream, len(found.messages)) == ("m", True, 2)
    assert found.tools == ("Bash", "Read", "bash", "bash", "mcp_toolset")
    assert (found.whole, found.session, found.previous, found.kept) == (True, None, None, False)
    assert json.loads(body[slice(*found.head)]) == [USER, USER]


@pytest.mark.parametrize("tools", [None, "bash", [4], [{"name": 4}]], ids=["null", "a string", "numbers", "no names"])
def test_tools_that_cannot_be_read_are_none(tools: Any) -> None:
    """The upstream says what is wrong with them."""
    assert read(tools=tools).tools == ()


@pytest.mark.parametrize(
    ("management", "whole"),
    [
        pytest.param(None, True, id="null"),
        pytest.param({}, True, id="no edits"),
        pytest.param({"edits": []}, True, id="an empty list"),
        pytest.param({"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, True, id="thinking is cleared"),
        pytest.param({"edits": [{"type": "clear_tool_uses_20250919"}]}, False, id="results are cleared"),
        pytest.param({"edits": [{"type": "compact_20260112"}]}, False, id="the history is compacted"),
        pytest.param({"edits": [{"type": "hologram"}]}, False, id="an edit that nobody knows"),
        pytest.param(
            {"edits": [{"type": "clear_thinking_20251015"}, {"type": "clear_tool_uses_20250919"}]}, False, id="both"
        ),
        pytest.param({"edits": [{}]}, False, id="an edit without a type"),
        pytest.param({"edits": None}, False, id="edits that are none"),
        pytest.param({"edits": [], "other": 1}, False, id="a field that nobody knows"),
        pytest.param("auto", False, id="a string"),
    ],
)
def test_a_history_is_whole_unless_results_may_be_cleared(management: Any, whole: bool) -> None:
    """Claude Code always asks to clear thinking, which is no result."""
    assert read(context_management=management).whole is whole


@pytest.mark.parametrize(
    ("metadata", "session"),
    [
        pytest.param(None, None, id="null"),
        pytest.param("x", None, id="a string"),
        pytest.param({}, None, id="no user"),
        pytest.param({"user_id": None}, None, id="a user that is none"),
        pytest.param({"user_id": "anna"}, None, id="a user without a session"),
        pytest.param({"user_id": "{}"}, None, id="an object without one"),
        pytest.param({"user_id": '{"session_id": 4}'}, None, id="one that is a number"),
        pytest.param({"user_id": '{"session_id": ""}'}, None, id="an empty one"),
        pytest.param({"user_id": '{"session_id": '}, None, id="half an object"),
        pytest.param({"user_id": json.dumps({"device_id": "d", "session_id": UUID})}, UUID, id="in an object"),
        pytest.param({"user_id": f"user_ab12_account_cd34_session_{UUID}"}, UUID, id="at the end of words"),
        pytest.param({"user_id": f"user_ab12_account__session_{UUID}"}, UUID, id="without an account"),
    ],
)
def test_the_session_is_in_the_users_id(metadata: Any, session: str | None) -> None:
    """As JSON in a string, in the older form as words, and in most clients not at all."""
    assert read(metadata=metadata).session == session


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[]", "not a JSON object"),
        (b'{"model":"m"}', "'messages' is missing"),
        (b'{"model":"m","messages":"hi"}', "'messages' is missing"),
        (b'{"model":"m","messages":[]}', "at least one"),
        (b'{"model":"m","messages":[4]}', "messages[0]"),
        (b'{"messages":[{"role":"user"}]}', "'model' is missing"),
    ],
    ids=["a list", "no messages", "a string", "an empty list", "a number", "no model"],
)
def test_a_body_that_is_none_says_what_to_do(body: bytes, words: str) -> None:
    """In the words of the gateway; everything else is the upstream's to judge."""
    with pytest.raises(BadRequest) as refused:
        anthropic_messages.read(body, BoundedCache(1 << 20))
    assert words in refused.value.message


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        (b'{"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}', False),
        (b'data: {"delta":{"type":"text_delta","text":"\\"type\\":\\"tool_use\\""}}', False),
        (b'{"content":[{"type":"server_tool_use","id":"s"}]}', False),
        (b'{"content":[{"type": "tool_use","id":"t"}]}', True),
        (b'data: {"content_block":{"type":"tool_use","id":"t","input":{}}}', True),
    ],
    ids=["text", "text about a call", "a tool of the provider's", "whole", "streamed"],
)
def test_whether_an_answer_asks_for_a_tool(reply: bytes, calls: bool) -> None:
    """By its bytes."""
    assert anthropic_messages.calls_tools(reply) is calls


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BadRequest("no"), "invalid_request_error"),
        (UnknownModel("no"), "not_found_error"),
        (MissingKey("no"), "authentication_error"),
        (TooLarge("no"), "request_too_large"),
        (UpstreamBroke("no"), "api_error"),
        (GatewayError("no"), "api_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, GatewayError) else value,
)
def test_errors_have_the_types_of_this_api(error: GatewayError, kind: str) -> None:
    """In a body, and as an event of the name `error`."""
    body = anthropic_messages.error_body(error)

    assert json.loads(body) == {"type": "error", "error": {"type": kind, "message": "no"}}
    assert anthropic_messages.error_event(error) == b"event: error\ndata: " + body + b"\n\n"


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages?beta=true", "/v1/messages/count_tokens"])
def test_its_paths_speak_this_form(path: str) -> None:
    """Errors on them have it."""
    assert spoken_at(path, {}) is anthropic_messages


@pytest.mark.parametrize("behind", [False, True], ids=["before the messages", "behind them"])
def test_the_place_of_the_systems_words(behind: bool) -> None:
    """From the beginning, or from the end where the messages are before it: also in a body that is read on."""
    bodies = []
    for size in (2, 3):
        fields = {"model": "m", "system": "You are careful.", "messages": [USER] * size, "max_tokens": 9}
        if behind:
            fields["system"] = fields.pop("system")
        bodies.append(json.dumps(fields).encode())
    first = anthropic_messages.read(bodies[0], BoundedCache(0))
    for found in (
        anthropic_messages.read(bodies[1], BoundedCache(0)),
        anthropic_messages.read(bodies[1], BoundedCache(0), first),
    ):
        assert found.system is not None
        start, end = (at + len(bodies[1]) * behind for at in found.system)
        assert bodies[1][start:end] == b'"You are careful."'
        assert len(found.messages) == 3
