"""Figures as a person reads them: aligned rows, tokens with their share, money with its reservations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

Row = tuple[str, str]
Accounts = Mapping[str, Any]
"""The accounts of one request, or sums of several: the same names."""
WIDTH = 80
"""Columns of a terminal."""


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the last is left as it is."""
    table = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    )


def told(rows: Iterable[Row]) -> str:
    """Titles, and beside each what is told of it, broken between words so that it fits a terminal."""
    table = list(rows)
    left = max((len(title) for title, _ in table), default=0)
    return aligned(line for title, text in table for line in _broken(title, text, WIDTH - left - 2))


def _broken(title: str, text: str, width: int) -> Iterator[Row]:
    first, *rest = wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    yield title, first
    yield from (("", line) for line in rest)


def change(before: float, after: float) -> str:
    """The difference in percent."""
    return f"{(after - before) / before * 100:+.1f} %".replace("-", "−") if before else "±0.0 %"


def dollars(value: float | None) -> str:
    """Money, with as many digits as one request needs."""
    return "unknown" if value is None else f"${value:.4f}"


def rows_of(accounts: Accounts) -> list[Row]:
    """Tokens, money, and who saved them."""
    raw, forwarded = accounts.get("raw_tokens", 0), accounts.get("forwarded_tokens", 0)
    novel, repeat = accounts.get("novel_saved", 0), accounts.get("repeat_saved", 0)
    rows = [
        ("Tokens", f"{raw:,} sent by the agent, {forwarded:,} forwarded ({change(raw, forwarded)})"),
        ("", f"saved: {novel:,} at first sight, {repeat:,} on later turns"),
        ("", "counted here with o200k_base"),
        *_reported(accounts.get("reported") or {}),
        *_money(accounts),
    ]
    for title, name in (("Saved by", "saved_by_class"), ("", "saved_by_rule")):
        if shares := accounts.get(name):
            rows.append((title, ", ".join(f"{who} {count:,}" for who, count in ranked(shares))))
    return rows


def ranked(shares: Mapping[str, int]) -> list[tuple[str, int]]:
    """Largest first."""
    return sorted(shares.items(), key=lambda share: (-share[1], share[0]))


def _money(accounts: Accounts) -> list[Row]:
    raw, forwarded = accounts.get("cost_raw"), accounts.get("cost_forwarded")
    if raw is None or forwarded is None:
        return [("Money", "unknown: the price map has no such model")]
    rows = [
        ("Money", f"{dollars(raw)} for prompts as sent, {dollars(forwarded)} as forwarded ({change(raw, forwarded)})")
    ]
    rows.append(
        ("", f"at cached prices, the provider's cache simulated; answers {dollars(accounts.get('cost_output'))}")
    )
    if (reported := accounts.get("cost_reported")) is not None:
        rows.append(("", f"{dollars(reported)} for prompts and answers by what the provider reported"))
    return rows


def _reported(reported: Mapping[str, int | None]) -> list[Row]:
    names = (
        ("input", "tokens of prompts"),
        ("cached", "of them cached"),
        ("cache_write", "written to the cache"),
        ("cache_write_hour", "of them for an hour"),
        ("output", "of answers"),
    )
    said = [f"{value:,} {what}" for name, what in names if (value := reported.get(name)) is not None]
    return [("Reported", "by the provider: " + ", ".join(said))] if said else []


def counted(counts: Mapping[str, int]) -> str:
    """Counts by name, largest first."""
    return ", ".join(f"{count:,} {name}" for name, count in ranked(counts))


def plural(count: int, one: str) -> str:
    """`1 request`, `2 requests`."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"
