"""`memory`: sessions are found, shown, proved, archived, checked, taken away, restored and forgotten."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.__main__ import main
from tests.commandline import invoke
from tests.gateway.remembered import GOING, LIVE, NAME, OLD, remember
from tests.memory.L4_raw_sessions.talks import Talks


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """A folder with memories."""
    return remember(tmp_path / "data")


def ask(talks: Talks, *words: str) -> str:
    """What a command prints; it succeeds."""
    result = invoke("memory", *words, "--data", talks.root)
    assert result.exit_code == 0, result.stderr
    return result.stdout


EVERY = (
    ["search", "word"],
    ["show", "x"],
    ["why", "L2:x"],
    ["run"],
    ["run", "--dry-run"],
    ["verify"],
    ["export"],
    ["restore", "x"],
    ["forget", "x", "--yes"],
    ["redact"],
    ["status"],
    ["mcp"],
    ["index"],
    ["fact", "list"],
    ["sop", "list"],
    ["candidate", "list"],
)


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_nothing_is_remembered(tmp_path: Path, words: list[str]) -> None:
    """Each command says where it looked, and makes nothing there."""
    result = invoke("memory", *words, "--data", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{tmp_path}: nothing is remembered here yet" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        pytest.param(["show", "nix"], "no session is called 'nix'", id="show"),
        pytest.param(["restore", "nix"], "no session is called 'nix'", id="restore"),
        pytest.param(["export", "--session", "nix"], "no session is called 'nix'", id="export"),
        pytest.param(["forget", "nix", "--yes"], "no session is called 'nix'", id="forget"),
        pytest.param(["forget", OLD], "say --yes", id="forget without a word"),
        pytest.param(["why", "L2:nix"], "there is no entry L2:nix", id="why"),
        pytest.param(["why", "L3:../x"], "there is no entry L3:../x", id="a name that is a path"),
        pytest.param(["retain"], "say how long, with --days", id="retain without a limit"),
        pytest.param(["redact", "("], "is no pattern of RE2", id="a broken pattern"),
        pytest.param(["redact", "x*"], "be more exact", id="a pattern that fits everything"),
        pytest.param(["search", "a", "--since", "soon"], "'soon' is no date", id="a date that is none"),
        pytest.param(["status", "--tenant", "nix"], "No such option", id="status is of all tenants"),
        pytest.param(["show", OLD, "--tenant", "nix"], "no tenant is called 'nix'", id="an unknown tenant"),
    ],
)
def test_refusals(talks: Talks, words: list[str], why: str) -> None:
    """Each says in a line what is wrong and what to do."""
    result = invoke("memory", *words, "--data", talks.root)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr


def test_search(talks: Talks) -> None:
    """Live and archived sessions, in Chinese too, each with a pointer that can be shown."""
    assert f"L4:{NAME}#0  user, 1 message in {OLD}" in ask(talks, "search", "数据库")
    assert f"L4:{LIVE}#0" in ask(talks, "search", "connection", "refused")
    assert invoke("memory", "search", "absent", "--data", talks.root).stderr == "No session says that.\n"
    (found,) = json.loads(ask(talks, "search", "needle", "--session", GOING, "--json"))
    assert (found["session"], found["matches"]) == (GOING, 3)
    assert json.loads(ask(talks, "search", "needle", "--since", "2026-05-02", "--role", "assistant", "--json")) == []


def test_show(talks: Talks) -> None:
    """All that was said, each message with its pointer, archived or not; and what rests on it."""
    shown = ask(talks, "show", GOING)
    assert re.findall(r"^(L4:\S+)  (\w+)", shown, re.MULTILINE) == [
        ("L4:2026-05/0501_0148-0501_0148#0", "user"),
        ("L4:2026-05/0501_0148-0501_0148#1", "assistant"),
        (f"L4:{GOING}#2", "tool"),
    ]
    told = json.loads(ask(talks, "show", NAME, "--json"))
    assert told["session"] == OLD
    assert sorted(entry[:3] for entry in told["cited_by"]) == ["L1:", "L2:"]
    assert "=== Prompt ===" in ask(talks, "show", OLD, "--log")


def test_links_run_both_ways(talks: Talks) -> None:
    """From a session to the entry that it proves, and from the entry to the message."""
    fact = next(e for e in json.loads(ask(talks, "show", OLD, "--json"))["cited_by"] if e.startswith("L2:"))
    said = ask(talks, "why", fact)
    assert said.startswith(f"{fact}: the shop keeps its data in one file\n")
    assert f"L4:{OLD}#1, assistant  by gateway" in said
    assert "“in /srv/shop.db”" in said
    assert ask(talks, "why", fact.removeprefix("L2:")) == said
    (proof,) = json.loads(ask(talks, "why", "L1:shop", "--json"))["proofs"]
    assert (proof["pointer"], proof["names"], proof["gone"]) == (f"L4:{OLD}", [NAME], False)
    assert "Stated by a person, without evidence." in ask(talks, "why", "L3:mend_shop")


def test_run(talks: Talks) -> None:
    """A dry run changes nothing; what was used just now is left alone."""
    before = talks.files()
    dry = ask(talks, "run", "--dry-run")
    assert talks.files().keys() == before.keys()
    assert "0 would be archived, 2 left alone" in dry
    assert "in use within the last 7200 s" in dry
    assert json.loads(ask(talks, "run", "--json"))["state"] == "done"


def test_verify(talks: Talks) -> None:
    """An archive that is as it was passes; one that was changed does not, and the exit code says so."""
    assert ask(talks, "verify") == "1 zip, 2 sessions: all as they were archived.\n"
    assert json.loads(ask(talks, "verify", "--rebuild", "--json"))["rebuilt"]["members"] == 2
    path = talks.l4 / "2026-05.zip"
    path.write_bytes(path.read_bytes()[:-40])
    changed = invoke("memory", "verify", "--month", "2026-05", "--data", talks.root)
    assert changed.exit_code == 1
    assert "2026-05.zip" in changed.stdout


def test_export_and_restore(talks: Talks, tmp_path: Path) -> None:
    """Sessions as lines of JSON; one conversation as messages."""
    ask(talks, "export", "-o", str(tmp_path / "out.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["session"] for line in lines] == [OLD, GOING, LIVE]
    (line,) = ask(talks, "export", "--format", "openai", "--session", OLD).splitlines()
    assert json.loads(line) == {"messages": json.loads(ask(talks, "restore", OLD))}
    assert json.loads(ask(talks, "restore", NAME))[0]["content"] == "Where is the 数据库?"


def test_forget(talks: Talks) -> None:
    """The session is gone, what it proved is marked, and a second time finds it forgotten already."""
    fact = next(e for e in json.loads(ask(talks, "show", OLD, "--json"))["cited_by"] if e.startswith("L2:"))
    assert f"{OLD} is forgotten: 1 archived part, 1 raw log" in ask(talks, "forget", NAME, "--yes")
    assert invoke("memory", "show", OLD, "--data", talks.root).exit_code == 2
    assert "evidence gone: the session was forgotten" in ask(talks, "why", fact)
    assert "0 archived parts" in ask(talks, "forget", OLD, "--yes")
    assert not any("数据库".encode() in data or b"shop.db" in data for data in talks.files().values())


def test_what_was_forgotten_comes_back_with_its_log(talks: Talks) -> None:
    """And with it what it proves."""
    fact = next(e for e in json.loads(ask(talks, "show", OLD, "--json"))["cited_by"] if e.startswith("L2:"))
    before, log = ask(talks, "why", fact, "--json"), ask(talks, "show", OLD, "--log")
    ask(talks, "forget", OLD, "--yes")
    raw = talks.root / "temp" / "model_responses" / "model_responses_copy.txt"
    raw.write_text(log)
    os.utime(raw, (talks.now, talks.now))
    talks.archive()
    assert "evidence gone" in ask(talks, "why", fact)
    assert "数据库" in ask(talks, "restore", OLD)
    (proof,) = json.loads(ask(talks, "why", fact, "--json"))["proofs"]
    assert (proof["gone"], proof["role"]) == (False, json.loads(before)["proofs"][0]["role"])


def test_retain(talks: Talks) -> None:
    """What would go is said; then it goes, and what only it proved is marked."""
    fact = next(e for e in json.loads(ask(talks, "show", OLD, "--json"))["cited_by"] if e.startswith("L2:"))
    assert ask(talks, "retain", "--days", "100000") == ""
    assert f"{NAME}  {OLD}" in ask(talks, "retain", "--megabytes", "0")
    assert "evidence gone" not in ask(talks, "why", fact)
    assert f"{NAME}  {OLD}" in ask(talks, "retain", "--days", "1", "--yes")
    assert invoke("memory", "show", OLD, "--data", talks.root).exit_code == 2
    assert "evidence gone" in ask(talks, "why", fact)
    assert "needle three" in ask(talks, "show", GOING)


def test_redact(talks: Talks) -> None:
    """A pattern is taken out of sessions and levels."""
    assert ask(talks, "redact", "needle three").startswith("Changed: 0 archived sessions")
    assert "[redacted:pattern]" in ask(talks, "show", GOING)
    assert "needle three" not in ask(talks, "show", GOING)
    assert json.loads(ask(talks, "redact", "--json"))["members"] == 0


def test_a_person_is_asked_before_a_pattern_goes(talks: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal a slip can still be taken back; a script is not asked."""
    words = ["memory", "redact", "needle", "--data", str(talks.root)]
    monkeypatch.setattr("gateway.commands.memory.is_asked", lambda: True)
    assert CliRunner().invoke(main, words, input="n\n").exit_code == 1
    assert "needle three" in ask(talks, "show", GOING)
    assert CliRunner().invoke(main, words, input="y\n").exit_code == 0
    assert "needle three" not in ask(talks, "show", GOING)


def test_status(talks: Talks) -> None:
    """Runs, sizes and entries of every tenant."""
    other = Talks(talks.root, tenant="other/team")
    other.count = 100
    other.say("theirs", "hello")
    told = json.loads(ask(talks, "status", "--json"))
    assert list(told) == ["first", "other/team"]
    assert (told["first"]["sessions"], told["first"]["archived"], told["first"]["live"]) == (3, 2, 2)
    assert (told["first"]["runs"]["state"], told["other/team"]["runs"]["state"]) == ("done", "")
    shown = ask(talks, "status")
    assert "Tenant      other/team" in shown
    assert "Last run    none yet" in shown
    assert "L4:theirs#0" in ask(talks, "search", "hello", "--tenant", "other/team")
    assert ask(talks, "search", "hello") == ""
