"""Questions to a model over a real socket, through litellm: what leaves the house, and every sort of model end to end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.config import Proposer
from gateway.evolving.asking import Ask, ask_through_litellm, redacted, reported, without_secrets
from gateway.playback import Received
from gateway.providers.scripted import Scripted
from gateway.providers.via_litellm import complete
from gateway.recording.tokens import TokenCounter
from gateway.scenario import Fault, Scenario, Turn
from gateway.serving import serving
from rules_engine import Observation, Sample
from rules_engine.evolution.admission import admit
from rules_engine.evolution.pool import EMPTY, fold
from rules_engine.evolution.prompts import About, Missed, Start, Uncovered
from rules_engine.evolution.proposals import Outcome, Refusal
from rules_engine.seeds import SEEDS
from rules_engine.types import Rule, Trigger
from tests.gateway import proposing
from tests.gateway.proposing import House

pytestmark = pytest.mark.filterwarnings("ignore")
on_one_loop = pytest.mark.asyncio(loop_scope="module")

KEY = "sk-" + "proj-7Hq2LxRt93VmZc46WdYb81KpNs05Jf"
OUTPUT = (
    "\n".join(f"{n * 7919 % 9973:04} bundled in {n % 7} ms" for n in range(300)) + "\n\nBundled 300 modules in 21ms\n"
)
RULE = {"rule_id": "bun_build", "trigger_regex": r"\bbun\s+build\b", "strip_patterns": [r"^\d+ bundled in"]}
NEW = Uncovered(command="bun build", text=OUTPUT, task="Get the tests to pass")


class Model:
    """A provider whose model says what a test wants it to, turn after turn."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.play(Turn(text="Done."))

    def play(self, *turns: Turn) -> None:
        """Say these from now on, the last of them to all further questions."""
        self.received.clear()
        self._apps = [Scripted(Scenario((turn,))) for turn in turns]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one question."""
        app = self._apps.pop(0) if len(self._apps) > 1 else self._apps[0]
        await app(scope, receive, send)
        self.received += app.received[-1:]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line() -> AsyncIterator[tuple[Model, str]]:
    """A model on a socket."""
    model = Model()
    async with serving(model) as url:
        await complete("hosted_vllm/m", [{"role": "user", "content": "x"}], api_base=f"{url}/v1")  # loads litellm
        yield model, url


def settings(url: str, **more: Any) -> Proposer:
    """How it is reached."""
    return Proposer(**{"model": "hosted_vllm/m", "url": f"{url}/v1", **more})


def house(
    folder: Path, given: Proposer, samples: Sequence[Sample] = (), traffic: int = 10**7
) -> AbstractAsyncContextManager[House]:
    """A proposer with litellm's models, and with the real admission over samples."""

    async def judge(ask: Ask, rule: Rule) -> Any:
        return admit(rule, samples)

    return proposing.house(folder, given, ask_through_litellm(given), judge, TokenCounter(rough=True).count, traffic)


def ask(about: About, session: str = "s") -> Ask:
    """A question of the session that has traffic."""
    return Ask(about=about, tenant="t", session=session)


def sample(session: int, text: str, used: Sequence[str] = (), exit_code: int = 0) -> Sample:
    """An output of a session that has ended."""
    seen = Observation(key=f"k{session}", tool="bash", command="bun build", exit_code=exit_code, text=text)
    return Sample(
        observation=seen, used=frozenset(used), known=frozenset(), session=f"s{session}", source=f"r{session}"
    )


def built(size: int) -> str:
    """A build, with one line in the middle that agents look at."""
    lines = [f"{n * 7919 % 9973:04} bundled in {n % 7} ms" for n in range(size)]
    lines.insert(size // 2, f"see out/report-{size}.html for sizes")
    return "\n".join(lines) + f"\n\nBundled {size} modules in 21ms\n"


SAMPLES = [sample(n, built(60 + 7 * n), [f"out/report-{60 + 7 * n}.html"]) for n in range(30)]


@on_one_loop
async def test_what_the_model_is_sent(line: tuple[Model, str], tmp_path: Path) -> None:
    """Instructions and data apart, the schema of the answer, the code's temperature, and a limit; no key of anybody's."""
    line[0].play(Turn(text=json.dumps(RULE)))
    async with house(tmp_path, settings(line[1])) as made:
        await made.ask(ask(NEW))
    body = json.loads(line[0].received[0].body)

    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"]["additionalProperties"] is False
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.7, 2000)
    assert "Bearer" not in dict(line[0].received[0].headers).get("authorization", "").replace("Bearer fake-api-key", "")


