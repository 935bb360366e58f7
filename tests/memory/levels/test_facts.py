"""L2: one fact a line, with an id and its proof."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import EntryRefused
from memory.levels import facts, provenance
from memory.levels.facts import FILE, LARGE, LIMIT, amend, drop, put, read, sections
from memory.levels.pointers import Pointer
from memory.levels.provenance import Evidence

PROOF = [Evidence(pointer=Pointer("s1", 2))]


def state(root: Path, section: str, text: str, key: str = "") -> facts.Fact:
    """A fact that the gateway proves."""
    return put(root, section, text, by="gateway", now=1.0, evidence=PROOF, key=key)


@pytest.mark.parametrize(
    ("section", "text", "reason"),
    [
        ("models", "x", "no name of a section"),
        ("A]\n## [B", "x", "no name of a section"),
        ("", "x", "no name of a section"),
        ("A", "", "one line"),
        ("A", "two\nlines", "one line"),
        ("A", " x", "without blanks"),
        ("A", "a\rb", "control character"),
        ("A", "half \ud800", "control character"),
        ("A", "é" * (LIMIT // 2) + "x", "2049 bytes"),
        ("A", "runs as pid 4711", "a process id"),
        ("A", "started at 20:13:07", "a time of day"),
        ("A", "in /tmp/x", "a passing path"),
        ("A", "the password is tomato", "write ref:NAME"),
        ("A", "key ghp_abcdefghijklmnopqrstuvwxyz0123456789", "write ref:NAME"),
    ],
)
def test_what_may_not_stand_there_is_refused(root: Path, section: str, text: str, reason: str) -> None:
    """With the reason; nothing is written, no proof either."""
    with pytest.raises(EntryRefused, match=reason):
        state(root, section, text)
    assert not root.exists()


def test_a_fact_without_proof_is_refused(root: Path) -> None:
    """Unless a person states it."""
    with pytest.raises(EntryRefused, match="no evidence"):
        put(root, "A", "x", by="gateway", now=1.0)
    assert read(root) == ()
    assert put(root, "A", "x", by="person", now=1.0) in read(root)


def test_facts_stand_in_their_sections(root: Path) -> None:
    """Each with an id, in the order in which they came."""
    one, two, three = state(root, "A", "one"), state(root, "B", "two"), state(root, "A", "three")

    assert (root / FILE).read_text().split("\n")[1:] == [
        "## [A]", f"- [{one.id}] one", f"- [{three.id}] three", "## [B]", f"- [{two.id}] two", ""
    ]  # fmt: skip
    assert sections(root) == ("A", "B")
    assert read(root) == (one, three, two)


def test_the_largest_fact_is_taken(root: Path) -> None:
    """2,048 bytes."""
    assert state(root, "A", "x" * LIMIT) in read(root)


def test_a_reference_to_a_secret_is_a_fact(root: Path) -> None:
    """Where it is kept, never what it is."""
    assert state(root, "CREDENTIALS", "the database password is ref:DB_PASSWORD") in read(root)


def test_the_same_fact_again_is_one_fact_with_more_proof(root: Path) -> None:
    """No duplicates."""
    one = state(root, "A", "x")
    again = put(root, "A", "x", by="gateway", now=2.0, evidence=[Evidence(pointer=Pointer("s2", 1))])

    assert one == again
    assert read(root) == (one,)
    assert [link.session for link in provenance.read(root).why(f"L2:{one.id}")] == ["s1", "s2"]


def test_under_a_key_the_latest_word_counts(root: Path) -> None:
    """In the same place, with the same id."""
    state(root, "A", "limit 1", key="limit")
    other = state(root, "A", "other")
    state(root, "A", "limit 2", key="limit")

    assert [fact.text for fact in read(root)] == ["limit 2", "other"]
    assert read(root)[1] == other


def test_a_fact_can_be_amended_and_dropped(root: Path) -> None:
    """By its id; the links go with it."""
    one = state(root, "A", "one")
    amend(root, one.id, "uno", by="person", now=2.0)
    assert [fact.text for fact in read(root)] == ["uno"]
    assert drop(root, one.id).text == "uno"
    assert read(root) == ()
    assert provenance.read(root).why(f"L2:{one.id}") == ()


@pytest.mark.parametrize("change", [lambda root: amend(root, "f0", "x", by="person", now=1.0), lambda root: drop(root, "f0")])  # fmt: skip
def test_an_unknown_id_is_refused(root: Path, change: object) -> None:
    """It says where ids are."""
    with pytest.raises(EntryRefused, match="no fact has the id f0"):
        change(root)  # type: ignore[operator]


def test_an_amended_fact_does_not_hide_its_first_text(root: Path) -> None:
    """What was said first can be said again: it is another fact."""
    one = state(root, "A", "one")
    amend(root, one.id, "uno", by="person", now=2.0)
    again = state(root, "A", "one")

    assert again.id != one.id
    assert sorted(fact.text for fact in read(root)) == ["one", "uno"]


def test_lines_of_others_stay(root: Path) -> None:
    """A file from elsewhere: headings, notes, blank lines."""
    root.mkdir()
    before = "# mine\n\n## [PATHS]\na note without an id\n\n## [OTHER]\nmore\n"
    (root / FILE).write_text(before)
    fact = state(root, "PATHS", "x")

    assert (root / FILE).read_text() == before.replace("without an id\n", f"without an id\n- [{fact.id}] x\n")
    drop(root, fact.id)
    assert (root / FILE).read_text() == before


def test_a_large_file_is_a_warning(root: Path) -> None:
    """Nothing is refused for it."""
    root.mkdir()
    (root / FILE).write_text("x" * LARGE)
    assert facts.warning(root) is None
    state(root, "A", "x")
    assert "move what is long to L3" in (facts.warning(root) or "")


lines = st.lists(
    st.sampled_from(["", "## [A]", "## [B]", "note", "- [f123456] x", "- loose", "# head"]), max_size=8
).map("\n".join)
plain = st.text(alphabet="abc 日本é-[]#", min_size=1, max_size=12).map(lambda text: f"x{text}x")


@settings(max_examples=60)
@given(before=lines, given_=st.lists(st.tuples(st.sampled_from(["A", "B", "C"]), plain), max_size=5))
def test_whatever_stands_there_every_fact_is_found_and_no_line_is_lost(
    before: str, given_: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Facts are lines between the old ones, which keep their order; dropped again, they leave the file as it was."""
    root = tmp_path_factory.mktemp("memory")
    (root / FILE).write_text(before)
    put_ = [state(root, section, text) for section, text in given_]
    text = (root / FILE).read_text()

    assert {(f.section, f.text) for f in put_} <= {(f.section, f.text) for f in read(root)}
    rest = iter(text.split("\n"))
    assert all(line in rest for line in before.removesuffix("\n").split("\n") if before)
