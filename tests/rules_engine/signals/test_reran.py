"""The same or a narrower command again, with no change in between."""

from __future__ import annotations

import pytest

from rules_engine import Turn
from rules_engine.signals import reran
from tests.rules_engine.signals.turns import LOG, NEEDED, NOISE, A, B, raw, thinned, turn

SEEN = thinned("make all", LOG, {NOISE: A, NEEDED: B})
AGAIN = turn(raw("make all", LOG))
GREP = turn(raw("make all 2>&1 | grep -n digest", f"4:{NEEDED}"))
POLL = "docker ps -a\nweb running on node_1\ndb starting on node_2"


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([AGAIN], id="nothing before it"),
        pytest.param([turn(raw("make all", LOG)), AGAIN], id="nothing was left out"),
        pytest.param([turn(SEEN), turn(raw("sed -i s/a/b/ x.c")), AGAIN], id="after an edit in the shell"),
        pytest.param(
            [turn(SEEN), turn(raw('{"path": "x.c"}', "ok", tool="str_replace_editor")), AGAIN],
            id="after an edit by a tool",
        ),
        pytest.param([turn(SEEN), turn(raw("echo 1 > x.c")), GREP], id="after something was written"),
        pytest.param([turn(SEEN), turn(raw("./unknown")), AGAIN], id="after what nobody knows"),
        pytest.param([turn(SEEN), turn(raw("make all -B")), AGAIN], id="after all was made anew"),
        pytest.param(
            [turn(SEEN), turn(raw("make all | grep stage", "stage one begins\nstage two begins"))],
            id="a look at what was shown",
        ),
        pytest.param([turn(SEEN), turn(raw("make all", f"{LOG}\n3 more parts"))], id="with another outcome"),
        pytest.param([turn(SEEN), turn(raw("cat notes.md", NEEDED))], id="another target"),
        pytest.param([turn(raw("make all", LOG)), turn(raw("ls")), turn(SEEN), AGAIN], id="a habit"),
        pytest.param(
            [turn(thinned("docker ps -a", POLL, {"db starting on node_2": A})), turn(raw("docker ps -a", POLL))],
            id="a poll",
        ),
        pytest.param([turn(SEEN), *[turn(raw("ls"))] * 20, AGAIN], id="long ago"),
        pytest.param([turn(SEEN), turn(raw("echo recall:aaaaaa", "recall:aaaaaa"))], id="a recall"),
        pytest.param([turn(SEEN), turn(raw("make all | wc -l", "6"))], id="a count"),
    ],
)
def test_is_no_complaint(turns: list[Turn]) -> None:
    """Commands are repeated for many reasons."""
    assert reran.detect(turns) == ()


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([GREP], id="through a filter"),
        pytest.param([turn(raw("ls", "x.c")), turn(raw("git status --short")), GREP], id="after harmless steps"),
        pytest.param([turn(raw("cd /src && make all | sed -n 4,5p", f"{NEEDED}\nstage two begins"))], id="a range"),
        pytest.param([turn(raw("make all --verbose | cut -c10-", NEEDED[9:]))], id="in part"),
        pytest.param(
            [turn(raw("make all > out.txt 2>&1")), turn(raw("grep digest out.txt", NEEDED))], id="saved to a file first"
        ),
        pytest.param(
            [turn(raw("make all | tee out.txt | tail -1", "ended")), turn(raw("tail -3 out.txt", NEEDED))],
            id="saved in passing",
        ),
    ],
)
def test_a_narrower_look_blames_the_rule_whose_lines_it_brings(turns: list[Turn]) -> None:
    """And not the other one of the same result."""
    (signal,) = reran.detect([turn(SEEN), *turns])

    assert (signal.name, signal.key, signal.rules) == ("reran", SEEN.observation.key, (B,))
    assert NEEDED not in signal.evidence


def test_the_whole_again_leaves_open_which_rule_it_was() -> None:
    """Its words may tell: a name that only one of them left out."""
    (open_,) = reran.detect([turn(SEEN), AGAIN])
    (told,) = reran.detect([turn(SEEN), turn(AGAIN.results[0], said="Where is target_17?")])

    assert open_.rules == (A, B)
    assert told.rules == (B,)
    assert open_.evidence == "make again, 1 turns later and nothing changed: 2 lines left out of make are in it"


def test_times_do_not_make_another_outcome() -> None:
    """Durations and times of day differ whenever a command runs."""
    text = f"{NEEDED}\nbuilt in 3.41s at 12:00:01"
    seen = thinned("make all", f"begin\n{text}", {NEEDED: A})
    (signal,) = reran.detect(
        [turn(seen), turn(raw("make all", "begin\n" + text.replace("3.41", "3.57").replace(":01", ":59")))]
    )

    assert signal.rules == (A,)


def test_steps_of_one_turn_are_in_order() -> None:
    """A change before the second look in the same turn counts, one after it does not."""
    edit, again = raw("rm x.o"), AGAIN.results[0]

    assert reran.detect([turn(SEEN), turn(edit, again)]) == ()
    assert reran.detect([turn(SEEN), turn(again, edit)]) != ()
    assert reran.detect([turn(SEEN, edit), turn(again)]) == ()
