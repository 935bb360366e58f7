"""Links between entries and the messages that prove them, both ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import EntryRefused
from memory.levels import provenance
from memory.levels.pointers import Pointer
from memory.levels.provenance import FILE, Evidence, archive, cite, drop, forget, read, restore, revise


def proof(session: str, message: int = 3, quote: str = "") -> Evidence:
    """Evidence in a session."""
    return Evidence(pointer=Pointer(session, message), quote=quote)


def test_an_empty_memory_has_no_links(root: Path) -> None:
    """Nothing is written by asking."""
    assert read(root).entries == {}
    assert read(root).cited_by("s") == ()
    assert not root.exists()


@pytest.mark.parametrize("by", ["gateway", "policy"])
def test_what_no_person_says_needs_evidence(root: Path, by: provenance.By) -> None:
    """No execution, no memory."""
    with pytest.raises(EntryRefused, match="no evidence"):
        cite(root, "L2:a", [], by, 1.0)
    assert read(root).entries == {}


@pytest.mark.parametrize(
    ("quote", "reason"),
    [("x" * 501, "quote at most 500"), ("password: hunter2", "holds a secret")],
    ids=["too long", "with a secret"],
)
def test_a_quote_that_may_not_stand_there_is_refused(root: Path, quote: str, reason: str) -> None:
    """Nothing of it is written."""
    with pytest.raises(EntryRefused, match=reason):
        cite(root, "L2:a", [proof("s", quote=quote)], "gateway", 1.0)
    assert not (root / FILE).exists()


def test_links_run_both_ways(root: Path) -> None:
    """Entry to message, session to entries."""
    cite(root, "L2:a", [proof("s1", 4, "words"), proof("s2")], "gateway", 7.0)
    cite(root, "L3:b", [proof("s1")], "person", 8.0)
    links = read(root)

    first = links.why("L2:a")[0]
    assert (first.session, first.message, first.quote, first.by, first.time) == ("s1", 4, "words", "gateway", 7.0)
    assert links.cited_by("s1") == ("L2:a", "L3:b")
    assert links.cited_by("s2") == ("L2:a",)


def test_a_session_has_its_names_from_when_it_is_archived(root: Path) -> None:
    """Before and after, by id and by name, the same entries."""
    cite(root, "L2:a", [proof("s1")], "gateway", 1.0)
    archive(root, [("s1", "2026-04/one")])
    archive(root, [("s1", "2026-04/two")])
    cite(root, "L2:b", [proof("2026-04/two")], "gateway", 1.0)
    links = read(root)

    assert links.why("L2:a")[0].names == ("2026-04/one", "2026-04/two")
    assert links.why("L2:b")[0].session == "s1"
    assert {links.cited_by(name) for name in ("s1", "2026-04/one", "2026-04/two")} == {("L2:a", "L2:b")}


def test_what_is_forgotten_is_marked_and_its_words_are_gone(root: Path) -> None:
    """From the file, too; other sessions keep theirs."""
    cite(root, "L2:a", [proof("s1", quote="private"), proof("s2", quote="public")], "gateway", 1.0)
    archive(root, [("s1", "2026-04/one")])
    forget(root, "2026-04/one")
    gone, there = read(root).why("L2:a")

    assert (gone.gone, gone.quote, there.gone, there.quote) == (True, "", False, "public")
    assert "private" not in (root / FILE).read_text()
    assert read(root).cited_by("s1") == ("L2:a",)


def test_a_key_to_a_forgotten_session_is_forgotten(root: Path) -> None:
    """It is one of its words; where another session has it too, it leads there."""
    for key, session in (("L1:private", "s1"), ("L1:shared", "s1"), ("L1:shared", "s2")):
        cite(root, key, [proof(session)], "gateway", 1.0)
    forget(root, "s1")

    assert "private" not in (root / FILE).read_text()
    assert [link.session for link in read(root).why("L1:shared")] == ["s2"]


def test_what_a_session_says_after_it_was_forgotten_is_there(root: Path) -> None:
    """Only what it proved before is gone."""
    cite(root, "L2:a", [proof("s1")], "gateway", 1.0)
    forget(root, "s1")
    cite(root, "L2:b", [proof("s1")], "gateway", 2.0)
    links = read(root)
    assert [link.gone for entry in ("L2:a", "L2:b") for link in links.why(entry)] == [True, False]


def test_what_is_restored_is_there_again(root: Path) -> None:
    """Its words stay gone; they are in the session."""
    cite(root, "L2:a", [proof("s1", quote="private")], "gateway", 1.0)
    forget(root, "s1")
    restore(root, "s1")

    assert [(link.gone, link.quote) for link in read(root).why("L2:a")] == [(False, "")]


def test_an_entry_that_is_dropped_is_cited_by_nothing(root: Path) -> None:
    """Until it is put there again."""
    cite(root, "L2:a", [proof("s1")], "gateway", 1.0)
    drop(root, "L2:a")
    assert read(root).cited_by("s1") == ()
    cite(root, "L2:a", [proof("s2")], "gateway", 1.0)
    assert [link.session for link in read(root).why("L2:a")] == ["s2"]


@pytest.mark.parametrize(
    "line",
    ['{"cite":"L2:x","by":"gate', "[]", "7", '{"cite":"L2:x","by":"g","time":1,"evidence":[{"pointer":"no"}]}',
     '{"cite":"L2:x","evidence":[]}', '{"archived":"s"}', '{"moved":"s"}', '{"cite":"L2:x","by":"g","time":1,"evidence":7}'],
    ids=["torn", "a list", "a number", "no pointer", "nobody", "no name", "a newer word", "no list"],
)  # fmt: skip
def test_a_line_that_cannot_be_read_costs_only_itself(root: Path, line: str) -> None:
    """It is counted."""
    cite(root, "L2:a", [proof("s1")], "gateway", 1.0)
    with (root / FILE).open("a") as file:
        file.write(line)
    cite(root, "L2:b", [proof("s1")], "gateway", 1.0)

    assert read(root).cited_by("s1") == ("L2:a", "L2:b")
    assert read(root).unreadable == 1


def test_quotes_can_be_redacted_again(root: Path) -> None:
    """All else stays, byte for byte."""
    cite(root, "L2:a", [proof("s1", quote="call Ada")], "gateway", 1.0)
    cite(root, "L2:b", [], "person", 2.0)
    cite(root, "L2:c", [proof("s2")], "gateway", 3.0)
    before, text = read(root), (root / FILE).read_text()
    revise(root, lambda text: text.replace("Ada", "[redacted]"))
    assert (root / FILE).read_text() == text.replace("Ada", "[redacted]")

    assert read(root).why("L2:a")[0].quote == "call [redacted]"
    assert read(root).entries.keys() == before.entries.keys()


SESSIONS = ["s1", "s2", "s3"]
steps = st.one_of(
    st.tuples(st.just("cite"), st.sampled_from(["L1:k", "L2:a", "L3:b"]), st.sampled_from(SESSIONS)),
    st.tuples(st.sampled_from(["archive", "forget", "restore"]), st.sampled_from(SESSIONS), st.booleans()),
    st.tuples(st.just("drop"), st.sampled_from(["L1:k", "L2:a", "L3:b"]), st.none()),
)


@settings(max_examples=60)
@given(told=st.lists(steps, max_size=14))
def test_both_directions_hold_whatever_happens(told: list[tuple[str, str, object]], tmp_path_factory: pytest.TempPathFactory) -> None:  # fmt: skip
    """After archive, forget and restore in any order: an entry names a session if and only if the session names the entry."""
    root = tmp_path_factory.mktemp("memory")
    proved: set[tuple[str, str]] = set()
    gone: set[tuple[float, str]] = set()
    made: set[tuple[float, str]] = set()
    named: set[str] = set()
    for at, (what, one, other) in enumerate(told):
        if what == "cite":
            cite(root, one, [proof(str(other), quote=f"words of {other}")], "gateway", float(at))
            proved.add((one, str(other)))
            made.add((float(at), str(other)))
        elif what == "drop":
            drop(root, one)
            proved = {link for link in proved if link[0] != one}
        else:
            name = f"2026-04/{one}" if other and one in named else one
            if what == "archive":
                archive(root, [(one, f"2026-04/{one}")])
                named.add(one)
            else:
                (forget if what == "forget" else restore)(root, name)
                own = {link for link in made if link[1] == one}
                gone = gone | own if what == "forget" else gone - own
                proved -= {("L1:k", one)} if what == "forget" else set()
    links = read(root)

    assert {(entry, link.session) for entry in links.entries for link in links.why(entry)} == proved
    for session in SESSIONS:
        names = [session, *([f"2026-04/{session}"] if session in named else [])]
        for name in names:
            assert set(links.cited_by(name)) == {entry for entry, own in proved if own == session}
    for proofs in links.entries.values():
        assert all(link.gone == ((link.time, link.session) in gone) for link in proofs)
        assert all(bool(link.names) == (link.session in named) for link in proofs)
