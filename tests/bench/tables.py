"""Figures as rows of Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.bench.judging import Figures


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is words and whose others are figures."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def saved(per_cent: float) -> str:
    """What is saved, as a change."""
    return f"{-per_cent:+.2f} %".replace("-", "−").replace("+0.00", "0.00").replace("−0.00", "0.00")


def kept(found: Figures, name: str) -> str:
    """What is kept of what is counted under a name."""
    return f"{found.kept(name):.2f} %"


HEAD = ("billed", "money", "needed", "anchors", "blocks", "verdicts", "harmed turns", "dearer", "tokens a step")


def columns(found: Figures) -> list[str]:
    """The columns under `HEAD`."""
    return [
        saved(found.saved),
        saved(found.money_saved),
        *(kept(found, name) for name in ("needed", "anchors", "blocks", "verdicts")),
        f"{found.share('harmed'):.2f} %",
        str(found.dearer),
        f"{found.sent / max(found.requests, 1):,.0f}",
    ]
