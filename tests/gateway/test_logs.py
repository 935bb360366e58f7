"""Logs: one JSON line an event, no secrets, and no failure of theirs is anybody's."""

from __future__ import annotations

import io
import json

import pytest
import structlog

from gateway import logs

KEY = "sk-" + "proj-4f9QxLr27TzWc81mVb60KdYp35HnSa"


def test_an_event_is_one_line_of_json(log: io.StringIO) -> None:
    """With its level and time."""
    structlog.get_logger("taco").info("exchange", request="r1", status=200, text="a\nb")
    structlog.get_logger("taco").debug("not wanted")
    (line,) = log.getvalue().splitlines()
    said = json.loads(line)

    assert (said["event"], said["request"], said["status"], said["text"], said["level"]) == (
        "exchange",
        "r1",
        200,
        "a\nb",
        "info",
    )
    assert said["timestamp"].endswith("Z")


@pytest.mark.parametrize("name", ["authorization", "api_key", "X-Api-Key", "client_secret", "password", "access_token"])
def test_what_is_named_like_a_secret_is_hidden(name: str, log: io.StringIO) -> None:
    """Whatever it holds."""
    structlog.get_logger("taco").info("x", **{name: "hunter2hunter2"})
    assert "hunter2" not in log.getvalue()


def test_numbers_of_tokens_are_no_secrets(log: io.StringIO) -> None:
    """They are what the log is read for."""
    structlog.get_logger("taco").info("x", tokens=7, max_token=8)
    assert json.loads(log.getvalue())["tokens"] == 7


def test_secrets_in_texts_and_traces_are_hidden(log: io.StringIO) -> None:
    """Of every known form."""
    try:
        raise ValueError(f"bad key {KEY}")
    except ValueError:
        structlog.get_logger("taco").exception("failed", reason=f"key {KEY} refused")

    assert KEY not in log.getvalue()
    assert "ValueError: bad key [redacted" in json.loads(log.getvalue())["exception"]


def test_a_stream_that_fails_costs_the_line() -> None:
    """A full disk, or a pipe that nobody reads."""

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    closed = io.StringIO()
    closed.close()
    for stream in (Full(), closed):
        logs.configure(stream=stream)
        structlog.get_logger("taco").info("x")
