"""The contract: four functions, their arguments, their answers, and the examples that were published for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory.L4_raw_sessions.compress_session import _compress_raw, batch_process, compress_session, extract_history
from tests.memory.L4_raw_sessions.archives import APRIL, House, free, ours

ON_DEMAND = """
from memory.L4_raw_sessions.compress_session import batch_process

raw_folder = 'temp/model_responses'
report = batch_process(raw_folder, dry_run=False)
print('L4 archiving finished:')
print(f"  Processed: {report['processed']}")
print(f"  New sessions added: {report['new_sessions']}")
print(f"  Raw files deleted: {report.get('deleted_raw', 0)}")
"""

SEARCH = """
import os
L4_DIR = os.path.join('memory', 'L4_raw_sessions')
history_path = os.path.join(L4_DIR, 'all_histories.txt')
def search_history(keyword: str):
    with open(history_path, 'r', encoding='utf-8') as f:
        content = f.read()
    return [b for b in content.split('=' * 60) if keyword.lower() in b.lower()]
for block in search_history('wechat'):
    print(block.strip())
"""

SCHEDULER = """
import os, sys
_dir = os.path.join(os.getcwd(), 'reflect')
sys.path.insert(0, os.path.join(_dir, '../memory/L4_raw_sessions'))
from memory.L4_raw_sessions import compress_session
sys.modules['compress_session'] = compress_session
from compress_session import batch_process
r = batch_process(os.path.join(_dir, '../temp/model_responses'), dry_run=False)
print(f"[L4 cron] {r['processed']}")
"""


def script(folder: Path, text: str) -> str:
    """What a script prints that is run in a folder."""
    root = str(Path(__file__).parents[3])
    run = [sys.executable, "-c", text]
    return subprocess.run(
        run, cwd=folder, env={**os.environ, "PYTHONPATH": root}, check=True, capture_output=True, text=True
    ).stdout


def test_the_published_examples(house: House) -> None:
    """Archiving on demand, the scheduler's call and the search of the histories run as they were printed."""
    house.log("123456", free("connect to WeChat", "connected"), now=APRIL + 10)
    assert script(house.root, ON_DEMAND).split("\n")[1:4] == [
        "  Processed: 1",
        "  New sessions added: 1",
        "  Raw files deleted: 1",
    ]
    found = script(house.root, SEARCH)
    assert "[USER]: connect to WeChat" in found
    assert "name=0403_2013-0403_2014.txt" in found
    (house.root / "reflect").mkdir()
    assert script(house.root, SCHEDULER) == "[L4 cron] 0\n"


def test_one_session(tmp_path: Path) -> None:
    """Its file is called by its first and last minute; the figures tell both sizes and their ratio."""
    source = tmp_path / "model_responses_1.txt"
    source.write_bytes(free("hello", "hi", step=300.0, echo="hello"))
    path, stats = compress_session(source, tmp_path / "out")
    assert path == str(tmp_path / "out" / "0403_2013-0403_2018.txt")
    assert isinstance(stats, dict)
    assert stats["original_size"] == source.stat().st_size > stats["new_size"] == os.stat(path).st_size
    assert stats["ratio"] == f"{100 * stats['new_size'] / stats['original_size']:.0f}%"
    assert (stats["fmt"], stats["year"], stats["messages"]) == ("raw", 2026, 2)
    assert stats["start"] == "2026-04-03T20:13:13+00:00"


@pytest.mark.parametrize(
    ("data", "reason"), [(None, "No such file"), (b"", "empty")], ids=["a file that is not there", "an empty file"]
)
def test_no_session(tmp_path: Path, data: bytes | None, reason: str) -> None:
    """Where there is nothing to compress, the reason is said and nothing is written."""
    source = tmp_path / "model_responses_1.txt"
    if data is not None:
        source.write_bytes(data)
    path, said = compress_session(source, tmp_path / "out")
    assert path is None
    assert reason in said
    assert list(tmp_path.glob("out/*")) == []


def test_the_same_minutes(tmp_path: Path) -> None:
    """Another session of the same minutes gets another name; the same one again does not."""
    paths = []
    for name, text in (("1", "one"), ("2", "two"), ("3", "one")):
        source = tmp_path / f"model_responses_{name}.txt"
        source.write_bytes(free(text))
        paths.append(compress_session(source, tmp_path / "out")[0])
    assert paths[0] == paths[2] != paths[1]
    assert len(list((tmp_path / "out").iterdir())) == 2


@pytest.mark.parametrize(
    ("echo", "kept"),
    [
        pytest.param("", "", id="a cue that says nothing goes"),
        pytest.param("  \n", "", id="blanks go"),
        pytest.param("question", "", id="an echo of the user's words goes"),
        pytest.param("You are an agent.", "", id="an echo of the prompt goes"),
        pytest.param("something new", "=== ASSISTANT ===\nsomething new\n", id="what stands nowhere else stays"),
    ],
)
def test_echoes(echo: str, kept: str) -> None:
    """Prompt, USER and Response stay; an ASSISTANT section stays where it says something that nothing else does."""
    log = free("question", "answer", echo=echo).decode()
    assert _compress_raw(log) == log.replace(f"=== ASSISTANT ===\n{echo}\n", kept)


def test_a_log_without_echoes_stays_as_it_is() -> None:
    """Half characters and carriage returns included."""
    text = "before\r\n=== USER ===\n\udcff\ud800 \n"
    assert _compress_raw(text) == text


def test_history(tmp_path: Path) -> None:
    """Lines come from `<history>` blocks where there are some, their windows joined and repeats kept, else from what was said."""
    block = "<history>{}</history>".format
    first = "\n".join(["[USER]: a", "[Agent] ok", "noise", "[Agent] ok"])
    second = "[Agent] ok\\n[USER]: b"
    path = tmp_path / "log.txt"
    path.write_bytes(free(f"x {block(first)}", "y", f"z {block(second)}", "y"))
    assert extract_history(path) == ["[USER]: a", "[Agent] ok", "[Agent] ok", "[USER]: b"]
    path.write_bytes(free("what\n is it", "this"))
    assert extract_history(path) == ["[USER]: what is it", "[Agent] this"]


def test_history_of_a_session_in_a_zip(house: House) -> None:
    """A member is read by its name."""
    house.log("1", ours("s", 2))
    house.run()
    lines = extract_history(house.l4 / "2026-04.zip", "0403_2013-0403_2014.txt")
    assert lines == ["[USER]: question 0 of s", "[Agent] answer 0", "[USER]: question 1 of s", "[Agent] answer 1"]


def test_some_files(house: House) -> None:
    """Instead of a folder some of its files may be named."""
    one, two = house.log("1", free("one", "1")), house.log("2", free("two", "2"))
    report = batch_process([one], house.l4, dry_run=False)
    assert (report["processed"], report["deleted_raw"]) == (1, 1)
    assert house.raw_files() == [two]
