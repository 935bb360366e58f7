"""Redacting again: the words go from every file, the sessions stay whole, and links hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory import PatternRefused, StoreError, redact_archive, resolve, restore, search_history, search_sessions, verify
from memory.L4_raw_sessions.sweeping import MARK
from tests.memory.L4_raw_sessions.talks import Talks
from tests.memory.L4_raw_sessions.test_forgetting import SECRET, traces


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """A secret in zips, in the trash, in a raw log, in the archive; sessions without it beside it."""
    talks = Talks(tmp_path / "data")
    talks.say("mine", f"before {SECRET} behind", answer=f"{SECRET}\n{SECRET}")
    talks.say("other", "kept")
    talks.archive()
    talks.say("mine", f"{SECRET} again")
    talks.say("third", "kept, too")
    return talks


def test_nothing_stored(tmp_path: Path) -> None:
    """It is said so, and a bad pattern is refused before anything is looked at."""
    with pytest.raises(StoreError, match="nothing is archived"):
        redact_archive("secret", l4_dir=tmp_path / "none")
    with pytest.raises(PatternRefused):
        redact_archive("(", l4_dir=tmp_path / "none")


@pytest.mark.parametrize("pattern", ["absent", None])
def test_nothing_to_redact(talks: Talks, pattern: str | None) -> None:
    """No zip, no log and no line is written."""
    before = talks.files()
    redacted = redact_archive(pattern, l4_dir=talks.l4)
    assert (redacted.rows, redacted.raw, redacted.members, redacted.lines, redacted.problems) == (0, 0, 0, 0, ())
    after = talks.files()
    assert {name for name in after if before.get(name) != after[name] and ".sqlite" not in name} == set()


def test_no_file_holds_it_any_more(talks: Talks) -> None:
    """Everything around it is there, found, verified, and pointed to as before."""
    before = {
        pointer: resolve(pointer, l4_dir=talks.l4) for pointer in ("L4:mine#0", "L4:mine#1", "L4:mine#2", "L4:other#0")
    }
    said = restore("mine", l4_dir=talks.l4)
    redacted = redact_archive(SECRET, l4_dir=talks.l4)
    assert (redacted.rows, redacted.raw, redacted.members, redacted.lines) == (1, 2, 1, 3)
    assert traces(talks) == []
    for pointer, told in before.items():
        now = resolve(pointer, l4_dir=talks.l4)
        assert now is not None
        assert told is not None
        assert (now.text, now.name) == (told.text.replace(SECRET, MARK), told.name)
    assert restore("mine", l4_dir=talks.l4) == [one | {"content": one["content"].replace(SECRET, MARK)} for one in said]
    assert search_sessions(SECRET, l4_dir=talks.l4) == []
    assert [one.session for one in search_sessions("before behind", l4_dir=talks.l4)] == ["mine"]
    assert "before [redac" in search_history("before", l4_dir=talks.l4)[0]
    assert verify(l4_dir=talks.l4).problems == ()
    report = talks.archive()
    assert (report["errors"], report["new_sessions"]) == ([], 2)
    assert talks.ask(lambda archive: archive.verify()).problems == ()


@pytest.mark.parametrize("step", ["_redact_log", "_redact_zip", "rewrite_zip", "rewrite_lines", "reconcile"])
def test_cut_off_anywhere_it_is_finished_by_the_next_call(talks: Talks, step: str) -> None:
    """Nothing is lost on the way."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"memory.L4_raw_sessions.redacting.{step}", stop)
        with pytest.raises(KeyboardInterrupt):
            redact_archive(SECRET, l4_dir=talks.l4)
    redact_archive(SECRET, l4_dir=talks.l4)
    assert traces(talks) == []
    assert verify(l4_dir=talks.l4).problems == ()


def test_a_run_that_was_cut_off_comes_first(talks: Talks) -> None:
    """Its journal knows digests that would no longer be right."""
    from memory.L4_raw_sessions.index import Index

    index = Index.open(talks.places.index)
    index.rows("INSERT INTO items VALUES ('x', 'y', 'staged', 0, 0, 0, '', '{}')")
    index.close()
    with pytest.raises(StoreError, match="let `memory run` finish it first"):
        redact_archive(SECRET, l4_dir=talks.l4)


def test_what_cannot_be_looked_into_is_named(talks: Talks) -> None:
    """A person may have to remove it."""
    talks.places.quarantine.mkdir()
    (talks.places.quarantine / "2026-05.zip.1").write_bytes(b"damaged")
    talks.places.zips()[0].write_bytes(b"damaged, too")
    problems = redact_archive(SECRET, l4_dir=talks.l4).problems
    assert [name in " ".join(problems) for name in ("2026-05.zip.1:", "2026-05.zip:")] == [True, True]
