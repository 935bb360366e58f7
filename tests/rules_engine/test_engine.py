"""Deciding what is forwarded, and showing it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_engine import engine
from rules_engine.kinds import Encoded, gutter
from rules_engine.lines import index
from rules_engine.script import text_digest
from rules_engine.types import (
    Context,
    Decision,
    Earlier,
    Form,
    Kept,
    Observation,
    Rewritten,
    Rule,
    RuleSet,
    Settings,
    Trigger,
)

LISTING = "\n".join(f"{n:6d}\tvalue_{n} = compute({n * n})" for n in range(1, 60))
BARE = "\n".join(line.lstrip() for line in LISTING.split("\n"))
NOISE = "\n".join(
    ["$ fetch", *(f"fetching part {n * 7919 % 1000} from mirror {n}, attempt" for n in range(50)), "all done"]
)
STRIP = Rule(
    id="strip",
    kind="line_filter",
    trigger=Trigger(pattern=r"\bfetch\b"),
    params={"strip_patterns": ["^fetching"], "keep_first_n": 1, "keep_last_n": 1},
)
RULES = RuleSet(rules=(STRIP,), settings=Settings(disabled=frozenset(["fold", "prefix"])))
GUARDED = replace(RULES, settings=replace(RULES.settings, critical="guarded"))


def observe(text: str, command: str = "cat -n a.py", exit_code: int | None = 0) -> Observation:
    """A tool result of a shell."""
    return Observation(key="key", tool="bash", command=command, exit_code=exit_code, text=text)


def context(*earlier: Earlier, shell: bool = True, chars: int = 100_000) -> Context:
    """A request around it."""
    return Context(shell=shell, chars=chars, earlier=earlier)


def decide(observation: Observation, rules: RuleSet = RULES, around: Context | None = None) -> Decision:
    """The decision, which is the same when it is asked for again."""
    around = around or context()
    first = engine.decide(observation, rules, around)
    assert engine.decide(observation, rules, around) == first
    return first


def form_of(decision: Decision) -> Form:
    """The only form of a rewrite."""
    assert isinstance(decision, Rewritten), decision
    (form,) = decision.forms
    return form


@pytest.mark.parametrize(
    ("observation", "around", "reason"),
    [
        pytest.param(observe(""), context(), "short", id="an empty text"),
        pytest.param(observe("x" * 199), context(), "short", id="a text under the minimum"),
        pytest.param(observe(LISTING), context(chars=1999), "small conversation", id="a small conversation"),
        pytest.param(observe(LISTING, "echo recall:abcdef"), context(), "recalled", id="text that was asked for"),
        pytest.param(observe("x" * 999, "./a"), context(), "no gain", id="one long line"),
        pytest.param(observe(NOISE, "curl -O x"), context(), "no gain", id="a command that no rule is for"),
        pytest.param(observe(NOISE, "fetch"), context(shell=False), "no gain", id="a client without a shell"),
        pytest.param(observe(NOISE, "fetch; cat a.py"), context(), "no gain", id="a file that is read"),
        pytest.param(observe(NOISE, "fetch", 1), context(), "no gain", id="a command that failed"),
        pytest.param(observe(LISTING.replace("\t", " "), "make"), context(), "no gain", id="numbers that are text"),
    ],
)
def test_is_kept(observation: Observation, around: Context, reason: str) -> None:
    """The default is to forward the raw text, and to say why."""
    assert decide(observation, around=around) == Kept(key="key", reason=reason)  # type: ignore[arg-type]


def test_work_has_a_limit() -> None:
    """Counted in characters and patterns, so that the decision is the same on every machine."""
    limit = (engine.FIXED_PATTERNS + 1) * len(NOISE)
    within = replace(RULES, settings=replace(RULES.settings, work_limit=limit))
    beyond = replace(RULES, settings=replace(RULES.settings, work_limit=limit - 1))

    assert isinstance(decide(observe(NOISE, "fetch"), within), Rewritten)
    assert decide(observe(NOISE, "fetch"), beyond) == Kept(key="key", reason="budget")


def test_a_rule_that_cannot_be_used_costs_the_saving() -> None:
    """The reason says which field is wrong."""
    broken = replace(RULES, rules=(replace(STRIP, params={"keep_patterns": ["("]}),))
    kept = decide(observe(NOISE, "fetch"), broken)

    assert isinstance(kept, Kept)
    assert kept.reason == "failed"
    assert "keep_patterns" in kept.detail


def test_a_kind_that_raises_costs_the_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the request."""

    def raise_error(text: str, observation: Observation) -> Encoded | None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(gutter, "encode", raise_error)

    assert decide(observe(LISTING)) == Kept(key="key", reason="failed", detail="ZeroDivisionError: a mistake")


def test_a_kind_that_cannot_be_undone_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own inverse decides."""
    monkeypatch.setattr(gutter, "verify", lambda text, result, note: False)

    assert decide(observe(LISTING)) == Kept(key="key", reason="no gain")


def test_a_result_that_breaks_a_law_is_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever made it."""
    monkeypatch.setattr("rules_engine.invariants.breach", lambda *_: "the law")

    assert decide(observe(LISTING)) == Kept(key="key", reason="invariant", detail="the law")


def test_lossless_kinds_run_on_all_outputs() -> None:
    """Also without a shell, also where the command failed."""
    for around in (context(), context(shell=False)):
        form = form_of(decide(observe(LISTING, exit_code=1), around=around))

        assert [(applied.rule, applied.loss) for applied in form.applied] == [(("gutter", 2), "lossless")]
        assert engine.render_form(LISTING, form) == BARE
        assert (form.omissions, form.sources) == ((), ())


