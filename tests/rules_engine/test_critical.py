"""Lines that state a failure, a result or an end are found, with the blocks that belong to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.critical import Readings, criticals, failures, is_failing, protected, verdicts
from rules_engine.types import Observation

HARMLESS = r"""
12 passed, 0 failed
12 passed in 0.3s
0 errors, 0 warnings
found 0 vulnerabilities
Found 0 errors in 3 files
No errors found
test result: ok. 3 passed; 0 failed; 0 ignored
Tests run: 3, Failures: 0, Errors: 0, Skipped: 0
ok=3 changed=1 unreachable=0 failed=0
# fail 0
Error: (none)
{"errors": [], "error": null}
tests/test_errors.py::test_error_handling PASSED [ 33%]
test errors::it_fails ... ok
✓ returns an error when missing (3 ms)
--- PASS: TestErrorPath (0.00s)
   Compiling thiserror v1.0.40
Collecting exceptiongroup
[12/50] Building C object src/error.c.o
    raise ValueError("bad")
    except ValueError as error:
        throw new Error("failed to load");
  if (err != null) {
console.error("failed to load")
    def on_error(self):
# returns an error when it fails
// error handling
  --fail-fast   stop on the first error
gcc -Werror -c error.c -o error.o
E:\projects\x
Passed!  - Failed:     0, Passed:     3
src/errors.ts
-rw-r--r-- 1 u u 3 Jan 1 00:00 error.log
drwxr-xr-x 2 u u 3 Jan 1 00:00 errors
errors
9fceb02 fix: a failing test
Already up to date.
nothing to commit, working tree clean
Process exited with code 0
HTTP/1.1 200 OK
All checks passed!
PASS src/error.test.js
Downloading failure-1.0.tar.gz (3 kB)
"""

FAILING = """
AssertionError
ZeroDivisionError
IndexError
ValueError: bad thing
E       assert 1 == 2
--- FAIL: TestAdd (0.00s)
FAIL	example.com/x	0.003s
FAIL
./a.go:3:2: undefined: foo
panic: runtime error: index out of range [3]
error[E0308]: mismatched types
thread 'main' panicked at src/main.rs:2:5:
src/a.ts(3,4): error TS2322: Type 'x' is not assignable
  3:5  error  'x' is not defined  no-undef
npm ERR! code ELIFECYCLE
npm error code ENOENT
Segmentation fault (core dumped)
Killed
a.c:(.text+0x5): undefined reference to `foo'
ssh: connect to host x port 22: Connection timed out
denied: requested access to the resource is denied
CONFLICT (content): Merge conflict in a.txt
{"level":"error","msg":"boom"}
exit status 1
make: *** [Makefile:3: all] Error 1
Process exited with code 2
bash: foo: command not found
ls: cannot access 'x': No such file or directory
fatal: not a git repository
E: Unable to locate package foo
3 failed, 12 passed in 0.3s
10 passed, 0 failed, 1 error
Test Suites: 1 failed, 1 passed, 2 total
FAILED tests/test_a.py::test_b - assert 1 == 2
  ● math › adds
not ok 3 - adds
BUILD FAILED
[ERROR] COMPILATION ERROR :
Exception in thread "main" java.lang.NullPointerException
java.lang.IllegalStateException
ORA-00942: table or view does not exist
\x1b[31merror\x1b[0m: bad
HTTP/1.1 500 Internal Server Error
curl: (7) Failed to connect to localhost port 80
Error: listen EADDRINUSE: address already in use :::3000
a.py:3:5: F401 'os' imported but unused
** (RuntimeError) oops
a.rb:3:in `foo': undefined method (NoMethodError)
tests/a.py ..F..                                  [100%]
zsh: no matches found: *.x
docker: exited with code 137
unreachable=0 failed=1
expected 3 but got 4
[2024-01-01 00:00:00] app.ERROR: boom
✗ fails to load
Test 0 failed
Failed!  - Failed:     1, Passed:     3
OOMKilled
Fehler: Datei nicht gefunden
Erreur : fichier introuvable
Error: no existe el fichero
Błąd: brak pliku
ошибка: файл не найден
错误：找不到文件
エラー: ファイルが見つかりません
오류: 파일을 찾을 수 없습니다
خطأ: الملف غير موجود
"""

ENDING = """
12 passed, 0 failed
0 errors, 0 warnings
Already up to date.
nothing to commit, working tree clean
Process exited with code 0
All checks passed!
Successfully installed errors-1.0
BUILD SUCCESSFUL in 3s
ok  	example.com/x	0.003s
test result: ok. 3 passed; 0 failed; 0 ignored
Ran 3 tests in 0.001s
TOTAL     120      4    97%
 1 file changed, 3 insertions(+)
remote: Total 3 (delta 0) and more
0 upgraded, 5 newly installed, 0 to remove and 3 not upgraded.
warning: unused variable
✓ built in 3.1s
Saved to out.txt
Listening on http://localhost:3000
npm warn deprecated x
Score: 0.93
Usage: foo [options]
Vorgang erfolgreich abgeschlossen
操作成功完成
"""

PASSING = """
Collecting numpy
Unpacking libfoo (1.2) ...
remote: Enumerating objects: 5, done.
Receiving objects: 100% (12/12), 4.00 KiB | 4.00 MiB/s, done.
remote: Total 12 (delta 3), reused 10 (delta 2), pack-reused 0
Reading package lists... Done
gcc -O2 -c a.c -o a.o
"""


def rows(block: str) -> list[str]:
    """The lines of a table above."""
    return block.strip("\n").replace("\\x1b", "\x1b").split("\n")


@pytest.mark.parametrize("line", rows(HARMLESS))
def test_a_harmless_line_is_no_failure(line: str) -> None:
    """Counts of nothing, names, code, comments and passing tests state no failure."""
    assert failures([line]) == frozenset()


@pytest.mark.parametrize("line", rows(FAILING))
def test_a_failure_is_found(line: str) -> None:
    """A failure is found whatever tool or language states it, among other lines and alone."""
    assert failures([line]) == {0}
    assert failures(["gcc a.c", line, "gcc b.c"]) == {1}


@pytest.mark.parametrize("line", rows(PASSING))
def test_progress_is_no_verdict(line: str) -> None:
    """Steps on the way are not results."""
    assert verdicts([line, "x"]) == {1}


@pytest.mark.parametrize("line", rows(ENDING))
def test_a_verdict_is_found(line: str) -> None:
    """A result or an end is found wherever it stands."""
    assert 0 in verdicts([line, "x"])


@pytest.mark.parametrize("line", rows(FAILING) + rows(ENDING) + rows(HARMLESS)[:12])
def test_what_counts_is_protected(line: str) -> None:
    """A line that states a failure or a verdict is one of the two, so that no rule drops it."""
    assert 0 in criticals([line, "x"]) | verdicts([line, "x"])


def test_the_last_words_are_a_verdict() -> None:
    """How an output ends is kept, and blank lines are no end."""
    assert verdicts(["a", "b", "", ""]) == {1}
    assert verdicts(["", ""]) == frozenset()


BLOCKS = [
    pytest.param("a\nb", [], id="nothing failed"),
    pytest.param("a\nerror: x\nb", ["error: x"], id="one line"),
    pytest.param(
        "ok\nTraceback (most recent call last):\n  File 'a'\n    x()\nOddCustomName\nnext",
        ["Traceback (most recent call last):", "  File 'a'", "    x()", "OddCustomName"],
        id="a trace and the line that names it",
    ),
    pytest.param(
        "In file included from a.h:1:\na.c: In function 'f':\na.c:3:5: error: bad\n   3 |  x\n     |  ^\ngcc b.c",
        ["In file included from a.h:1:", "a.c: In function 'f':", "a.c:3:5: error: bad", "   3 |  x", "     |  ^"],
        id="a compiler's snippet and where it is",
    ),
    pytest.param(
        "a.c:3:5: error: bad\nint x = ;\n        ^\ngcc b.c",
        ["a.c:3:5: error: bad", "int x = ;", "        ^"],
        id="a caret",
    ),
    pytest.param(
        "/a.js:3\nfoo(;\n    ^\n\nSyntaxError: Unexpected token\n    at a\n    at b\n\nNode v20",
        ["/a.js:3", "foo(;", "    ^", "", "SyntaxError: Unexpected token", "    at a", "    at b"],
        id="a caret before its message",
    ),
    pytest.param(
        "error[E1]: no\n --> a.rs:1\n  |\n1 | x\n  | ^ y\n  = note: z\n\nCompiling b",
        ["error[E1]: no", " --> a.rs:1", "  |", "1 | x", "  | ^ y", "  = note: z"],
        id="a block that goes on to the blank line",
    ),
    pytest.param(
        "panic: no\n\ngoroutine 1 [running]:\nmain.f()\n\t/a.go:3\nmain.g()\n\t/a.go:4\n\nrest",
        ["panic: no", "goroutine 1 [running]:", "main.f()", "\t/a.go:3", "main.g()", "\t/a.go:4"],
        id="a stack of Go",
    ),
    pytest.param(
        "=== RUN   TestA\n    a_test.go:5: got 1\n    a_test.go:6: want 2\n--- FAIL: TestA (0.00s)\n=== RUN   TestB",
        ["    a_test.go:5: got 1", "    a_test.go:6: want 2", "--- FAIL: TestA (0.00s)"],
        id="what a test of Go said before it failed",
    ),
    pytest.param(
        "java.io.IOException: no\n\tat a.B\n\tat a.C\nCaused by: x\n\tat a.D\nrest",
        ["java.io.IOException: no", "\tat a.B", "\tat a.C", "Caused by: x", "\tat a.D"],
        id="a trace of Java with its cause",
    ),
    pytest.param(
        "=== FAILURES ===\n___ test_a ___\n    x = 1\n\nlog\n=== slow ===\nrest",
        ["=== FAILURES ===", "___ test_a ___", "    x = 1", "", "log"],
        id="a report's failures up to the next heading",
    ),
    pytest.param("Error:\nthe disk is gone\nb", ["Error:", "the disk is gone"], id="a message on the next line"),
    pytest.param(
        "  ● suite › test\n\n    why\n\n      at x\n\n  ✓ other",
        ["  ● suite › test", "", "    why", "", "      at x"],
        id="an indented report with blank lines",
    ),
]


@pytest.mark.parametrize(("text", "expected"), BLOCKS)
def test_a_failure_is_kept_with_its_block(text: str, expected: list[str]) -> None:
    """What explains a failure belongs to it, and what follows does not."""
    lines = text.split("\n")
    assert [lines[at] for at in sorted(criticals(lines))] == expected


@given(st.lists(st.sampled_from([*rows(FAILING), *rows(HARMLESS), *rows(ENDING), "", "  x", "\ta", "   ^", "\ud800"])))
def test_blocks_hold_their_failures(lines: list[str]) -> None:
    """Whatever stands around them, failures are critical, and every position is a line's."""
    assert failures(lines) <= criticals(lines) <= frozenset(range(len(lines)))
    assert verdicts(lines) <= frozenset(range(len(lines)))


def test_a_block_has_an_end() -> None:
    """Ten thousand indented lines after an error are not all its block."""
    assert len(criticals(["error: x", *["  y"] * 10_000])) < 1000


@pytest.mark.parametrize(
    ("exit_code", "command", "text", "failing"),
    [
        pytest.param(0, "make", "error: x", False, id="exit code 0 outranks words"),
        pytest.param(0, "make && ls", "error: x", False, id="so it does for a chain"),
        pytest.param(None, "pytest", "12 passed, 0 failed", False, id="a passing run"),
        pytest.param(None, "cat a.py", "ValueError: in a docstring", False, id="a file that names an error"),
        pytest.param(None, "", "", False, id="nothing at all"),
        pytest.param(1, "make", "fine", True, id="any other exit code is a failure"),
        pytest.param(0, "make | tail", "error: x", True, id="a pipeline's exit code is not trusted"),
        pytest.param(0, "", "error: x", True, id="nor is that of an unknown command"),
        pytest.param(None, "make", "a\nerror: x", True, id="without an exit code the words count"),
    ],
)
def test_is_failing(exit_code: int | None, command: str, text: str, failing: bool) -> None:
    """Whether a command failed is known by its exit code, else by what it says."""
    observation = Observation(key="k", tool="bash", command=command, exit_code=exit_code, text=text)
    assert is_failing(observation, text.split("\n")) is failing


ITEMS = [f"(pass) returns false when part {word} fails" for word in "abcdefgh"]


@pytest.mark.parametrize(
    ("lines", "command", "stays"),
    [
        pytest.param(["x", "y"], "", ["y"], id="only the last line of a plain output"),
        pytest.param(ITEMS[:7], "", ITEMS[:7], id="a short list of items that passed"),
        pytest.param([*ITEMS, "8 pass"], "bun test", ["8 pass"], id="a long list leaves its result"),
        pytest.param([*ITEMS, "8 pass"], "bun test --verbose", [*ITEMS, "8 pass"], id="every item was asked for"),
        pytest.param(["✓ plain item"] * 8, "vitest -v", ["✓ plain item"] * 8, id="even those that state nothing"),
        pytest.param(
            [*ITEMS, "(pass) handles errors", "(fail) sums", "8 pass"],
            "bun test",
            ["(pass) handles errors", "(fail) sums", "8 pass"],
            id="an item with a word that is looked for, and one that failed",
        ),
    ],
)
def test_items_of_a_long_list_that_passed_may_go(lines: list[str], command: str, stays: list[str]) -> None:
    """Their names speak of failures, but state none; who asks for every item gets it."""
    assert [lines[at] for at in sorted(protected(lines, command))] == stays


ROWS = [f"harbor-{n}   v{n}   {n}MB" for n in range(3)]


@pytest.mark.parametrize(
    ("lines", "stays"),
    [
        pytest.param(["Copying A   B   C", *ROWS, "end"], ["end"], id="no heading"),
        pytest.param(["BUILD OF IT", *ROWS, "end"], ["BUILD OF IT", "end"], id="a sentence in capitals"),
        pytest.param(["NAME   SIZE", *ROWS, "end"], ["end"], id="two columns may be anything"),
        pytest.param(["NAME   TAG   SIZE", *ROWS, "", "x", "end"], ["NAME   TAG   SIZE", *ROWS, "end"], id="to a blank line"),
        pytest.param(["x", "ID\tMEM %\tI/O", *ROWS], ["ID\tMEM %\tI/O", *ROWS], id="to the end"),
    ],
)  # fmt: skip
def test_rows_of_a_table_stay(lines: list[str], stays: list[str]) -> None:
    """Whoever prints a heading in capitals was asked for what stands under it."""
    assert [lines[at] for at in sorted(protected(lines))] == stays


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("Creating harbor-1", False),
        ("Creating a port of harbor", False),
        ("10:00:01 starting job id=77", False),
        ("Fetching part id=77", False),
        ("Creating server harbor-1 id srv-77aa", True),
        ("Submitting job: id=4411", True),
        ("Starting preview on port 5174", True),
        ("aws_vpc.a: Creation complete after 2s [id=vpc-0ab1]", True),
    ],
)
def test_what_the_next_command_will_name_stays(line: str, stays: bool) -> None:
    """The id, port or address of something that was made, where it is no event of a log."""
    assert (1 in protected(["x", line, "end"])) is stays


def test_a_decision_reads_a_text_once() -> None:
    """Rules, pointers and the check of the result ask for the same lines."""
    readings = Readings("make")

    assert readings.of("a\nerror: b") is readings.of("a\nerror: b")
    assert readings.of("a\nerror: b").failures == {1}
    assert readings.of("a").failures == frozenset()


@pytest.mark.parametrize(
    "line",
    [
        "…62693 chars truncated…",
        "...[truncated 40147 chars]...",
        "... [CONTENT TRUNCATED] ...",
        "[... 20 lines skipped ...]",
        "(previous 29001 lines truncated)",
        "[Showing lines 336-1074 of 1074 (50.0KB limit)]",
        "<response clipped>",
        "[... output limited to 10000 bytes; 70 interior bytes omitted ...]",
        "Warning: truncated output (original token count: 18174)",
    ],
)
def test_what_an_agent_left_out_itself(line: str) -> None:
    """Nobody would know that something is missing if the line that says so went."""
    assert 3 in protected(["Collecting x"] * 3 + [line] + ["Collecting y"] * 3 + ["end"])
