"""Whose conversation a request continues, for agents as they are: small requests of ours in the recorded forms."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gateway.shapes import SHAPES
from memory import ExchangeRow
from tests.clients.comparing import RESULTS
from tests.clients.stand_ins import STAND_INS, Items, Ran, StandIn
from tests.samples import LISTING, PROGRESS, SAMPLES
from tests.service import Service, configured, service
from tests.wire import JSON, Upstream, ask, upstream, whole

AGENTS = {name: agent for name, agent in STAND_INS.items() if not agent.websocket}
NAMED = [name for name in AGENTS if name != "qwen"]
"""Agents that send an id of their session."""
OUTPUTS = (PROGRESS, LISTING, LISTING)

every_agent = pytest.mark.parametrize("name", AGENTS)
every_named_agent = pytest.mark.parametrize("name", NAMED)


class Talk:
    """An agent that talks to a model through a gateway."""

    def __init__(self, name: str, gateway: Service, up: Upstream) -> None:
        self.agent: StandIn = AGENTS[name]
        self._gateway = gateway
        self._up = up

    def history(self, turns: int, task: str = "", mark: str = "") -> Items:
        """What has been said after so many turns; `task` is said instead of the usual one."""
        out = json.loads(json.dumps(self.agent.opening).replace("Mend rule 7.", task or "Mend rule 7."))
        for n in range(turns):
            call, command = f"call_{mark}{n}", f"sh {mark}{n}.sh"
            out += self.agent.say(f"{mark} step {n}.", [(call, command)])
            out += self.agent.tell([Ran(call, command, 0, OUTPUTS[n])])
        return list(out)

    async def send(self, history: Items, id: str = "one", **more: Any) -> ExchangeRow:  # noqa: A002
        """Send a history under the agent's id for a session; what is on record of that."""
        body = {**self.agent.head, self.agent.key: self.agent.finish(history), **more}
        return await self.post({name: value for name, value in body.items() if value is not None}, id)

    async def post(self, body: dict[str, Any], id: str = "one") -> ExchangeRow:  # noqa: A002
        """Send a body as it is."""
        text = json.dumps(body).replace("0b9f2d4c-7e51-4c3a-9a34-5d1f6f0a8b21", id)
        self._up.reply = whole(SAMPLES[self.agent.path].answer("ok"))
        answer = await ask(self._gateway.url, self.agent.path, text.encode(), headers=[JSON, *self._headers(id)])
        assert answer.status == 200
        return await self._gateway.row(answer)

    def outputs(self) -> list[str]:
        """The results that reached the model last."""
        return RESULTS[self.agent.path](json.loads(self._up.last.body))

    def _headers(self, name: str) -> Iterable[tuple[str, str]]:
        for key, value in self.agent.headers.items():
            yield key, name if any(word in key for word in ("session", "thread")) else value


@pytest.fixture
async def talk(name: str, tmp_path: Path) -> Any:
    """The agent, a gateway, and a model that says ok."""
    async with upstream(whole(b"{}")) as up, service(configured(up.url), tmp_path) as gateway:
        yield Talk(name, gateway, up)


def test_every_form_is_spoken_by_an_agent() -> None:
    """A new API form needs one here."""
    assert {agent.path for agent in AGENTS.values()} == set(SHAPES)


@every_agent
async def test_turns_are_one_session(talk: Talk) -> None:
    """Each goes on from the one before; only its end is new."""
    rows = [await talk.send(talk.history(turns)) for turns in range(4)]

    assert len({row.session for row in rows}) == 1
    assert {(row.parent_session, row.retry) for row in rows} == {(None, False)}


@every_agent
async def test_a_retry_is_no_turn(talk: Talk) -> None:
    """Claude Code sends a request that broke off again without streaming; others send the same once more."""
    for turns in range(2):
        first = await talk.send(talk.history(turns))
        again = await talk.send(talk.history(turns), stream=None)
        assert (first.retry, again.retry, again.session) == (False, True, first.session)

    assert not (await talk.send(talk.history(2))).retry


@every_agent
async def test_the_next_task_is_another_session(talk: Talk) -> None:
    """Though it begins with the same words of the system, it is nobody's child; and the first one goes on beside it."""
    first = await talk.send(talk.history(1))
    other = await talk.send(talk.history(0, "Count the shelves."), "two")
    further = await talk.send(talk.history(1, "Count the shelves.", "b"), "two")
    back = await talk.send(talk.history(2))

    assert further.session == other.session != first.session == back.session
    assert (other.parent_session, further.parent_session, back.parent_session) == (None, None, None)


@every_named_agent
async def test_a_sub_agent_is_a_child(talk: Talk) -> None:
    """It has the id of the main conversation and another history; both go on side by side, and neither is the other."""
    main = [await talk.send(talk.history(turns)) for turns in range(2)]
    sub = [await talk.send(talk.history(turns, "Only search.", "s")) for turns in range(2)]
    main.append(await talk.send(talk.history(2)))
    sub.append(await talk.send(talk.history(2, "Only search.", "s")))

    assert len({row.session for row in main}) == len({row.session for row in sub}) == 1
    assert sub[0].session != main[0].session
    assert (main[0].parent_session, sub[0].parent_session) == (None, main[0].session)


@every_agent
async def test_a_compacted_history_is_another_session(talk: Talk) -> None:
    """The whole history is sent once more with a request to sum it up, and then the summary in its place."""
    before = [await talk.send(talk.history(turns)) for turns in range(3)]
    asks = await talk.send(
        [*talk.history(2), *talk.agent.say("Both ran.", []), *talk.history(0, "Sum it all up.")[-1:]]
    )
    after = await talk.send(talk.history(0, "What was done so far: both scripts ran."))
    further = await talk.send(talk.history(1, "What was done so far: both scripts ran.", "c"))

    assert asks.session == before[0].session
    assert further.session == after.session != before[0].session
    assert after.parent_session == (before[0].session if talk.agent is not AGENTS["qwen"] else None)


@pytest.mark.parametrize("name", ["opencode, chat"])
async def test_a_request_for_a_title_is_a_session_of_its_own(talk: Talk) -> None:
    """It bears the id of the main conversation, and may come first or last."""
    assert talk.agent.first is not None
    title = await talk.post(dict(talk.agent.first))
    rows = [await talk.send(talk.history(turns)) for turns in range(3)]
    later = await talk.post(dict(talk.agent.first), "two")

    assert len({row.session for row in rows}) == 1
    assert title.session not in (rows[0].session, None)
    assert later.session not in (rows[0].session, None)


@every_agent
async def test_what_was_decided_holds_whoever_comes_between(talk: Talk) -> None:
    """Titles, sub-agents and retries of one id do not unsettle what the main conversation was given."""
    for turns in range(3):
        await talk.send(talk.history(turns))
    settled = talk.outputs()
    await talk.send(talk.history(1, "Only search.", "s"))
    await talk.send(talk.history(2), "another id")
    assert talk.outputs() == settled
    await talk.send(talk.history(3))

    assert talk.outputs()[: len(settled)] == settled
    assert len(settled[-2]) < len(PROGRESS) / 4
