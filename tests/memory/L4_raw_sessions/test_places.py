"""Names of zips and members, and where things lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.L4_raw_sessions.places import Places, distinct, member_name, month_of, places_of, zip_name

APRIL = 1775247193.0  # 2026-04-03 20:13:13 UTC


@pytest.mark.parametrize(
    ("start", "end", "month", "name"),
    [
        pytest.param(APRIL, APRIL, "2026-04", "0403_2013-0403_2013.txt", id="one moment"),
        pytest.param(APRIL, APRIL + 5520, "2026-04", "0403_2013-0403_2145.txt", id="an evening"),
        pytest.param(1798761540.0, 1798761660.0, "2026-12", "1231_2359-0101_0001.txt", id="over New Year"),
    ],
)
def test_names(start: float, end: float, month: str, name: str) -> None:
    """A member is called by its first and last minute, and lies in the month of its first."""
    assert (month_of(start), member_name(start, end)) == (month, name)


def test_a_name_that_is_taken() -> None:
    """Another content of the same minutes is told apart by its hash."""
    assert distinct("0403_2013-0403_2145.txt", "0123456789abcdef") == "0403_2013-0403_2145~01234567.txt"


def test_zips_in_the_order_in_which_they_were_begun(tmp_path: Path) -> None:
    """The tenth follows the ninth, and what is not a month is no zip of ours."""
    for number in (10, 2, 1):
        (tmp_path / zip_name("2026-04", number)).touch()
    for other in ("2025-12.zip", "notes.zip", "2026-04.zip.tmp"):
        (tmp_path / other).touch()
    names = [path.name for path in Places(tmp_path).zips()]
    assert names == ["2025-12.zip", "2026-04.zip", "2026-04_2.zip", "2026-04_10.zip"]
    assert [path.name for path in Places(tmp_path).zips("2025-12")] == ["2025-12.zip"]


def test_the_archive_of_a_folder_of_raw_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is beside `temp/`, wherever one stands; a folder elsewhere goes into the archive of the folder one stands in."""
    assert places_of(tmp_path / "temp" / "model_responses").folder == tmp_path / "memory" / "L4_raw_sessions"
    monkeypatch.chdir(tmp_path)
    assert places_of(Path("temp/model_responses")).folder == tmp_path / "memory" / "L4_raw_sessions"
    assert places_of(Path("/elsewhere/logs")).folder == tmp_path / "memory" / "L4_raw_sessions"
