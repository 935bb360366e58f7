"""structlog, set up once for the process: one JSON line an event, keys never among the values."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, WrappedLogger

from memory import redact

_SECRET = re.compile(r"key|token$|authorization|secret|password", re.I)


def configure(level: str = "INFO", stream: TextIO | None = None) -> None:
    """Log to `stream` (standard error)."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            hide_secrets,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", _Lenient(stream or sys.stderr))),
    )


class _Lenient:
    """A stream that fails (a full disk, a closed pipe) at the cost of a line, never of what is logged about."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write if it can be done."""
        with suppress(OSError, ValueError):
            self._stream.write(text)

    def flush(self) -> None:
        """Flush if it can be done."""
        with suppress(OSError, ValueError):
            self._stream.flush()


def hide_secrets(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Redact every text, and whole values under names that hold secrets."""
    texts = "\n".join([value for value in event.values() if isinstance(value, str)])
    if redact(texts) is texts and not any(map(_SECRET.search, event)):
        return event  # the usual line, asked about once
    return {name: _hidden(name, value) for name, value in event.items()}


def _hidden(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    return "[redacted]" if _SECRET.search(name) else redact(value)
