"""The command line as a process of its own."""

from __future__ import annotations

from tests.commandline import start, taco

__all__ = ["start", "taco"]
