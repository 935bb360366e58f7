"""`audit`: every rewrite can be listed, read, checked and taken away."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.commandline import invoke


def change(data: Path, sql: str) -> None:
    """Change the archive behind its back."""
    with closing(sqlite3.connect(data / "archive.sqlite")) as database:
        database.execute(sql)
        database.commit()


@pytest.mark.parametrize("words", [["list"], ["show", "1"], ["verify"], ["export"]], ids=" ".join)
def test_nothing_is_recorded(tmp_path: Path, words: list[str]) -> None:
    """Each command says where it looked."""
    result = invoke("audit", *words, "--data", tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path}: nothing is recorded here yet" in result.stderr


def test_an_unknown_rewrite(data: Path) -> None:
    """An id that is not on record is refused."""
    result = invoke("audit", "show", "999", "--data", data)
    assert result.exit_code == 2
    assert "no rewrite has the id 999" in result.stderr


def test_a_session_without_rewrites(data: Path) -> None:
    """An empty list is said to be empty, on standard error."""
    result = invoke("audit", "list", "--session", "nix", "--data", data)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Nothing was rewritten yet.\n")


def test_list_is_newest_first(data: Path) -> None:
    """The newest rewrites come first, as many as asked for."""
    ids = [line.split()[0] for line in invoke("audit", "list", "--data", data).stdout.splitlines()]
    assert ids[0] == "ID"
    assert ids[1:] == [str(number) for number in range(len(ids) - 1, 0, -1)]
    assert len(invoke("audit", "list", "--limit", "1", "--data", data).stdout.splitlines()) == 2


def test_show_is_a_diff(data: Path) -> None:
    """What was sent and what was forwarded, line by line, with the rules that did it."""
    shown = invoke("audit", "show", "1", "--data", data).stdout
    assert "Command    cat -n stock/shelf.py\n" in shown
    assert "tokens by gutter v" in shown
    assert "\n-     1\t" in shown
    assert "\n+1\t" in shown


def test_forgotten_texts(data: Path) -> None:
    """What was forgotten is said to be; the facts stay."""
    change(data, "UPDATE texts SET data = NULL, salt = NULL WHERE rewrite = 1")
    shown = invoke("audit", "show", "1", "--data", data).stdout
    assert "Command    forgotten\n" in shown
    assert shown.endswith("The texts were forgotten; the seal stays.\n")


def test_verify(data: Path) -> None:
    """A record that is as it was passes; one that was changed does not, and the exit code says so."""
    whole = invoke("audit", "verify", "--data", data)
    assert whole.exit_code == 0
    assert "all as they were recorded." in whole.stdout
    change(data, """UPDATE rewrites SET facts = replace(facts, '"tokens_after":', '"tokens_after":1') WHERE seq = 2""")
    changed = invoke("audit", "verify", "--data", data)
    assert changed.exit_code == 1
    assert "rewrite 2" in changed.stdout


def test_export(data: Path, tmp_path: Path) -> None:
    """Every rewrite as a line of JSON, to standard output or to a file."""
    rows = [json.loads(line) for line in invoke("audit", "export", "--data", data).stdout.splitlines()]
    assert [row["id"] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    assert rows[0]["texts"]["before"].startswith("     1\t")
    assert invoke("audit", "export", "-o", tmp_path / "out", "--data", data).stdout == ""
    assert [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()] == rows
