"""The ways in which the known archiver loses sessions, one test each: ours loses none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.L4_raw_sessions import appending, phases, zips
from tests.memory.L4_raw_sessions.archives import APRIL, NOW, House, free, ours

YEAR = 365 * 86_400.0


def test_two_sessions_of_the_same_minutes(house: House) -> None:
    """Both are in the zip, each under a name of its own."""
    house.log("1", free("one", "1"))
    house.log("2", free("two", "2"))
    report = house.run()
    assert (report["new_sessions"], report["deleted_raw"]) == (2, 2)
    texts = b"".join(house.members().values())
    assert len(house.members()) == 2
    assert b"one" in texts
    assert b"two" in texts


def test_the_same_minutes_a_year_later(house: House) -> None:
    """The name is known, the content is not: it is archived."""
    house.log("1", free("one", "1"))
    house.run()
    house.log("2", free("one", "1", start=APRIL + YEAR), now=NOW + YEAR)
    report = house.run(now=NOW + YEAR)
    assert report["new_sessions"] == 1
    assert list(house.members()) == ["2026-04.zip/0403_2013-0403_2014.txt", "2027-04.zip/0403_2013-0403_2014.txt"]


@pytest.mark.parametrize("phase", ["append", "archive", "verify", "clean_up"])
def test_a_run_that_ends_between_two_phases(house: House, phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one goes on: the session is in the zip once and in the histories once, and its log goes only then."""
    house.log("1", free("one", "1"))

    def broken(run: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(phases, phase, broken)
        with pytest.raises(KeyboardInterrupt):
            house.run()
    assert len(house.raw_files()) == 1
    report = house.run()
    assert report["deleted_raw"] == 1
    assert len(house.members()) == 1
    assert house.histories().count("SESSION: ") == 1
    assert house.raw_files() == []


def test_short_sessions(house: House) -> None:
    """A chat of a few bytes is a session."""
    house.log("1", free("hi", "hi"))
    house.run()
    assert b"hi" in b"".join(house.members().values())


@pytest.mark.parametrize("data", [b"hello", b"=== Prompt ===\nx\n", b"=== Response === 2026-99-99 00:00:00\nx\n"])
def test_no_time_stamps(house: House, data: bytes) -> None:
    """A log without times, or with impossible ones, is archived under the time of its file."""
    house.log("1", data)
    assert house.run()["new_sessions"] == 1
    assert list(house.members().values()) == [data]


def test_a_run_that_dies_while_it_writes_the_zip(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The month that was there stays readable, and the next run adds what is new."""
    house.log("1", free("one", "1"))
    house.run()
    before = house.members()
    house.log("2", free("two", "2"))

    def half(archive: object, addition: zips.Addition) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(zips, "_write", half)
        with pytest.raises(KeyboardInterrupt):
            house.run()
    assert house.members() == before
    house.run()
    assert len(house.members()) == 2
    assert list(house.l4.glob("*.draft")) == []


def test_few_files(house: House) -> None:
    """A folder with one file is not too small to be archived."""
    house.log("1", free("one", "1"))
    assert house.run()["processed"] == 1


def test_sessions_without_history_blocks_are_in_the_histories(house: House) -> None:
    """Ordinary chat has no such blocks, and is found none the less."""
    house.log("1", ours("s", 1))
    house.run()
    assert "[USER]: question 0 of s" in house.histories()


def test_a_hit_in_the_histories_has_its_name(house: House) -> None:
    """Whoever splits the file at its separators finds the session's name beside its lines."""
    house.log("1", free("one", "1"))
    house.run()
    (hit,) = [block for block in house.histories().split("=" * 60) if "[USER]: one" in block]
    assert "0403_2013-0403_2014.txt" in hit


def test_a_marker_in_what_was_said(house: House) -> None:
    """A log that was pasted into a conversation loses nothing of it."""
    pasted = "look:\n=== ASSISTANT ===\nthe answer was 42\n=== USER ===\nand then"
    house.log("1", free(pasted, "I see"))
    house.run()
    (text,) = house.members().values()
    assert b"=== ASSISTANT ===\nthe answer was 42\n" in text


def test_two_runs_at_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """One works; the other says that it did not, and changes nothing."""
    house.log("1", free("one", "1"))
    second = []
    archive = phases.archive

    def meanwhile(run: phases.Run) -> None:
        second.append(house.run())
        archive(run)

    monkeypatch.setattr(phases, "archive", meanwhile)
    first = house.run()
    assert (first["state"], first["new_sessions"]) == ("done", 1)
    assert (second[0]["state"], second[0]["processed"]) == ("busy", 0)
    assert len(house.members()) == 1


def test_a_log_that_is_written_to_while_it_is_compressed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes late stays, and the next run archives it; what was archived is not archived again."""
    house.log("1", ours("s", 2))
    append = appending.append

    def late(run: phases.Run) -> None:
        (sealed,) = house.raw_files()
        with sealed.open("ab") as file:
            file.write(ours("s", 1, first=2))
        append(run)

    with monkeypatch.context() as patch:
        patch.setattr(phases, "append", late)
        report = house.run(now=NOW)
    assert (report["new_sessions"], report["deleted_raw"]) == (1, 0)
    report = house.run(now=NOW + 10**9)
    assert (report["new_sessions"], report["deleted_raw"]) == (1, 1)
    one, two = house.members().values()
    assert one + two == ours("s", 3)


def test_a_late_write_begins_a_new_log(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that opens the log by its name, after it was sealed, does not touch what is being archived."""
    path = house.log("1", ours("s", 1))
    append = appending.append

    def late(run: phases.Run) -> None:
        path.write_bytes(ours("s", 1, first=1))
        append(run)

    with monkeypatch.context() as patch:
        patch.setattr(phases, "append", late)
        assert house.run()["deleted_raw"] == 1
    assert house.raw_files() == [path]
    house.run(now=NOW + 10**9)
    assert b"".join(house.members().values()) == ours("s", 2)


def test_secrets(house: House) -> None:
    """A log that was written without redaction is archived with it, its histories too."""
    secret = "sk-ant-api03-" + "Zq7" * 20
    house.log("1", free(f"the key is {secret}", "ok"))
    report = house.run()
    assert report["redactions"] == 1
    assert b"Zq7" not in b"".join(house.members().values()) + house.histories().encode()


def test_over_new_year(house: House) -> None:
    """A session is in the month in which it began."""
    start = 1798761540.0  # 2026-12-31 23:59 UTC
    house.log("1", free("one", "1", step=120.0, start=start), now=start + 10)
    house.run(now=start + 20_000)
    assert list(house.members()) == ["2026-12.zip/1231_2359-0101_0001.txt"]


def test_names_do_not_depend_on_where_one_is(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All times are UTC: no hour comes twice in a year, whatever the zone of this machine."""
    monkeypatch.setenv("TZ", "America/New_York")
    house.log("1", free("one", "1", start=1793509200.0), now=1793509200.0)  # 2026-11-01 05:00 UTC, a second 1:00 there
    house.run(now=1793509200.0 + 20_000)
    assert list(house.members()) == ["2026-11.zip/1101_0500-1101_0501.txt"]
