"""Before and after of one rewrite, as a unified diff in which nothing is hidden and nothing acts on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

import click

from memory import RewriteRow

_PICTURES = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {127: 0x2421}
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def visible(text: str) -> str:
    """The text with a picture in the place of each control character."""
    return text.translate(_PICTURES)


def diff(before: str, after: str, width: int | None = None) -> Iterator[str]:
    """The lines of the diff, coloured; click takes the colours out where there is no terminal. With a width the rest of
    longer ones is left out."""
    old, new = (visible(text).split("\n") for text in (before, after))
    for line in unified_diff(old, new, "before", "after", lineterm=""):
        if width is not None and len(line) > width:
            line = f"{line[: width - 1]}…"
        yield click.style(line, fg=_COLOURS.get(line[:1]), bold=line[:3] in ("---", "+++"))


def heading(row: RewriteRow) -> str:
    """What was rewritten, by what, for how much."""
    rules = ", ".join(f"{name} v{version}" for name, version in row.rules)
    return f"{row.tokens_before:,} → {row.tokens_after:,} tokens by {rules}"
