"""What stands in a verified zip goes out of the archive of exchanges, and is read from there."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory import (
    RewriteRecord,
    StoreBusy,
    export,
    forget,
    rebuild_index,
    restore,
    search_sessions,
)
from memory.L4_raw_sessions import cleaning, emptying
from tests.memory.L4_raw_sessions.talks import Talks


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """An agent that has said something."""
    talks = Talks(tmp_path / "data")
    talks.say("mine", noise("question", 4000), answer=noise("answer", 4000))
    return talks


def noise(name: str, size: int) -> str:
    """Text that compression leaves as large as it is, with blanks in it."""
    return " ".join(hashlib.sha256(f"{name} {k}".encode()).hexdigest() for k in range(size // 65))


def stored(talks: Talks) -> int:
    """Contents of messages that the archive of exchanges holds."""
    with closing(sqlite3.connect(talks.root / "archive.sqlite")) as connection, connection:
        sql = "SELECT count(*) FROM contents WHERE digest IN (SELECT content FROM messages)"
        return int(connection.execute(sql).fetchone()[0])


def heard(talks: Talks, session: str) -> list[bytes]:
    """A session as the archive of exchanges tells it."""
    said = talks.ask(lambda archive: archive.conversation(session))
    return [message.content for message in said]


def test_what_is_live_stays(talks: Talks) -> None:
    """A run that archives nothing takes nothing away."""
    report = talks.archive(later=0.0)
    assert (report["new_sessions"], report["let_go"]) == (0, 0)
    assert stored(talks) == 2


def test_a_preview_changes_nothing(talks: Talks) -> None:
    """What would be archived stays where it is."""
    assert talks.archive(dry_run=True)["new_sessions"] == 1
    assert stored(talks) == 2


def test_everybody_reads_what_they_read_before(talks: Talks) -> None:
    """Chains, verify, export, restore and search say the same; the file gets smaller."""
    before = heard(talks, "mine")
    told = restore("mine", l4_dir=talks.l4), [*export("openai", l4_dir=talks.l4)]
    size = (talks.root / "archive.sqlite").stat().st_size
    report = talks.archive()
    assert (report["errors"], report["let_go"], stored(talks)) == ([], 3, 0)
    assert heard(talks, "mine") == before
    assert (restore("mine", l4_dir=talks.l4), [*export("openai", l4_dir=talks.l4)]) == told
    assert [one.session for one in search_sessions(noise("answer", 100), l4_dir=talks.l4)] == ["mine"]
    checked = talks.ask(lambda archive: archive.verify())
    assert (checked.messages, checked.problems) == (2, ())
    assert (talks.root / "archive.sqlite").stat().st_size < size


def test_the_head_is_read_from_the_zip(talks: Talks) -> None:
    """A request's tools and settings, which this session alone has."""
    head = talks.ask(lambda archive: archive.exchange("request-1")).head
    talks.archive()
    assert talks.ask(lambda archive: archive.stored([head])) == frozenset()
    assert talks.ask(lambda archive: archive.content(head)) == b"{}"


