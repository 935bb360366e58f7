"""What sort of output an observation is."""

from __future__ import annotations

import pytest

from rules_engine.natures import nature, strictest
from rules_engine.types import Nature, Observation


def observe(command: str = "", text: str = "", tool: str = "bash") -> Observation:
    """An observation with nothing but what is judged."""
    return Observation(key="k", tool=tool, command=command, exit_code=None, text=text)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("", "terminal", id="no command is a terminal's"),
        pytest.param("make -j4", "terminal", id="a build is a terminal's"),
        pytest.param("ls -la src", "terminal", id="a listing is a terminal's"),
        pytest.param("pytest -q | tail -20", "terminal", id="a tail of a run is still the run"),
        pytest.param("pytest | grep FAILED", "terminal", id="a filtered run is still the run"),
        pytest.param("docker logs api", "terminal", id="a log is a terminal's"),
        pytest.param("docker logs api | tail -50", "terminal", id="so is its end"),
        pytest.param("cat a.txt | wc -l", "terminal", id="a count of a file is not the file"),
        pytest.param("cat a > b", "terminal", id="what is written to a file is not shown"),
        pytest.param("cat > f.py <<'EOF'\ncat x\nEOF", "terminal", id="the body of a heredoc is not a command"),
        pytest.param("sed -i s/a/b/ f", "terminal", id="an edit in place shows nothing"),
        pytest.param("sudo apt install less", "terminal", id="a package named like a reader is not one"),
        pytest.param("git log --oneline", "terminal", id="a log without patches is a terminal's"),
        pytest.param("git commit -p -m x", "terminal", id="a commit is not a diff"),
        pytest.param("echo 'cat f'", "terminal", id="a quoted command is not run"),
        pytest.param("cat src/a.py", "read", id="cat reads"),
        pytest.param("cd src && sed -n '10,20p' a.py", "read", id="the last command of a chain counts"),
        pytest.param("cat a.py; pytest", "read", id="of several commands the strictest counts"),
        pytest.param('bash -lc "cd x && nl -ba a.py | head -5"', "read", id="a command given to a shell is opened"),
        pytest.param("PAGER=less sudo -E timeout 10s /bin/cat a.py", "read", id="wrappers are taken off"),
        pytest.param("for f in *.py; do cat $f; done", "read", id="a loop's body counts"),
        pytest.param("echo $(cat a.py)", "read", id="a substituted command counts"),
        pytest.param("ssh host 'cat /etc/hosts'", "read", id="a remote command counts"),
        pytest.param("git --no-pager show HEAD~1:src/a.py", "read", id="a file of a revision is a file"),
        pytest.param("ls | xargs head -3", "read", id="xargs runs its argument"),
        pytest.param("git -C repo diff --stat | head", "diff", id="git diff"),
        pytest.param("git log -p -2", "diff", id="git log with patches"),
        pytest.param("diff -u a b", "diff", id="plain diff"),
        pytest.param("rg -n foo src", "search", id="ripgrep searches"),
        pytest.param("cat a.py | grep def", "search", id="a searched file is a search"),
        pytest.param("kubectl logs api-0 | grep order-7", "search", id="so is a searched log"),
        pytest.param("sudo journalctl -u api | grep -v DEBUG | grep order-7", "search", id="searched twice"),
        pytest.param("find . -name '*.py' | xargs grep -n foo", "search", id="find with grep"),
    ],
)
def test_nature_by_command(command: str, expected: Nature) -> None:
    """The command alone tells what it shows."""
    assert nature(observe(command)) == expected


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        pytest.param("bash", "terminal", id="a shell is judged by its command"),
        pytest.param("read_terminal_process", "terminal", id="a terminal that is read is a terminal"),
        pytest.param("TodoWrite", "terminal", id="a tool of no known sort"),
        pytest.param("Read", "read", id="one word"),
        pytest.param("getFileContents", "read", id="camel case"),
        pytest.param("str_replace_editor", "read", id="an editor shows what it edited"),
        pytest.param("mcp__fs__read_text_file", "read", id="a tool behind a server"),
        pytest.param("Grep", "search", id="a search tool"),
    ],
)
def test_nature_by_tool(tool: str, expected: Nature) -> None:
    """A tool's name tells where there is no shell command."""
    assert nature(observe('{"command": "view"}', tool=tool)) == expected


NUMBERED = "".join(f"{n:6d}\tvalue {n}\n" for n in range(40, 60))
SOURCE = "import os\n\n\ndef main():\n    if os.sep:\n        return 1\n    return 2\n\n\nclass Thing:\n    size = 1\n"
HITS = "".join(f"src/part_{n}.c:{n}:  call(thing)\n" for n in range(8))
WARNINGS = "".join(f"src/part_{n}.c:{n}:3: warning: unused thing\n" for n in range(8))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "terminal", id="nothing"),
        pytest.param("Collecting a\nInstalling b\nDone\n" * 4, "terminal", id="a log"),
        pytest.param("[1/3] compile a\n[2/3] compile b\n[done]", "terminal", id="brackets that are not JSON"),
        pytest.param("{" * 100_000 + "}", "terminal", id="nesting beyond what a parser takes"),
        pytest.param(WARNINGS, "terminal", id="compiler messages are not search hits"),
        pytest.param(NUMBERED, "read", id="a numbered listing"),
        pytest.param(SOURCE, "read", id="source code"),
        pytest.param("@shop/cart test: one\n" * 9, "terminal", id="a scoped package is no decorator"),
        pytest.param("step: fetch it\nstep: build it\n" * 9, "terminal", id="lines with a colon, none under another"),
        pytest.param("Building:\n  compiling a\n  compiling b\n" * 9, "terminal", id="a log with headings"),
        pytest.param("x\ndiff --git a/f b/f\n@@ -1,2 +1,2 @@\n-a\n+b\n", "diff", id="a patch among other text"),
        pytest.param(HITS, "search", id="hits with path and line"),
        pytest.param('\n{"a": [1, 2]}\n', "structured", id="a JSON object"),
        pytest.param('{"a": 1}\n{"a": 2}\n', "structured", id="JSON lines"),
        pytest.param("env:\n" + "  - name: a\n    value: 1\n" * 9, "structured", id="YAML"),
        pytest.param("---\n# made\nhosts:\n" + "  - host-1\n" * 9, "structured", id="YAML with little but a list"),
        pytest.param('<?xml version="1.0"?>\n<a/>', "structured", id="XML"),
    ],
)
def test_nature_by_text(text: str, expected: Nature) -> None:
    """The content tells where command and tool do not."""
    assert nature(observe("./run.sh", text)) == expected


def test_a_read_of_json_is_a_read() -> None:
    """A JSON file that is read may be edited next, so the command outranks the content."""
    assert nature(observe("cat package.json", '{"a": 1}')) == "read"


def test_strictest_of_nothing_is_terminal() -> None:
    """Where nothing speaks for protection there is none."""
    assert strictest(()) == "terminal"
