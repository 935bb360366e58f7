"""What a step does, by its command."""

from __future__ import annotations

import pytest

from rules_engine.evolution.steps import is_change, is_poll, is_same_target, is_saving, name
from rules_engine.types import Observation


def step(command: str, tool: str = "bash") -> Observation:
    """A step with that command."""
    return Observation(key="k", tool=tool, command=command, exit_code=0, text="")


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("ls -la", "bash"),
        ("cd src && grep -rn load . | head -20", "bash"),
        ("git status --short; git log -3", "bash"),
        ("docker ps -a", "bash"),
        ("cat x.py 2>/dev/null", "bash"),
        ("find . -name '*.py' 2>&1 | wc -l", "bash"),
        ("sed -n 1,20p x.py", "bash"),
        ('{"path": "x.py"}', "read_file"),
        ('{"pattern": "load"}', "Grep"),
    ],
)
def test_changes_nothing(command: str, tool: str) -> None:
    """What is known to look only."""
    assert not is_change(step(command, tool))


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("sed -i s/a/b/ x.py", "bash"),
        ("echo 1 > x.py", "bash"),
        ("cat a >> b", "bash"),
        ("find . -name '*.pyc' -delete", "bash"),
        ("git commit -am x", "bash"),
        ("docker restart web", "bash"),
        ("ls; ./unknown", "bash"),
        ("pytest -q", "bash"),
        ('{"path": "x.py", "old_str": "a"}', "str_replace_editor"),
        ('{"chars": "y"}', "write_stdin"),
        ('{"page": 1}', "unknown"),
        ("", ""),
    ],
)
def test_may_change_something(command: str, tool: str) -> None:
    """And whatever is not known to be harmless."""
    assert is_change(step(command, tool))


@pytest.mark.parametrize("command", ["make", "cat build.log", "git log", "./run_tests", "pytest -q"])
def test_is_no_poll(command: str) -> None:
    """Running it again is a choice."""
    assert not is_poll(step(command))


@pytest.mark.parametrize(
    "command",
    [
        "sleep 5; cat log",
        "docker logs web",
        "curl -s localhost/health",
        "git status",
        "tail -f log",
        '{"chars": ""}',
        "",
    ],
)
def test_is_a_poll(command: str) -> None:
    """Running it again is its nature."""
    assert is_poll(step(command, "write_stdin"))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param("make all", "cat notes.md", id="another program and another file"),
        pytest.param("cat a.log", "cat b.log", id="another file"),
        pytest.param("cd /src && make", "cd /src && cat notes.md", id="the folder alone"),
        pytest.param("pip install a1", "pip show b1", id="another action"),
        pytest.param("go test ./a", "go test ./b", id="another package"),
        pytest.param('{"path": "a.py"}', '{"path": "b.py"}', id="other arguments"),
        pytest.param("head -20 a.log", "head -20 b.log", id="the same number"),
    ],
)
def test_is_another_target(earlier: str, later: str) -> None:
    """A look at something else."""
    assert not is_same_target(step(earlier), step(later))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param("", "", id="the same"),
        pytest.param("make all", "make all 2>&1 | grep x", id="through a filter"),
        pytest.param("make", "sudo make -j4 | tail", id="other flags"),
        pytest.param("cat build.log", "sed -n 1,9p ./build.log", id="another reader of one file"),
        pytest.param("grep -rn load src", "grep -n load src/app.py", id="a file of the folder"),
        pytest.param("make all > out.txt", "grep x out.txt", id="the file that it was written to"),
        pytest.param("go test ./...", "go test", id="all of it"),
        pytest.param('{"path": "a.py"}', '{"path": "a.py", "from": 3}', id="more of one argument"),
        pytest.param('{"path": "a.py"}', "cat a.py", id="by a tool and by the shell"),
    ],
)
def test_is_the_same_target(earlier: str, later: str) -> None:
    """A look at the same thing, whole or in part."""
    assert is_same_target(step(earlier), step(later))


@pytest.mark.parametrize(
    ("command", "saves"),
    [("make", False), ("make 2>/dev/null | tail", False), ("make > out 2>&1", True), ("make | tee out", True)],
)
def test_saving(command: str, saves: bool) -> None:
    """Output that goes to a file."""
    assert is_saving(step(command)) == saves


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("cd /x && TOKEN=abc make all", "make"),
        ("git log -3", "git"),
        ("/opt/x/sk-abcdef0123456789 run", "bash"),
        ('{"path": "secret"}', "bash"),
        ("", "bash"),
    ],
)
def test_names_hold_no_secret(command: str, said: str) -> None:
    """The program if it has a plain name, else the tool."""
    assert name(step(command)) == said
