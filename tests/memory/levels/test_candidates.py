"""Candidates: proposed with quotes, decided once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory.errors import EntryRefused
from memory.levels import facts, procedures, provenance
from memory.levels.candidates import FOLDER, Witness, due, promote, propose, prune, read, read_all, refuse
from memory.levels.pointers import Pointer

MESSAGE = "$ python --version\nPython 3.11.2\n"


def seen(session: str = "s1", **fields: Any) -> Witness:
    """A tool result that shows it."""
    plain: dict[str, Any] = {"quote": "Python 3.11.2", "message": MESSAGE, "succeeded": True}
    return Witness(pointer=Pointer(session, 4), **(plain | fields))


def put_up(root: Path, *witnesses: Witness, text: str = "python is 3.11.2") -> str:
    """Propose a fact; its id."""
    return propose(root, "L2", "ENVIRONMENT", text, witnesses or [seen()], 5.0).id


@pytest.mark.parametrize(
    ("witnesses", "reason"),
    [
        ([], "needs a quote"),
        ([seen(quote="")], "verbatim"),
        ([seen(quote="Python 3.12")], "verbatim"),
        ([seen(quote="python 3.11.2")], "verbatim"),
        ([seen(succeeded=False)], "no execution, no memory"),
        ([seen(), seen("s2", succeeded=False)], "no execution, no memory"),
        ([seen(quote="password: tomato", message="password: tomato")], "holds a secret"),
    ],
    ids=["no witness", "no quote", "other words", "other letters", "a failed call", "one failed call", "a secret"],
)
def test_what_no_successful_result_shows_is_refused(root: Path, witnesses: list[Witness], reason: str) -> None:
    """Nothing is put up."""
    with pytest.raises(EntryRefused, match=reason):
        propose(root, "L2", "ENVIRONMENT", "python is 3.11.2", witnesses, 5.0)
    assert read_all(root, None) == ()


@pytest.mark.parametrize(
    ("level", "name", "text"),
    [("L2", "ENVIRONMENT", "runs as pid 7"), ("L2", "lower", "x"), ("L3", "Bad Name", "x"), ("L3", "memory_management_sop", "x")],
)  # fmt: skip
def test_what_could_not_be_an_entry_is_no_candidate(root: Path, level: Any, name: str, text: str) -> None:
    """The same limits hold, before anybody looks at it."""
    with pytest.raises(EntryRefused):
        propose(root, level, name, text, [seen()], 5.0)


def test_a_candidate_waits_with_its_evidence(root: Path) -> None:
    """It is no entry yet."""
    id_ = put_up(root)

    assert [c.id for c in read_all(root)] == [id_]
    assert facts.read(root) == ()
    (link,) = provenance.read(root).why(f"candidate:{id_}")
    assert (link.session, link.message, link.quote) == ("s1", 4, "Python 3.11.2")


def test_the_same_in_other_letters_is_the_same_candidate(root: Path) -> None:
    """It gains evidence of sessions that did not show it yet."""
    one = put_up(root)
    provenance.archive(root, [("s1", "2026-04/one")])
    again = put_up(root, seen("2026-04/one"), seen("s2"), text="Python  is 3.11.2")

    assert one == again
    assert [link.session for link in provenance.read(root).why(f"candidate:{one}")] == ["s1", "s2"]


def test_a_person_makes_a_fact_of_it(root: Path) -> None:
    """The proof goes with it; the candidate is decided, and keeps no words."""
    id_ = put_up(root)
    entry = promote(root, id_, by="person", now=6.0)

    (fact,) = facts.read(root)
    assert (entry, fact.section, fact.text) == (f"L2:{fact.id}", "ENVIRONMENT", "python is 3.11.2")
    (link,) = provenance.read(root).why(entry)
    assert (link.session, link.quote, link.by) == ("s1", "Python 3.11.2", "person")
    assert provenance.read(root).cited_by("s1") == (entry,)
    assert [(c.state, c.reason, c.text) for c in read_all(root, None)] == [("promoted", entry, "")]


def test_a_person_makes_a_procedure_of_it(root: Path) -> None:
    """A file of L3."""
    candidate = propose(root, "L3", "check_python", "1. `python --version`\n", [seen()], 5.0)
    assert promote(root, candidate.id, by="person", now=6.0) == "L3:check_python"
    assert procedures.names(root) == ("check_python.md",)


def test_no_procedure_is_overwritten(root: Path) -> None:
    """A person's text is not replaced by a draft; the candidate waits."""
    procedures.put(root, "check_python", "mine\n", by="person", now=1.0)
    candidate = propose(root, "L3", "check_python", "1. `python --version`\n", [seen()], 5.0)
    with pytest.raises(EntryRefused, match="already"):
        promote(root, candidate.id, by="person", now=6.0)

    found = procedures.read(root, "check_python")
    assert found is not None
    assert found.text == "mine\n"
    assert len(read_all(root)) == 1


@pytest.mark.parametrize("state", ["promoted", "refused"])
def test_what_was_decided_is_not_asked_again(root: Path, state: str) -> None:
    """Neither by proposing it again, nor by deciding it again."""
    id_ = put_up(root)
    if state == "promoted":
        promote(root, id_, by="person", now=6.0)
    else:
        refuse(root, id_, "not worth it")

    assert put_up(root, seen("s9")) == id_
    assert read_all(root) == ()
    with pytest.raises(EntryRefused, match=f"was {state} before"):
        promote(root, id_, by="person", now=7.0)
    with pytest.raises(EntryRefused, match=f"was {state} before"):
        refuse(root, id_, "again")


@pytest.mark.parametrize("id_", ["", "c0", "../x", "c00000000"])
def test_an_unknown_candidate_is_refused(root: Path, id_: str) -> None:
    """Whatever stands there for a name."""
    with pytest.raises(EntryRefused, match="no candidate"):
        promote(root, id_, by="person", now=1.0)


def test_a_policy_needs_so_many_sessions(root: Path) -> None:
    """Two messages of one session are one; with 0 nothing is due."""
    id_ = put_up(root, seen("s1"), seen("s2"))
    assert due(root, 3) == due(root, 0) == ()
    put_up(root, seen("s3"))
    assert due(root, 3) == (id_,)
    assert due(root, 0) == ()
    provenance.forget(root, "s2")
    assert due(root, 3) == ()


def test_what_nothing_proves_any_more_is_not_promoted(root: Path) -> None:
    """Its only session was forgotten."""
    id_ = put_up(root)
    provenance.forget(root, "s1")
    with pytest.raises(EntryRefused, match="is gone"):
        promote(root, id_, by="person", now=6.0)


@pytest.mark.parametrize("refused", [False, True])
def test_what_only_forgotten_sessions_show_is_taken_away(root: Path, refused: bool) -> None:
    """Its words are theirs; what another session shows stays."""
    id_ = put_up(root)
    stays = put_up(root, seen("s1"), seen("s2"), text="another")
    if refused:
        refuse(root, id_, "no")
    provenance.forget(root, "s1")

    assert prune(root) == (id_,)
    assert read(root, id_) is None
    assert [c.id for c in read_all(root)] == [stays]
    assert provenance.read(root).cited_by("s1") == (f"candidate:{stays}",)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id": 1', '{"id":"c","more":1}'])
def test_a_damaged_file_is_no_candidate(root: Path, text: str) -> None:
    """Others are still shown."""
    id_ = put_up(root)
    (root / FOLDER / "c00000000.json").write_text(text)
    assert [c.id for c in read_all(root)] == [id_]
