"""mini-swe-agent's tags."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import mini_swe_agent


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("<returncode>0</returncode>", id="a code alone"),
        pytest.param("It says <returncode>0</returncode>\n<output>\n</output>", id="a code in the middle"),
        pytest.param("<returncode>0</returncode>\n<output>\nabc", id="no closing tag"),
        pytest.param(
            "<returncode>0</returncode>\n<warning>\nlong\n</warning><output_head>\na\n</output_tail>",
            id="a long form without its middle",
        ),
        pytest.param(
            "<returncode>0</returncode>\n<warning>\nlong\n</warning><output_head>\na\n</output_head>\n<elided_chars>\n3\n</elided_chars></output_tail>",
            id="a long form without its tail",
        ),
        pytest.param(
            "The last command <command>ls</command> timed out and has been killed.\nThe output of the command was:\n <output>\na\n</output>\nWell?",
            id="a killed command that goes on",
        ),
        pytest.param("The last command <command>ls</command> was slow.", id="a killed command without output"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert mini_swe_agent.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code", "command"),
    [
        pytest.param("<returncode>0</returncode>\n<output>\n«a\nb\n»</output>", 0, None, id="output"),
        pytest.param("<returncode>1</returncode>\n<output>\n</output>", 1, None, id="no output"),
        pytest.param("<returncode>-1</returncode>\n<output>\n«</output> inside»</output>", -1, None, id="a signal"),
        pytest.param(
            "<exception>TimeoutExpired</exception>\n<returncode>-1</returncode>\n<output>\n«a»</output>",
            -1,
            None,
            id="an exception before it",
        ),
        pytest.param(
            "<returncode>0</returncode>\n<warning>\ntoo long\n</warning><output_head>\n«a\n»</output_head>\n<elided_chars>\n7 characters elided\n</elided_chars>\n<output_tail>\n«z\n»</output_tail>",
            0,
            None,
            id="a long output",
        ),
        pytest.param(
            "The last command <command>sleep 9\ntrue</command> timed out and has been killed.\nThe output of the command was:\n <output>\n«a\n»</output>\nPlease try another command and make sure to avoid those requiring interactive input.",
            None,
            "sleep 9\ntrue",
            id="a killed command",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None, command: str | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(mini_swe_agent.split, marked, code, command)
