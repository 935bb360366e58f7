"""Chat completions, which need no translation."""

from __future__ import annotations

import json

from gateway.translating import FORMS, chat_completions


def test_all_is_as_it_is() -> None:
    """Request, answer, chunks, error."""
    body = {"model": "m", "messages": []}
    answering = chat_completions.start()

    assert chat_completions.ask(body) is body
    assert json.loads(chat_completions.write({"choices": []})) == {"choices": []}
    assert answering.feed({"a": 1}) + answering.end() == b'data: {"a": 1}\n\ndata: [DONE]\n\n'
    assert json.loads(chat_completions.refuse(400, {"message": "no"})) == {"error": {"message": "no"}}


def test_forms_are_found_by_their_path() -> None:
    """As shapes are."""
    assert all(path == form.PATH for path, form in FORMS.items())