def test_a_picture_goes_with_its_message(talks: Talks) -> None:
    """And comes back with it."""
    picture = base64.b64encode(noise("picture", 6000).encode()).decode()
    talks.say("mine", {"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]})
    before = heard(talks, "mine")
    talks.archive()
    with closing(sqlite3.connect(talks.root / "archive.sqlite")) as connection, connection:
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (0,)
    assert heard(talks, "mine") == before


def test_the_audit_stays(talks: Talks) -> None:
    """Texts of rewrites, and what a mark hides, are in no zip."""
    rewrite = RewriteRecord(
        key="k",
        tool="bash",
        command="ls",
        before="one\ntwo",
        after="one",
        rules=(("rule", 1),),
        omissions=(("abc123", "two"),),
        tokens_before=2,
        tokens_after=1,
    )
    record = talks.say("other", "x")
    again = {name: getattr(record, name) for name in record.__slots__} | {"id": "request-9", "rewrites": (rewrite,)}
    talks.record(type(record)(**again))
    talks.archive()
    row = talks.ask(lambda archive: archive.rewrite("1"))
    assert (row.texts.before, row.texts.after) == ("one\ntwo", "one")
    assert talks.ask(lambda archive: archive.omitted("first", "abc123")) == "two"
    assert talks.ask(lambda archive: archive.verify()).problems == ()


def test_what_goes_on(talks: Talks) -> None:
    """New words are stored; the old ones are read from the zip, and the whole is one conversation."""
    before = heard(talks, "mine")
    talks.archive()
    talks.say("mine", "and then?", answer="the end")
    assert stored(talks) == 2
    assert heard(talks, "mine")[:2] == before
    assert len(heard(talks, "mine")) == 4
    assert len(restore("mine", l4_dir=talks.l4)) == 4
    talks.archive()
    assert (stored(talks), len(heard(talks, "mine"))) == (0, 4)


def test_what_a_live_session_shares_stays(talks: Talks) -> None:
    """Until that one is archived, too; and then neither depends on the other."""
    talks.say("parent", "a long beginning", answer="yes")
    record = talks.say("parent", "one way", answer="well")
    talks.archive()
    shared = talks.ask(lambda archive: archive.chain(record.messages[0].parent))
    child = type(record)(
        **{name: getattr(record, name) for name in record.__slots__}
        | {"id": "child", "session": "child", "messages": shared, "tip": shared[-1].hash, "reply": None},
    )
    talks.record(child)
    assert stored(talks) == 2  # said again, it is stored again
    forget("parent", l4_dir=talks.l4)
    assert heard(talks, "child") == [message.content for message in shared]
    talks.archive()
    assert stored(talks) == 0
    assert heard(talks, "child") == [message.content for message in shared]


def test_two_that_share_are_archived_one_after_the_other(talks: Talks) -> None:
    """The first run keeps what the second session shares, the second lets go of it."""
    first = talks.say("a", "the same beginning", answer="well")
    second = {name: getattr(first, name) for name in first.__slots__} | {"id": "b1", "session": "b"}
    talks.archive()
    talks.record(type(first)(**second))
    assert stored(talks) == 2
    talks.archive()
    assert stored(talks) == 0
    assert heard(talks, "a") == heard(talks, "b")
    forget("a", l4_dir=talks.l4)
    assert b"the same beginning" in heard(talks, "b")[0]


def test_a_member_that_is_not_what_was_put_there(talks: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is let go of; once it can be read, the next run does it."""
    monkeypatch.setattr(emptying, "read_held", lambda *_: None)
    assert talks.archive()["let_go"] == 0
    assert stored(talks) == 2
    monkeypatch.undo()
    assert talks.archive()["let_go"] == 3
    assert stored(talks) == 0


def test_an_archive_that_somebody_holds(talks: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs the room, not the run; the next one lets go."""

    def busy(*_: object) -> int:
        raise StoreBusy("another process holds it")

    monkeypatch.setattr(cleaning, "empty", busy)
    report = talks.archive()
    assert (report["state"], report["errors"], report["new_sessions"]) == ("done", [], 1)
    assert any("another process holds it" in detail for detail in report["details"])
    monkeypatch.undo()
    assert talks.archive()["let_go"] == 3


def test_where_the_index_is_lost_the_zips_tell(talks: Talks) -> None:
    """And an index that was made anew does not bring anything back."""
    before = heard(talks, "mine")
    talks.archive()
    talks.places.index.unlink()
    assert heard(talks, "mine") == before
    rebuild_index(l4_dir=talks.l4)
    assert talks.archive()["let_go"] == 0
    assert heard(talks, "mine") == before


def test_a_zip_that_is_gone_is_missed(talks: Talks) -> None:
    """The archive's verify says whose words are nowhere."""
    talks.archive()
    for path in talks.l4.glob("*.zip"):
        path.unlink()
    problems = talks.ask(lambda archive: archive.verify()).problems
    assert len(problems) == 2
    assert all("its content is missing" in problem for problem in problems)
    assert heard(talks, "mine") == [b"", b""]


def test_a_damaged_member_costs_its_own_words_only(talks: Talks) -> None:
    """The others are read on."""
    talks.archive()
    talks.say("mine", "later", answer="much later")
    talks.now += 40 * 86_400
    talks.archive()
    first = sorted(talks.l4.glob("*.zip"))[0]
    data = bytearray(first.read_bytes())
    data[80:120] = bytes(40)
    first.write_bytes(data)
    assert [bool(content) for content in heard(talks, "mine")] == [False, False, True, True]


def test_a_file_that_was_made_before(talks: Talks) -> None:
    """One that could not give back room is written anew, once."""
    path = talks.root / "archive.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA auto_vacuum=NONE")
        connection.execute("VACUUM")
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    talks.archive()
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)


def test_nothing_of_it_is_left_in_the_file(talks: Talks) -> None:
    """Neither in a row nor in a free page."""
    with closing(sqlite3.connect(talks.root / "archive.sqlite")) as connection, connection:
        needles = [data[20:60] for (data,) in connection.execute("SELECT data FROM contents") if len(data) > 200]
    assert len(needles) == 2
    talks.archive()
    left = b"".join(path.read_bytes() for path in talks.root.glob("archive.sqlite*"))
    assert not any(needle in left for needle in needles)


def test_each_tenant_reads_its_own_zips(talks: Talks) -> None:
    """Two may call their sessions the same."""
    other = Talks(talks.root, tenant="second")
    other.count = 100
    other.say("mine", "theirs", answer="not yours")
    talks.archive()
    assert stored(talks) == 2
    assert other.archive()["let_go"] == 2
    assert stored(talks) == 0
    said = {content for content in heard(talks, "mine") if content}
    assert said
    assert talks.ask(lambda archive: archive.verify()).problems == ()
