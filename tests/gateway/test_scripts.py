"""Scripts that call tools: which commands they run, and whether that can be known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.calls import command_of
from gateway.scripts import commands_of, is_script
from tests.clients.comparing import RESULTS
from tests.clients.stand_ins import STAND_INS, Ran
from tests.samples import SAMPLES
from tests.service import configured, service
from tests.wire import ask, upstream, whole


@pytest.mark.parametrize(
    "arguments",
    ["", "ls -a", "echo tools", '{"cmd": "ls"}', "cat tools.txt", "my_tools.run()", "echo tools.md (old)"],
    ids=["nothing", "a command", "a word", "JSON", "a file of that name", "another object", "words"],
)
def test_these_are_no_scripts(arguments: str) -> None:
    """They are commands, or no text at all."""
    assert not is_script(arguments)


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        pytest.param("text(await tools.mcp__fs__read({path: 'a.py'}))", "", id="another tool"),
        pytest.param(
            "await tools.exec_command({cmd: 'ls'}); text(await tools.web__run({q: 'x'}))",
            "",
            id="another one beside it",
        ),
        pytest.param("text(await tools['exec_command']({cmd: 'ls'}))", "", id="a name in brackets"),
        pytest.param("const { exec_command: run } = tools; text(await run({cmd: 'ls'}))", "", id="another name for it"),
        pytest.param("text(await tools.write_stdin({session_id: 7, chars: ''}))", "", id="news of an earlier run"),
        pytest.param('const r = await tools.exec_command({cmd: "ls -a"}); text(r.output)', "ls -a", id="one command"),
        pytest.param("text(await tools.exec_command({workdir: '/x', cmd: 'a'}))", "a", id="behind another argument"),
        pytest.param(
            "await Promise.all([tools.exec_command({cmd: 'a'}), tools.exec_command({\n  cmd: `b\nc`})])",
            "a\nb\nc",
            id="several, over several lines",
        ),
        pytest.param(
            r"""tools.exec_command({cmd: "echo \"it's\" a\\b\nls"})""", 'echo "it\'s" a\\b\nls', id="escaped characters"
        ),
        pytest.param(
            "for (const cmd of ['cat a.py', \"make\"]) text(await tools.exec_command({cmd}))",
            "cat a.py\nmake",
            id="what is put together as it runs",
        ),
        pytest.param("tools.exec_command({cmd: make('x')})", "x", id="what a function makes"),
    ],
)
def test_the_commands_of_a_script(script: str, commands: str) -> None:
    """Where more than a shell may have printed there is none: then nothing is known of what an output is."""
    assert command_of("exec", script) == commands_of(script) == commands


LINES = "".join(f"Fetching part_{n} of the set ({n % 30 + 2} MB)\n" for n in range(90))


@pytest.mark.parametrize(
    ("script", "cut"),
    [
        pytest.param("text((await tools.exec_command({cmd: 'cat parts'})).output)", False, id="a file that is read"),
        pytest.param("text(await tools.mcp__fs__read({path: 'parts'}))", False, id="who knows where it is from"),
        pytest.param("text((await tools.exec_command({cmd: 'make'})).output)", True, id="what a build prints"),
    ],
)
async def test_what_a_script_prints_is_judged_by_the_commands_that_it_runs(
    tmp_path: Path, script: str, cut: bool
) -> None:
    """Lines are left out of what a command says while it works, and of nothing else."""
    agent = STAND_INS["codex, whose scripts call tools"]
    items = [*agent.opening, *agent.say("Look.", [("c", "")]), *agent.tell([Ran("c", "", 0, LINES)])]
    items[-2]["input"] = script
    async with (
        upstream(whole(SAMPLES[agent.path].answer("ok"))) as up,
        service(configured(up.url), tmp_path) as gateway,
    ):
        await ask(gateway.url, agent.path, json.dumps({**agent.head, "input": items}).encode())
    *_, text = RESULTS[agent.path](json.loads(up.last.body))
    assert ("lines omitted: echo recall:" in text) is cut
    assert all(f"part_{n} of" in text for n in range(90)) is not cut


def test_a_command_that_speaks_of_tools() -> None:
    """What a shell is given is a command, whatever it says, unless it calls them."""
    assert command_of("bash", '{"command": "grep -n tools.exec_command a.js"}') == "grep -n tools.exec_command a.js"
    assert command_of("Read", "tools.exec_command({cmd: 'ls'})") == "tools.exec_command({cmd: 'ls'})"


@given(st.text(st.sampled_from("tools.exec_command({cmd: '\"`\\\n$})\0\ud800"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    """Whatever it is, in one pass."""
    assert isinstance(command_of("exec", text), str)
    assert isinstance(commands_of(f"tools.exec_command({text}"), str)


def test_quotes_that_do_not_end_cost_no_time() -> None:
    """A million of them."""
    assert commands_of("tools.exec_command(" + "`\\" * 1_000_000) == ""
