"""The commands: one module each, imported when it is called; a member is a click command named `command`."""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "up": "Serve.",
    "run": "Run an agent through the gateway, and say what was saved.",
    "env": "What to set so that an agent you start yourself goes through the gateway.",
    "demo": "See it work: a recorded session, no key, no network.",
    "stats": "What was saved, in tokens and money.",
    "audit": "Every rewrite: before, after, and why.",
    "rules": "The rules in use.",
    "learn": "Rules from recorded sessions.",
    "memory": "Every session: search, prove, keep, forget.",
    "replay": "What recorded sessions would have cost.",
    "doctor": "Find what is wrong with this installation.",
}
"""Name → what it is for, in the order of the help."""
