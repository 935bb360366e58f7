"""Lines that begin alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import prefix
from rules_engine.script import render, splice
from rules_engine.types import Observation


def observe(text: str, **more: object) -> Observation:
    """Terminal output of a build."""
    return Observation(key="k", tool="bash", command="make all", exit_code=0, text=text, **more)  # type: ignore[arg-type]


def shown(text: str, **more: object) -> str:
    """What `prefix` makes of a text."""
    encoded = prefix.encode(text, observe(text, **more))
    if encoded is None:
        return text
    result = render(text, splice(len(text), encoded.edits))
    assert prefix.verify(text, result, encoded.note)
    return result


JOB = "@shop/basket build: "
STEPS = [
    *("reading the styles", "laying out page one", "drawing the icons", "mixing the colours", "weighing the bundle"),
    *("asking the cache", "naming the parts", "drawing the map", "measuring the box", "sweeping the floor"),
    *("counting the pins", "sorting the threads"),
]


@pytest.mark.parametrize(
    "lines",
    [
        [JOB + step for step in STEPS[:6]],
        ["ab: " + step for step in STEPS],
        ["                    " + step for step in STEPS],
        ["src/shop/basket/" + step for step in ("a", "b", "c", "d", "e", "f")],
        ['say "loudly" and ' + step for step in STEPS],
    ],
    ids=["less gained than said", "a short beginning", "only layout", "a path is not parted", "a quotation mark"],
)
def test_nothing_happens(lines: list[str]) -> None:
    """The text stays as it is."""
    text = "\n".join(lines)

    assert shown(text) == text


def test_a_shared_beginning_stands_once() -> None:
    """And each line under it without it."""
    text = "\n".join(["start", *(JOB + step for step in STEPS), "end"])

    assert shown(text).split("\n") == [
        "start",
        '[12 lines that begin with "@shop/basket build: ", most given without it:]',
        *STEPS,
        "end",
    ]


def test_a_line_that_speaks_of_trouble_stays_whole() -> None:
    """Whoever looks for the failing job finds its name in the same line."""
    text = "\n".join([*(JOB + s for s in STEPS), JOB + "error: no such icon", *(JOB + s for s in STEPS)])

    assert JOB + "error: no such icon" in shown(text).split("\n")


def test_a_line_that_begins_so_twice_stays_whole() -> None:
    """Without its first beginning it would be read as a whole line."""
    text = "\n".join([*(JOB + s for s in STEPS), JOB + JOB + "an echo", *(JOB + s for s in STEPS)])

    assert JOB + JOB + "an echo" in shown(text).split("\n")


def test_a_result_stays_whole() -> None:
    """So does what a job came to."""
    text = "\n".join([*(JOB + s for s in STEPS), JOB + "12 passed in 3 s"])

    assert shown(text).split("\n")[-1] == JOB + "12 passed in 3 s"


def test_in_a_json_string_the_blank_stays() -> None:
    """There a line break is two characters, and the rest would grow together with them."""
    text = "\n".join([*(f"@shop/front {JOB}{step}" for step in STEPS), "end"])

    assert shown(text, escaped=True).split("\n") == [
        f'[12 lines that begin with "@shop/front {JOB.rstrip()}", most given without it:]',
        *(f" {step}" for step in STEPS),
        "end",
    ]


@given(
    st.lists(st.tuples(st.sampled_from([JOB, "worker-7 | ", "", "x "]), st.text(max_size=12)), max_size=40),
    st.booleans(),
)
def test_the_inverse_gives_the_text_back(lines: list[tuple[str, str]], escaped: bool) -> None:
    """Whatever the lines hold; and what was shown once is not shown otherwise again."""
    text = "\n".join(job + rest for job, rest in lines)
    result = shown(text, escaped=escaped)

    assert len(result) <= len(text)
    assert shown(result, escaped=escaped) == result
