"""The Responses shape: what stands in a body beside its items, which bodies there is nothing to read in, and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.errors import BadRequest, NothingToRead, UnknownModel, UpstreamBroke
from gateway.messages.responses import read_message
from gateway.shapes import responses
from gateway.types import Conversation, Message

HELLO = {"role": "user", "content": "Hello."}


def read(body: Any) -> Conversation:
    """A body as it is read."""
    return responses.read(body if isinstance(body, bytes) else json.dumps(body).encode(), BoundedCache(1 << 20))


def body(**fields: Any) -> dict[str, Any]:
    """A request with these fields."""
    return {"model": "m", "input": [HELLO], **fields}


@pytest.mark.parametrize(
    ("given", "param"),
    [
        (b"{", None),
        (b'{"model": "m"}', "input"),
        (b'{"model": "m", "input": null}', "input"),
        (b'{"model": "m", "previous_response_id": null}', "input"),
        (b'{"model": "m", "input": {}}', "input"),
        (b'{"model": "m", "input": 4, "prompt": {"id": "p"}}', "input"),
        (b'{"model": "m", "input": []}', "input"),
        (b'{"model": "m", "input": [{}, 4]}', "input[1]"),
        (b'{"model": "m", "input": ["x"]}', "input[0]"),
        (b'{"input": "x"}', "model"),
        (b'{"model": 4, "input": "x"}', "model"),
        (b'{"model": "m", "input": "x}', None),
    ],
)
def test_what_is_wrong_is_named(given: bytes, param: str | None) -> None:
    """By the field, as the API does."""
    with pytest.raises(BadRequest) as caught:
        read(given)
    assert caught.value.param == param


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": {"id": "pmpt_1"}},
        {"model": "m", "previous_response_id": "resp_1"},
        {"model": "m", "conversation": "conv_1", "input": None},
        {"model": "m", "conversation": {"id": "conv_1"}, "input": []},
    ],
    ids=["a prompt", "an answer", "a conversation", "a conversation, and an empty list"],
)
def test_the_provider_may_have_everything(fields: dict[str, Any]) -> None:
    """Then there is nothing to read, and nothing wrong."""
    with pytest.raises(NothingToRead):
        read(fields)


def test_a_string_is_what_a_person_says() -> None:
    """It stands in the place of all items, and its span is that of the string."""
    given = b'{"input" : "Hello.\\n", "model":"m"}'
    conversation = read(given)
    (placed,) = conversation.messages

    assert placed.message.role == "user"
    assert given[placed.start : placed.end] == b'"Hello.\\n"'
    assert conversation.head == (placed.start, placed.end)
    assert placed.message.canonical == read_message(b'{"role":"user","content":"Hello.\\n"}', 0).canonical


FIELDS: dict[str, tuple[dict[str, Any], str, Any]] = {
    "a model of the prompt's": ({"model": None, "prompt": {"id": "p"}}, "model", ""),
    "not streamed": ({"stream": None}, "stream", False),
    "streamed": ({"stream": True}, "stream", True),
    "no session": ({"prompt_cache_key": 4}, "session", None),
    "a session": ({"prompt_cache_key": "s-1"}, "session", "s-1"),
    "no tools": ({"tools": None}, "tools", ()),
    "tools of anything": ({"tools": [4, {}]}, "tools", ()),
    "tools": (
        {
            "tools": [
                {"type": "function", "name": "exec_command", "parameters": {}},
                {"type": "custom", "name": "apply_patch"},
                {"type": "local_shell"},
                {"type": "mcp", "server_label": "x", "allowed_tools": None},
                {"type": "namespace", "name": "agents", "tools": []},
            ]
        },
        "tools",
        ("exec_command", "apply_patch", "local_shell", "mcp", "agents"),
    ),
    "nothing before": ({"previous_response_id": None, "conversation": None}, "previous", None),
    "an odd conversation": ({"conversation": 4}, "previous", None),
    "an answer before": ({"previous_response_id": "resp_1"}, "previous", "resp_1"),
    "a conversation": ({"conversation": "conv_1"}, "previous", "conv_1"),
    "a conversation as an object": ({"conversation": {"id": "conv_1", "more": 1}}, "previous", "conv_1"),
    "not kept": ({"store": False}, "kept", False),
    "kept": ({}, "kept", True),
    "all that the model reads": ({"truncation": "disabled", "context_management": None}, "whole", True),
    "cut at will": ({"truncation": "auto"}, "whole", False),
    "compacted at will": ({"context_management": [{"type": "compaction"}]}, "whole", False),
    "more than stands here": ({"previous_response_id": "resp_1"}, "whole", False),
}


@pytest.mark.parametrize(("fields", "name", "value"), FIELDS.values(), ids=FIELDS)
def test_what_a_body_says_beside_its_items(fields: dict[str, Any], name: str, value: Any) -> None:
    """In the words of all forms."""
    assert getattr(read(body(**fields)), name) == value


def test_an_item_is_read_once() -> None:
    """The next request that holds it finds it read."""
    cache: BoundedCache[tuple[str, bytes], Message] = BoundedCache(1 << 20)
    first = responses.read(json.dumps(body()).encode(), cache)
    second = responses.read(json.dumps(body(input=[HELLO, HELLO])).encode(), cache)

    assert second.messages[0].message is second.messages[1].message is first.messages[0].message


@pytest.mark.parametrize(
    ("reply", "asks"),
    [
        (b"", False),
        (b'{"output":[{"type":"message","content":[{"text":"\\"type\\":\\"function_call\\""}]}]}', False),
        (b'{"output":[],"tools":[{"type":"function"}],"tool_choice":{"type":"function"}}', False),
        (b'{"output":[{"type":"mcp_call"},{"type":"web_search_call"}]}', False),
        (b'{"output":[{"type": "function_call","name":"x"}]}', True),
        (b'data: {"type":"response.output_item.added","item":{"type":"custom_tool_call"}}\n\n', True),
        (b'{"output":[{"type" : "local_shell_call"}]}', True),
    ],
    ids=["nothing", "its name in a text", "tools", "tools of the provider's", "a call", "in an event", "a shell"],
)
def test_whether_an_answer_asks_for_a_tool(reply: bytes, asks: bool) -> None:
    """Told by its bytes."""
    assert responses.calls_tools(reply) is asks


def test_an_error_is_in_the_form_of_the_api() -> None:
    """As a body, and as an event of its own type."""
    error = UnknownModel('no "m"\n', param="model")
    detail = {"message": 'no "m"\n', "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    assert json.loads(responses.error_body(error)) == {"error": detail}

    name, data, *end = responses.error_event(UpstreamBroke("it broke off\n")).decode().split("\n")
    assert (name, end) == ("event: error", ["", ""])
    assert json.loads(data.removeprefix("data: ")) == {
        "type": "error",
        "code": "upstream_disconnected",
        "message": "it broke off\n",
        "param": None,
        "sequence_number": 0,
    }
