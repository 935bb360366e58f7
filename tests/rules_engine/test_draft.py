"""A text on its way from raw to result."""

from __future__ import annotations

from rules_engine.draft import Draft
from rules_engine.script import render, text_digest
from rules_engine.types import Applied


def test_a_draft_begins_as_the_raw_text() -> None:
    """Nothing is done yet."""
    draft = Draft.begin("raw text")

    assert (draft.text, draft.script, draft.applied) == ("raw text", ((0, 8),), ())


def test_its_script_leads_from_the_raw_text_to_its_text() -> None:
    """After any number of steps."""
    draft = Draft.begin("one two three").step([(3, 7, ("-",))]).step([(0, 1, ((2, 3),))])

    assert draft.text == "ene-" + " three"
    assert render("one two three", draft.script) == draft.text


def test_its_form_says_what_took_part() -> None:
    """With the digest that replaying is checked against."""
    form = Draft.begin("one two").step([(3, 7, ())]).credit(("gutter", 1), "lossless", 4).form()

    assert form.applied == (Applied(rule=("gutter", 1), loss="lossless", removed=4),)
    assert (form.digest, form.script) == (text_digest("one"), ((0, 3),))
