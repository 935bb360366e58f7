"""What a run leaves alone, what it survives, and what it says."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memory import StoreError
from memory.L4_raw_sessions import phases, staging, zips
from memory.L4_raw_sessions.compressing import Compressed
from memory.L4_raw_sessions.running import PHASES
from memory.L4_raw_sessions.sections import put
from tests.memory.L4_raw_sessions.archives import APRIL, NOW, House, exchanges_in, free, ours

DAY = 86_400.0


def test_nothing_to_do(house: House) -> None:
    """An empty folder is archived without a complaint, and the report has all its keys."""
    report = house.run()
    assert (report["state"], report["errors"], report["processed"], report["deleted_raw"]) == ("done", [], 0, 0)
    assert set(report) >= {"skipped", "new_sessions", "run_id", "bytes_raw", "bytes_archived", "verified", "duplicates"}
    assert house.members() == {}


def test_a_missing_folder(house: House) -> None:
    """It is said, and it is not an error of the program."""
    shutil.rmtree(house.raw)
    report = house.run()
    assert report["state"] == "done"
    assert "no such folder" in report["errors"][0]


@pytest.mark.parametrize("archived_before", [False, True], ids=["where nothing is", "where something was archived"])
def test_a_dry_run_changes_nothing(house: House, archived_before: bool) -> None:
    """It says what would be done; no file is made, changed or touched."""
    if archived_before:
        house.log("1", free("one", "1"))
        house.run()
    house.log("2", free("two", "2"))
    house.log("3", ours("s", 1))
    before = house.tree()
    report = house.run(dry_run=True)
    assert house.tree() == before
    assert (report["processed"], report["new_sessions"], report["deleted_raw"]) == (2, 2, 0)
    assert len(set(report["sessions"])) == 2


@pytest.mark.parametrize(("age", "processed"), [(7199.0, 0), (7201.0, 1)], ids=["in use", "quiet"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_what_was_touched_within_two_hours(house: House, age: float, processed: int, dry_run: bool) -> None:
    """It is left alone, and not a second longer."""
    path = house.log("1", free("one", "1"), age=age)
    report = house.run(dry_run=dry_run)
    assert (report["processed"], report["skipped"]) == (processed, 1 - processed)
    assert path.exists() == (dry_run or not processed)


@pytest.mark.parametrize(("age", "processed"), [(7199.0, 0), (7201.0, 1)])
def test_the_last_exchange_counts_like_the_file(house: House, age: float, processed: int) -> None:
    """A copy of a log that lost the time of its file is not older than what was said in it."""
    house.log("1", ours("s", 1, start=NOW - age - 5), age=10 * DAY)
    assert house.run()["processed"] == processed


def test_a_clock_that_was_set_back(house: House) -> None:
    """A log from the future is not believed to be new for ever: seen unchanged for two hours, it is archived."""
    house.log("1", free("one", "1"), age=-400 * DAY)
    assert house.run()["processed"] == 0
    assert house.run(now=NOW + 7199)["processed"] == 0
    assert house.run(now=NOW + 7201)["processed"] == 1


def test_a_clock_that_was_set_back_again(house: House) -> None:
    """When the clock is behind what was seen, the waiting begins anew; nothing is archived too early."""
    house.log("1", free("one", "1"), age=-400 * DAY)
    house.run()
    assert house.run(now=NOW - 50 * DAY)["processed"] == 0
    assert house.run(now=NOW - 50 * DAY + 7201)["processed"] == 1


def test_the_newest_and_the_smallest(house: House) -> None:
    """They can be left in place; they are never deleted."""
    small = house.log("1", free("x"), age=30_000)
    house.log("2", free("long" * 100), age=20_000)
    newest = house.log("3", free("long" * 200), age=10_000)
    report = house.run(keep_newest=1, min_bytes=300)
    assert (report["processed"], report["skipped"]) == (1, 2)
    assert house.raw_files() == [small, newest]


def test_the_phases_have_names(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal says which one a run is in."""
    house.log("1", free("one", "1"))
    house.run()
    assert house.rows("SELECT phase, state FROM runs") == [(PHASES[-1], "done")]
    house.log("2", free("two", "1"))

    def full(*_: object) -> Compressed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(staging, "compress", full)
    house.run()
    assert house.rows("SELECT phase, state FROM runs ORDER BY rowid DESC")[0] == ("Compress & Extract", "failed")


Full = Callable[[pytest.MonkeyPatch], None]


def _full_at(module: object, name: str) -> Full:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a file")

    return lambda patch: patch.setattr(module, name, full)


