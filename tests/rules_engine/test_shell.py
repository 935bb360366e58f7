"""Shell commands are read as far as judging their output needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.shell import hides_failure, pipelines


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("   \n\n ", [], id="blanks"),
        pytest.param("# cat f", [], id="a comment"),
        pytest.param("X=1", [], id="an assignment alone"),
        pytest.param("cat f > out", [], id="output that goes to a file"),
        pytest.param("cat f &> out", [], id="output and errors that go to a file"),
        pytest.param("cat f 2>/dev/null", [(("cat", "f"),)], id="errors that go away leave the output"),
        pytest.param("cat f 2>&1", [(("cat", "f"),)], id="errors that join the output"),
        pytest.param("cat < in", [(("cat",),)], id="input from a file"),
        pytest.param(
            "cd a && cat b || ls; pwd", [(("cd", "a"),), (("cat", "b"),), (("ls",),), (("pwd",),)], id="a chain"
        ),
        pytest.param("a 1 | b 2 |& c", [(("a", "1"), ("b", "2"), ("c",))], id="a pipeline"),
        pytest.param(
            "echo 'a | b' \"c && d\" e\\ f", [(("echo", "a | b", "c && d", "e f"),)], id="quotes hide operators"
        ),
        pytest.param("'unbalanced cat", [(("'", "unbalanced", "cat"),)], id="a quote that never ends"),
        pytest.param(
            "FOO=1 sudo -E timeout 5s /usr/bin/CAT.exe f", [(("cat", "f"),)], id="wrappers and paths are taken off"
        ),
        pytest.param("bash -lc 'cd a; cat b'", [(("cd", "a"),), (("cat", "b"),)], id="a shell's argument is a command"),
        pytest.param("sh -c \"bash -c 'cat f'\"", [(("cat", "f"),)], id="a shell in a shell"),
        pytest.param("sh script.sh", [(("sh", "script.sh"),)], id="a shell with a script is a program"),
        pytest.param(
            "cat <<'E' | wc\ngrep x\nE\nls", [(("cat",), ("wc",)), (("ls",),)], id="a heredoc's body is no command"
        ),
        pytest.param("cat <<E\nno end", [(("cat",),), (("no", "end"),)], id="a heredoc without an end"),
        pytest.param(
            "for i in a; do cat $i; done", [(("for", "i", "in", "a"),), (("cat", "$i"),), (("done",),)], id="a loop"
        ),
        pytest.param("x=$(cat f)", [(("cat", "f"),)], id="a substitution"),
    ],
)
def test_pipelines(command: str, expected: list[tuple[tuple[str, ...], ...]]) -> None:
    """A command is split where its output may come from another program."""
    assert list(pipelines(command)) == expected


@given(st.text(alphabet="ab '\"\\|&;<>(){}$`\n-=#é\x00", max_size=60))
def test_pipelines_take_anything(command: str) -> None:
    """No command makes the reader fail, and no stage is without words."""
    assert all(words and words[0] for stages in pipelines(command) for words in stages)


@pytest.mark.parametrize(
    ("command", "hidden"),
    [
        pytest.param("make -j4", False, id="one command's exit code is its own"),
        pytest.param("make && make test", False, id="a chain stops where it fails"),
        pytest.param("", True, id="an unknown command says nothing"),
        pytest.param("make | tail", True, id="a pipeline's exit code is its last stage's"),
        pytest.param("make; echo done", True, id="a list's exit code is its last command's"),
        pytest.param("make || true", True, id="a failure may be caught"),
        pytest.param("make\nls", True, id="lines are a list"),
    ],
)
def test_hides_failure(command: str, hidden: bool) -> None:
    """Exit code 0 is trusted only where nothing can have failed before it."""
    assert hides_failure(command) is hidden
