"""Work that would hold up other requests is done in a thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from gateway import heavy


@pytest.mark.parametrize(
    ("is_large", "in_this_thread"),
    [pytest.param(False, True, id="short work is done at once"), pytest.param(True, False, id="large work goes aside")],
)
async def test_only_large_work_leaves_the_loop(is_large: bool, in_this_thread: bool) -> None:
    """A thread costs more than most requests need altogether."""
    thread = await heavy.run(is_large, threading.get_ident)

    assert (thread == threading.get_ident()) is in_this_thread


async def test_others_go_on_beside_large_work() -> None:
    """The loop turns while the work waits for something that only the loop can give."""
    loop = asyncio.get_running_loop()
    asked, answered = asyncio.Event(), threading.Event()

    def work() -> bool:
        loop.call_soon_threadsafe(asked.set)
        return answered.wait(10)

    working = asyncio.ensure_future(heavy.run(True, work))
    await asked.wait()
    answered.set()

    assert await working


async def test_what_the_work_raises_comes_through() -> None:
    """Failing aside is failing all the same."""
    with pytest.raises(ZeroDivisionError):
        await heavy.run(True, divmod, 1, 0)
