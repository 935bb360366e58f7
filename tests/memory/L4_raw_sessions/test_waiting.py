"""What waits in spill files is taken out with everything else."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memory import Spill, forget, forget_all, redact_archive, search_sessions
from memory.spill import FOLDER
from tests.memory.L4_raw_sessions.talks import Talks

SECRET = "unmistakable"


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """A session of which one exchange is not stored yet."""
    talks = Talks(tmp_path / "data")
    record = talks.say("mine", "harmless")
    talks.say("other", "kept")
    message = talks._message("mine", {"role": "user", "content": f"{SECRET} words"})
    spill = Spill(talks.root / FOLDER)
    spill.append(replace(record, id="late", tip=message.hash, messages=(message,), reply=None))
    spill.close()
    return talks


@pytest.mark.parametrize(
    "take_out",
    [
        pytest.param(lambda l4: forget("mine", l4_dir=l4), id="a session"),
        pytest.param(lambda l4: forget_all(l4_dir=l4), id="everything"),
        pytest.param(lambda l4: redact_archive(SECRET, l4_dir=l4), id="a pattern"),
    ],
)
def test_it_does_not_come_back(talks: Talks, take_out: Callable[[Path], object]) -> None:
    """When a gateway starts again nothing waits for it."""
    take_out(talks.l4)
    assert list((talks.root / FOLDER).iterdir()) == []
    assert talks.ask(lambda archive: Spill(talks.root / FOLDER).replay(archive.append)) == 0
    assert search_sessions(SECRET, l4_dir=talks.l4) == []
    assert not any(SECRET.encode() in data for data in talks.files().values())


def test_a_file_that_cannot_be_looked_into_is_told(talks: Talks) -> None:
    """By its name: a gateway that runs holds it."""
    spill = Spill(talks.root / FOLDER)
    spill.append(talks.say("third", "more"))
    (talks.root / FOLDER / "1-0.spill.unread").write_bytes(b"?")
    problems = forget("mine", l4_dir=talks.l4).problems
    spill.close()
    assert [os.path.basename(problem.partition(":")[0]) for problem in problems] == [
        f"{os.getpid()}-1.spill",
        "1-0.spill.unread",
    ]
