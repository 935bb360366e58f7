"""L1: an index made by code, within its limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import EntryRefused
from memory.levels import facts, procedures, provenance
from memory.levels.insight import (
    BYTES,
    FILE,
    KEPT,
    LINES,
    build,
    check,
    key_problem,
    rebuild,
    rules_of,
    write,
    write_rules,
)
from memory.levels.pointers import Pointer
from memory.levels.provenance import Evidence

Put = Callable[..., str]


def point(root: Path, key: str, session: str, name: str) -> None:
    """Have a key lead to an archived session."""
    provenance.archive(root, [(session, name)])
    provenance.cite(root, f"L1:{key}", [Evidence(pointer=Pointer(session))], "gateway", 1.0)


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("x\n" * LINES, True),
        ("x\n" * LINES + "x", False),
        ("x\n" * (LINES + 1), False),
        ("\n" * LINES, True),
        ("\n" * (LINES + 1), False),
        ("x" * (BYTES - 1), True),
        ("x" * BYTES, False),
        ("x" * (BYTES - 2) + "\n", True),
        ("x" * (BYTES - 1) + "\n", False),
        ("é" * 511 + "x", True),
        ("é" * 512, False),
        ("日" * 341, True),
        ("日" * 341 + "x", False),
    ],
    ids=["30 lines", "30 lines and a piece", "31 lines", "30 empty lines", "31 empty lines", "1,023 bytes", "1,024 bytes",
         "1,023 bytes with a break", "1,024 bytes with a break", "1,023 bytes of accents", "1,024 bytes of accents",
         "1,023 bytes of Chinese", "1,024 bytes of Chinese"],
)  # fmt: skip
def test_the_limits_hold_to_the_byte_and_to_the_line(root: Path, text: str, passes: bool) -> None:
    """At most 30 lines, and less than 1,024 bytes of UTF-8; a write beyond is refused, and the file stays."""
    write(root, "before\n")
    if passes:
        write(root, text)
        assert (root / FILE).read_text() == text
    else:
        with pytest.raises(EntryRefused, match=r"30 are allowed|less than 1024"):
            write(root, text)
        assert (root / FILE).read_text() == "before\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("the server is 10.0.0.7", "an IP address"),
        ("listens on port 8080", "a port"),
        ("password: tomato", "a secret"),
        ("see /etc/hosts", "an absolute path"),
        ("since 2026-04-03", "a timestamp"),
        ("pid 4711", "a process id"),
        ("123e4567-e89b-12d3-a456-426614174000", "a UUID"),
        ("one\rtwo", "a control character"),
        ("L2:NOWHERE", "L2:NOWHERE points to nothing"),
        ("L3:nothing", "L3:nothing points to nothing"),
        ("L3:none_*", "points to nothing"),
        ("L4:2026-04/0403_2013-0403_2145", "points to nothing"),
        ("L4:s-1", "points to nothing"),
    ],
)
def test_values_and_dead_pointers_are_refused_with_the_reason(root: Path, line: str, reason: str) -> None:
    """And with the number of the line."""
    with pytest.raises(EntryRefused, match=reason) as error:
        write(root, f"fine\n{line}\n")
    assert "line 2" in str(error.value)


def test_pointers_that_lead_somewhere_pass(root: Path, archived: Put) -> None:
    """To a section, a fact, a procedure, a set of them, a session, a message; what looks like a time in them is a name."""
    fact = facts.put(root, "MODELS", "x", by="person", now=1.0)
    procedures.put(root, "deploy_sop", "x", by="person", now=1.0)
    name = archived()

    text = f"L2:MODELS, (L2:{fact.id}) L3:deploy_sop: when; L3:deploy_sop.md L3:deploy_* L4:{name} L4:{name}#12.\n"
    assert check(root, text) == ()


def test_an_empty_memory_has_a_short_index(root: Path) -> None:
    """It says where everything is."""
    text = rebuild(root).text
    for name in ("global_mem.txt", "memory_management_sop.md", "all_histories.txt", "[RULES]"):
        assert name in text
    assert check(root, text) == ()


def test_the_index_names_what_is_there(root: Path, archived: Put) -> None:
    """Sections of L2, procedures with their triggers, keys with their sessions."""
    facts.put(root, "MODELS", "x", by="person", now=1.0)
    facts.put(root, "LIMITS", "x", by="person", now=1.0)
    procedures.put(root, "deploy_sop", "---\ntrigger: deploying\n---\n", by="person", now=1.0)
    procedures.put(root, "clean.py", "pass\n", by="person", now=1.0)
    name = archived()
    point(root, "wechat", "s1", name)
    point(root, "支付", "s1", name)

    lines = rebuild(root).text.split("\n")
    assert "L2:MODELS L2:LIMITS" in lines
    assert "L3:deploy_sop: deploying" in lines
    assert "L3:clean" in lines
    assert f"wechat, 支付: L4:{name}" in lines


def test_building_twice_is_building_once(root: Path, archived: Put) -> None:
    """The same files, the same bytes; the file is not even touched."""
    procedures.put(root, "deploy_sop", "x", by="person", now=1.0)
    point(root, "wechat", "s1", archived())
    rebuild(root)
    inode = (root / FILE).stat().st_ino
    assert rebuild(root) == build(root)
    assert (root / FILE).stat().st_ino == inode


def test_rules_are_a_persons_and_stay(root: Path) -> None:
    """Word for word, whatever is built around them."""
    write_rules(root, ["use ASCII", "  never push on Fridays"])
    facts.put(root, "MODELS", "x", by="person", now=1.0)
    rebuild(root)
    assert rules_of((root / FILE).read_text()) == ("use ASCII", "  never push on Fridays")


def test_lines_of_others_are_kept_aside(root: Path, archived: Put) -> None:
    """An index from elsewhere is not lost when it is built anew: its rules stay in place, the rest is put aside, once."""
    root.mkdir()
    point(root, "wechat", "s1", archived())
    (root / FILE).write_text("# mine\n\nbrowser: web_sop\nL3:gone\n[RULES]\nuse ASCII\n")
    built = rebuild(root)
    rebuild(root)
    write_rules(root, ["never push"])

    assert (root / KEPT).read_text() == "# mine\nbrowser: web_sop\n"
    assert f"2 lines of others: {KEPT}" in built.left_out
    assert rules_of(built.text) == ("use ASCII",)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [(["x"] * 40, "30 are allowed"), (["x" * 900], "less than 1024"), (["use 10.0.0.7"], "an IP address"), (["see L3:none"], "nothing")],
)  # fmt: skip
def test_rules_that_break_the_index_are_refused(root: Path, rules: list[str], reason: str) -> None:
    """The old ones stay."""
    write_rules(root, ["use ASCII"])
    with pytest.raises(EntryRefused, match=reason):
        write_rules(root, rules)
    assert rules_of((root / FILE).read_text()) == ("use ASCII",)


def test_a_key_leads_to_its_latest_session(root: Path, archived: Put) -> None:
    """A session with no key of its own is not named."""
    old, new = archived("0403_2013-0403_2145"), archived("0404_0900-0404_1000")
    point(root, "wechat", "s1", old)
    point(root, "wechat", "s2", new)
    text = rebuild(root).text
    assert f"wechat: L4:{new}" in text
    assert old not in text


def test_a_session_that_is_gone_is_pointed_to_no_more(root: Path, archived: Put) -> None:
    """Forgotten, or not in any zip; its key leads to the one before."""
    old, new = archived("0403_2013-0403_2145"), archived("0404_0900-0404_1000")
    point(root, "wechat", "s1", old)
    point(root, "wechat", "s2", new)
    point(root, "alipay", "s3", "2026-05/0501_0000-0501_0001")
    provenance.forget(root, "s2")
    text = rebuild(root).text

    assert f"wechat: L4:{old}" in text
    assert "alipay" not in text


def test_a_trigger_with_a_value_is_left_out(root: Path) -> None:
    """The procedure is named without it."""
    procedures.put(root, "deploy", "---\ntrigger: when 10.0.0.7 is down\n---\n", by="person", now=1.0)
    assert "L3:deploy\n" in rebuild(root).text


def test_what_finds_no_room_is_told(root: Path, archived: Put) -> None:
    """The latest sessions are named, procedures drawn together; nothing goes silently."""
    for k in range(60):
        procedures.put(root, f"{'deploy' if k % 2 else 'build'}_number_{k}", "x", by="person", now=1.0)
    names = [archived(f"04{k:02d}_1000-04{k:02d}_1100") for k in range(1, 25)]
    for k, name in enumerate(names):
        point(root, f"topic {k}", f"s{k}", name)
    built = rebuild(root)

    assert check(root, built.text) == ()
    assert "L3:build_* L3:deploy_*" in built.text
    assert f"topic 23: L4:{names[-1]}" in built.text
    assert len([line for line in built.left_out if "L4:" in line]) + built.text.count(": L4:") == 24


def test_rules_come_before_everything_else(root: Path, archived: Put) -> None:
    """A person's words stay where they leave room for nothing else; what is not named is told."""
    procedures.put(root, "deploy", "x", by="person", now=1.0)
    point(root, "wechat", "s1", archived())
    head = len(rebuild(root).text.encode()) - len("L3:deploy\n") - len("wechat: L4:2026-04/0403_2013-0403_2145\n")
    built = write_rules(root, ["x" * (BYTES - 2 - head)])

    assert len(built.text.encode()) == BYTES - 1
    assert built.left_out == ("L3:deploy", "wechat: L4:2026-04/0403_2013-0403_2145")


