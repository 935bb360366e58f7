"""Every member of the tables of kinds meets the same demands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest

from rules_engine import engine, features, guards
from rules_engine.kinds import BOUND, KINDS, LOSSLESS, POINTING
from rules_engine.lines import index
from rules_engine.script import render, splice
from rules_engine.types import Context, Observation, Rewritten, RuleError, RuleSet, Settings

ODD: dict[str, str] = {
    "nothing": "",
    "one character": "x",
    "line ends only": "\n" * 500,
    "no final line end": "one\ntwo",
    "both sorts of line ends": "one\r\ntwo\nthree\r\n" * 60,
    "lone carriage returns": "12 %\r13 %\r14 %\r" * 60,
    "one long line": "word " * 20_000,
    "binary": "".join(map(chr, range(256))) * 20,
    "other writing and emoji": "日本語のテキスト 😀👨‍👩‍👧 е́\n" * 60,
    "broken escape codes": "\x1b[\x1b]0;\x1b[999999999m\n" * 60,
    "brackets": "[{(" * 5000,
    "marks": "[3 lines omitted: echo recall:abcdef]\n" * 60,
    "numbers without order": "     5\ta\n     3\tb\n     9\tc\n" * 30,
    "paths and numbers": "src/a.py:12:x\nsrc/a.py:2026-05-01:y\nC:\\a.py:3:z\n" * 30,
    "lines of one shape": "".join(f"item {n} of 60 took {n * n} ms in worker {n % 4}\n" for n in range(60)),
    "lines that begin alike": "".join(f"web-1 worker | request {n} {'x' * (n % 7)}\n" for n in range(60)),
}
COMMANDS = ("make", "cat -n a.py", "git diff", "rg -n x", "curl x")


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_lossless_kinds_are_proved_on_any_text(name: str, text: str) -> None:
    """They return, are the same each time, shorten, come back by their inverse, and leave their result alone."""
    kind = LOSSLESS[name]
    for command in COMMANDS:
        observation = Observation(key="key", tool="bash", command=command, exit_code=0, text=text)
        encoded = kind.encode(text, observation)
        assert kind.encode(text, observation) == encoded
        if encoded is None:
            continue
        result = render(text, splice(len(text), encoded.edits))
        assert guards.worthwhile(encoded.edits) == encoded.edits
        assert len(result) < len(text)
        assert kind.verify(text, result, encoded.note)
        assert not kind.verify(text + "!", result, encoded.note)
        assert kind.encode(result, observation) is None


@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_kinds_are_linear(name: str) -> None:
    """Eight times the text takes less than thirty times the time, on what each kind has most work with."""
    kind = LOSSLESS[name]

    def spent(text: str) -> float:
        observation = Observation(key="key", tool="bash", command="make", exit_code=0, text=text)
        begin = time.perf_counter()
        kind.encode(text, observation)
        return time.perf_counter() - begin

    for text in ODD.values():
        small, large = text * 4, text * 32
        assert min(spent(large) for _ in range(3)) < 30 * min(spent(small) for _ in range(5)) + 0.05


def test_kinds_have_a_version() -> None:
    """A decision records which form it was made in."""
    versions = [kind.VERSION for kind in LOSSLESS.values()]
    versions += [kind.VERSION for kind in KINDS.values()]
    versions += [kind.VERSION for kind in POINTING.values()]

    assert [version for version in versions if not isinstance(version, int) or version < 1] == []


@pytest.mark.parametrize("name", BOUND)
def test_what_is_bound_is_in_the_text(name: str) -> None:
    """Runs of lines in order, on texts that are a kind's own result and on texts that are not."""
    kind = BOUND[name]
    for text in ODD.values():
        lines = text.split("\n")
        found = kind.bound(lines)
        assert all(start < end for start, end in found)
        assert found == sorted(found)


@pytest.mark.parametrize("name", BOUND)
def test_what_a_form_speaks_of_is_bound(name: str) -> None:
    """All lines between the first and the last that an edit made."""
    texts: dict[str, Callable[[], str]] = {
        "repeats": lambda: "one line of it\nanother line of it\n" * 60,
        "fold": lambda: "".join(f"copied file_{n}.txt from host_{n % 7} to the store\n" for n in range(60)),
        "prefix": lambda: "".join(f"web-1 worker | {'request' * (n % 3 + 1)} {'x ' * (n % 7)}\n" for n in range(60)),
        "search": lambda: "".join(f"src/some/path/of/main.py:{n}:value_{n} = {n}\n" for n in range(60)),
    }
    text = texts[name]()
    command = "rg -n value" if name == "search" else "make"
    encoded = LOSSLESS[name].encode(text, Observation(key="key", tool="bash", command=command, exit_code=0, text=text))
    assert encoded is not None
    lines = render(text, splice(len(text), encoded.edits)).split("\n")

    assert BOUND[name].bound(lines)[0][0] == 0
    assert max(end for _, end in BOUND[name].bound(lines)) >= len(lines) - 2


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "raw",
    [{"no_such_field": 1}, {"keep_patterns": "a"}, {"strip_patterns": ["("]}, {"keep_first_n": -1}, {"max_lines": "9"}],
)
def test_lossy_kinds_refuse_junk(name: str, raw: dict[str, object]) -> None:
    """With an error that names the field."""
    with pytest.raises(RuleError, match=next(iter(raw))):
        KINDS[name].parse(raw)


PARAMS: Mapping[str, tuple[Mapping[str, object], ...]] = {
    "line_filter": ({}, {"strip_patterns": ["."]}, {"max_lines": 0, "keep_first_n": 0, "keep_last_n": 0}),
    "line_score": ({}, {"covariances": {name: {name: 0.0} for name in features.NAMES}, "limit": 0.6, "fewest": 1}),
    "alike": ({}, {"fewest": 4, "keep_first_n": 0, "keep_last_n": 0}),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_lossy_kinds_drop_no_protected_line(name: str, text: str) -> None:
    """Positions in order, inside the text, whatever the params."""
    kind = KINDS[name]
    lines = tuple(text.split("\n"))
    protected = frozenset(range(0, len(lines), 3))
    for raw in PARAMS[name]:
        dropped = kind.drop(lines, kind.parse(raw), protected)
        assert list(dropped) == sorted(set(dropped))
        assert not protected.intersection(dropped)
        assert all(0 <= at < len(lines) for at in dropped)


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_pointers_lead_back_on_any_text(text: str) -> None:
    """A text after itself, and after itself with something in between."""
    lines = text.split("\n")
    for before in (text, text[: len(text) // 2] + "\nsomething else\n" + text[len(text) // 2 :]):
        for kind in POINTING.values():
            runs = kind.find(lines, [index("before", before)], Settings(), frozenset(), ())
            assert all(kind.verify(run, lines) for run in runs)
            assert all(not kind.verify(run, [line + "!" for line in lines]) for run in runs)


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_together_they_are_shorter_or_nothing(text: str) -> None:
    """Also after themselves, with all kinds on."""
    for command in COMMANDS:
        observation = Observation(key="key", tool="bash", command=command, exit_code=0, text=text)
        decision = engine.decide(
            observation, RuleSet(), Context(shell=True, chars=10**6, earlier=(index("before", text),))
        )
        if isinstance(decision, Rewritten):
            assert all(len(engine.render_form(text, form)) < len(text) for form in decision.forms)
        else:
            assert decision.reason in ("short", "no gain")
