"""`run`: the agent has the terminal, its exit code counts, and what was saved is told at the end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.commands.run import _summary
from gateway.providers.scripted import Scripted
from gateway.scenario import Scenario
from gateway.serving import serving
from memory import Totals

AGENT = """
import json, os, sys, urllib.request
listing = "".join(f"{n:6}\\tname_{n} = {n}\\n" for n in range(1, 200))
messages = [{"role": "user", "content": "go " * 2000}]
for n in range(2):
    call = {"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": '{"command": "cat -n x"}'}}
    messages.append({"role": "assistant", "tool_calls": [call]})
    messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": listing})
    body = json.dumps({"model": "gpt-5.1", "messages": messages}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, body, {"content-type": "application/json"})).read()
print(url)
sys.exit(7)
"""


def totals(
    requests: int, rewrites: int = 0, *, model: str = "m", ended: str = "completed", kept: int = 0, **accounts: object
) -> Totals:
    """Sums of which most is nothing."""
    return Totals(
        requests=requests,
        sessions=requests,
        retries=0,
        rewrites=rewrites,
        outcomes={ended: requests},
        kept={"no gain": kept} if kept else {},
        signals={},
        accounts=accounts,
        models={model: {"requests": requests, "accounts": accounts}},
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param(
            totals(0),
            "nothing was saved: no request came by. Does x read the variables that `taco-gateway env` prints?",
            id="nobody came",
        ),
        pytest.param(
            totals(3, raw_tokens=9, forwarded_tokens=9),
            "nothing was saved in 3 requests: there was no tool result.",
            id="nothing to save",
        ),
        pytest.param(
            totals(3, kept=2, raw_tokens=9, forwarded_tokens=9),
            "nothing was saved in 3 requests: tool results stay as they came (2 no gain).",
            id="nothing saved",
        ),
        pytest.param(
            totals(2, model=""),
            "nothing was saved: none of the 2 requests that came by was to a model.",
            id="questions beside the conversation",
        ),
        pytest.param(
            totals(2, ended="failed", raw_tokens=9, forwarded_tokens=9),
            "nothing was saved: 2 requests, and none was answered well; `taco-gateway doctor` looks for what is wrong.",
            id="all failed",
        ),
        pytest.param(
            totals(1, 1, raw_tokens=1000, forwarded_tokens=900),
            "100 of 1,000 prompt tokens saved (−10.0 %) in 1 request; 1 tool result rewritten.",
            id="no price",
        ),
        pytest.param(
            totals(2, 1, raw_tokens=1000, forwarded_tokens=900, cost_raw=0.02, cost_forwarded=0.015),
            "100 of 1,000 prompt tokens saved (−10.0 %), $0.0050 of $0.0200 at cached prices (−25.0 %)"
            " in 2 requests; 1 tool result rewritten.",
            id="tokens and money",
        ),
    ],
)
def test_summary(found: Totals, said: str) -> None:
    """Where nothing was saved that is said, and why."""
    assert _summary(found, "x") == said


@pytest.mark.parametrize(
    ("agent", "code", "said"),
    [
        pytest.param(["no-such-agent"], 127, "no-such-agent cannot be started: No such file", id="not found"),
        pytest.param(["/"], 126, "/ cannot be started: Permission denied", id="not to be run"),
        pytest.param(["sh", "-c", "exit 3"], 3, "no request came by. Does sh read", id="its own exit code"),
        pytest.param(["sh", "-c", "kill -KILL $$"], 137, "no request came by", id="killed"),
    ],
)
async def test_exit_codes(tmp_path: Path, taco: Any, agent: list[str], code: int, said: str) -> None:
    """The exit code is the one that a shell would give for the agent."""
    ended = await taco("run", "--data", tmp_path, "--", *agent)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err


async def test_a_key_pressed_once_more_at_the_end(tmp_path: Path, taco: Any) -> None:
    """Many agents want Ctrl-C twice: one that comes after the agent's end costs neither its exit code nor the figures."""
    late = "(for n in 1 2 3 4 5 6 7 8; do sleep 0.05; kill -INT $PPID; done) & exit 3"
    ended = await taco("run", "--data", tmp_path, "--", "sh", "-c", late)
    assert ended.code == 3
    assert "no request came by" in ended.err


async def test_an_agent_and_what_it_saved(tmp_path: Path, taco: Any) -> None:
    """The agent's output is its own; the savings stand on standard error."""
    async with serving(Scripted(Scenario())) as upstream:
        upstream_option = ("--upstream", f"{upstream}/v1")
        ended = await taco("run", "--data", tmp_path, *upstream_option, "--", sys.executable, "-c", AGENT)
    assert ended.code == 7
    assert ended.out.startswith("http://127.0.0.1:")
    assert ended.out.count("\n") == 1
    assert "prompt tokens saved (−" in ended.err
    assert "2 tool results rewritten" in ended.err


async def test_a_running_gateway_is_used(taco: Any, start: Any) -> None:
    """No second gateway is started, and options that would need one are refused."""
    async with serving(Scripted(Scenario())) as upstream:
        gateway = await start("--upstream", f"{upstream}/v1")
        ended = await taco("run", "--data", gateway.data, "--", sys.executable, "-c", AGENT)
        refused = await taco("run", "--data", gateway.data, "--upstream", upstream, "--", "true")
    assert ended.out == f"{gateway.url}/v1/chat/completions\n"
    assert "in 2 requests; 2 tool results rewritten" in ended.err
    assert refused.code == 2
    assert f"a gateway serves this folder at {gateway.url}" in refused.err


