"""Weights are learned from use: what is never used gets low odds, what few samples tell stays in doubt."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules_engine import features
from rules_engine.critical import protected
from rules_engine.engine import decide
from rules_engine.evolution import scoring
from rules_engine.kinds import line_score
from rules_engine.types import Context, Observation, Rewritten, Rule, RuleSet, Sample, Settings

PASSING, SIZED = features.NAMES.index("passing"), features.NAMES.index("sized")


def sample(at: int, text: str, *used: str, known: Iterable[str] = (), command: str = "bun test") -> Sample:
    """One output of a session of its own."""
    observation = Observation(key=f"k{at}", tool="bash", command=command, exit_code=None, text=text)
    return Sample(
        observation=observation, used=frozenset(used), known=frozenset(known), session=f"s{at}", source=f"r{at % 5}"
    )


def run(at: int, *more: str) -> str:
    """A test run with items of its own."""
    items = [f"(pass) part {word} of group_{at} [{n}.00ms]" for n, word in enumerate("abcdefghijklmnopqrst")]
    return "\n".join(["$ bun test", "", "x.test.ts:", *items, *more, "", " 20 pass", " 0 fail", "Ran 20 tests", "end"])


RUNS = tuple(sample(at, run(at)) for at in range(150))


@pytest.mark.parametrize(
    "samples",
    [
        pytest.param((), id="nothing to learn from"),
        pytest.param((sample(1, "a\nb"),), id="no routine lines"),
        pytest.param((sample(1, run(1), command="cat run.log"),), id="a file that was read"),
        pytest.param((sample(1, run(1), command="bun test --verbose"),), id="every item was asked for"),
    ],
)
def test_no_weights_without_evidence(samples: tuple[Sample, ...]) -> None:
    """The rule that comes of it leaves out nothing."""
    rule = scoring.learn(samples)
    assert rule.params == {"weights": {}, "covariances": {}}
    assert line_score.drop(tuple(run(1).split("\n")), line_score.parse(rule.params), frozenset()) == ()


def test_what_is_never_used_goes() -> None:
    """With the evidence: of how many outputs none was used."""
    rule = scoring.learn(RUNS)
    assert rule.evidence == {
        "sessions": 150,
        "sources": 5,
        "failing_outputs": 0,
        "outputs": {"passing": 150},
        "used": {"passing": 0},
    }
    assert len(line_score.drop(tuple(run(999).split("\n")), line_score.parse(rule.params), frozenset())) >= 19


def test_what_is_used_stays() -> None:
    """If one output in five has an item that agents name later, items stay."""
    used = [replace(one, used=frozenset({f"group_{at}"})) if at % 5 == 0 else one for at, one in enumerate(RUNS)]
    rule = scoring.learn(used)
    assert rule.evidence["used"] == {"passing": 30}
    assert line_score.drop(tuple(run(999).split("\n")), line_score.parse(rule.params), frozenset()) == ()


def test_few_samples_leave_doubt() -> None:
    """Five outputs are no evidence, although none was used."""
    rule = scoring.learn(RUNS[:5])
    assert line_score.drop(tuple(run(999).split("\n")), line_score.parse(rule.params), frozenset()) == ()


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(sample(1, run(1), "group_1", known=["group_1"]), id="it stood in the context before"),
        pytest.param(sample(1, run(1, "warning: group_1 is slow"), "group_1"), id="a line that stays tells it, too"),
    ],
)
def test_what_could_be_had_elsewhere_is_no_use(one: Sample) -> None:
    """A string that is still in the context was not taken from the items."""
    assert scoring.count([one]).used_by_feature[PASSING] == 0
    assert scoring.count([sample(1, run(1), "group_1")]).used_by_feature[PASSING] == 1


def test_a_string_of_two_results_is_use_of_neither() -> None:
    """Each of them could be left out without it being lost."""
    twice = [sample(1, run(1), "group_1"), sample(1, run(1) + "\n", "group_1")]
    assert scoring.count(twice).used_by_feature[PASSING] == 0


def test_whoever_floods_an_archive_is_one_witness() -> None:
    """A session counts for so many outputs of one look, however often it shows it."""
    flood = [replace(RUNS[0], observation=replace(RUNS[0].observation, key=f"k{at}")) for at in range(150)]
    assert scoring.count(flood).by_feature[PASSING] == scoring.PER_SESSION


def test_failing_outputs_are_told() -> None:
    """A rule that was tried on none may not run on failing outputs."""
    failing = sample(1, run(1, "error: expected 3, received 4"))
    assert not scoring.learn(RUNS).on_failing
    assert scoring.learn([*RUNS, failing]).on_failing


def test_trials_add_up() -> None:
    """Those of two halves of an archive are those of the whole."""
    whole, half = scoring.count(RUNS), scoring.count(RUNS[:70])
    half.merge(scoring.count(RUNS[70:]))
    assert half == whole


def test_the_fit_meets_the_shares() -> None:
    """With much evidence the odds are those that were seen, and the doubt is small."""
    weights, covariances = scoring.fit([((PASSING,), 100_000, 10_000), ((SIZED,), 100_000, 50_000)])
    assert math.isclose(weights[PASSING], math.log(1 / 9), abs_tol=0.01)
    assert math.isclose(weights[SIZED], 0.0, abs_tol=0.01)
    link = features.NAMES.index("link")
    assert covariances[PASSING][PASSING] < 0.001 < 3.9 < covariances[link][link]


KEYS = st.lists(st.integers(0, len(features.NAMES) - 1), min_size=1, max_size=6, unique=True).map(
    lambda k: tuple(sorted(k))
)
TRIALS = st.lists(st.tuples(KEYS, st.integers(1, 500), st.floats(0, 1)), max_size=12)


@settings(max_examples=30)
@given(TRIALS)
def test_any_trials_give_weights(rows: list[tuple[tuple[int, ...], int, float]]) -> None:
    """Finite ones, the same again, in doubt no more than before anything was seen."""
    trials = [(key, outputs, int(outputs * share)) for key, outputs, share in rows]
    weights, covariances = scoring.fit(trials)
    assert all(math.isfinite(weight) for weight in weights)
    assert all(0 < covariances[at][at] <= 1 / scoring.RIDGE + 1e-9 for at in range(len(weights)))
    assert (weights, covariances) == scoring.fit(trials)


SURE: Rule = replace(scoring.learn(RUNS), on_failing=True)
PARTS = st.sampled_from(
    (
        "(pass) a fine item",
        "(pass) handles errors",
        "FAIL b.test.ts",
        "error: got 3",
        "    at f (b.ts:3)",
        "",
        "x/y.z:",
        "done",
        "Compiling a",
    )
)


@settings(max_examples=60)
@given(st.lists(PARTS, min_size=12, max_size=30))
def test_what_is_stated_stays(more: list[str]) -> None:
    """Through the engine: no protected line is lost, and the marks count what is."""
    text = run(1) + "\n" + "\n".join(more)
    decision = decide(
        sample(1, text).observation,
        RuleSet(rules=(SURE,), settings=Settings(disabled=frozenset({"repeats", "prefix", "fold"}))),
        Context(shell=True, chars=10_000),
    )
    assert isinstance(decision, Rewritten)
    form = decision.forms[0]
    assert form.omissions
    assert all("".join(text[a:b] for a, b in one.spans).count("\n") + 1 == one.lines for one in form.omissions)
    hidden = [line for one in form.omissions for a, b in one.spans for line in text[a:b].split("\n")]
    lines = text.split("\n")
    assert Counter(lines[at] for at in protected(lines)) + Counter(hidden) <= Counter(lines)
