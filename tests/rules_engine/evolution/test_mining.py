"""Mining: shapes of lines that nobody used become rules, with a bound as evidence; whoever floods an archive is one witness."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rules_engine.evolution import mining
from rules_engine.evolution.counts import LIMIT
from rules_engine.evolution.mining import LARGEST, Statistics, is_deed, mine
from rules_engine.scan import compile_given, compile_trigger, encode, find_lines
from rules_engine.types import Rule, Sample
from tests.rules_engine.archive import archive, built, sample


def strips(rules: Iterable[Rule]) -> dict[str, list[str]]:
    """Shapes that are stripped, by rule."""
    return {rule.id: list(rule.evidence["shapes"]) for rule in rules}  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        pytest.param([], "nothing was seen", id="an empty archive"),
        pytest.param(archive(built, sessions=4), "four sessions", id="too few sessions"),
        pytest.param(archive(built, source="r"), "one source", id="one source"),
        pytest.param(archive(built, session="s"), "one session", id="a flood of one session"),
        pytest.param(archive(built, command="cat build.log"), "what was asked for", id="a command that only shows"),
        pytest.param(archive(built, command="gh run view"), "what was asked for", id="a question"),
        pytest.param(
            archive(lambda n: ["x", *(f"ERROR crate_{n}_{k} failed" for k in range(20)), "y"]),
            "stated", id="failures that nobody quotes",
        ),
        pytest.param(
            archive(lambda n: ["x", *(f"{k} Compiling crate" for k in range(20)), "y"]),
            "nothing that could be quoted", id="lines whose use could not show",
        ),
        pytest.param(
            (sample(n, [f"Found crate_{n}_{k} here" for k in range(2)]) for n in range(24)),
            "two lines an output are few trials", id="few lines",
        ),
        pytest.param((sample(n, [f"Wrote file_{n} now", "x"]) for n in range(300)), "messages", id="what comes once"),
        pytest.param([sample(0, ["x" * (LARGEST + 1)])] * 30, "data", id="one line of a megabyte"),
        pytest.param(archive(lambda n: ["\0", *built(n)]), "binary", id="binary-looking output"),
    ],
)  # fmt: skip
def test_no_rule(samples: Iterable[Sample], reason: str) -> None:
    """Without enough independent evidence there is no rule."""
    assert mine(samples) == (), reason


def test_a_rule() -> None:
    """A shape that nobody used is stripped where its family runs, with the counts that say so."""
    (rule,) = mine(archive(built))
    assert rule.id == "mined_cargo_build"
    assert strips([rule]) == {"mined_cargo_build": ["<number> compiling <name>"]}
    assert compile_trigger(rule.trigger.pattern).search("cd x && cargo build --release")
    assert (rule.evidence["sessions"], rule.evidence["sources"]) == (24, 4)
    bound = rule.evidence["bound"]
    assert isinstance(bound, float)
    assert 0 < bound <= LIMIT


def test_what_is_used_is_not_stripped() -> None:
    """One use in four outputs is enough."""
    samples = [
        sample(n, built(n), used=frozenset({f"crate_{n}_3"} if n % 4 == 0 else ())) for n in range(24)
    ]  # fmt: skip
    assert mine(samples) == ()


def test_what_is_used_becomes_a_keep_pattern() -> None:
    """A longer shape of which lines were used is kept, and the rest of the shape is stripped."""

    def lines(number: int) -> list[str]:
        noise = [f"{k}% Step {'unpack ' * (k % 2)}file_{number}_{k}" for k in range(60)]
        return ["a", "b", *noise, *(f"{k}% Step 7 out_{number}_{k}" for k in range(15)), "c"]

    (rule,) = mine(sample(n, lines(n), used=frozenset({f"out_{n}_1"})) for n in range(24))
    assert strips([rule]) == {"mined_cargo_build": ["<number> step"]}
    keep = compile_given(rule.params["keep_patterns"], "keep_patterns")  # type: ignore[arg-type]
    assert list(find_lines(keep, encode(["3% Step file_1_2", "3% Step 7 out_1_2"]))) == [1]


def test_known_words_are_not_used_of_the_line() -> None:
    """What stood in the context before is not lost with a line, nor what another line says after it."""
    said = [sample(n, built(n), used=frozenset({f"crate_{n}_3"}), known=frozenset({f"crate_{n}_3"})) for n in range(24)]
    assert len(mine(said)) == 1
    again = [
        sample(n, [*built(n), f"linked crate_{n}_3"], used=frozenset({f"crate_{n}_3"})) for n in range(24)
    ]  # fmt: skip
    assert "<number> compiling <name>" in str(strips(mine(again)))


def test_families_share_shapes() -> None:
    """What several families print alike is one rule, whose trigger names them all."""
    commands = ("cargo build", "cargo test", "make")
    (rule,) = mine(sample(n, built(n), command=commands[n % 3]) for n in range(24))
    assert all(compile_trigger(rule.trigger.pattern).search(command) for command in commands)


def test_statistics_merge() -> None:
    """Two archives, learned from apart and put together, teach what both at once do."""
    samples = list(archive(built))
    first, second = Statistics(), Statistics()
    for number, one in enumerate(samples):
        (first if number < 4 else second).add(one)
    assert first.rules() == ()
    first.merge(second)
    assert first.rules() == mine(samples)


def test_statistics_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many shapes those that one session alone has shown go first."""
    monkeypatch.setattr(mining, "MOST_SHAPES", 100)
    statistics = Statistics()
    for number, one in enumerate(archive(built)):
        statistics.add(one)
        statistics.add(sample(number, [f"word{'abcdefghijklmnopqrstuvwxyz'[number]}q odd" for _ in range(9)]))
    assert statistics.size <= 100
    assert [rule.id for rule in statistics.rules()] == ["mined_cargo_build"]


@pytest.mark.parametrize(
    ("family", "tool", "expected"),
    [
        pytest.param("ls", "bash", False, id="a listing"),
        pytest.param("git log", "bash", False, id="a history"),
        pytest.param("python", "bash", False, id="a script of the agent's"),
        pytest.param('{"path"', "read_file", False, id="a tool that is no shell"),
        pytest.param("npm install", "bash", True, id="an installation"),
        pytest.param("python -m pytest", "bash", True, id="tests"),
        pytest.param('{"chars"', "write_stdin", True, id="a look at what runs on"),
    ],
)
def test_deeds(family: str, tool: str, expected: bool) -> None:
    """Only commands that are run for what they do are learned from."""
    assert is_deed(family, tool) is expected
