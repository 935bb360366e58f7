"""One item of a Responses request: what was said, what the model asked for, what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gateway.messages.content import Content, join, loads, message, read_content, read_text
from gateway.spans import Member, by_value, elements, members
from gateway.types import Call, Message

_TEXT = (b'"input_text"', b'"output_text"', b'"text"')
_CALLS: Mapping[str, str] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "mcp_call": "arguments",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
"""Where each kind of call says what to do."""
_RESULTS = frozenset(
    {
        "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output",
        "apply_patch_call_output", "mcp_call",
    }
)  # fmt: skip
_MADE = frozenset(
    {
        "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "reasoning",
        "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "computer_call",
        "mcp_list_tools", "mcp_approval_request", "tool_search_call", "program", "compaction", "compaction_summary",
        "item_reference",
    }
)  # fmt: skip
"""What the model made, beside messages."""
_BESIDE = frozenset({"type", "id", "status"})
"""Members that a client sends or leaves out, whatever an item says."""


def is_made(item: Mapping[str, object]) -> bool:
    """Whether an item, or a message of any form, is the model's own; calls that the provider ran itself are."""
    return item.get("role") == "assistant" or item.get("type") in _MADE or item.get("type") == "mcp_call"


@dataclass(frozen=True, slots=True)
class _Item:
    raw: bytes
    fields: Mapping[str, Member]

    def text(self, name: str) -> str:
        """The string under a name; "" if there is none."""
        value = loads(self.raw, self.fields.get(name))
        return value if isinstance(value, str) else ""

    def json(self, name: str) -> str:
        """The value under a name: a string as it is, others as JSON text."""
        member = self.fields.get(name)
        written = self.raw[member.start : member.end].decode("utf-8", "replace") if member else ""
        return self.text(name) if written.startswith('"') else written

    @property
    def kind(self) -> str:
        """Its type, which may go without saying."""
        return self.text("type") or ("message" if "role" in self.fields else "item_reference")

    @property
    def call(self) -> str:
        """Id of the call that it makes or answers."""
        return self.text("call_id") or self.text("id")


def read_message(raw: bytes, index: int) -> Message:
    """Read the item `raw`, at `index` of its request, or the string that stands in the place of all items."""
    if raw.startswith(b'"'):
        said = read_text(raw, 0, len(raw), "user", None)
        return message(raw, role="user", names=("user", ""), content=said, calls=(), observed=True, twice=False)
    found, twice = members(raw, 0, len(raw))
    item = _Item(raw, {member.key: member for member in found})
    kind = item.kind
    if kind == "message":
        return _said(item, twice)
    role = "tool" if kind in _RESULTS else "assistant" if kind in _MADE else "other"
    return message(
        raw,
        role=role,
        names=_names(item, kind),
        content=_result(item, kind) if kind in _RESULTS else Content(others=tuple(_others(item, kind))),
        calls=(_call(item, kind),) if kind in _CALLS else (),
        observed=role == "tool",
        twice=twice,
    )


def _said(item: _Item, twice: bool) -> Message:
    role = item.text("role") or "other"
    content = read_content(item.raw, item.fields.get("content"), _TEXT, "user" if role == "user" else "tool", None)
    return message(
        item.raw, role=role, names=(role, ""), content=content, calls=(), observed=role == "user", twice=twice
    )


def _names(item: _Item, kind: str) -> tuple[str, ...]:
    if kind in _RESULTS:
        return kind, item.call, item.text("status") if kind == "apply_patch_call_output" else ""
    return kind, item.text("id") if kind == "item_reference" else ""


def _call(item: _Item, kind: str) -> Call:
    tool = item.text("name") or kind.removesuffix("_call")
    return Call(id=item.call, tool=tool, arguments=item.json(_CALLS[kind]))


def _result(item: _Item, kind: str) -> Content:
    output = item.fields.get("output")
    if kind == "shell_call_output" and output and item.raw[output.start : output.start + 1] == b"[":
        return join(_printed(item, *span) for span in elements(item.raw, output.start, output.end))
    return read_content(item.raw, output, _TEXT, "tool", item.call)


def _printed(item: _Item, start: int, end: int) -> Content:
    """What a command printed on both streams, in this order, whatever the order of the keys."""
    if item.raw[start : start + 1] != b"{":
        return Content(others=(item.raw[start:end],))
    found, twice = members(item.raw, start, end)
    fields = {member.key: member for member in found}
    outcome = loads(item.raw, fields.get("outcome"))
    code = outcome.get("exit_code") if isinstance(outcome, dict) else None
    streams = (fields[name] for name in ("stdout", "stderr") if name in fields)
    texts = [_stream(item, stream, code if type(code) is int else None) for stream in streams]
    ended = by_value(_Item(item.raw, fields).json("outcome")).encode("utf-8", "surrogatepass")
    return join([*texts, Content(others=(ended,), broken="duplicate key" if twice else None)])


def _stream(item: _Item, stream: Member, code: int | None) -> Content:
    if item.raw[stream.start : stream.start + 1] == b'"':
        return read_text(item.raw, stream.start, stream.end, "tool", item.call, code)
    return Content(others=(item.raw[stream.start : stream.end],))


def _others(item: _Item, kind: str) -> Iterable[bytes]:
    """All that an item says which is no text, in one order."""
    for key in sorted(item.fields.keys() - _BESIDE) if kind not in _CALLS else ():
        value = by_value(item.json(key))
        if value != "null":
            yield f"{key}\0{value}".encode("utf-8", "surrogatepass")
