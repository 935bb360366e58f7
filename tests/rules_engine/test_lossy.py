"""Rules at work: what they leave out, and the marks in its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_engine import lossy
from rules_engine.draft import Draft
from rules_engine.script import render
from rules_engine.types import Observation, Omission, Rule, RuleError, RuleSet, Settings, Trigger

NOISE = [f"fetching part {n} of the archive" for n in range(40)]
STRIP = Rule(
    id="strip",
    kind="line_filter",
    trigger=Trigger(pattern=r"\bfetch\b"),
    params={"strip_patterns": ["^fetching"], "keep_first_n": 1, "keep_last_n": 1},
)
CAP = replace(STRIP, id="cap", version=2, params={"max_lines": 3, "keep_first_n": 0, "keep_last_n": 0})


def left_out(lines: list[str], *rules: Rule, protected: frozenset[int] = frozenset()) -> Draft:
    """What the rules make of these lines."""
    return lossy.leave_out(Draft.begin("\n".join(lines)), "key", rules, protected, frozenset())


def matching(rules: RuleSet, command: str) -> list[str]:
    """Ids of the rules for a command."""
    observation = Observation(key="key", tool="bash", command=command, exit_code=0, text="")
    return [rule.id for rule in lossy.matching(rules, observation)]


@pytest.mark.parametrize(
    ("rules", "command"),
    [
        pytest.param(RuleSet(), "fetch all", id="no rules"),
        pytest.param(RuleSet(rules=(STRIP,)), "build all", id="another command"),
        pytest.param(RuleSet(rules=(STRIP,)), "", id="no command"),
        pytest.param(
            RuleSet(rules=(STRIP,), settings=Settings(disabled=frozenset(["strip"]))), "fetch", id="switched off"
        ),
        pytest.param(RuleSet(rules=(replace(STRIP, confidence=0.2),)), "fetch", id="little confidence"),
    ],
)
def test_no_rule_matches(rules: RuleSet, command: str) -> None:
    """A rule is for some commands, as long as it is on."""
    assert matching(rules, command) == []


def test_rules_match_in_order_and_any_case() -> None:
    """A trigger is searched in the command, as TACO does."""
    assert matching(RuleSet(rules=(CAP, STRIP)), "cd x && FETCH all") == ["cap", "strip"]


def test_a_trigger_that_cannot_be_used_is_an_error() -> None:
    """It is said, not passed over."""
    with pytest.raises(RuleError):
        matching(RuleSet(rules=(replace(STRIP, trigger=Trigger(pattern="(")),)), "fetch")


@pytest.mark.parametrize(
    ("lines", "protected"),
    [
        pytest.param(["one", "two"], frozenset[int](), id="nothing to strip"),
        pytest.param(
            ["start", *NOISE[:3], *["kept line"] * 9, "end"], frozenset[int](), id="less than four times its mark"
        ),
        pytest.param(["start", *NOISE, "end"], frozenset(range(99)), id="all protected"),
    ],
)
def test_nothing_is_left_out(lines: list[str], protected: frozenset[int]) -> None:
    """A mark that costs as much as what it hides is not set."""
    assert left_out(lines, STRIP, protected=protected) == Draft.begin("\n".join(lines))


def test_a_mark_stands_for_each_run() -> None:
    """With its count, an id, and the slice of the raw text that a recall gives back."""
    raw = ["start", *NOISE, "half of it is there", *NOISE, "end"]
    draft = left_out(raw, STRIP)
    first, second = draft.omissions

    assert draft.text.split("\n") == [
        "start",
        f"[40 lines omitted: echo recall:{first.id}]",
        "half of it is there",
        f"[40 lines omitted: echo recall:{second.id}]",
        "end",
    ]
    assert ["\n".join(raw)[slice(*omission.spans[0])] for omission in draft.omissions] == ["\n".join(NOISE)] * 2
    assert first.id != second.id
    assert render("\n".join(raw), draft.script) == draft.text


def test_protected_lines_part_a_run() -> None:
    """They stay where they stand."""
    draft = left_out(["start", *NOISE, "end"], STRIP, protected=frozenset([20]))

    assert [omission.lines for omission in draft.omissions] == [19, 20]
    assert draft.text.split("\n")[2] == NOISE[19]


@pytest.mark.parametrize(
    ("line", "over"),
    [
        pytest.param("kept", False, id="beside it"),
        pytest.param("", False, id="a blank line"),
        pytest.param("  kept", True, id="under it"),
        pytest.param("\tkept", True, id="under it, by a tab"),
    ],
)
def test_a_line_that_stays_keeps_the_one_it_hangs_under(line: str, over: bool) -> None:
    """The heading above an indented line says what that line is about."""
    lines = [*NOISE[:20], line, *NOISE[20:]]
    result = left_out(lines, STRIP, protected=frozenset({20})).text.split("\n")
    assert (NOISE[19] in result) is over
    assert NOISE[18] not in result


def test_a_rule_sees_what_those_before_it_left() -> None:
    """Lines are counted once, and credited to the rule that left them out."""
    draft = left_out(["start", *NOISE, *(f"step {n} of the whole build" for n in range(40))], STRIP, CAP)

    assert draft.text.count("\n") == 4
    assert draft.omissions == (
        Omission(id=draft.omissions[0].id, spans=draft.omissions[0].spans, lines=40, rules=(("strip", 1),)),
        Omission(id=draft.omissions[1].id, spans=draft.omissions[1].spans, lines=38, rules=(("cap", 2),)),
    )
    assert [(applied.rule, applied.loss) for applied in draft.applied] == [
        (("strip", 1), "lossy"),
        (("cap", 2), "lossy"),
    ]


def test_patterns_are_counted() -> None:
    """As a measure of what rules cost."""
    assert (
        lossy.patterns([STRIP, CAP, replace(STRIP, params={"keep_patterns": ["a", "b"], "strip_patterns": ["c"]})]) == 4
    )


def test_one_mark_tells_the_lines_of_several_rules_apart() -> None:
    """Its spans are cut where the part of another rule begins, so that a complaint meets the right one."""
    more = "and so on, " * 9
    lines = ["begin", f"fetching {more}", f"loading {more}", f"loading 2 {more}", f"fetching 2 {more}", *["end"] * 7]
    loads = replace(STRIP, id="loads", params={**STRIP.params, "strip_patterns": ["^loading"]})
    (omission,) = left_out(lines, STRIP, loads).omissions
    text = "\n".join(lines)

    assert [text[start:end].rstrip("\n").split("\n") for start, end in omission.spans] == [
        [lines[1]],
        [lines[2], lines[3]],
        [lines[4]],
    ]
    assert omission.rules == (("strip", 1), ("loads", 1), ("strip", 1))


def test_what_lies_between_the_parts_of_a_mark_is_recalled_too() -> None:
    """Escape codes that went before the rules came belong to the line after them."""
    raw = "\n".join(["begin", "fetching one" * 20, "\x1b[1m\x1b[0mloading two" * 20, *["end"] * 7])
    lines = raw.split("\n")
    loads = replace(STRIP, id="loads", params={**STRIP.params, "strip_patterns": ["^loading"]})
    at = raw.index("\x1b")
    draft = lossy.leave_out(Draft.begin(raw).step([(at, at + 8, ())]), "key", (STRIP, loads), frozenset(), frozenset())
    (omission,) = draft.omissions

    assert "".join(raw[start:end] for start, end in omission.spans) == "\n".join(lines[1:3])
    assert len(omission.spans) == len(omission.rules) == 2


def test_parts_that_stood_in_another_order_are_not_told_apart() -> None:
    """The mark then stands for all of it, and for all the rules."""
    first, second, rest = "loading one " * 20 + "\n", "fetching one " * 20 + "\n", "end\n" * 7
    middle, last = len(first), len(first) + len(second)
    swapped = ((middle, last), (0, middle), (last, last + len(rest)))
    draft = Draft(text=f"{second}{first}{rest}", script=swapped)
    rules = [
        replace(STRIP, id=name, params={**STRIP.params, "strip_patterns": [f"^{name}"], "keep_first_n": 0})
        for name in ("loading", "fetching")
    ]
    (omission,) = lossy.leave_out(draft, "key", rules, frozenset(), frozenset()).omissions

    assert (omission.spans, omission.rules) == (((0, last),), (("fetching", 1), ("loading", 1)))


def test_params_are_checked_and_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a rule runs, and however its confidence changes; what it says anew is read anew."""
    read = []
    monkeypatch.setitem(lossy.KINDS, "line_filter", _Reading(read))  # type: ignore[arg-type]
    rule = replace(STRIP, params={"strip_patterns": ["^fetching"]})
    for one in (rule, replace(rule, confidence=0.9), replace(rule, params={"strip_patterns": ["^other"]})):
        left_out(NOISE, one)

    assert read == [["^fetching"], ["^other"]]


class _Reading:
    """A kind that leaves nothing out and notes what it reads."""

    VERSION = 1

    def __init__(self, read: list[object]) -> None:
        self._read = read

    def parse(self, raw: dict[str, object]) -> None:
        self._read.append(raw["strip_patterns"])

    def drop(self, lines: object, params: object, protected: object) -> tuple[int, ...]:
        return ()
