"""What users of other compressors complained about: each complaint is a case that must not happen here.

The numbers are those of the project's list of 84 complaints. `CASES` are texts with the lines that must survive;
the other tests are behaviours; `ELSEWHERE` says where the rest is tested.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import engine, lines, marks, recall
from rules_engine.kinds import LOSSLESS
from rules_engine.seeds import SEEDS
from rules_engine.types import Context, Form, Kept, Observation, Rewritten, Rule, RuleSet, Settings, Trigger

WORST = Rule(
    id="strip_all",
    kind="line_filter",
    trigger=Trigger(pattern=r"\w"),
    params={"strip_patterns": ["."], "keep_first_n": 0, "keep_last_n": 0, "max_lines": 0},
)
"""A rule that would drop every line, alone and without any lossless kind before it."""
WORST_RULES = RuleSet(rules=(WORST,), settings=Settings(disabled=frozenset(LOSSLESS)))
GUARDED_RULES = RuleSet(
    rules=(replace(WORST, on_failing=True),), settings=Settings(disabled=frozenset(LOSSLESS), critical="guarded")
)
SEED_RULES = RuleSet(rules=SEEDS)


@dataclass(frozen=True, slots=True)
class Case:
    """A complaint: what was run, what it said, and the lines that must reach the model."""

    number: int
    title: str
    command: str
    text: str
    needles: tuple[str, ...]
    exit_code: int | None = None


def observe(command: str, text: str, exit_code: int | None = None, key: str = "k") -> Observation:
    """A tool result of a shell."""
    return Observation(key=key, tool="bash", command=command, exit_code=exit_code, text=text)


def show(observation: Observation, rules: RuleSet, context: Context | None = None) -> tuple[str, Form | None]:
    """What the model sees, and the form that says how."""
    context = context or Context(shell=True, chars=100_000)
    standing = {source.key: source.digest for source in context.earlier}
    decision = engine.decide(observation, rules, context)
    assert not (isinstance(decision, Kept) and decision.reason in ("failed", "invariant")), decision
    return engine.shown(observation.text, decision, standing)


def restore(raw: str, result: str, form: Form | None) -> str:
    """The raw text again: each mark of `result` replaced by what it hides."""
    for omission in form.omissions if form else ():
        (mark,) = (line for line in result.split("\n") if marks.find_ids(line) == [omission.id])
        hidden = "".join(raw[start:end] for start, end in omission.spans)
        said = marks.parse(mark)
        assert said
        assert said.lines == omission.lines == hidden.count("\n") + 1
        result = result.replace(mark, hidden)
    return result


def many(count: int, template: str) -> str:
    """Lines that differ by `{n}`."""
    return "\n".join(template.format(n=n) for n in range(count))


def among(noise: str, *news: str, at: float = 0.5) -> str:
    """`news` within the lines of `noise`."""
    rows = noise.split("\n")
    place = int(len(rows) * at)
    return "\n".join([*rows[:place], *news, *rows[place:]])


PASSES = many(60, "tests/test_{n}.py::test_case_{n} PASSED")
SETUP = many(80, "setting up container layer {n} of image base")
RUSTC = (
    "error[E0308]: mismatched types",
    " --> src/a.rs:7:9",
    "  |",
    "7 |     x + 1",
    "  |         ^ expected `&str`",
    "  = help: convert",
)
HITS = many(240, "src/mod_{n}.py:{n}:    call(value_{n})")
LISTING = "total 9\n" + many(40, "-rw-r--r-- 1 u u {n} Jan  1 00:00 .file_{n}.cfg")
COMMITS = many(300, "a1b2c{n:03d} Change part {n}")
TABLE = "+----+-------+\n| id | name  |\n+----+-------+\n" + many(30, "| {n:2d} | n{n:<4d} |") + "\n+----+-------+"
SOURCE = "import os\n\n\n" + many(40, "def part_{n}(a):\n    return a + {n}\n")
CONFIG = "{\n  // settings\n" + many(12, '  "a": [0, 0],\n  "b": [0, 0],') + "\n}"
HUNKS = "diff --git a/data b/data\n" + many(200, "@@ -{n},2 +{n},2 @@\n-old {n}\n+new {n}")
STATS = many(20, "commit c0ffee{n:02d}\n\n    Part {n}\n\n src/a{n}.py | {n} ++++\n 1 file changed, {n} insertions(+)")
ITEMS = json.dumps({"total": 40, "items": [{"id": n, "name": f"item {n}", "owner": None} for n in range(40)]}, indent=2)
SIMILAR = many(120, "worker {n} handled job j{n}x in {n}.5 ms")

CASES = (
    Case(1, "an import error stops the collection", "pytest", among(SETUP, "ERROR collecting tests/test_a.py", "tests/test_a.py:3: in <module>", "E   ModuleNotFoundError: No module named 'zed'", "1 error in 0.1s"), ("E   ModuleNotFoundError: No module named 'zed'", "tests/test_a.py:3: in <module>", "1 error in 0.1s")),
    Case(2, "one suite does not compile, all tests that ran pass", "npx jest", among(PASSES, "FAIL src/b.test.js", "  Test suite failed to run", "    SyntaxError: Unexpected token (3:1)", "Test Suites: 1 failed, 9 passed, 10 total", "Tests: 60 passed, 60 total"), ("FAIL src/b.test.js", "    SyntaxError: Unexpected token (3:1)", "Test Suites: 1 failed, 9 passed, 10 total")),
    Case(3, "an import of a suite does not resolve", "npx vitest run", among(PASSES, " FAIL  a.spec.ts", 'Error: Failed to resolve import "./x" from "a.spec.ts"', " Test Files  1 failed | 9 passed (10)", "      Tests  60 passed (60)"), ('Error: Failed to resolve import "./x" from "a.spec.ts"', " Test Files  1 failed | 9 passed (10)"), 1),
    Case(4, "compiler errors between warnings of C", "go vet ./...", among(many(40, "src/lib.c:{n}:3: warning: unused variable"), "./a.go:3:2: undefined: foo", "./b.go:9:1: missing return"), ("./a.go:3:2: undefined: foo", "./b.go:9:1: missing return")),
    Case(5, "a fatal error within a package that fails", "go test ./...", among(many(40, "ok  \tx/p{n}\t0.1s"), "fatal error: all goroutines are asleep - deadlock!", "", "goroutine 1 [chan receive]:", "x/q.Wait()", "\t/q/q.go:12 +0x1d", "FAIL\tx/q\t0.2s"), ("fatal error: all goroutines are asleep - deadlock!", "\t/q/q.go:12 +0x1d", "FAIL\tx/q\t0.2s")),
    Case(6, "lint findings and an error without a place", "ruff check", many(40, "src/a.py:{n}:1: F401 `os{n}` imported but unused") + "\nerror: no configuration\nFound 40 errors.", ("src/a.py:17:1: F401 `os17` imported but unused", "error: no configuration", "Found 40 errors.")),
    Case(7, "a verbose run that was asked for", "pytest -v", PASSES + "\n60 passed in 1s", ("tests/test_31.py::test_case_31 PASSED", "60 passed in 1s"), 0),
    Case(8, "an unknown runner fails in its first line", "./check", "assertion failed: a == b\n" + many(200, "step {n} fine"), ("assertion failed: a == b",), 1),
    Case(9, "the verdict of a passing run behind set-up noise", "task test", SETUP + "\n12 passed in 3.2s\n" + many(40, "removing layer {n}"), ("12 passed in 3.2s",), 0),
    Case(10, "diagnostics of several lines", "cargo build", among(SETUP, "", *RUSTC, ""), RUSTC),
    Case(12, "the package runner's inner tool", "npx run-s test", among(SETUP, "  3 passing (20ms)", "  1 failing", "  1) adds:", "     AssertionError: expected 1 to equal 2"), ("  3 passing (20ms)", "  1 failing", "     AssertionError: expected 1 to equal 2")),
    Case(14, "an exit line in the result", "./run", among(SETUP, "exit code: 2"), ("exit code: 2",)),
    Case(15, "an exit line where the wrapper says 0", "./run", among(SETUP, "Process exited with code 2"), ("Process exited with code 2",), 0),
    Case(16, "a binary file that matches", "grep -r key .", among(HITS, "grep: ./core.bin: binary file matches"), ("grep: ./core.bin: binary file matches",)),
    Case(18, "few long lines and the failure at the end", "make", "cc " + "-Dx " * 900 + "\ncc " + "-Dy " * 900 + "\nmake: *** [all] Error 2", ("make: *** [all] Error 2",)),
    Case(19, "the only errors in the middle", "./run", among(many(900, "row {n} written"), "java.io.IOException: disk", "\tat a.B.c(B.java:3)", at=0.47), ("java.io.IOException: disk", "\tat a.B.c(B.java:3)")),
    Case(20, "the cause stands last", "agent exec", "banner v1\n" + SETUP + "\nstream disconnected: quota exceeded", ("stream disconnected: quota exceeded",)),
    Case(21, "a log of an unfamiliar format", "podman logs x", many(90, "<{n}> pump at {n} l/min") + "\n<90> pump idle", ("<90> pump idle",), 0),
    Case(23, "a diff of two large data files", "git diff", HUNKS, ("-old 100", "+new 199")),
    Case(27, "a match beyond column 200", "grep -rn needle .", "a.min.js:1:" + "x=1;" * 90 + "needle()\n" + HITS, ("a.min.js:1:" + "x=1;" * 90 + "needle()",)),
    Case(28, "a search for matches only", "grep -o 'v[0-9]*' log", many(90, "v{n}"), ("v0", "v89")),
    Case(31, "totals of each commit", "git log --stat", STATS, (" 1 file changed, 7 insertions(+)",)),
    Case(32, "a log with patches", "git log -p", "commit c0ffee\n\n    Part\n\n" + HUNKS, ("+new 77",)),
    Case(33, "the decisive hit is one of many", "rg call", HITS, ("src/mod_205.py:205:    call(value_205)",)),
    Case(35, "a range of lines that was asked for", "sed -n '40,80p' a.txt", many(41, "text of line {n}"), ("text of line 0", "text of line 40")),
    Case(37, "a source file", "cat a.py", SOURCE, ("def part_7(a):", "    return a + 7")),
    Case(44, "several tools in one output", "make", among(SETUP, "a.c:3:1: error: bad", "3 passed, 1 failed", "npm error code E1"), ("a.c:3:1: error: bad", "3 passed, 1 failed", "npm error code E1")),
    Case(46, "code that a program prints", "./emit", SOURCE, ("def part_20(a):", "    return a + 20")),
    Case(47, "a numbered listing", "nl -ba a.txt", many(60, "{n:6d}\tvalue_{n}"), ("    41\tvalue_41",)),
    Case(48, "output of a loop with headings", "for f in *; do wc $f; done", "\n".join(f"=== file{n} ===\n{n} rows" for n in range(30)), ("=== file0 ===", "=== file29 ===")),
    Case(49, "a file of a revision", "git show HEAD:a.txt", many(50, "sentence {n} of the text"), ("sentence 25 of the text",)),
    Case(52, "search with context", "grep -C1 -n call a.py", many(30, "{n}-before\n{n}:call()\n{n}-after\n--"), ("12:call()", "12-after")),
    Case(54, "several hits of one file", "rg -n x a.py b.py", many(40, "a.py:{n}:x = {n}") + "\nb.py:1:x", ("a.py:23:x = 23", "b.py:1:x")),
    Case(55, "paths with dates", "rg -n x logs", many(40, "logs/2026-05-01T10:30/run.log:{n}:x is {n}"), ("logs/2026-05-01T10:30/run.log:23:x is 23",)),
    Case(59, "a configuration with repeated lines", "cat settings.jsonc", CONFIG, tuple(CONFIG.split("\n"))),
    Case(60, "values of a JSON response", "curl -s api/x", ITEMS, ('      "id": 17,', '      "name": "item 17",')),
    Case(61, "a patch that will be applied", "git diff", HUNKS, ("@@ -9,2 +9,2 @@", "-old 9", "+new 9")),
    Case(67, "a failing test is listed once", "pytest -q", among(PASSES, "FAILED tests/a.py::test_x - assert 1 == 2", "1 failed, 60 passed in 2s"), ("FAILED tests/a.py::test_x - assert 1 == 2", "1 failed, 60 passed in 2s")),
)  # fmt: skip


@pytest.mark.parametrize(
    "rules", [pytest.param(WORST_RULES, id="unchanged"), pytest.param(GUARDED_RULES, id="guarded")]
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number}: {case.title}")
def test_the_worst_rule_cannot_lose_what_matters(case: Case, rules: RuleSet) -> None:
    """Whatever a rule would strip, the lines that matter stay, and the rest can be had back to the byte."""
    result, form = show(observe(case.command, case.text, case.exit_code), rules)
    assert set(case.needles) <= set(result.split("\n"))
    assert restore(case.text, result, form) == case.text


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number}: {case.title}")
def test_by_default_what_matters_is_there(case: Case) -> None:
    """With the starting rules and all lossless kinds each word that matters is in the text, which is never longer."""
    result, form = show(observe(case.command, case.text, case.exit_code), SEED_RULES)
    missing = [word for needle in case.needles for word in re.findall(r"\w+", needle) if word not in result]
    assert missing == []
    assert len(result) <= len(case.text)
    assert form is None or all(applied.loss == "lossless" for applied in form.applied)


def test_11_a_result_is_never_longer_than_what_was_said() -> None:
    """11: failures that a tool lists twice are not made longer."""
    failure = "FAIL adds\n  expected 1 to equal 2\n"
    raw = many(30, "ok {n} - adds") + "\n" + failure * 2
    assert len(show(observe("npm test", raw), SEED_RULES)[0]) <= len(raw)


@pytest.mark.parametrize(
    ("number", "command", "text", "exit_code"),
    [
        pytest.param(13, "node --version", "v20.1.0\n", 0, id="13: a version"),
        pytest.param(17, "grep -rn absent .", "", 1, id="17: a search without a hit"),
        pytest.param(
            40, "curl -s api/x/1", '{"id": 1, "name": "n", "owner": null, "tags": []}', 0, id="40: a small object"
        ),
        pytest.param(43, "cat log | wc -l", "1204\n", 0, id="43: a count"),
        pytest.param(43, "cat log | head -2", "first\nsecond\n", 0, id="43: the first two lines"),
    ],
)
def test_little_is_left_alone(number: int, command: str, text: str, exit_code: int) -> None:
    """A short result is forwarded as it is, and nothing is added to it."""
    assert show(observe(command, text, exit_code), WORST_RULES) == (text, None), number


def test_22_a_second_failure_still_says_so() -> None:
    """22: the same command fails twice in the same way, and the second result still states the failure."""
    raw = among(many(40, "module {n} compiled"), "src/a.c:3:1: error: bad", "FAILED: 1 failed, 39 passed")
    context = Context(shell=True, chars=100_000, earlier=(lines.index("first", raw),))
    result, _ = show(observe("make", raw, 1), RuleSet(), context)
    assert "src/a.c:3:1: error: bad" in result.split("\n")
    assert "FAILED: 1 failed, 39 passed" in result.split("\n")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        pytest.param("./list", many(250, "entry {n} of many"), id="24, 25, 34: a long list"),
        pytest.param("git log --oneline", COMMITS, id="29, 30: a long history"),
        pytest.param("./rows", many(300, "row {n}"), id="36: most lines of a text"),
        pytest.param("./rows", many(90, "日本語 {n} 🙂 é"), id="26, 84: characters of several bytes"),
        pytest.param("./rows", "a\r\n" + many(90, "row {n}\r"), id="26: carriage returns"),
    ],
)
def test_what_is_left_out_is_marked_counted_and_kept(command: str, text: str) -> None:
    """24-26, 29, 30, 34, 36, 38, 70, 74: a mark tells how many source lines it hides, and they come back to the byte."""
    result, form = show(observe(command, text, 0), WORST_RULES)
    assert form
    assert len(result) < len(text)
    assert sorted(omission.id for omission in form.omissions) == sorted(marks.find_ids(result))
    assert restore(text, result, form) == text


def test_39_a_count_and_its_items_agree() -> None:
    """39, 60: structured data is the same data afterwards."""
    for rules in (WORST_RULES, SEED_RULES):
        result, _ = show(observe("curl -s api/x", ITEMS, 0), rules)
        assert json.loads(result) == json.loads(ITEMS)


def test_41_two_rules_count_each_line_once() -> None:
    """41, 76: what one rule left out is neither lost nor counted again by the next."""
    even = replace(WORST, id="even", params={"strip_patterns": ["[02468]$"], "keep_first_n": 0, "keep_last_n": 0})
    raw = many(200, "row number {n}")
    rules = replace(WORST_RULES, rules=(even, WORST))
    result, form = show(observe("./rows", raw, 0), rules)
    assert form
    kept = [line for line in result.split("\n") if not marks.find_ids(line)]
    assert sum(omission.lines for omission in form.omissions) + len(kept) == 200
    assert restore(raw, result, form) == raw


@given(
    st.lists(
        st.sampled_from(
            ["", "row", "row one", "  error: x", "ok 1", "} else {", "é🙂", "[3 lines omitted: echo recall:abcdef]"]
        )
    )
)
def test_45_every_line_is_the_tools_or_a_mark(rows: list[str]) -> None:
    """45, 46, 53, 64, 66: nothing is made up, nothing is out of order, and no statement comes from elsewhere."""
    raw = "\n".join(["row " * 9] * 9 + rows)
    result, form = show(observe("./rows", raw), WORST_RULES)
    assert restore(raw, result, form) == raw


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(STATS, id="51: blocks of equal shape"),
        pytest.param(SIMILAR, id="66: lines of equal shape"),
        pytest.param(LISTING, id="56, 63: names, hidden ones too"),
    ],
)
def test_values_survive(text: str) -> None:
    """51, 56, 63, 66: where lines are alike, the words and numbers in which they differ are all there."""
    result, _ = show(observe("./list", text, 0), SEED_RULES)
    assert set(re.findall(r"[a-z]+|\d+", text)) <= set(re.findall(r"[a-z]+|\d+", result))


def test_57_a_table_keeps_its_columns() -> None:
    """57: the rows of a table are as the tool drew them."""
    assert show(observe("psql -c 'select'", TABLE, 0), SEED_RULES)[0] == TABLE


def test_58_a_mark_is_not_read_as_text_and_text_not_as_a_mark() -> None:
    """58, 71: what was rewritten once is not rewritten again, and a foreign mark is a line like others."""
    foreign = "[12 lines omitted: echo recall:abcdef]"
    raw = among(many(90, "row {n} of this text"), foreign)
    result, form = show(observe("./rows", raw, 0), WORST_RULES)
    assert restore(raw, result, form) == raw
    again, _ = show(observe("./rows", result, 0), WORST_RULES)
    assert len(again) <= len(result)


def test_62_a_mark_is_no_code_and_says_that_the_source_is_whole() -> None:
    """62, 65, 75: a mark is one bracketed line, in no comment syntax, names its remedy and can be found in what is written."""
    result, _ = show(observe("./rows", many(90, "row {n} of this text"), 0), WORST_RULES)
    (mark,) = (line for line in result.split("\n") if marks.find_ids(line))
    assert re.fullmatch(r"\[\d+ lines omitted: echo recall:[0-9a-f]{6,}\]", mark)


def test_73_without_a_way_back_nothing_is_left_out() -> None:
    """73: where the client has no shell to ask with, no rule may drop a line."""
    raw = many(90, "row {n} of this text")
    context = Context(shell=False, chars=100_000, earlier=(lines.index("first", raw),))
    assert show(observe("./rows", raw, 0), WORST_RULES, context) == (raw, None)


def test_77_a_decision_is_for_one_text() -> None:
    """77: a decision is never applied to another text than that for which it was made."""
    decision = engine.decide(
        observe("./rows", many(90, "row {n} of this text"), 0), WORST_RULES, Context(shell=True, chars=10**5)
    )
    assert isinstance(decision, Rewritten)
    assert engine.shown("another text", decision, {}) == ("another text", None)


def test_78_what_was_asked_for_is_not_compressed_again() -> None:
    """78: the result of a recall is forwarded whole."""
    raw = many(90, "row {n} of this text")
    decision = engine.decide(observe("echo recall:abcdef", raw, 0), WORST_RULES, Context(shell=True, chars=10**5))
    assert decision == Kept(key="k", reason="recalled")


def test_79_an_unknown_id_has_one_final_answer() -> None:
    """79: what cannot be given back is answered once, and not like what can."""
    answer = recall.substitute("recall:abcdef\n", {}, ["abcdef"])
    assert answer.unknown == ("abcdef",)
    assert "asking again will not change that" in answer.text


def test_82_a_small_conversation_is_left_alone() -> None:
    """82: where little can be saved nothing is risked."""
    decision = engine.decide(
        observe("./rows", many(90, "row {n} of text"), 0), WORST_RULES, Context(shell=True, chars=1500)
    )
    assert decision == Kept(key="k", reason="small conversation")


def test_84_an_error_that_was_overwritten_is_kept() -> None:
    """84: a carriage return hides an error from a terminal, not from the model."""
    raw = many(90, "fetching part {n}\r") + "\nerror: disk full\rretrying...\n" + many(30, "row {n} of text")
    result, _ = show(observe("./fetch", raw, 0), SEED_RULES)
    assert "error: disk full" in result


HERE = frozenset(
    [
        *(11, 13, 17, 22, 24, 25, 26, 29, 30, 34, 36, 38, 39, 40, 41, 43, 45, 51, 53, 56, 57, 58),
        *(62, 63, 64, 65, 66, 70, 71, 73, 74, 75, 76, 77, 78, 79, 82, 84),
    ]
)
"""Complaints that have a test of their own above."""
ELSEWHERE = {
    50: "tests/rules_engine/test_natures.py",
    68: "tests/memory/test_decisions.py",
    69: "tests/memory/test_decisions.py",
    72: "tests/gateway/test_serving.py",
    80: "tests/gateway/test_sessions.py",
    81: "tests/gateway/test_sessions.py",
    83: "tests/gateway/test_serving.py",
}
"""Complaints that concern the store and the gateway, and where they are tested."""
DECLINED = {42: "a long text of which nothing is known is forwarded whole: only a rule that was admitted leaves out"}


def test_every_complaint_is_accounted_for() -> None:
    """All 84 stand in a case, in a test here or elsewhere, or are declined with a reason."""
    assert sorted({case.number for case in CASES}.union(HERE, ELSEWHERE, DECLINED)) == list(range(1, 85))
    root = Path(__file__).parents[2]
    assert [place for place in ELSEWHERE.values() if not (root / place).exists()] == []
