"""What redaction takes out of recorded sessions: `python -m tests.bench.alarms SESSIONS… [--show]`.

Told is how often, by kind; with --show each place once as it is afterwards, for a person to say which were no secrets.
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gateway.commands.figures import aligned, counted
from gateway.recordings import read_sessions
from memory.redaction import redact_json

MARK = re.compile(r".{0,60}\[redacted:([a-z-]+)\].{0,30}")


def main() -> None:
    """Count, and show."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="SESSIONS")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    kinds: Counter[str] = Counter()
    places: dict[str, None] = {}
    messages = touched = 0
    for before in _texts(args.files):
        messages += 1
        after = redact_json(before)
        if after is before:
            continue
        found = list(MARK.finditer(after.decode("utf-8", "replace")))
        kinds.update(match[1] for match in found)
        places |= dict.fromkeys(match[0] for match in found)
        touched += 1
    rows = [
        ("messages", f"{messages:,}, {touched:,} of them with something redacted"),
        ("redactions", f"{kinds.total():,} in {len(places):,} different places: {counted(kinds)}"),
    ]
    print(aligned(rows))
    for place in sorted(places) if args.show else ():
        print(repr(place))


def _texts(files: list[Path]) -> Iterator[bytes]:
    for path in files:
        for session in read_sessions(path):
            for message in session.messages:
                yield json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace")


if __name__ == "__main__":
    main()