@pytest.mark.parametrize(
    "fill",
    [
        pytest.param(_full_at(staging, "compress"), id="while a log is compressed"),
        pytest.param(_full_at(os, "fsync"), id="while it is made to last"),
        pytest.param(_full_at(shutil, "copyfile"), id="while a zip is copied"),
        pytest.param(_full_at(zips, "_write"), id="while a member is written"),
    ],
)
def test_a_full_disk(house: House, fill: Full) -> None:
    """Nothing is deleted, the report says what to do, and with space again the next run goes on."""
    house.log("1", free("one", "1"))
    house.run()
    house.log("2", free("two", "2"))
    with pytest.MonkeyPatch.context() as patch:
        fill(patch)
        report = house.run()
    assert report["state"] == "failed"
    assert "free some space" in report["errors"][-1]
    assert report["deleted_raw"] == 0
    assert len(house.raw_files()) == 1
    report = house.run()
    assert (report["new_sessions"], report["errors"], house.raw_files()) == (1, [], [])
    assert house.histories().count("SESSION: ") == 2


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(os.urandom(100_000), id="bytes without any sense"),
        pytest.param(b"\x00" * 10_000, id="nothing but zeros"),
        pytest.param(b"\xff\xfe" + "=== Prompt ===\n".encode("utf-16-le"), id="another encoding"),
        pytest.param(b"=== Prompt === 2026-04-03 20:13:13 len=99999999999 sha=x\n{}", id="a length that is a lie"),
        pytest.param(b"x" * 5_000_000, id="one long line"),
    ],
)
def test_binary_content(house: House, data: bytes) -> None:
    """It is archived as it is."""
    house.log("1", data)
    assert house.run()["errors"] == []
    assert list(house.members().values()) == [data]


def test_an_empty_log(house: House) -> None:
    """There is nothing in it to archive: it goes, by way of the trash."""
    house.log("1", b"")
    report = house.run()
    assert (report["new_sessions"], report["deleted_raw"], house.trash()) == (0, 1, [b""])


def test_the_same_log_again(house: House) -> None:
    """A log that was put back after it was archived goes into the trash, and no zip changes."""
    data = free("one", "1")
    house.log("1", data)
    house.run()
    before = house.members()
    house.log("9", data)
    report = house.run()
    assert (report["duplicates"], report["new_sessions"], report["deleted_raw"]) == (1, 0, 1)
    assert "2026-04.zip/0403_2013-0403_2014.txt" in report["details"][0]
    assert house.members() == before


def test_the_same_log_twice_in_one_run(house: House) -> None:
    """One is archived; the other, and one that holds the first, wait for the next run, which adds only what is new."""
    house.log("1", ours("s", 2), age=30_000)
    house.log("2", ours("s", 2), age=20_000)
    house.log("3", ours("s", 3), age=10_000)
    report = house.run()
    assert (report["new_sessions"], report["skipped"], report["deleted_raw"]) == (1, 2, 1)
    report = house.run()
    assert (report["new_sessions"], report["duplicates"], report["deleted_raw"]) == (1, 1, 2)
    assert b"".join(house.members().values()) == ours("s", 3)


def test_a_log_that_grew_after_it_was_archived(house: House) -> None:
    """Of a copy with more at its end only that more is archived."""
    house.log("1", ours("s", 2))
    house.run()
    house.log("1", ours("s", 3))
    house.run()
    assert b"".join(house.members().values()) == ours("s", 3)


def test_what_looks_like_a_separator(house: House) -> None:
    """Whatever is said in a session, the histories have one heading for it."""
    nasty = [
        "=" * 60,
        f"\n{'=' * 70}\nSESSION: fake\n{'=' * 60}\n",
        "</history>",
        "SESSION: fake",
        "<history>\n</history>",
    ]
    for number, text in enumerate(nasty):
        house.log(f"{number}", free(text, text))
        house.log(f"o{number}", ours(f"{number}{text.strip()[:20].replace(chr(10), ' ')}", 1))
    assert house.run()["errors"] == []
    lines = house.histories().split("\n")
    assert lines.count("=" * 60) == 4 * len(nasty)
    assert sum(line.startswith("SESSION: ") for line in lines) == 2 * len(nasty)
    assert len(house.histories().split("=" * 60)) == 4 * len(nasty) + 1


