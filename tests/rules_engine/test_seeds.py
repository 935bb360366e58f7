"""The six starting rules fire on the commands they are for, and drop nothing but noise."""

from __future__ import annotations

import pytest

from rules_engine.critical import criticals, verdicts
from rules_engine.kinds import line_filter
from rules_engine.scan import compile_trigger
from rules_engine.seeds import SEEDS

RULES = {rule.id: rule for rule in SEEDS}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("", [], id="no command"),
        pytest.param("grep -r cc /etc", [], id="a word that is an argument"),
        pytest.param("echo make me a sandwich", [], id="a word in a sentence"),
        pytest.param('git commit -m "fix cc bug" && cat results.txt', [], id="a word in a message"),
        pytest.param("echo pip install x", [], id="a command that is only printed"),
        pytest.param("make test", [], id="a target that runs tests"),
        pytest.param("gcc a.c -o a && ./a", [], id="a compiler before a program's own output"),
        pytest.param("git log --oneline", [], id="git without a transfer"),
        pytest.param("cat > f <<E\nx\nE\npython f.py --all", [], id="a heredoc before another command"),
        pytest.param("ls openssl", [], id="a folder of that name"),
        pytest.param("git clone https://h/x.git", ["git_transfer"], id="clone"),
        pytest.param("cd a && git -C b --no-pager pull", ["git_transfer"], id="pull with options, in a chain"),
        pytest.param("cat > f.py <<'EOF'\nx = 1\nEOF\n", ["heredoc_echo"], id="heredoc"),
        pytest.param("pip3 install -q x", ["pip_install"], id="pip"),
        pytest.param("python3 -m pip install x", ["pip_install"], id="pip as a module"),
        pytest.param("bash -lc 'pip install x'", ["pip_install"], id="pip in a shell"),
        pytest.param("DEBIAN_FRONTEND=noninteractive sudo -E apt-get -y install x", ["apt_install"], id="apt"),
        pytest.param("make -C src -j4 2>&1 | tail -20", ["compiler_lines"], id="make"),
        pytest.param("cd b && cmake --build . -j", ["compiler_lines"], id="cmake"),
        pytest.param("/usr/bin/gcc -O2 a.c", ["compiler_lines"], id="gcc by its path"),
        pytest.param("openssl genrsa -out k 4096", ["key_generation"], id="openssl"),
    ],
)
def test_triggers(command: str, expected: list[str]) -> None:
    """A seed fires where its command stands as a command."""
    assert [rule.id for rule in SEEDS if compile_trigger(rule.trigger.pattern).search(command)] == expected


NOISE = {
    "git_transfer": "Receiving objects:  {n}% ({n}/100), 1.00 MiB | 2.00 MiB/s",
    "heredoc_echo": "> line {n}",
    "pip_install": "Collecting pkg_{n}>=1.0 (from root)",
    "apt_install": "Get:{n} http://deb.example.org stable/main amd64 pkg{n} amd64 1.0 [10 kB]",
    "compiler_lines": "gcc -c src/file{n}.c " + "-DNAME=value " * 20,
    "key_generation": "..........+.....................+...........",
}
NEWS = [
    "error: it broke",
    "Successfully installed x-1.0",
    "3 failed, 1 passed",
    " * [new branch] main -> origin/main",
    "E: Unable to x",
]


@pytest.mark.parametrize("name", sorted(NOISE))
def test_a_seed_drops_noise_and_keeps_news(name: str) -> None:
    """Of a long output a seed drops the progress and nothing that states a failure or a result."""
    noise = [NOISE[name].format(n=n) for n in range(60)]
    lines = ("head", *noise[:30], *NEWS, *noise[30:], "the end")
    params = line_filter.parse(RULES[name].params)
    out = line_filter.drop(lines, params, criticals(lines) | verdicts(lines))
    assert 40 <= len(out) <= 60
    assert {lines[at] for at in out} <= set(noise)


def test_a_compiler_may_say_much_that_is_short() -> None:
    """However much it is: a cap would take whatever stands in the middle."""
    lines = tuple(f"CC file{n}.o" for n in range(450))
    assert line_filter.drop(lines, line_filter.parse(RULES["compiler_lines"].params), frozenset()) == ()


def test_seeds_are_in_order() -> None:
    """Rules are tried by priority, and each has a name of its own."""
    assert len(RULES) == 6
    assert [rule.priority for rule in SEEDS] == sorted(rule.priority for rule in SEEDS)