def command(folder: Path, name: str, script: str) -> Path:
    """A command that is called like an agent."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder / name


async def test_an_agent_that_is_not_served(tmp_path: Path, taco: Any) -> None:
    """It is started all the same, after saying so."""
    ended = await taco("run", "--data", tmp_path / "data", "--", command(tmp_path / "bin", "gemini", "exit 3"))
    assert ended.code == 3
    assert "gemini: it speaks the Gemini API, which is not served here" in ended.err


async def test_options_stand_behind_the_name(tmp_path: Path, taco: Any) -> None:
    """Before the agent's own, which may begin with the name of a command."""
    codex = command(tmp_path / "bin", "codex", 'printf "%s\\n" "$@"')
    ended = await taco("run", "--data", tmp_path / "data", "--", codex, "exec", "-c", "x=1", "do it")
    first, second, *rest = ended.out.splitlines()
    assert (first, rest) == ("-c", ["exec", "-c", "x=1", "do it"])
    assert second.startswith('openai_base_url="http://127.0.0.1:')


async def test_options_stand_behind_the_package(tmp_path: Path, taco: Any) -> None:
    """Where something else starts the agent, the agent's options are not that one's."""
    npx = command(tmp_path / "bin", "npx", 'printf "%s\\n" "$@"')
    ended = await taco("run", "--data", tmp_path / "data", "--", npx, "-y", "@openai/codex", "exec")
    yes, package, option, value, rest = ended.out.splitlines()
    assert (yes, package, option, rest) == ("-y", "@openai/codex", "-c", "exec")
    assert value.startswith('openai_base_url="http://127.0.0.1:')


async def test_files_are_there_while_the_agent_runs(tmp_path: Path, taco: Any) -> None:
    """In a folder that nobody else may read, beside links to what the person has; then they are gone, and the person's
    own are as they were, with what the agent wrote into them."""
    own = tmp_path / ".cline" / "data"
    (own / "settings").mkdir(parents=True)
    providers = '{"providers": {"openai-compatible": {"settings": {"baseUrl": "http://x/v1", "model": "m"}}}}'
    (own / "settings" / "providers.json").write_text(providers)
    (own / "settings" / "other.json").write_text("{}")
    (own / "sessions").mkdir()
    script = """
test "$1" = --data-dir && stat -c %a "$2" && cat "$2/settings/providers.json" "$2/settings/other.json"
echo new > "$2/sessions/new"; echo "$2" > folder"""
    cline = command(tmp_path / "bin", "cline", f"cd {tmp_path}\n{script}")
    ended = await taco("run", "--data", tmp_path / "data", "--", cline, "do it")
    assert ended.code == 0
    assert ended.out.startswith("700\n")
    assert '"baseUrl": "http://127.0.0.1:' in ended.out
    assert ended.out.endswith("{}")
    assert (own / "settings" / "providers.json").read_text() == providers
    assert (own / "sessions" / "new").read_text() == "new\n"
    assert not (tmp_path / (tmp_path / "folder").read_text().strip()).exists()


ASKS = """
import json, os, urllib.request
for name, path, headers in (
    ("OPENAI_BASE_URL", "/chat/completions", {}),
    ("ANTHROPIC_BASE_URL", "/v1/messages", {"anthropic-version": "2023-06-01"}),
):
    model = "claude-x" if headers else "gpt-x"
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "go"}], "max_tokens": 9}).encode()
    headers["content-type"] = "application/json"
    urllib.request.urlopen(urllib.request.Request(os.environ[name] + path, body, headers)).read()
"""


async def test_requests_go_on_to_where_the_agent_was_set(tmp_path: Path, taco: Any) -> None:
    """Each API's to the URL that the person's variables named for it."""
    one, other = Scripted(Scenario()), Scripted(Scenario())
    async with serving(one) as openai, serving(other) as anthropic:
        agent = ("--", sys.executable, "-c", ASKS)
        own = {"OPENAI_BASE_URL": f"{openai}/v1", "ANTHROPIC_BASE_URL": anthropic}
        ended = await taco("run", "--data", tmp_path, *agent, **own)
    assert ended.code == 0, ended.err
    assert [request.path for request in one.received] == ["/v1/chat/completions"]
    assert [request.path for request in other.received] == ["/v1/messages"]


async def test_a_running_gateway_goes_where_it_was_told_to(tmp_path: Path, taco: Any, start: Any) -> None:
    """If the agent's settings led to another place, that is said."""
    async with serving(Scripted(Scenario())) as upstream:
        gateway = await start("--upstream", f"{upstream}/v1")
        said = await taco("run", "--data", gateway.data, "--", "true", OPENAI_BASE_URL="http://own/v1")
        silent = await taco("run", "--data", gateway.data, "--", "true", OPENAI_BASE_URL=f"{gateway.url}/v1")
        other = await taco("run", "--data", gateway.data, "--", "true", OPENAI_BASE_URL="http://a:b@own/v1")
    assert f"true was set to http://own/v1; the gateway at {gateway.url} goes where it was told to" in said.err
    assert "was set to" not in silent.err
    assert other.code == 0, other.err


async def test_signals_reach_the_agent(tmp_path: Path, taco: Any) -> None:
    """Whoever stops the command stops the agent, which decides what that means."""
    waiting = "import os, signal, time; signal.signal(signal.SIGTERM, lambda *_: os._exit(9)); "
    told = waiting + "os.kill(os.getppid(), signal.SIGTERM); time.sleep(30)"
    ended = await taco("run", "--data", tmp_path, "--", sys.executable, "-c", told)
    assert ended.code == 9
    assert "no request came by" in ended.err