@pytest.mark.parametrize("damage", ["cut", "member", "empty"])
def test_a_damaged_zip(house: House, damage: str) -> None:
    """It is put aside with a report, what can be read of it goes on in a new one, and the run ends its work."""
    house.log("1", free("one", "1"))
    house.log("2", free("two" * 50, "2" * 500))
    house.run()
    (path,) = house.l4.glob("*.zip")
    data = bytearray(path.read_bytes())
    if damage == "member":
        data[80] ^= 255
    path.write_bytes(data[: len(data) // 2] if damage == "cut" else data if damage == "member" else b"")
    house.log("3", free("three", "3"))
    report = house.run()
    assert (report["new_sessions"], report["quarantined"], report["state"]) == (1, 1, "done")
    assert "damaged" in " ".join(report["errors"])
    assert (house.l4 / "quarantine" / "2026-04.zip.1").exists()
    assert len(house.members()) == (2 if damage == "member" else 1)


def test_the_trash_is_kept_while_its_zip_is_damaged(house: House) -> None:
    """A log whose only readable copy is in the trash stays there, however old it is."""
    house.log("1", free("one", "1"))
    house.run()
    (path,) = house.l4.glob("*.zip")
    path.write_bytes(path.read_bytes()[:100])
    report = house.run(now=NOW + 30 * DAY)
    assert house.trash() == [free("one", "1")]
    assert "can be read from no zip" in " ".join(report["errors"])


@pytest.mark.parametrize(("days", "left"), [(6.9, 1), (7.1, 0)])
def test_the_trash_is_emptied(house: House, days: float, left: int) -> None:
    """After seven days."""
    house.log("1", free("one", "1"))
    house.run()
    house.run(now=NOW + days * DAY)
    assert len(house.trash()) == left


@pytest.mark.parametrize("tail", [b"half a li", b"\n" + b"=" * 60 + b"\nSESSION: x", b"\xff\xfe\x00"])
def test_a_torn_history(house: House, tail: bytes) -> None:
    """What somebody has torn stays, and what is appended stands in lines of its own."""
    house.log("1", free("one", "1"))
    house.run()
    path = house.l4 / "all_histories.txt"
    path.write_bytes(path.read_bytes() + tail)
    house.log("2", free("two", "2"))
    assert house.run()["errors"] == []
    assert tail + b"\n\n" + b"=" * 60 in path.read_bytes()


@pytest.mark.parametrize("how", ["deleted", "damaged", "damaged within"])
def test_a_lost_index(house: House, how: str) -> None:
    """It is made anew from the zips: what is archived is not archived again."""
    house.log("1", ours("s", 2))
    house.log("2", free("two", "2"))
    house.run()
    rows = house.rows(
        "SELECT zip, member, session, sha256, raw_sha256, history_at, history_size FROM members ORDER BY 2"
    )
    keys = house.rows("SELECT key, id FROM exchanges ORDER BY 1")
    data = bytearray((house.l4 / "index.sqlite").read_bytes())
    for path in house.l4.glob("index.sqlite*"):
        path.unlink()
    if how == "damaged within":
        data[4096:] = os.urandom(len(data) - 4096)
        (house.l4 / "index.sqlite").write_bytes(data)
    if how == "damaged":
        (house.l4 / "index.sqlite").write_bytes(b"not a database" * 1000)
    house.log("3", ours("s", 3))
    house.log("4", free("two", "2"))
    report = house.run()
    assert (report["new_sessions"], report["duplicates"]) == (1, 1)
    assert report["quarantined"] == (how != "deleted")
    assert report["state"] == "done"
    after = house.rows(
        "SELECT zip, member, session, sha256, raw_sha256, history_at, history_size FROM members ORDER BY 2"
    )
    assert set(rows) <= set(after)
    assert set(keys) <= set(house.rows("SELECT key, id FROM exchanges"))


def test_a_log_that_cannot_be_read(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays, with a report, and the others are archived."""
    bad = house.log("1", free("one", "1"))
    house.log("2", free("two", "2"))
    compress = staging.compress

    def refuse(source: Path, *rest: object) -> Compressed:
        if "responses_1" in source.name:
            raise PermissionError(errno.EACCES, "Permission denied")
        return compress(source, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(staging, "compress", refuse)
        report = house.run()
    assert (report["new_sessions"], len(report["errors"])) == (1, 1)
    assert [path.read_bytes() for path in house.raw_files()] == [free("one", "1")]
    assert not bad.exists()
    assert house.run()["new_sessions"] == 1


def test_a_zip_that_has_grown_full(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The month goes on in another one."""
    monkeypatch.setattr(zips, "LIMIT", 10)
    for number in range(3):
        house.log("1", free(f"{number}", "x"))
        house.run()
    assert [path.name for path in sorted(house.l4.glob("*.zip"))] == ["2026-04.zip", "2026-04_2.zip", "2026-04_3.zip"]
    assert len(house.members()) == 3


def test_a_zip_that_others_made(house: House) -> None:
    """Members without facts beside them are members too."""
    house.l4.mkdir(parents=True)
    with zipfile.ZipFile(house.l4 / "2026-04.zip", "w") as archive:
        archive.writestr("0403_2013-0403_2014.txt", free("old", "x"))
    house.log("1", free("new", "x"))
    report = house.run()
    assert report["errors"] == []
    assert len(house.members()) == 2
    assert len(house.rows("SELECT * FROM members")) == 2


def test_files_are_private(house: House) -> None:
    """Whatever is written can be read by its owner only, a zip that grew and a damaged one that was mended, too."""
    house.log("1", free("one", "1")).chmod(0o600)
    house.run()
    house.log("2", free("two" * 50, "2")).chmod(0o600)
    house.run()
    (path,) = house.l4.glob("*.zip")
    assert path.stat().st_mode & 0o777 == 0o600
    data = bytearray(path.read_bytes())
    data[80] ^= 255
    path.write_bytes(data)
    house.log("3", free("three", "3")).chmod(0o600)
    assert house.run()["quarantined"] == 1
    assert [p for p in house.l4.rglob("*") if p.is_file() and p.stat().st_mode & 0o077] == []


def test_secrets_in_a_log_of_ours(house: House) -> None:
    """A section whose body changes gets a marker that fits: it can be read like the others."""
    log = ours("s", 1).replace(b"question 0", b"sk-ant-api03-" + b"Zq7" * 20)
    body = log.split(b"\n")[1]
    log = put("Prompt", APRIL, body, at=repr(APRIL), id="s-0", session="s") + log[log.index(b"=== Response") :]
    house.log("1", log)
    assert house.run()["redactions"] == 1
    (text,) = house.members().values()
    assert b"Zq7" not in text
    assert list(exchanges_in(house.root / "scratch", text)) == [f"s-0@{APRIL!r}"]


def test_a_secret_under_a_marker_with_an_impossible_time(house: House) -> None:
    """It goes, though the marker does not fit any more."""
    log = ours("s", 1).replace(b"question 0", b"sk-ant-api03-" + b"Zq7" * 20)
    body = log.split(b"\n")[1]
    house.log("1", put("Prompt", APRIL, body, id="s-0").replace(b"2026-04-03", b"2026-99-03"))
    house.run()
    assert b"Zq7" not in b"".join(house.members().values())


def test_a_log_that_somebody_holds(house: House) -> None:
    """It is left for the next run."""
    path = house.log("1", free("one", "1"))
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        report = house.run()
    assert (report["processed"], report["skipped"]) == (0, 1)
    assert house.run()["processed"] == 1


def test_lines_that_were_cut_out_of_the_histories(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose block is gone before it was verified stays on its way, and gets another."""
    house.log("1", free("one", "1"))
    archive = phases.archive

    def cut(run: phases.Run) -> None:
        archive(run)
        (house.l4 / "all_histories.txt").unlink()

    with monkeypatch.context() as patch:
        patch.setattr(phases, "archive", cut)
        report = house.run()
    assert (report["new_sessions"], report["deleted_raw"], len(house.raw_files())) == (0, 0, 1)
    report = house.run()
    assert (report["new_sessions"], report["deleted_raw"], report["errors"]) == (1, 1, [])
    assert house.histories().count("SESSION: ") == 1
    assert len(house.members()) == 1


@pytest.mark.parametrize("phase", ["append", "archive"])
def test_a_staged_file_that_is_gone(house: House, phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made again from its raw log; lines that were written already are not written twice."""
    house.log("1", free("one", "1"))

    def fail(run: phases.Run) -> None:
        raise StoreError("cut off")

    with monkeypatch.context() as patch:
        patch.setattr(phases, phase, fail)
        house.run()
    for path in house.l4.glob("staging/*"):
        path.unlink()
    report = house.run()
    assert (report["new_sessions"], report["deleted_raw"], report["errors"]) == (1, 1, [])
    assert house.histories().count("SESSION: ") == 1


def test_a_zip_that_does_not_hold_what_was_put_there(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing counts that was not read back: its raw log stays."""
    house.log("1", free("one", "1"))
    with monkeypatch.context() as patch:
        patch.setattr(zips, "digest_of", lambda _: "another")
        report = house.run()
    assert (report["new_sessions"], report["deleted_raw"]) == (0, 0)
    assert "not what was put there" in report["errors"][0]
    assert len(house.raw_files()) == 1
    assert house.run()["deleted_raw"] == 1
