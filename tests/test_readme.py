"""README and the program say the same: commands, options, headings, versions of agents, figures of the first screen."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from gateway.__main__ import main
from gateway.commands import COMMANDS
from gateway.commands.replay import Sums
from gateway.recording.accounts import Accounts, Reported
from memory import Totals

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def section(title: str) -> str:
    """The text under a heading, up to the next of its rank."""
    found = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", README, re.M | re.S)
    assert found is not None
    return found[1]


def rows(title: str) -> list[str]:
    """What stands in backquotes in the first cells of a section's tables, without the marks of a table."""
    cells = re.findall(r"^\| (`.*?`) (?<!\\)\| ", section(title), re.M)
    return [part for cell in cells for part in re.findall(r"`(.*?)`", cell.replace("\\|", "|"))]


def find(*words: str) -> click.Command:
    """The command of this name."""
    command: click.Command = main
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, words
        command = found
    return command


def options(command: click.Command) -> set[str]:
    """All options that it takes."""
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")}


def test_every_command_is_told_and_no_other() -> None:
    """In the table of what there is to use."""
    told = [row.split()[0] for row in rows("Use it") if row.split()[0] in COMMANDS]
    assert sorted(told) == sorted(COMMANDS)


@pytest.mark.parametrize(
    ("row", "before"),
    [
        *((row, ()) for row in rows("Use it") if row.split()[0] in COMMANDS),
        *((row, ("memory",)) for row in rows("Memory") if re.match(r"[a-z|]+( [A-Z[…]|$)", row)),
    ],
)
def test_what_a_row_names_is_there(row: str, before: tuple[str, ...]) -> None:
    """The commands of a row, the commands of these, and their options."""
    first, *rest = row.split()
    for name in first.split("|"):
        command = find(*before, name)
        named = [word for word in rest if "|" in word and word[0].islower()]
        for word in "|".join(named).split("|") if named else ():
            find(*before, name, word)
        assert set(re.findall(r"--[a-z-]+", row)) <= options(command)


def test_links_lead_to_headings() -> None:
    """Every link within the page has its heading."""
    headings = {
        re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)$", README, re.M)
    }
    assert set(re.findall(r"\]\(#(.*?)\)", README)) <= headings


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(set(Totals.__dataclass_fields__), id="all requests"),
        pytest.param(set(Accounts.__dataclass_fields__), id="accounts"),
        pytest.param(set(Reported.__dataclass_fields__), id="what was reported"),
        pytest.param(set(Sums.__dataclass_fields__), id="a replay"),
    ],
)
def test_every_field_of_json_is_told(fields: set[str]) -> None:
    """Whoever reads it by a program finds each name."""
    told = section("Accounts").partition("`--json` prints")[2]
    assert fields - set(re.findall(r"`(\w+)`", told)) == set()


def test_the_agents_of_the_tests_have_their_versions() -> None:
    """The table names the versions that are pinned."""
    pinned = json.loads((ROOT / "tests" / "clients" / "package.json").read_text())["dependencies"]
    for version in pinned.values():
        assert f"| {version}, in the tests" in section("Agents")


def test_the_first_screen_has_the_figures_of_the_table() -> None:
    """What is saved is told once at the beginning, and not otherwise than below."""
    first, _, rest = README.partition("\n## ")
    for figure in re.findall(r"\d+\.\d+ %|\d+\.\d+(?= and)", first.partition("**What it saves.**")[2]):
        assert figure.removesuffix(" %") in rest
