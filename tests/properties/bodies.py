"""Random valid bodies of every shape: all that a client may send, and what nobody knows, in any order and spelling."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.samples import LISTING, PROGRESS

Path = tuple[Any, ...]
"""The keys and indexes that lead to a value."""


class Again(str):
    """A key that an object may hold although it has it already."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Only to itself."""
        return self is other


texts = st.text(max_size=40) | st.sampled_from(
    ["", "\x00", "\u2028", "\ud800", "é", '"\\', "recall:abc123", "</output>"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
unknown = st.dictionaries(texts.map(lambda name: "x" + name), values, max_size=3)
twice = st.sampled_from(["x", "content", "output", "type", "call_id", "text"]).map(Again)
extras = st.one_of(unknown, unknown, unknown, st.builds(lambda key, value: {key: value}, twice, texts | values))
noise = st.sampled_from(
    [PROGRESS, LISTING, "line of a log\n" * 60, "\x1b[1mbold\x1b[0m\n" * 40, "3 failed\n" + PROGRESS]
)
outputs = (
    noise
    | st.text(max_size=300)
    | st.lists(
        st.sampled_from([PROGRESS[:900], LISTING[:900], "ok\n" * 90, "  1\tx = 1\n" * 40, "\r"]), max_size=4
    ).map("".join)
)
arguments = st.builds(lambda command: json.dumps({"command": command}), texts) | texts
shell = st.sampled_from(["bash", "read", ""])


def contents(kind: str) -> st.SearchStrategy[Any]:
    """A string, nothing, or parts of which some are text of this type."""
    part = st.builds(lambda text, more: {"type": kind, "text": text} | more, outputs, extras)
    picture = st.builds(lambda more: {"type": "input_image", "image_url": "data:,x", "text": PROGRESS} | more, unknown)
    return outputs | st.none() | st.lists(part | picture | values, max_size=3)


@st.composite
def chat_completions(draw: st.DrawFn) -> dict[str, Any]:
    """A conversation with calls and results, of all sorts, beside fields of all sorts."""
    said = contents("text")
    messages: list[Any] = [
        {"role": "system", "content": "x" * 2500} | draw(extras),
        {"role": "user", "content": draw(said)},
    ]
    for k in range(draw(st.integers(0, 3))):
        function = {"name": draw(shell), "arguments": draw(arguments)} | draw(extras)
        call = {"id": f"c{k}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": draw(said), "tool_calls": [call]} | draw(extras))
        role = draw(st.sampled_from(["tool", "tool", "user", "function"]))
        messages.append({"role": role, "tool_call_id": f"c{k}", "content": draw(noise | said)} | draw(extras))
    tools = draw(st.just([{"function": {"name": "bash"}}]) | values)
    return {"model": "m", "messages": messages, "tools": tools} | draw(unknown)


@st.composite
def items(draw: st.DrawFn) -> list[Any]:
    """One step of a Responses conversation: thoughts, what is asked for, what came of it, or something else."""
    name, said, more = draw(st.sampled_from(["c0", "c1", "c2"])), contents("input_text"), draw(extras)
    printed = st.builds(
        lambda out, err, code: {"stdout": out, "stderr": err, "outcome": {"type": "exit", "exit_code": code}},
        outputs,
        outputs | values,
        st.integers(0, 2) | values,
    )
    asked: dict[str, Any] = {
        "function_call": {"call_id": name, "name": draw(shell), "arguments": draw(arguments)},
        "custom_tool_call": {"call_id": name, "name": draw(shell), "input": draw(arguments)},
        "local_shell_call": {"id": name, "action": {"type": "exec", "command": ["ls"]}},
        "shell_call": {"call_id": name, "action": {"commands": ["ls"]}},
        "apply_patch_call": {"call_id": name, "operation": draw(values)},
    }
    answered: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(asked, noise | said)
    answered["shell_call"] = st.lists(printed | values, max_size=2)
    kind = draw(st.sampled_from(sorted(asked)))
    before = draw(st.just([]) | st.just([{"type": "reasoning", "id": "rs", "encrypted_content": PROGRESS}]))
    output = {"call_id": name, "output": draw(answered[kind]), "status": draw(st.sampled_from(["completed", None]))}
    step = [*before, {"type": kind, **asked[kind]}, {"type": f"{kind}_output", **output} | more]
    return draw(st.just(step) | st.lists(others(), min_size=1, max_size=1))


def others() -> st.SearchStrategy[Any]:
    """An item that is neither a plain call nor its result."""
    kinds = ["compaction", "item_reference", "web_search_call", "computer_call_output", "hologram", "program_output"]
    return st.one_of(
        st.builds(lambda role, said: {"role": role, "content": said}, st.sampled_from(["user", "assistant"]), contents("input_text")),
        st.builds(lambda text: {"type": "mcp_call", "id": "m", "name": "n", "arguments": "{}", "output": text}, outputs | values),
        st.builds(lambda kind, text, more: {"type": kind, "id": "i", "output": text} | more, st.sampled_from(kinds), outputs, extras),
        extras,
    )  # fmt: skip


@st.composite
def responses(draw: st.DrawFn) -> dict[str, Any]:
    """A string, or a conversation with items of all types, beside fields of all sorts."""
    first = [{"role": "developer", "content": "x" * 2500}, {"role": "user", "content": draw(contents("input_text"))}]
    listed = first + [item for step in draw(st.lists(items(), max_size=3)) for item in step]
    tools = draw(st.just([{"type": "function", "name": "bash"}]) | values)
    more: dict[str, Any] = draw(
        st.sampled_from([{}, {"store": False}, {"truncation": "auto"}, {"previous_response_id": "resp_x"}])
    )
    given = draw(st.sampled_from([listed] * 5 + ["Hello."]))
    return {"model": "m", "input": given, "tools": tools, **more} | draw(unknown)


def blocks(result: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A content of Messages: a string, nothing, or blocks, with and without the mark of a cache."""
    text = st.builds(lambda text, more: {"type": "text", "text": text} | more, outputs, extras)
    thought = st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "c2ln"}, outputs)
    theirs = st.builds(
        lambda kind, inner: {"type": kind, "tool_use_id": "c0", "content": inner, "text": PROGRESS},
        st.sampled_from(["web_search_tool_result", "image", "document", "search_result", "redacted_thinking"]),
        outputs | st.lists(text, max_size=1),
    )
    marks = st.sampled_from([{}, {"cache_control": {"type": "ephemeral"}}])
    marked = st.builds(lambda block, mark: block | mark, text | thought | theirs | result, marks)
    return outputs | st.none() | st.lists(marked | values, max_size=3)


@st.composite
def anthropic_messages(draw: st.DrawFn) -> dict[str, Any]:
    """A conversation with results in the user's messages, thoughts, marks, and messages of the system amid."""
    results = st.builds(
        lambda call, inner, failed, more: (
            {"type": "tool_result", "tool_use_id": call, "content": inner} | failed | more
        ),
        st.sampled_from(["c0", "c1", "c2"]),
        noise | blocks(st.just({"type": "tool_result", "content": PROGRESS})) | values,
        st.sampled_from([{}, {"is_error": False}, {"is_error": True}]),
        extras,
    )
    messages: list[Any] = [{"role": "user", "content": draw(blocks(results))} | draw(extras)]
    for k in range(draw(st.integers(0, 3))):
        said, answered = draw(blocks(results)), draw(results)
        call = {"type": "tool_use", "id": f"c{k}", "name": draw(shell), "input": {"command": draw(texts)}} | draw(
            extras
        )
        messages.append({"role": "assistant", "content": [*(said if isinstance(said, list) else []), call]})
        more = draw(blocks(results))
        content = more if isinstance(more, str) else [answered, *(more or [])]
        messages.append({"role": draw(st.sampled_from(["user", "user", "system"])), "content": content} | draw(extras))
    edits = st.sampled_from(["clear_thinking_20251015", "clear_tool_uses_20250919"]).map(lambda kind: [{"type": kind}])
    managed = draw(st.none() | st.builds(lambda edits: {"edits": edits}, edits) | values)
    tools = draw(st.just([{"name": "bash", "input_schema": {}}]) | values)
    fields = {"system": "x" * 2500, "messages": messages, "tools": tools, "context_management": managed}
    return {"model": "m", **fields} | draw(unknown)


def may_chat(body: Any, path: Path) -> bool:
    """Whether a text is in the content of a message that may hold results."""
    return (
        path[0] == "messages"
        and path[2] == "content"
        and body["messages"][path[1]]["role"] in ("tool", "user", "function")
    )


def may_respond(body: Any, path: Path) -> bool:
    """Whether a text is in the output of an item that has one for the model, or in what a user says."""
    item = body["input"][path[1]] if path[0] == "input" else {}
    if item.get("role") == "user" and item.get("type", "message") == "message":
        return path[2] == "content"
    known = {"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"}
    return path[2] == "output" and item.get("type") in {"mcp_call", *(f"{kind}_output" for kind in known)}


def may_tell(body: Any, path: Path) -> bool:
    """Whether a text is the user's, or stands in a result in the user's message, by itself or in a block of text."""
    if path[0] != "messages" or body["messages"][path[1]]["role"] != "user" or path[2] != "content":
        return False
    if len(path) == 3:
        return True
    at: Path = path[4:]
    block: dict[str, Any] = body["messages"][path[1]]["content"][path[3]]
    if block.get("type") == "tool_result" and at[:1] == ("content",) and len(at) > 1:
        at, block = at[2:], block["content"][at[1]]
    elif block.get("type") == "tool_result":
        return at == ("content",)
    kind: object = block.get("type", "text")
    return at == ("text",) and kind == "text"


BODIES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "/v1/chat/completions": chat_completions(),
    "/v1/responses": responses(),
    "/v1/messages": anthropic_messages(),
}
MAY_DIFFER: dict[str, Callable[[Any, Path], bool]] = {
    "/v1/chat/completions": may_chat,
    "/v1/responses": may_respond,
    "/v1/messages": may_tell,
}
"""(body, where a text is) → whether it may be rewritten."""


@st.composite
def written(draw: st.DrawFn, requests: st.SearchStrategy[dict[str, Any]]) -> bytes:
    """A request in one of the many ways in which it may be written."""
    indent = draw(st.sampled_from([None, None, 1]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :\n")]))
    request = draw(requests)
    keys = draw(st.permutations(sorted(request)))
    shuffled = {key: request[key] for key in keys}
    text = json.dumps(shuffled, ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)
    return text.encode("utf-8", "surrogatepass")
