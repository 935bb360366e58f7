"""Attempts at an answer: how many there are, with whose key, and what each of them costs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Proposer
from gateway.evolving.asking import Ask, Model
from gateway.evolving.attempts import Attempts
from gateway.evolving.budget import Budget
from rules_engine.evolution.planning import NoReply
from rules_engine.evolution.prompts import Prompt, Start
from tests.gateway.proposing import NOW, Busy, Said, Unwelcome, saying

PROMPT = Prompt(call="plan", system="s" * 400, user="u" * 800, schema={})
WEIGHT = 300
ASK = Ask(about=Start(task="Test it"), tenant="t", session="s", key="clients")


def attempts(folder: Path, model: Model, **settings: Any) -> tuple[Attempts, Budget]:
    """Attempts of a session that has tokens, and the budget that they are paid from."""
    given = Proposer(model="openai/m", **settings)
    budget = Budget(folder, given.daily_tokens, given.share, lambda: NOW)
    budget.saw(ASK.purse, 10**7)
    return Attempts(given, budget, model, lambda text: len(text) // 4), budget


@pytest.mark.parametrize(
    ("said", "made", "words"),
    [
        (Unwelcome(), 1, "the model could not be asked: Unwelcome, status 401"),
        (OSError(), 1, "the model could not be asked: OSError, status None"),
        (Busy(), 3, "the model could not be asked: Busy, status 503"),
        (None, 3, "the model did not answer in 0.05 s"),
    ],
    ids=["not let in", "something else", "always busy", "never"],
)
async def test_no_answer(said: Said, made: int, words: str, tmp_path: Path) -> None:
    """Three attempts where a further one makes sense (code: 2 retries), then the reason."""
    trying, _ = attempts(tmp_path, saying(said), timeout=0.05)
    with pytest.raises(NoReply, match=words):
        await trying.answer(ASK, PROMPT, WEIGHT)

    assert trying.made == made


async def test_an_answer_in_the_end(tmp_path: Path) -> None:
    """A model that is slow or busy once is asked again."""
    trying, _ = attempts(tmp_path, saying(Busy(), None, "yes"), timeout=0.05)

    assert await trying.answer(ASK, PROMPT, WEIGHT) == "yes"
    assert trying.made == 3


async def test_what_another_process_spent_is_gone(tmp_path: Path) -> None:
    """Nothing is asked, and the reason says which budget is spent."""
    trying, _ = attempts(tmp_path, saying("no"), daily_tokens=10_000)
    Budget(tmp_path, 10_000, 0.02, lambda: NOW).spend("elsewhere", 9000)
    with pytest.raises(NoReply, match=r"^the day's 10000 tokens are spent$"):
        await trying.answer(ASK, PROMPT, WEIGHT)

    assert trying.made == 0


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 700, "completion_tokens": 50, "total_tokens": 750}, 750),
        ({"prompt_tokens": 700, "completion_tokens": 50, "total_tokens": 900}, 900),
        ({"total_tokens": 800}, 800),
        ({}, WEIGHT + 100),
        ({"total_tokens": "many", "prompt_tokens": -5}, WEIGHT + 100),
        ({"total_tokens": 0}, WEIGHT + 100),
    ],
    ids=["reported", "with hidden thoughts", "the sum only", "nothing", "nonsense", "nought"],
)
async def test_tokens_are_counted_as_reported_else_by_us(usage: Mapping[str, Any], tokens: int, tmp_path: Path) -> None:
    """What was reserved beyond them is given back."""
    trying, budget = attempts(tmp_path, saying(("x" * 400, usage)))
    await trying.answer(ASK, PROMPT, trying.weigh(PROMPT))

    assert budget.figures()["tokens"] == tokens


@pytest.mark.parametrize(("said", "tokens"), [(Unwelcome(), 0), (None, WEIGHT + 4000)], ids=["not let in", "timed out"])
async def test_what_an_attempt_without_answer_costs(said: Said, tokens: int, tmp_path: Path) -> None:
    """A model that was at work may bill all that was reserved; one that refused does not."""
    trying, budget = attempts(tmp_path, saying(said), timeout=0.05, retries=0)
    with pytest.raises(NoReply):
        await trying.answer(ASK, PROMPT, WEIGHT)

    assert budget.figures()["tokens"] == tokens


async def test_a_reply_past_its_limit_is_reckoned_with(tmp_path: Path) -> None:
    """Whoever once said ten times what was asked for is taken to do so again."""
    trying, _ = attempts(tmp_path, saying("x" * 80_000), share=0.0015)
    assert trying.can_afford(ASK, WEIGHT)
    await trying.answer(ASK, PROMPT, WEIGHT)

    assert not trying.can_afford(ASK, WEIGHT)


@pytest.mark.parametrize(
    ("client_key", "own", "sent"),
    [(False, None, None), (False, "own", "own"), (True, None, "clients"), (True, "own", "own")],
    ids=["neither", "its own", "the client's, as told", "its own before the client's"],
)
async def test_a_clients_key_is_used_only_where_the_operator_said_so(
    client_key: bool, own: str | None, sent: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the client's money."""
    keys: list[str | None] = []

    async def model(prompt: Prompt, key: str | None) -> tuple[str, Mapping[str, Any]]:
        keys.append(key)
        return "yes", {}

    if own:
        monkeypatch.setenv("PROPOSER_KEY", own)
    trying, _ = attempts(tmp_path, model, client_key=client_key, key_env="PROPOSER_KEY")
    await trying.answer(ASK, PROMPT, WEIGHT)

    assert keys == [sent]
    assert "clients" not in repr(ASK)
