"""A session of a hundred megabytes."""

from __future__ import annotations

import json
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from memory import batch_process, search_history, verify
from memory.L4_raw_sessions.sections import put
from memory.roots import raw_folder

MEGABYTE = 1 << 20
EXCHANGES = 50
START = 1777600000.0


def test_it_goes_through_in_a_part_of_its_size(tmp_path: Path) -> None:
    """It is archived whole and found, and at no time stood in memory whole."""
    raw = raw_folder(tmp_path)
    raw.mkdir(parents=True)
    size = write(raw / "model_responses_a1b2c3d4e5f6.txt")
    assert size > 100 * MEGABYTE
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        report, peak = pool.submit(work, raw).result()
    assert (report["new_sessions"], report["deleted_raw"], report["errors"]) == (1, 1, [])
    assert report["bytes_raw"] == size
    assert peak < 100 * MEGABYTE + before()
    l4 = tmp_path / "memory" / "L4_raw_sessions"
    assert verify(l4_dir=l4).members == 1
    (block,) = search_history("turn 49 of many", l4_dir=l4)
    assert block.count("[USER]: turn ") == EXCHANGES


def write(path: Path) -> int:
    """Many exchanges, each with two megabytes of lines that are new in it."""
    with path.open("wb") as file:
        for number in range(EXCHANGES):
            at = START + 60.0 * number
            text = f"turn {number} of many\n" + f"{number:06d} lines like this one\n" * 77_000
            asked: dict[str, Any] = {"session": "large", "base": None, "names": [f"m{number}"], "head_name": ""}
            asked["messages"] = [{"role": "user", "content": text}]
            answer = {"ended": at + 5, "name": f"r{number}", "message": {"role": "assistant", "content": "well"}}
            file.write(put("Prompt", at, json.dumps(asked).encode(), at=repr(at), id=str(number), session="large"))
            file.write(put("Response", at + 5, json.dumps(answer).encode(), model="small", id=str(number)))
    os.utime(path, (START + 4000, START + 4000))
    return path.stat().st_size


def work(raw: Path) -> tuple[dict[str, Any], int]:
    """A run, and the most bytes that it had."""
    report = batch_process(raw, dry_run=False, clock=lambda: time.time() + 86_400)
    return report, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def before() -> int:
    """What a process has that does nothing."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(idle).result()


def idle() -> int:
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