def test_what_is_switched_off_does_not_run() -> None:
    """A kind by its name, a rule by its id, pointers too."""
    off = RuleSet(settings=Settings(disabled=frozenset(["gutter", "shown"])))

    assert decide(observe(LISTING), off, context(index("before", LISTING))) == Kept(key="key", reason="no gain")


def test_a_rule_leaves_out_and_marks() -> None:
    """What it strips, between what it keeps."""
    form = form_of(decide(observe(NOISE, "fetch")))
    (omission,) = form.omissions

    assert engine.render_form(NOISE, form) == f"$ fetch\n[50 lines omitted: echo recall:{omission.id}]\nall done"
    assert omission.rules == (("strip", 1),)
    assert form.applied[0].loss == "lossy"
    assert form.digest == text_digest(engine.render_form(NOISE, form))


def test_failing_outputs_are_open_to_rules_admitted_there_only() -> None:
    """And only where the operator says so; failures stay even then."""
    failed = NOISE.replace("fetching part 0 ", "error: no part 0 ")
    admitted = replace(GUARDED, rules=(replace(STRIP, on_failing=True),))

    assert decide(observe(failed, "fetch", 1), GUARDED) == Kept(key="key", reason="no gain")
    text = engine.render_form(failed, form_of(decide(observe(failed, "fetch", 1), admitted)))
    assert "error: no part 0 from mirror 0, attempt" in text.split("\n")


def test_lines_of_a_lossless_form_are_not_left_out() -> None:
    """A count of lines would say something about others."""
    raw = "\n".join(["$ fetch", *["fetching the same part of it again"] * 40, *NOISE.split("\n")[1:]])
    text = engine.render_form(raw, form_of(decide(observe(raw, "fetch"))))

    assert text.split("\n")[:3] == [
        "$ fetch",
        "fetching the same part of it again  [x40]",
        text.split("\n")[2],
    ]
    assert "[50 lines omitted" in text


def test_what_is_shown_already_has_two_forms() -> None:
    """One with pointers, for as long as the source stands, one without."""
    before = index("before", BARE)
    decision = decide(observe(LISTING), around=context(before))
    assert isinstance(decision, Rewritten)
    with_pointer, without = decision.forms

    assert [source.key for source in with_pointer.sources] == ["before"]
    assert engine.shown(LISTING, decision, {"before": before.digest})[1] is with_pointer
    assert engine.shown(LISTING, decision, {}) == (BARE, without)
    assert engine.shown(LISTING, decision, {"before": text_digest("other")}) == (BARE, without)


def test_a_text_with_nothing_but_a_pointer_falls_back_to_the_raw_text() -> None:
    """There is no second form to pin."""
    decision = decide(observe(BARE), around=context(index("before", BARE)))

    assert form_of(decision).sources
    assert engine.shown(BARE, decision, {}) == (BARE, None)


@pytest.mark.parametrize(
    ("text", "command", "around"),
    [
        pytest.param(BARE, "cat a.py", context(index("before", BARE), shell=False), id="no shell to recall with"),
        pytest.param(f"[\n{NOISE!r}\n]".replace("'", '"'), "cat a.json", context(index("b", "x")), id="nothing shown"),
    ],
)
def test_no_pointers(text: str, command: str, around: Context) -> None:
    """Where what they hide could not be asked for, and where there is nothing to point to."""
    assert decide(observe(text, command), around=around) == Kept(key="key", reason="no gain")


def test_structured_data_is_not_pointed_into() -> None:
    """It must still parse."""
    text = "[\n" + ",\n".join(f'  {{"name": "value {n}", "count": {n}}}' for n in range(30)) + "\n]"
    off = RuleSet(settings=Settings(disabled=frozenset(["structured"])))

    assert decide(observe(text, "cat a.json"), off, context(index("before", text))) == Kept(key="key", reason="no gain")
    assert decide(observe(text, "curl x"), off, context(index("before", text))) == Kept(key="key", reason="no gain")


def test_a_failure_is_stated_again() -> None:
    """The second of two equal runs says that it failed, too."""
    run = "\n".join(
        [*(f"collected part {n} of {n * n} items" for n in range(40)), "FAILED tests/test_a.py - boom", "1 failed"]
    )
    decision = decide(observe(run, "pytest", 1), around=context(index("before", run)))
    text = engine.render_form(run, form_of(decision))

    assert text.split("\n")[-2:] == ["FAILED tests/test_a.py - boom", "1 failed"]
    assert "lines as shown above" in text


def test_another_text_than_the_decided_one_is_raw() -> None:
    """And so is a text whose result is not what was forwarded then."""
    decision = decide(observe(LISTING))
    assert isinstance(decision, Rewritten)
    broken = replace(decision, forms=(replace(decision.forms[0], digest="other"),))

    assert engine.shown(LISTING + " ", decision, {}) == (LISTING + " ", None)
    assert engine.shown(LISTING, broken, {}) == (LISTING, None)
    assert engine.shown(LISTING, Kept(key="key", reason="off"), {}) == (LISTING, None)


@pytest.mark.parametrize("times", [1, 6])
def test_nothing_is_put_into_a_block_that_stands_for_several(times: int) -> None:
    """A heading in there would be one of the lines that its mark counts."""
    block = ["release 4.2", *(f"src/pay/ledger.py:{n}:    total += fee_{n * n}" for n in range(10, 18)), "src is clean"]
    text = "\n".join(["begin", *block * times, "finish"])
    shown = engine.render_form(text, form_of(decide(observe(text, "./versions.sh"), RuleSet()))).split("\n")

    assert ("src/pay/ledger.py:" in shown) is (times == 1)
    if times > 1:
        at = next(at for at, line in enumerate(shown) if line.startswith("[the "))
        assert shown[at - len(block) : at] == block