def test_a_file_with_too_many_rules_is_left_as_it_is(root: Path) -> None:
    """Somebody wrote them by hand; the refusal says what is wrong."""
    root.mkdir()
    text = "[RULES]\n" + "a rule\n" * 40
    (root / FILE).write_text(text)
    with pytest.raises(EntryRefused, match="30 are allowed"):
        rebuild(root)
    assert (root / FILE).read_text() == text


@pytest.mark.parametrize("key", ["wechat", "支付", "ci", "deploy to staging", "c++ build", "node.js", "x-ray"])
def test_a_word_can_be_a_key(key: str) -> None:
    """In any script."""
    assert key_problem(key) is None


@pytest.mark.parametrize(
    "key", ["", "x", " x", "a:b", "a,b", "a\nb", "x" * 41, "10.0.0.7", "pid 4711", "2026-04-03", "L4/x"]
)
def test_a_value_or_a_mark_cannot(key: str) -> None:
    """It would break the line, or the law of the index."""
    assert key_problem(key)


names_ = st.from_regex(r"[a-z0-9_]{1,30}", fullmatch=True)
words = st.text(alphabet="ab c日é:/.0123456789-", max_size=40)


@settings(max_examples=40)
@given(
    sections=st.lists(st.from_regex(r"[A-Z0-9_]{1,40}", fullmatch=True), max_size=30),
    stems=st.lists(st.tuples(names_, words), max_size=40),
    rules=st.lists(st.sampled_from(["use ASCII", "日本語で", "never push"]), max_size=8),
)
def test_whatever_memory_holds_the_index_keeps_its_limits(
    sections: list[str], stems: list[tuple[str, str]], rules: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is built, it is small, it holds no value and no dead pointer."""
    root = tmp_path_factory.mktemp("memory")
    (root / facts.FILE).write_text("".join(f"## [{name}]\n" for name in sections))
    for stem, trigger in stems:
        (root / f"{stem}.md").write_text(f"---\ntrigger: {trigger}\n---\n")
    built = write_rules(root, rules)

    assert check(root, built.text) == ()
    assert built.text.count("\n") <= LINES
    assert len(built.text.encode()) < BYTES
    assert rules_of(built.text) == tuple(rules)
