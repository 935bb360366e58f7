"""The example of README for those who own their agent's loop."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

README = Path(__file__).parents[1] / "README.md"
COMMAND = 'for k in $(seq 200); do echo "item $k of the list weighs $((k * k)) grams"; done'


def test_the_example_runs() -> None:
    """The second of two equal results points to the first, and what it hides comes back, all in ten lines."""
    found = re.search(r"^## As a library$.*?^```python$\n(.*?)^```$", README.read_text(), re.M | re.S)
    assert found is not None
    assert found[1].count("\n") <= 10
    names: dict[str, Any] = {}
    exec(found[1], names)
    run, messages = names["run"], names["messages"]
    run("c1", COMMAND)
    run("c2", COMMAND)
    mark = re.search(r"echo recall:[0-9a-f]+", messages[1]["content"])
    assert mark is not None
    run("c3", mark[0])

    assert len(messages[1]["content"]) < len(messages[0]["content"]) / 10
    assert "item 77 of the list weighs 5929 grams" in messages[2]["content"]