@on_one_loop
async def test_the_operators_key_is_used(
    line: tuple[Model, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the variable that he names."""
    monkeypatch.setenv("PROPOSER_KEY", "of-the-operator")
    line[0].play(Turn(text=json.dumps(RULE)))
    async with house(tmp_path, settings(line[1], key_env="PROPOSER_KEY")) as made:
        await made.ask(ask(NEW))

    assert dict(line[0].received[0].headers)["authorization"] == "Bearer of-the-operator"


@pytest.mark.parametrize(
    "about",
    [
        Uncovered(command=f"API_KEY={KEY} bun build", text=f"token {KEY}\n" + OUTPUT, task=f"use {KEY}"),
        Uncovered(command="bun build", text="x" * 1990 + f" {KEY} " + OUTPUT + "y" * 490 + f" {KEY}"),
        Missed(rule=SEEDS[2], command=f"pip install --token {KEY}", text=f"{KEY}\n" * 9, said=f"where is {KEY}?"),
        Start(task=f"log in with {KEY}", rules=(replace(SEEDS[2], description=f"for {KEY}"),)),
        Start(task="x" * 990 + f" {KEY}"),
    ],
    ids=["everywhere", "where the text is cut", "in a complaint", "in a pool", "where the task is cut"],
)
@on_one_loop
async def test_no_secret_leaves_the_house(about: About, line: tuple[Model, str], tmp_path: Path) -> None:
    """Not even half of one."""
    line[0].play(Turn(text="no"))
    async with house(tmp_path, settings(line[1])) as made:
        await made.ask(ask(about))

    assert KEY[:14].encode() not in line[0].received[0].body
    assert len(line[0].received) == 1


@on_one_loop
async def test_a_good_model_from_question_to_pool(line: tuple[Model, str], tmp_path: Path) -> None:
    """Its rule passes admission and is in the pool, to be decided and not applied; its tokens are on the books."""
    line[0].play(Turn(text=f"<think>Hm {{</think>Here:\n```json\n{json.dumps(RULE)}\n```"))
    async with house(tmp_path, settings(line[1]), SAMPLES) as made:
        await made.ask(ask(NEW))
        figures = made.proposer.figures()

    entry = fold(EMPTY, made.events).entries["bun_build", 1]
    assert [event.name for event in made.events] == ["proposed", "admitted"], made.events
    assert (entry.stage, entry.rule.provenance) == ("shadow", "model")
    assert 500 < int(str(figures["tokens"])) < 5000
    assert (figures["calls"], figures["proposed"], figures["admitted"]) == (1, 1, 1)


HARMFUL: dict[str, dict[str, Any]] = {
    "the line that agents look at": {"strip_patterns": [r"^\d+ bundled in", "^see out"]},
    "a wide pattern": {"strip_patterns": [r"^\d+ bundled", r"\bsee\b|\bfor\b"]},
    "the end, with no line of it kept": {"strip_patterns": [r"\b(?:bundled|modules|see)\b"], "keep_last_n": 0},
    "a cap": {"strip_patterns": [r"^  skipped"], "max_lines": 10, "keep_first_n": 0, "keep_last_n": 0},
    "all that is long": {"strip_patterns": [r"^.{9}"]},
    "all sorts of commands": {"trigger_regex": r"\b(?:test|build|install|run)\b"},
    "a keep pattern that does not compile": {"keep_patterns": ["(report"]},
    "nothing worth its while": {"strip_patterns": [r"^\d+ skipped"]},
}


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
@on_one_loop
async def test_a_plausible_harmful_rule_gets_nowhere(
    change: dict[str, Any], line: tuple[Model, str], tmp_path: Path
) -> None:
    """It is refused when read or by admission, and the reason is on record."""
    line[0].play(Turn(text=json.dumps(RULE | change)))
    async with house(tmp_path, settings(line[1]), SAMPLES) as made:
        await made.ask(ask(NEW))

    assert made.events[-1].name == "refused"
    assert made.events[-1].data["reason"]
    assert [e.stage for e in fold(EMPTY, made.events).entries.values() if e.stage not in ("refused", "proposed")] == []


@on_one_loop
async def test_of_a_plan_that_is_half_harmful_the_good_half_is_admitted(
    line: tuple[Model, str], tmp_path: Path
) -> None:
    """Each rule is judged by itself."""
    rules = [RULE, *({**RULE, **HARMFUL[name], "rule_id": f"bad_{n}"} for n, name in enumerate(list(HARMFUL)[:3]))]
    line[0].play(Turn(text=json.dumps({"rules": rules})))
    async with house(tmp_path, settings(line[1]), SAMPLES) as made:
        await made.ask(ask(Start(task="Get the tests to pass")))

    assert {event.ref for event in made.events if event.name == "admitted"} == {("bun_build", 1)}
    assert sum(event.name == "refused" for event in made.events) == 3


@on_one_loop
async def test_a_chatty_model_stays_under_two_hundredths(line: tuple[Model, str], tmp_path: Path) -> None:
    """It talks far past its limit, and is asked whenever there is something to ask."""
    line[0].play(Turn(text="Let me think about this. " * 600))
    async with house(tmp_path, settings(line[1], retries=0), traffic=0) as made:
        for number in range(6):
            made.proposer.offer(ask(replace(NEW, command=f"x{number} go"), f"s{number}"))
        for _ in range(60):
            for number in range(6):
                made.proposer.saw("t", f"s{number}", 10_000)
            await asyncio.sleep(0.01)
            figures = made.proposer.figures()
            assert float(str(figures["share"])) < 0.02
            assert float(str(figures["largest_session_share"])) < 0.02
        await made.until(lambda: bool(made.events))

    assert float(str(made.proposer.figures()["largest_session_share"])) < 0.02
    assert 1 <= len(line[0].received) <= 6
    assert [event.name for event in made.events] == ["refused"] * len(made.events)


@pytest.mark.parametrize(
    ("turn", "tries", "words"),
    [
        (Turn(text="All rules are fine as they are."), 1, "holds no JSON object"),
        (Turn(text='{"rule_id": "x", "trigger_regex": "bun bui'), 1, "holds no JSON object"),
        (Turn(text=""), 1, "holds no JSON object"),
        (Turn(text=json.dumps(RULE), fault=Fault(times=0, delay_first=30)), 3, "did not answer in 0.3 s"),
        (Turn(text=json.dumps(RULE), fault=Fault(times=0, status=503)), 3, "status 503"),
        (Turn(text=json.dumps(RULE), fault=Fault(times=0, status=401)), 1, "status 401"),
        (Turn(text=json.dumps(RULE), fault=Fault(times=0, break_after=40)), 3, "could not be asked"),
    ],
    ids=["words", "half an object", "nothing", "never", "busy", "not let in", "breaks off"],
)
@on_one_loop
async def test_a_model_of_no_use(turn: Turn, tries: int, words: str, line: tuple[Model, str], tmp_path: Path) -> None:
    """Nonsense is not asked for again, silence is; nothing changes, and the reason is on record."""
    line[0].play(turn)
    async with house(tmp_path, settings(line[1], timeout=0.3)) as made:
        outcome = await made.ask(ask(NEW))

    assert (outcome.proposed, outcome.selected) == ((), None)
    (event,) = made.events
    assert event.name == "refused"
    assert words in str(event.data["reason"])
    assert len(line[0].received) <= tries


def test_a_rule_with_a_secret_is_not_kept() -> None:
    """Neither the rule nor a reason that speaks of it."""
    safe = Rule(id="a", kind="line_filter", trigger=Trigger(pattern="bun"), params={"strip_patterns": ["x"]})
    leak = replace(safe, id="b", params={"strip_patterns": [f"token {KEY}"]})
    refused = (Refusal(rule_id="c", reason=f"it holds {KEY}"),)
    outcome = without_secrets(Outcome(call="plan", proposed=(safe, leak), refused=refused))

    assert outcome.proposed == (safe,)
    assert [refusal.rule_id for refusal in outcome.refused] == ["c", "b"]
    assert KEY not in repr(outcome)


def test_what_holds_no_secret_stays_as_it_is() -> None:
    """Redaction changes nothing else."""
    assert redacted(NEW) == NEW


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [({}, 0), ({"prompt_tokens": 3, "completion_tokens": 4}, 7), ({"prompt_tokens": 3, "total_tokens": 9}, 9), ({"total_tokens": -1}, 0)],
    ids=["none", "parts", "the larger", "nonsense"],
)  # fmt: skip
def test_usage_as_reported(usage: dict[str, Any], tokens: int) -> None:
    """Nought where it makes no sense."""
    assert reported(usage) == tokens
