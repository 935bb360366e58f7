"""Kill -9 anywhere: a sample of what `killing` does by the hundred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.L4_raw_sessions.archives import House, free
from tests.memory.L4_raw_sessions.killing import Story


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_lost_and_nothing_twice(seed: int, tmp_path: Path) -> None:
    """Wherever runs die, each byte is in a raw log, the trash or a zip, and the next run ends what they began."""
    Story(seed, tmp_path).tell()


def test_the_story_would_notice(tmp_path: Path) -> None:
    """A log that is nowhere any more is missed."""
    story = Story(0, tmp_path)
    story.logs.append(free("what was never written"))
    with pytest.raises(AssertionError):
        story.check()


def test_the_story_would_notice_what_is_there_twice(tmp_path: Path) -> None:
    """An exchange in two members is seen."""
    story = Story(0, tmp_path)
    other = House(tmp_path / "other")
    other.log("1", free("one", "1"))
    other.run()
    (zip_,) = other.l4.glob("*.zip")
    story.house.l4.mkdir(parents=True)
    for name in ("2026-04.zip", "2026-04_2.zip"):
        (story.house.l4 / name).write_bytes(zip_.read_bytes())
    with pytest.raises(AssertionError):
        story.check()
