"""The upper levels together: whatever changes, the index and the links stay true."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import EntryRefused
from memory.levels import Archived, Evidence, Levels, Pointer, Witness, insight, provenance, rules

Put = Callable[..., str]


def seen(session: str, quote: str = "Python 3.11.2") -> Witness:
    """A successful result."""
    return Witness(pointer=Pointer(session, 4), quote=quote, message=f"{quote}\n", succeeded=True)


def proof(session: str) -> list[Evidence]:
    """One message."""
    return [Evidence(pointer=Pointer(session, 2), quote="words")]


def test_a_memory_begins_with_its_rules_and_an_index(levels: Levels, root: Path) -> None:
    """Nothing is the matter with either."""
    assert levels.start() == ()
    assert (root / rules.FILE).exists()
    assert levels.insight() == levels.rebuild(dry_run=True).text
    assert levels.start() == ()


def test_what_is_the_matter_is_told(levels: Levels, root: Path) -> None:
    """Changed rules, a broken index, torn links."""
    levels.start()
    (root / rules.FILE).write_text("x")
    (root / insight.FILE).write_text("x" * 2000)
    (root / provenance.FILE).write_text("{torn")

    told = "\n".join(levels.warnings())
    assert "differs from the rules" in told
    assert "less than 1024" in told
    assert "1 lines cannot be read" in told


def test_a_dry_run_writes_nothing(levels: Levels, root: Path) -> None:
    """The index is shown, and the file stays."""
    levels.put_fact("MODELS", "x", by="person")
    (root / insight.FILE).write_text("old")
    assert "L2:MODELS" in levels.rebuild(dry_run=True).text
    assert levels.insight() == "old"


def test_the_index_follows_every_change(levels: Levels) -> None:
    """Of facts and of procedures."""
    fact, problem = levels.put_fact("MODELS", "x", by="person")
    procedure, warnings = levels.put_procedure("deploy", "x", by="person")
    assert (problem, warnings) == (None, ())
    assert "L2:MODELS" in levels.insight()
    assert "L3:deploy" in levels.insight()
    assert levels.procedures() == (procedure,)

    levels.drop_procedure("deploy")
    assert "L3:deploy" not in levels.insight()
    assert levels.amend_fact(fact.id, "y", by="person").text == "y"
    levels.drop_fact(fact.id)
    assert levels.facts() == ()


def test_a_change_below_stands_though_the_index_cannot_follow(levels: Levels, root: Path) -> None:
    """The reason is handed back."""
    root.mkdir()
    (root / insight.FILE).write_text("[RULES]\n" + "a rule\n" * 40)
    fact, problem = levels.put_fact("MODELS", "x", by="person")

    assert "the index is as it was" in (problem or "")
    assert levels.facts() == (fact,)


def test_after_a_verified_run_the_index_gains_its_sessions(levels: Levels, archived: Put) -> None:
    """Keys lead to sessions; twice is once; a key that is none is told."""
    session = Archived(id="s1", name=archived(), keys=("wechat", "10.0.0.7"))
    told = levels.archived([session])

    assert [problem for problem in told if "an IP address" in problem] == list(told)
    assert f"wechat: L4:{session.name}" in levels.insight()
    before = (levels.root / provenance.FILE).read_bytes()
    levels.archived([session])
    assert (levels.root / provenance.FILE).read_bytes() == before
    assert levels.cited_by(session.name) == levels.cited_by("s1") == ("L1:wechat",)


def test_why_tells_an_entry_down_to_the_message(levels: Levels, archived: Put) -> None:
    """Of every level, and of candidates."""
    fact, _ = levels.put_fact("MODELS", "small is served", by="gateway", evidence=proof("s1"))
    levels.put_procedure("deploy", "1. build\n", by="gateway", evidence=proof("s1"))
    candidate = levels.propose("L2", "ENVIRONMENT", "python is 3.11.2", [seen("s1")])
    levels.archived([Archived(id="s1", name=archived(), keys=("wechat",))])

    texts = {"L1:wechat": "wechat", f"L2:{fact.id}": "small is served", "L3:deploy": "1. build\n",
             f"candidate:{candidate.id}": "python is 3.11.2"}  # fmt: skip
    for entry, text in texts.items():
        why = levels.why(entry)
        assert why is not None
        assert why.text == text
        assert [(link.session, link.names) for link in why.links] == [("s1", ("2026-04/0403_2013-0403_2145",))]
    assert set(levels.cited_by("s1")) == texts.keys()


@pytest.mark.parametrize("entry", ["", "L1:none", "L2:f0", "L3:none", "L3:../x", "L4:s1", "candidate:c0", "nonsense"])
def test_an_entry_that_is_none_has_no_why(levels: Levels, entry: str) -> None:
    """Whatever was asked."""
    assert levels.why(entry) is None


def test_a_proof_without_an_entry_is_not_shown(levels: Levels) -> None:
    """A crash between the two leaves it; it cites nothing."""
    provenance.cite(levels.root, "L2:f00000", proof("s1"), "gateway", 1.0)
    assert levels.cited_by("s1") == ()


def test_a_policy_promotes_what_enough_sessions_show(levels: Levels) -> None:
    """And says under which name; 0 promotes nothing, and what is refused waits."""
    levels.propose("L2", "ENVIRONMENT", "python is 3.11.2", [seen("s1"), seen("s2"), seen("s3")])
    levels.put_procedure("deploy", "mine\n", by="person")
    levels.propose("L3", "deploy", "1. build\n", [seen("s1"), seen("s2"), seen("s3")])

    assert levels.promote_due(0) == levels.promote_due(4) == ()
    (entry,) = levels.promote_due(3)
    why = levels.why(entry)
    assert why is not None
    assert {link.by for link in why.links} == {"policy"}
    assert [candidate.level for candidate in levels.candidates()] == ["L3"]
    assert "L2:ENVIRONMENT" in levels.insight()


def test_a_candidate_can_be_turned_down(levels: Levels) -> None:
    """With the reason on record."""
    candidate = levels.propose("L2", "ENVIRONMENT", "python is 3.11.2", [seen("s1")])
    levels.refuse(candidate.id, "it changes weekly")
    assert levels.candidates() == ()
    assert [(c.state, c.reason) for c in levels.candidates(None)] == [("refused", "it changes weekly")]


def test_forgetting_a_session_marks_what_it_proved(levels: Levels, archived: Put, root: Path) -> None:
    """Facts stay, marked; its candidates and its place in the index go; its words are in no file."""
    fact, _ = levels.put_fact("MODELS", "small is served", by="gateway", evidence=[Evidence(pointer=Pointer("s1", 2), quote="private words")])  # fmt: skip
    candidate = levels.propose("L2", "ENVIRONMENT", "private words", [seen("s1", "private words")])
    name = archived()
    levels.archived([Archived(id="s1", name=name, keys=("wechat",))])
    levels.forget(name)

    why = levels.why(f"L2:{fact.id}")
    assert why is not None
    assert [link.gone for link in why.links] == [True]
    assert levels.why(f"candidate:{candidate.id}") is None
    assert name not in levels.insight()
    assert levels.why("L1:wechat") is None
    assert [p for p in root.rglob("*") if p.is_file() and b"private words" in p.read_bytes()] == []

    levels.restored("s1")
    again = levels.why(f"L2:{fact.id}")
    assert again is not None
    assert [link.gone for link in again.links] == [False]
    levels.archived([Archived(id="s1", name=name, keys=("wechat",))])
    assert f"wechat: L4:{name}" in levels.insight()


def test_every_file_can_be_redacted_again(levels: Levels, root: Path) -> None:
    """Facts, procedures, rules of the index, quotes, candidates, which stay readable; then no file has the words."""
    levels.write_rules(["ask Ada"])
    levels.put_fact("PEOPLE", "Ada knows", by="gateway", evidence=[Evidence(pointer=Pointer("s1"), quote='"Ada"')])
    levels.put_procedure("deploy", "call Ada\n", by="person")
    levels.propose("L2", "PEOPLE", 'ask "Ada"', [seen("s1", "Ada")])
    levels.put_procedure("other", "nobody\n", by="person")
    (root / insight.FILE).write_text("ask Ada\n" + levels.insight())
    levels.rebuild()

    changed = levels.redact_again(lambda text: text.replace("Ada", "[gone]"))
    assert {name.partition("/")[0] for name in changed} == {
        provenance.FILE, insight.FILE, insight.KEPT, "global_mem.txt", "deploy.md", "candidates",
    }  # fmt: skip
    assert [p for p in root.rglob("*") if p.is_file() and b"Ada" in p.read_bytes()] == []
    assert [candidate.text for candidate in levels.candidates()] == ['ask "[gone]"']
    assert levels.redact_again(lambda text: text.replace("Ada", "[gone]")) == ()


def test_a_refused_write_leaves_every_file_as_it_was(levels: Levels, root: Path) -> None:
    """No half of anything."""
    levels.start()
    levels.put_fact("MODELS", "x", by="person")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    for write in (
        lambda: levels.put_fact("MODELS", "pid 4711", by="person"),
        lambda: levels.put_fact("MODELS", "y", by="gateway"),
        lambda: levels.put_procedure("Bad", "x", by="person"),
        lambda: levels.write_insight("10.0.0.7"),
        lambda: levels.write_rules(["10.0.0.7"]),
        lambda: levels.promote("c00000000", by="person"),
        lambda: levels.drop_fact("f0"),
    ):
        with pytest.raises(EntryRefused):
            write()
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_several_writers_lose_nothing(levels: Levels) -> None:
    """Each fact and each proof of each is there."""

    def write(who: int) -> None:
        own = Levels(levels.root, lambda: 1.0)
        for k in range(8):
            own.put_fact(f"S{k % 3}", f"fact {who} {k}", by="gateway", evidence=proof(f"s{who}"))

    threads = [Thread(target=write, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {fact.text for fact in levels.facts()} == {f"fact {who} {k}" for who in range(3) for k in range(8)}
    assert all(len(levels.cited_by(f"s{who}")) == 8 for who in range(3))
    assert levels.warnings() == ()


SESSIONS = ["s0", "s1", "s2"]
steps = st.tuples(
    st.sampled_from(["fact", "procedure", "propose", "promote", "archive", "forget", "restore", "drop"]),
    st.sampled_from(SESSIONS),
    st.integers(0, 2),
)


@settings(max_examples=40)
@given(told=st.lists(steps, max_size=12))
def test_links_hold_both_ways_after_archive_forget_and_restore(
    told: list[tuple[str, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Every entry that a session cites is there and names the session, under its id and under its name; and the index is whole."""
    root = tmp_path_factory.mktemp("memory")
    levels = Levels(root, lambda: 1.0)
    for what, session, k in told:
        _take(levels, what, session, k)
    entries = [
        *(f"L1:{key}" for key in ("key0", "key1", "key2")),
        *(f"L2:{fact.id}" for fact in levels.facts()),
        *(f"L3:{procedure.stem}" for procedure in levels.procedures()),
        *(f"candidate:{candidate.id}" for candidate in levels.candidates(None)),
    ]
    whys = [why for entry in entries if (why := levels.why(entry))]
    down = {(why.entry, link.session) for why in whys for link in why.links}
    up = {(entry, session) for session in SESSIONS for entry in levels.cited_by(session)}

    assert down == up
    for name, id_ in provenance.read(root).ids.items():
        assert levels.cited_by(name) == levels.cited_by(id_)
    assert insight.check(root, levels.rebuild().text) == ()
    assert all(json.loads(path.read_text()) for path in root.glob("candidates/c*.json"))


def _take(levels: Levels, what: str, session: str, k: int) -> None:
    try:
        match what:
            case "fact":
                levels.put_fact("A", f"fact {k}", by="gateway", evidence=proof(session))
            case "procedure":
                levels.put_procedure(f"p{k}", "text", by="gateway", evidence=proof(session))
            case "propose":
                levels.propose("L2", "B", f"candidate {k}", [seen(session)])
            case "promote":
                levels.promote(levels.candidates()[0].id if levels.candidates() else "c0", by="person")
            case "archive":
                levels.archived([Archived(id=session, name=f"2026-04/{session}", keys=(f"key{k}",))])
            case "forget":
                levels.forget(session)
            case "restore":
                levels.restored(session)
            case _:
                levels.drop_fact(levels.facts()[0].id if levels.facts() else "f0")
    except EntryRefused:
        return
