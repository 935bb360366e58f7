"""What is known of a session at its start."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.evolving.tasks import facts, head_words
from gateway.shapes import SHAPES

SAYS = "You are an agent.\nWorking directory: /home/dev/rocket\nPlatform: linux"


@pytest.mark.parametrize("behind", [False, True], ids=["before the messages", "behind them"])
@pytest.mark.parametrize(
    ("system", "repository"),
    [
        (None, ""),
        ([], ""),
        (4, ""),
        (["x", {"type": "odd"}], ""),
        (SAYS, "rocket"),
        ([{"type": "text", "text": "Be careful."}, {"type": "text", "text": SAYS}], "rocket"),
    ],
    ids=["null", "no blocks", "a number", "odd blocks", "a string", "blocks"],
)
def test_the_head_of_a_request_may_say_where_it_works(system: Any, repository: str, behind: bool) -> None:
    """As the first messages may."""
    fields: dict[str, Any] = {"model": "m", "system": system, "messages": [{"role": "user", "content": "See go.mod"}]}
    if behind:
        fields["system"] = fields.pop("system")
    body = json.dumps(fields).encode()
    conversation = SHAPES["/v1/messages"].read(body, BoundedCache(0))
    found = facts(conversation, "claude-cli/2.1", head_words(body, conversation))

    assert (found.repository, found.agent, found.marks) == (repository, "claude-cli", frozenset({"go.mod"}))


def test_other_forms_have_it_in_their_messages() -> None:
    """Nothing is looked for in the head."""
    messages = [{"role": "system", "content": SAYS}, {"role": "user", "content": "hi"}]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    conversation = SHAPES["/v1/chat/completions"].read(body, BoundedCache(0))

    assert head_words(body, conversation) == ""
    assert facts(conversation, "").repository == "rocket"
