"""One message of a chat completion."""

from __future__ import annotations

from gateway.errors import BadRequest
from gateway.messages.content import loads, message, read_content, text_of
from gateway.spans import Member, members
from gateway.types import Call, Message

_TEXT = (b'"text"',)


def read_message(raw: bytes, index: int) -> Message:
    """Read the object `raw`, the message at `index` of its request. Raises `BadRequest` without a role."""
    found, twice = members(raw, 0, len(raw))
    fields = {m.key: m for m in found}
    role = text_of(raw, fields.get("role"))
    if role is None:
        raise BadRequest(f"'messages[{index}].role' is not a string", param=f"messages[{index}].role")
    call = text_of(raw, fields.get("tool_call_id"))
    return message(
        raw,
        role=role,
        names=(role, call or ""),
        content=read_content(raw, fields.get("content"), _TEXT, "user" if role == "user" else "tool", call),
        calls=_calls(raw, fields.get("tool_calls")),
        observed=role in ("tool", "user", "function"),
        twice=twice,
    )


def _calls(raw: bytes, member: Member | None) -> tuple[Call, ...]:
    listed = loads(raw, member)
    out = []
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, dict):
            body = call.get("function") or call.get("custom") or {}
            arguments = body.get("arguments", body.get("input", "")) if isinstance(body, dict) else ""
            name = body.get("name", "") if isinstance(body, dict) else ""
            out.append(Call(id=str(call.get("id", "")), tool=str(name), arguments=str(arguments)))
    return tuple(out)
