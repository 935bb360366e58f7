"""Admission: a rule is run over archived observations, and each refusal has its reason."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rules_engine.engine import decide
from rules_engine.evolution.admission import Bar, Trial, admit
from rules_engine.types import Context, Rewritten, Rule, RuleSet, Sample, Trigger
from tests.rules_engine.archive import archive, built, sample

TRIGGER = r"\bcargo build\b"
STRIP = (r"^\S+ compiling ",)


def rule(strip: tuple[str, ...] = STRIP, trigger: str = TRIGGER, **params: object) -> Rule:
    """A line filter."""
    given: Mapping[str, object] = {"strip_patterns": list(strip), "keep_first_n": 3, "keep_last_n": 3, **params}
    return Rule(id="r", kind="line_filter", trigger=Trigger(pattern=trigger), params=given)


def test_a_good_rule_is_admitted() -> None:
    """It lost nothing, acted in many sessions and saves: what was measured becomes evidence."""
    verdict = admit(rule(), archive(built))
    assert verdict.admitted
    assert verdict.figures["sessions"] == 24
    assert verdict.figures["lost"] == 0
    assert verdict.rule.evidence["trial"] == verdict.figures
    assert not verdict.rule.on_failing


OTHERS = [
    sample(n, ["x"], command=f"{name} x") for n, name in enumerate(("ls", "make", "tar", "pip install", "go test"))
]


def failing(number: int) -> list[str]:
    """A build that ends in a failure."""
    return [*built(number), "error: could not compile `x`"]


@pytest.mark.parametrize(
    ("proposed", "samples", "reason"),
    [
        pytest.param(rule(("(?=x)",)), [], "strip_patterns", id="a pattern that RE2 refuses"),
        pytest.param(rule((r"(?:a{1000}){1000}",)), [], "strip_patterns", id="a pattern that takes too much"),
        pytest.param(rule(("x" * 2000,)), [], "shorten", id="a pattern that is too long"),
        pytest.param(rule(trigger="(?:a|b)*"), [], "matches every command", id="a trigger that needs nothing"),
        pytest.param(Rule(id="r", kind="no", trigger=Trigger(pattern="x"), params={}), [], "no kind", id="another kind"),
        pytest.param(rule(trigger=r"\w"), [], "too broad", id="a trigger that any command has"),
        pytest.param(rule(trigger="build|x$"), list(archive(built, 8)) + OTHERS * 3, "too broad", id="one that most have"),
        pytest.param(rule(), [], "0 sessions", id="no archive"),
        pytest.param(rule(), list(archive(built, 2)), "2 sessions", id="too few sessions"),
        pytest.param(rule(), list(archive(built, session="s", source="r")), "1 sessions", id="a flood of one session"),
        pytest.param(
            rule(), list(archive(built, used=frozenset({"crate_1_5"}))), "crate_1_5", id="it loses what was used"
        ),
        pytest.param(rule(("^ERROR",)), list(archive(
            lambda n: ["a", "b", "c", *(f"ERROR in part_{n}_{k}" for k in range(30)), "x", "y", "z"]
        )), "after lines that state a failure", id="failures that were never quoted"),
        pytest.param(rule((r"compiling crate_\w+ v1",)), [*archive(built, source="r")], "crate_", id="a name of one task"),
        pytest.param(rule((r"^one$|^three$",)), list(archive(built)), "0 sessions", id="it does nothing"),
        pytest.param(
            rule((r"^\S+ compiling \S+_1[2-6] ",)),
            list(archive(lambda n: [*built(n), "z " * 9000])), "saves too little", id="too small a share",
        ),
    ],
)  # fmt: skip
def test_refusals(proposed: Rule, samples: list[Sample], reason: str) -> None:
    """What keeps a rule out is said in words; the rule stays as it was proposed."""
    verdict = admit(proposed, samples)
    assert not verdict.admitted
    assert reason in verdict.reason
    assert verdict.rule is proposed


@pytest.mark.parametrize(
    ("used", "on_failing"),
    [
        pytest.param((), True, id="nothing lost there"),
        pytest.param(("crate_1_5",), False, id="something lost there only"),
    ],
)
def test_failing_outputs(used: tuple[str, ...], on_failing: bool) -> None:
    """A rule may run on failing outputs if it was tried on such and lost no more than its bar allows: nothing, by default."""
    bad = archive(failing, 8, exit_code=101, used=frozenset(used))
    verdict = admit(rule(), [*archive(built), *bad])
    assert verdict.admitted
    assert verdict.rule.on_failing is on_failing


@pytest.mark.parametrize(("share", "on_failing"), [(0.05, True), (0.04, False)])
def test_a_share_may_be_lost_on_failing_outputs_too(share: float, on_failing: bool) -> None:
    """Where a bar allows one, it is one of what was used there: here one string of twenty-four."""
    bad = archive(failing, 8, exit_code=101, used=frozenset({"crate_1_5", "error", "x"}))
    verdict = admit(rule(), [*archive(built), *bad], Bar(lost=share))
    assert verdict.admitted
    assert verdict.rule.on_failing is on_failing


def test_what_stands_elsewhere_is_not_lost() -> None:
    """A used string that stood in another result of the session, too, is still there."""
    words = frozenset({"crate_1_5"})
    other = sample(1, ["crate_1_5"], command="ls", used=words)
    assert not admit(rule(), archive(built, used=words)).admitted
    samples = [one for number, each in enumerate(archive(built)) for one in ([each, other] if number == 1 else [each])]
    samples[1] = sample(1, built(1), used=words)
    assert admit(rule(), samples).admitted


def test_one_turn_that_repeats_an_output_is_one_witness() -> None:
    """Where a share may be lost, what one session repeats counts up to a limit."""
    repeated = sample(1, built(1), used=frozenset(f"crate_1_{k}" for k in range(5, 18)))
    others = [
        sample(
            n, [f"name_{n}_{k}" for k in range(200)], used=frozenset(f"name_{n}_{k}" for k in range(200)), command="ls"
        )
        for n in range(30, 56)
    ]
    samples = [*(each for each in archive(built) if each.session != "s1"), repeated, *others]
    assert admit(rule(), samples, Bar(lost=0.002, literal_sources=1)).admitted
    assert not admit(rule(), samples, Bar(lost=0.0015, literal_sources=1)).admitted


def test_a_bar_may_be_lower() -> None:
    """Whoever sets the bar says how many witnesses there must be."""
    assert admit(rule(), archive(built, 1), Bar(sessions=1, literal_sources=1)).admitted


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 10_000_000, id="ten megabytes in one line"),
        pytest.param("\0\x01\x7f\ufffd" * 5000, id="binary-looking"),
        pytest.param("Compiling \ud800\n" * 300, id="half characters"),
    ],
)
def test_odd_outputs_do_no_harm(text: str) -> None:
    """They are passed over or tried, and what the others say stands."""
    assert admit(rule(), [*archive(built), sample(99, text.split("\n"))]).admitted


def test_poison() -> None:
    """However many outputs say that failures are never used, no rule drops them, admitted or not."""
    lines = ["a", "b", "c", *(f"ERROR: part_{k} failed" for k in range(30)), "x", "y", "z"]
    poison = [sample(n, lines, session=f"s{n % 5}", source=f"r{n % 5}") for n in range(1000)]
    greedy = rule((r"ERROR",))
    trial = Trial(greedy)
    for one in poison[:100]:
        trial.add(one)
    assert not trial.verdict().admitted
    decision = decide(poison[0].observation, RuleSet(rules=(greedy,)), Context(shell=True, chars=10_000))
    assert not isinstance(decision, Rewritten) or not any(form.omissions for form in decision.forms)
