"""Noisy tool output of the sorts that coding agents read all day, made up from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from random import Random

_WORDS = """alpha anchor basket beacon cinder copper delta ember falcon garnet harbor indigo jasper kernel lantern
    marble nectar onyx pepper quartz raven saffron timber umber velvet willow xenon yonder zephyr"""
WORDS = tuple(_WORDS.split())


def pip(rng: Random) -> Iterator[str]:
    """An installation, with its progress bars."""
    while True:
        name, version = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}", f"{rng.randrange(9)}.{rng.randrange(30)}"
        size = rng.randrange(20, 900)
        yield f"Collecting {name}>={version}"
        yield f"  Downloading {name}-{version}-py3-none-any.whl ({size} kB)"
        yield "\r".join(
            f"     {'━' * (k * 4):<40} {size * k // 10}/{size} kB {k}.1 MB/s eta 0:00:0{9 - k}" for k in range(10)
        )
        yield f"Requirement already satisfied: {rng.choice(WORDS)} in ./venv/lib/python3.11/site-packages ({version})"


def pytest(rng: Random) -> Iterator[str]:
    """A verbose test run with a failure now and then."""
    done = 0
    while True:
        done += 1
        module, case = rng.choice(WORDS), f"{rng.choice(WORDS)}_{rng.choice(WORDS)}"
        if rng.random() < 0.02:
            yield f"tests/{module}/test_{module}.py::test_{case} FAILED [{done % 100:3d}%]"
            yield f">       assert {case}({rng.randrange(99)}) == {rng.randrange(99)}"
            yield f"E       AssertionError: assert {rng.randrange(99)} == {rng.randrange(99)}"
        else:
            yield f"tests/{module}/test_{module}.py::test_{case}[{rng.randrange(999)}] \x1b[32mPASSED\x1b[0m [{done % 100:3d}%]"


def cargo(rng: Random) -> Iterator[str]:
    """A compiler at work, with warnings."""
    while True:
        crate = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
        yield f"   Compiling {crate} v{rng.randrange(4)}.{rng.randrange(20)}.{rng.randrange(20)}"
        if rng.random() < 0.1:
            line = rng.randrange(900)
            yield f"warning: unused variable: `{rng.choice(WORDS)}`"
            yield f"  --> src/{crate}.rs:{line}:{rng.randrange(60)}"
            yield f"{line:4d} |     let {rng.choice(WORDS)} = {rng.choice(WORDS)}({rng.randrange(99)});"


def listing(rng: Random) -> Iterator[str]:
    """A long listing of files."""
    while True:
        name = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}.{rng.choice(['py', 'rs', 'ts', 'md'])}"
        yield f"-rw-r--r-- 1 dev dev {rng.randrange(90000):>7} Mar {rng.randrange(1, 28):>2} {rng.randrange(10, 24)}:{rng.randrange(10, 60)} {name}"


def search(rng: Random) -> Iterator[str]:
    """Hits of a search, several in a file."""
    while True:
        path = f"src/{rng.choice(WORDS)}/{rng.choice(WORDS)}.py"
        for line in sorted(rng.sample(range(1, 900), rng.randrange(1, 7))):
            yield f"{path}:{line}:    {rng.choice(WORDS)} = load_{rng.choice(WORDS)}({rng.choice(WORDS)}, {rng.randrange(99)})"


def log(rng: Random) -> Iterator[str]:
    """A service's log, with runs of equal lines."""
    second = rng.randrange(3600)
    while True:
        second += rng.randrange(3)
        stamp = f"2026-03-0{rng.randrange(1, 9)}T10:{second // 60 % 60:02d}:{second % 60:02d}Z"
        if rng.random() < 0.1:
            yield from ["  waiting for the connection pool to drain ..."] * rng.randrange(2, 9)
        yield f"{stamp} INFO  {rng.choice(WORDS)}.{rng.choice(WORDS)}: handled request {rng.randrange(99999)} in {rng.randrange(900)} ms"


def source(rng: Random) -> Iterator[str]:
    """A numbered listing of one of a few files, so that parts come back."""
    file = Random(rng.randrange(6))
    for number in count(1):
        indent = "    " * file.randrange(1, 4)
        yield f"{number:6d}\t{indent}{file.choice(WORDS)}_{file.randrange(999)} = {file.choice(WORDS)}(self.{file.choice(WORDS)}, {file.randrange(99)})"


KINDS: tuple[tuple[str, Callable[[Random], Iterator[str]]], ...] = (
    ("pip install -r requirements.txt", pip),
    ("python -m pytest -v", pytest),
    ("cargo build", cargo),
    ("ls -l src", listing),
    ("grep -rn load src", search),
    ("docker compose logs app", log),
    ("cat -n src/app.py", source),
)


def output(rng: Random, chars: int) -> tuple[str, str]:
    """A command and what it printed: whole lines, about `chars` characters."""
    command, lines = rng.choice(KINDS)
    return command, cut(lines(rng), chars)


def cut(lines: Iterator[str], chars: int) -> str:
    """Whole lines, about `chars` characters."""
    out: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) > chars and out:
            break
        out.append(line)
        size += len(line) + 1
    return "\n".join(out) + "\n"
