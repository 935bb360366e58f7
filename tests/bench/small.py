"""Two small sessions for the tests of the benches, in files as recordings come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

INSTALL = "".join(f"Collecting tool-{n}\n  Downloading tool_{n}-1.{n}.0-py3-none-any.whl ({n} kB)\n" for n in range(40))
TESTS = "".join(f"tests/test_part.py::test_case_{n} PASSED [{n}%]\n" for n in range(60))
SOURCE = "".join(f"{n:6}\tdef part_{n}(value): return value + {n}\n" for n in range(1, 80))
CLOSING = "\ntests/test_part.py::test_last FAILED\nE   AssertionError: part_9 gave 8\n1 failed, 60 passed in 2.1s\n"
STEPS = (
    ("pip install -r requirements.txt", INSTALL + "Successfully installed tool-1 tool-2\n"),
    ("cat -n src/part.py", SOURCE),
    ("python -m pytest -v", TESTS + CLOSING),
    ("cat -n src/part.py", SOURCE),
)


def session(name: str) -> dict[str, Any]:
    """An agent that installs, reads, tests, reads again and edits what it has read."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Mend the parts; the ticket is {name}."}]
    for number, (command, output) in enumerate(STEPS):
        messages += [_call(f"call_{name}_{number}", {"command": command})]
        messages += [{"role": "tool", "tool_call_id": f"call_{name}_{number}", "content": output}]
    old = "\n".join(line.partition("\t")[2] for line in SOURCE.split("\n")[7:9])
    messages.append(_call(f"call_{name}_edit", {"path": "src/part.py", "old_str": old, "new_str": "pass"}))
    return {"id": name, "messages": messages}


def files(folder: Path) -> list[str]:
    """Two sources with two such sessions each."""
    out = []
    for source in ("left", "right"):
        path = folder / f"{source}.jsonl"
        path.write_text("".join(json.dumps(session(f"{source}-{n}")) + "\n" for n in range(2)))
        out.append(str(path))
    return out


def _call(name: str, arguments: dict[str, str]) -> dict[str, Any]:
    function = {"name": "bash", "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }
