"""`env`: lines that a shell takes as they are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gateway.providers.scripted import Scripted
from gateway.scenario import Scenario
from gateway.serving import serving
from tests.commandline import invoke

URL = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def _nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person has set nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "CODEX_HOME", "OPENCODE_CONFIG_CONTENT"):
        monkeypatch.delenv(name, raising=False)


def test_an_unknown_agent(tmp_path: Path) -> None:
    """The known ones are listed, and nothing is printed that a shell could run."""
    result = invoke("env", "emacs", "--data", tmp_path)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "emacs is not known; known are codex, claude, opencode, qwen, mini" in result.stderr


def test_no_gateway(tmp_path: Path) -> None:
    """What to do is said; and the shell exports nothing."""
    result = invoke("env", "qwen", "--data", tmp_path)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "taco-gateway up" in result.stderr


@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}/v1", f"{URL}/v1/"])
def test_a_shell_takes_it(url: str, tmp_path: Path) -> None:
    """The URL is understood in whichever form it is given, and values keep their quotes."""
    printed = invoke("env", "opencode", "--url", url, "--data", tmp_path).stdout
    script = f'{printed}\nprintf "%s|%s|%s" "$OPENAI_BASE_URL" "$ANTHROPIC_BASE_URL" "$OPENCODE_CONFIG_CONTENT"'
    got = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True).stdout.split("|")

    assert got[:2] == [f"{URL}/v1", URL]
    assert json.loads(got[2])["provider"]["openai"]["options"] == {"baseURL": f"{URL}/v1"}


@pytest.mark.parametrize(
    ("agent", "comment"),
    [
        ("codex", f"# start it as: codex -c 'openai_base_url=\"{URL}/v1\"'"),
        ("pi", "# it needs a file besides, which `taco-gateway run -- pi` makes for the time of the run"),
        ("gemini", "# it speaks the Gemini API, which is not served here: its requests do not come by"),
        (
            "vibe",
            "# it was set to https://api.mistral.ai/v1: the gateway has to go there then (--upstream, or config.yaml)",
        ),
    ],
    ids=["options", "files", "notes", "another upstream"],
)
def test_what_is_no_variable_is_a_comment(agent: str, comment: str, tmp_path: Path) -> None:
    """Options, files, notes, and where the gateway has to lead."""
    printed = invoke("env", agent, "--url", URL, "--data", tmp_path).stdout.splitlines()

    assert comment in printed
    assert all(line.startswith(("export ", "# ")) for line in printed)


async def test_the_gateway_that_runs_is_found(taco: Any, start: Any) -> None:
    """As `run` finds it."""
    async with serving(Scripted(Scenario())) as upstream:
        gateway = await start("--upstream", f"{upstream}/v1")
        ended = await taco("env", "qwen", "--data", gateway.data)

    assert ended.out == (
        f"export OPENAI_BASE_URL={gateway.url}/v1\n"
        f"export OPENAI_API_BASE={gateway.url}/v1\n"
        f"export ANTHROPIC_BASE_URL={gateway.url}\n"
    )
