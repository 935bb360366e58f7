"""Pointers in the place of lines that stand earlier in the request."""

from __future__ import annotations

from collections.abc import Sequence

from rules_engine import pointing
from rules_engine.draft import Draft
from rules_engine.lines import index
from rules_engine.script import render
from rules_engine.types import Omission, Settings, Source

SHOWN = [f"value_{n} = compute({n * n})" for n in range(40)]
BEFORE = index("before", "\n".join(SHOWN))
SETTINGS = Settings(pointer_lines=6, seam_lines=3)
OPEN = pointing.Guard(stays=None, bound=(), ids=frozenset())


def point(draft: Draft, guard: pointing.Guard = OPEN) -> Draft:
    """What pointing makes of a draft, after `BEFORE`."""
    return pointing.point(draft, "key", [BEFORE], SETTINGS, guard)


def draft_of(lines: Sequence[str]) -> Draft:
    """Those lines, raw."""
    return Draft.begin("\n".join(lines))


def test_nothing_to_point_to() -> None:
    """New lines stay as they are."""
    draft = draft_of(["new"] * 30)

    assert point(draft) is draft


def test_a_pointer_that_would_cost_as_much_is_not_set() -> None:
    """Twelve lines less two seams are too few characters here."""
    draft = draft_of(["new", *(line[:8] for line in SHOWN[:12]), "new"])

    assert pointing.point(draft, "key", [index("b", "\n".join(line[:8] for line in SHOWN))], SETTINGS, OPEN) is draft


def test_a_pointer_quotes_its_ends_and_names_its_source() -> None:
    """Its literals hold nothing of the text."""
    raw = ["new", *SHOWN, "new"]
    draft = point(draft_of(raw))
    (omission,) = draft.omissions
    mark = f'[34 lines as shown above, "value_3 = compute(9)" to "value_36 = compute(1296)": echo recall:{omission.id}]'

    assert draft.text.split("\n") == ["new", *SHOWN[:3], mark, *SHOWN[-3:], "new"]
    assert draft.sources == (Source(key="before", digest=BEFORE.digest),)
    assert "\n".join(raw)[slice(*omission.spans[0])] == "\n".join(SHOWN[3:-3])
    assert render("\n".join(raw), draft.script) == draft.text
    assert not [piece for piece in draft.script if isinstance(piece, str) and "value" in piece]


def test_a_pointer_says_where_a_call_showed_the_lines() -> None:
    """Lines are counted in the whole message, whatever its wrapper puts before the output."""
    source = index("before", "\n".join(["head", *SHOWN]), name="call_7", first=5)
    draft = pointing.point(draft_of(SHOWN), "key", [source], SETTINGS, OPEN)

    assert draft.text.startswith('[40 lines identical to lines 6-45 of call_7, "value_0 = compute(0)" to "')


def test_what_stays_is_asked_for_only_where_a_pointer_would_hide_it() -> None:
    """And then it stays."""
    asked = []

    def stays() -> frozenset[int]:
        asked.append(20)
        return frozenset([20])

    guard = pointing.Guard(stays=stays, bound=(), ids=frozenset())
    point(draft_of(["new"] * 30), guard)
    draft = point(draft_of(SHOWN), guard)

    assert asked == [20]
    assert SHOWN[20] in draft.text.split("\n")
    assert len(draft.omissions) == 2


def test_a_mark_of_a_rule_is_not_hidden() -> None:
    """Nor is its id taken."""
    omission = Omission(id="abcdef", spans=((0, 1),), lines=5)
    marked = [*SHOWN[:20], "[5 lines omitted: echo recall:abcdef]", *SHOWN[20:]]
    source = index("before", "\n".join(marked))
    draft = Draft(text="\n".join(marked), script=((0, 2000),), omissions=(omission,))
    result = pointing.point(draft, "key", [source], SETTINGS, OPEN)

    assert "[5 lines omitted: echo recall:abcdef]" in result.text.split("\n")
    assert result.omissions[0] == omission
    assert len({item.id for item in result.omissions}) == 3


def test_an_id_that_is_taken_is_made_longer() -> None:
    """Every mark of a request has its own."""
    (first,) = point(draft_of(SHOWN)).omissions
    (second,) = point(draft_of(SHOWN), pointing.Guard(stays=None, bound=(), ids=frozenset([first.id]))).omissions

    assert second.id.startswith(first.id)
    assert len(second.id) == 7
