"""Live sessions: read from the archive in the order in which they were said, and of one tenant only."""

from __future__ import annotations

from pathlib import Path

from memory.L4_raw_sessions.exchanges import read_exchanges
from memory.L4_raw_sessions.live import LiveSessions, log_of
from memory.L4_raw_sessions.sections import read_sections
from tests.memory.L4_raw_sessions.talks import Talks


def said(root: Path, session: str, tenant: str = "first") -> list[str]:
    """The messages of a session."""
    with LiveSessions.opened(root, tenant) as live:
        assert live is not None
        return [live.content(one.content).decode() for one in live.messages(session)]


def test_no_archive(tmp_path: Path) -> None:
    """Nothing is asked, and nothing is made."""
    with LiveSessions.opened(tmp_path, "first") as live:
        assert live is None
    assert list(tmp_path.iterdir()) == []


def test_messages_in_order_each_once(tmp_path: Path) -> None:
    """A history that is sent again is not said again."""
    talks = Talks(tmp_path)
    first = talks.say("a", "one", answer="two")
    talks.say("b", "else")
    talks.say("a", "three", answer=None)
    talks.record(first)
    assert [text.split('"content": ')[1] for text in said(tmp_path, "a")] == ['"one"}', '"two"}', '"three"}']


def test_changes_are_told_from_a_number_on(tmp_path: Path) -> None:
    """Those of a tenant."""
    talks, others = Talks(tmp_path), Talks(tmp_path, tenant="second")
    talks.say("a", "one")
    others.count = 100
    others.say("x", "hidden")
    with LiveSessions.opened(tmp_path, "first") as live:
        assert live is not None
        assert (live.last(), live.changed(0), live.changed(1)) == (2, ["a"], [])
        assert list(live.messages("x")) == []


def test_what_was_forgotten_is_empty(tmp_path: Path) -> None:
    """Its places stay."""
    talks = Talks(tmp_path)
    talks.say("a", "one")
    talks.ask(lambda archive: archive.forget("a"))
    assert said(tmp_path, "a") == ["", ""]


def test_a_log_of_it_reads_like_a_raw_log(tmp_path: Path) -> None:
    """Exchange by exchange, without those that are archived; a head is told where it is first needed."""
    talks = Talks(tmp_path)
    talks.say("a", "one\nline", answer="two")
    talks.say("a", "three")
    (raw,) = (tmp_path / "temp" / "model_responses").iterdir()
    with raw.open("rb") as file:
        expected = [(one.key, one.base, one.names, one.messages) for one in read_exchanges(read_sections(file))]
    for skipped in ([], [expected[0][0]]):
        with LiveSessions.opened(tmp_path, "first") as live:
            assert live is not None
            (tmp_path / "log").write_bytes(b"".join(log_of(live, "a", skipped)))
        with (tmp_path / "log").open("rb") as file:
            told = list(read_exchanges(read_sections(file)))
        assert [(one.key, one.base, one.names, one.messages) for one in told] == expected[len(skipped) :]
        assert [one.head for one in told] == [b"{}", *[None] * (len(told) - 1)]
        assert len({one.head_name for one in told}) == 1
