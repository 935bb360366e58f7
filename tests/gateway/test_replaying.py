"""Replays: the figures of the walk, without a network, and what no longer stood in the context."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Config, Rewriting
from gateway.recordings import Session
from gateway.replaying import Replayed, replaying

LISTING = "".join(f"{number:6}\tname_{number} = compute({number})\n" for number in range(1, 200))


def session(*results: str, model: str | None = None) -> Session:
    """An agent that reads each result and then names something in it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go on"}]
    for number, text in enumerate(results):
        function = {"name": "bash", "arguments": '{"command": "cat -n names"}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
    messages.append({"role": "assistant", "content": "It is name_150, and name_7 before."})
    return Session("s", model, messages, ())


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return [path.name for path in folder.iterdir()]


async def replay(tmp_path: Path, recorded: Session, config: Config | None = None) -> list[Replayed]:
    """All requests of a session."""
    async with replaying(config or Config(), tmp_path) as run:
        return [found async for found in run.requests(recorded, "gpt-4o")]


async def test_nothing_is_saved_where_rewriting_is_off(tmp_path: Path) -> None:
    """The configuration holds for replays, too."""
    found = await replay(tmp_path, session(LISTING), Config(rewriting=Rewriting(enabled=False)))
    assert [one.rewrites for one in found] == [0, 0]
    assert found[1].accounts["raw_tokens"] == found[1].accounts["forwarded_tokens"]
    assert names(tmp_path) == []


async def test_each_turn_is_one_request(tmp_path: Path) -> None:
    """What is rewritten at first sight is saved again whenever the history is sent again."""
    found = await replay(tmp_path, session(LISTING, LISTING))
    assert [one.rewrites for one in found] == [0, 1, 1]
    assert [one.accounts["repeat_saved"] > 0 for one in found] == [False, False, True]
    assert found[2].accounts["saved_by_rule"].keys() >= {"gutter", "shown"}
    assert not any("broken prefix" in one.kept for one in found)
    assert names(tmp_path) == []


async def test_tokens_by_the_nature_of_the_output(tmp_path: Path) -> None:
    """What was saved of all output in the prompts is what was saved of each nature."""
    found = await replay(tmp_path, session(LISTING, LISTING))
    assert [list(one.natures) for one in found] == [[], ["read"], ["read"]]
    for one in found[1:]:
        saved = one.accounts["raw_tokens"] - one.accounts["forwarded_tokens"]
        assert one.natures["read"]["raw"] - one.natures["read"]["forwarded"] == saved > 0


async def test_what_the_agent_used_still_stands(tmp_path: Path) -> None:
    """Strings that a turn takes from a result are found in what was forwarded."""
    found = await replay(tmp_path, session(LISTING, LISTING))
    assert found[-1].used == {"name_150", "name_7"}
    assert found[-1].lost == set()


@pytest.mark.parametrize("lines", [60, 100, 190, 400])
@pytest.mark.parametrize("model", ["gpt-5", "claude-sonnet-4-5", "claude-opus-4-7", "claude-opus-4-5"])
async def test_no_session_is_dearer_around_the_size_from_which_its_provider_caches(
    tmp_path: Path, model: str, lines: int
) -> None:
    """After no request, where the prompt grows slowly past that size: what is forwarded is cached when it would have been."""
    first = "".join(f"{number:6}\tname_{number} = compute({number})\n" for number in range(1, lines))
    growth = [f"{number}: {'word ' * 60}" for number in range(80)]
    found = await replay(tmp_path, session(first, *growth, first, model=model))
    raw = [one.accounts["cost_raw"] for one in found]
    forwarded = [one.accounts["cost_forwarded"] for one in found]
    assert all(b <= a + 1e-12 for a, b in zip(accumulate(raw), accumulate(forwarded), strict=True))
    assert sum(forwarded) < sum(raw)


@pytest.mark.parametrize(("pause", "cached"), [(60.0, True), (86_400.0, False)], ids=["a minute", "a day"])
async def test_a_cache_does_not_outlast_a_pause(tmp_path: Path, pause: float, cached: bool) -> None:
    """Where a recording says when its turns were, they are priced by it."""
    told = session(LISTING, LISTING)
    at = told.turns
    found = await replay(tmp_path, replace(told, times={turn: k * pause for k, turn in enumerate(at)}))
    assert (found[-1].accounts["cost_raw"] < 0.9 * found[-1].accounts["raw_tokens"] * 2.5e-6) == cached


@pytest.mark.parametrize(("model", "price"), [(None, "gpt-4o"), ("no-such-model", "gpt-4o"), ("gpt-5.1", "gpt-5.1")])
async def test_price(tmp_path: Path, model: str | None, price: str) -> None:
    """A session is priced as its own model where that has a price, else as the one that is asked for."""
    found = await replay(tmp_path, session("x", model=model))
    assert {one.accounts["price"] for one in found} == {price}
