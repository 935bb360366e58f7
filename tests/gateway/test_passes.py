"""One pass over the observations of a request: what is pinned is shown, what is new is decided."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from gateway.frames import Body, Frame
from gateway.identity import Item, Seen
from gateway.passes import FirstSight, Forms, Pass
from gateway.pins import Answer, Pinned, Recalled
from gateway.types import Text
from rules_engine import Form, Observation, Omission, Rewritten, RuleSet, Settings, text_digest
from rules_engine.types import Source
from tests.samples import LISTING, PROGRESS

WORDS = "\n".join(f"value_{n} = compute({n})" for n in range(40))
SIGHT = FirstSight(ruleset=RuleSet(), shell=True, whole=True, chars=9000, cached_from=0, allowed=lambda tool: True)


def seen(key: str, text: str, command: str = "run", source: str | None = None, unasked: bool = False) -> Seen:
    """One observation of a request, the result of a call."""
    observation = Observation(key=key, tool="bash", command=command, exit_code=None, text=text)
    source = f"call_{key}" if source is None else source
    item = Item(observation=observation, name=key, digest=text_digest(text), source=source, unasked=unasked)
    where = Text(start=0, end=0, value=text, role="tool")
    return Seen(at=0, text=where, frame=Frame(bodies=(Body(start=0, end=len(text), text=text),)), items=(item,))


def form(text: str, *sources: Source, omissions: tuple[Omission, ...] = ()) -> Form:
    """A form that shows a literal text."""
    return Form(script=(text,), digest=text_digest(text), applied=(), sources=sources, omissions=omissions)


def pinned(key: str, raw: str, *forms: Form) -> Rewritten:
    """A decision."""
    return Rewritten(key=key, raw_digest=text_digest(raw), forms=forms)


def run(
    *all_seen: Seen,
    known: tuple[Pinned, ...] = (),
    new: str = "",
    sight: FirstSight = SIGHT,
    stored: dict[str, str] | None = None,
) -> Pass:
    """A pass; `new` names keys by one letter each."""
    done = Pass(forms=Forms(), pinned={p.key: p for p in known}, stored=stored or {})
    return done.run(list(all_seen), frozenset(new), sight if new else None)


def texts(done: Pass) -> list[str]:
    """What is forwarded, in order."""
    return [shown.text for shown in done.shown.values()]


def test_what_is_neither_pinned_nor_new_stays_raw() -> None:
    """Nothing is decided about it."""
    done = run(seen("a", PROGRESS))

    assert texts(done) == [PROGRESS]
    assert (done.wanted, done.kept, done.shown["a"].is_rewritten) == ([], {}, False)


def test_what_is_new_is_decided_and_shown() -> None:
    """What is kept is counted, by its reason."""
    done = run(seen("a", PROGRESS), seen("b", "short"), new="ab")

    assert [decision.key for decision in done.wanted] == ["a"]
    assert len(texts(done)[0]) < 200
    assert done.shown["a"].is_rewritten
    assert done.kept == {"short": 1}


def test_what_is_pinned_is_shown_again() -> None:
    """Whatever would be decided now."""
    done = run(seen("a", PROGRESS), known=(pinned("a", PROGRESS, form("X")),))
    assert texts(done) == ["X"]


@pytest.mark.parametrize(
    "decision",
    [
        pytest.param(pinned("a", "another text", form("X")), id="made for another text"),
        pytest.param(pinned("a", "raw", Form(script=((0, 99),), digest="d", applied=())), id="does not fit the text"),
        pytest.param(
            pinned("a", "raw", replace(form("X"), digest=text_digest("Y"))), id="gives another result than then"
        ),
        pytest.param(pinned("a", "raw", form("X", Source(key="gone", digest="d"))), id="has no form that stands"),
        pytest.param(Recalled(key="a", raw_digest="another", answers=()), id="answers another text"),
    ],
)
def test_a_decision_that_does_not_fit_means_raw_text(decision: Pinned) -> None:
    """And is counted."""
    done = run(seen("a", "raw"), known=(decision,))

    assert texts(done) == ["raw"]
    assert done.kept == {"mismatch": 1}


SOURCE = Source(key="s", digest=text_digest("source"))


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        pytest.param([seen("s", "source")], "pointer", id="stands"),
        pytest.param([], "plain", id="gone"),
        pytest.param([seen("s", "edited")], "plain", id="edited"),
        pytest.param([seen("x", "other"), seen("s", "source")], "pointer", id="stands behind others"),
    ],
)
def test_a_form_is_shown_where_its_sources_stand(before: list[Seen], shown: str) -> None:
    """Else the next one."""
    decision = pinned("a", "raw", form("pointer", SOURCE), form("plain"))
    assert texts(run(*before, seen("a", "raw"), known=(decision,)))[-1] == shown


def test_a_source_counts_as_it_is_forwarded() -> None:
    """A pointer to a text that is now forwarded otherwise would lead nowhere."""
    decision = pinned("a", "raw", form("pointer", SOURCE), form("plain"))
    rewritten = pinned("s", "source", form("rewritten"))
    assert texts(run(seen("s", "source"), seen("a", "raw"), known=(decision, rewritten))) == ["rewritten", "plain"]


def test_a_source_behind_does_not_stand() -> None:
    """Only what comes before can be pointed to."""
    decision = pinned("a", "raw", form("pointer", SOURCE), form("plain"))
    assert texts(run(seen("a", "raw"), seen("s", "source"), known=(decision,))) == ["plain", "source"]


def test_a_new_text_points_to_what_is_forwarded_before_it() -> None:
    """And not to a mark, nor to what was recalled."""
    done = run(seen("a", LISTING), seen("b", LISTING), seen("c", LISTING), new="bc")
    sources = [
        {source.key for form in d.forms for source in form.sources} for d in done.wanted if isinstance(d, Rewritten)
    ]

    assert sources == [{"a"}, {"a"}]


@pytest.mark.parametrize(
    ("sight", "kept"),
    [
        pytest.param(SIGHT, 0, id="a shell"),
        pytest.param(replace(SIGHT, shell=None), 0, id="nobody knows of what tools"),
        pytest.param(replace(SIGHT, shell=False), 1, id="tools, and no shell to recall with"),
        pytest.param(replace(SIGHT, whole=False), 1, id="a history that may be cut"),
    ],
)
def test_pointers_only_where_they_can_be_followed(sight: FirstSight, kept: int) -> None:
    """Else each result stands for itself."""
    done = run(seen("a", WORDS), seen("b", WORDS), new="b", sight=sight)

    assert done.kept["no gain"] == kept


@pytest.mark.parametrize(("unasked", "sources"), [(False, 0), (True, 1)], ids=["asked for", "unasked"])
def test_without_a_name_only_what_nobody_asked_for_is_pointed_to(unasked: bool, sources: int) -> None:
    """Who asked for lines and cannot tell where they stand would ask again."""
    done = run(seen("a", LISTING, source=""), seen("b", LISTING, source="", unasked=unasked), new="b")

    assert sum(len(d.forms[0].sources) for d in done.wanted if isinstance(d, Rewritten)) == sources


@pytest.mark.parametrize(
    ("before", "sources"),
    [
        pytest.param([seen("a", LISTING)], 1, id="a name of its own"),
        pytest.param([seen("a", LISTING, source="call_b")], 0, id="that of the call which asks"),
        pytest.param([seen("a", LISTING), seen("c", "short", source="call_a")], 0, id="that of another result"),
    ],
)
def test_a_name_that_several_results_have_names_none(before: list[Seen], sources: int) -> None:
    """Some agents count their calls anew on each turn."""
    done = run(*before, seen("b", LISTING), new="b")

    assert sum(len(d.forms[0].sources) for d in done.wanted if isinstance(d, Rewritten)) == sources


def test_lines_under_a_heading_of_ours_cannot_be_counted() -> None:
    """Even where as many lines went as came: what stands there cannot be named by its number."""
    headed = Form(script=("head:\n", (0, len(WORDS) - 20)), digest="", applied=())
    headed = replace(headed, digest=text_digest(headed.script[0] + WORDS[: len(WORDS) - 20]))
    known = (pinned("a", WORDS, headed),)

    assert run(seen("a", WORDS), seen("b", WORDS), known=known, new="b").wanted == []
    assert run(seen("a", WORDS), seen("b", WORDS), new="b").wanted != []


@pytest.mark.parametrize(
    ("sight", "reason"),
    [
        (replace(SIGHT, allowed=lambda tool: tool != "bash"), "off"),
        (replace(SIGHT, chars=100), "small conversation"),
        (replace(SIGHT, ruleset=RuleSet(settings=Settings(minimum_chars=99_999))), "short"),
        (replace(SIGHT, ruleset=RuleSet(settings=Settings(work_limit=1))), "budget"),
    ],
    ids=["the tool is off", "a small conversation", "a short text", "too much work"],
)
def test_what_is_kept_is_counted(sight: FirstSight, reason: str) -> None:
    """By the first reason."""
    done = run(seen("a", PROGRESS), new="a", sight=sight)

    assert done.kept == {reason: 1}
    assert texts(done) == [PROGRESS]


@pytest.mark.parametrize(("spare", "rewritten"), [(20_000, 2), (2, 2), (1.9, 1), (1, 1), (0.9, 0), (0, 0)])
def test_what_is_removed_of_all_of_them_leaves_what_is_cached(spare: float, rewritten: int) -> None:
    """What was removed before it counts; `spare` is how many of these texts are over and above."""
    removed = run(seen("a", PROGRESS), new="a").shown["a"].removed
    sight = replace(SIGHT, chars=20_000, cached_from=20_000 - round(spare * removed))
    done = run(seen("a", PROGRESS), seen("b", PROGRESS), new="ab", sight=sight)

    assert len(done.wanted) == rewritten
    assert done.kept == Counter({"small conversation": 2 - rewritten})


OMISSION = Omission(id="abc123", spans=((2, 6), (8, 10)), lines=2, rules=(("own", 3),))
MARKED = pinned("m", "0\n234\n6\n89\nrest", form("[mark]", omissions=(OMISSION,)))
MARK = seen("m", "0\n234\n6\n89\nrest")


def recall(key: str = "r", text: str = "recall:abc123\n", name: str = "abc123") -> Seen:
    """What a recall printed."""
    return seen(key, text, f"echo recall:{name}")


def test_a_recall_is_answered_from_the_raw_text_of_its_source() -> None:
    """It says so as a signal; and it holds no text."""
    done = run(MARK, recall(), known=(MARKED,), new="r")

    assert texts(done) == ["[mark]", "234\n89\n"]
    assert done.wanted == [
        Recalled(
            key="r",
            raw_digest=text_digest("recall:abc123\n"),
            answers=(Answer(id="abc123", source="m", spans=OMISSION.spans),),
        )
    ]
    assert [(s.name, s.key, s.evidence) for s in done.signals] == [("recall", "m", "echo recall:abc123")]


def test_a_recall_without_its_source_is_answered_from_the_store() -> None:
    """Where that has nothing either, nobody has, now and later."""
    (stored,) = run(recall(), new="r", stored={"abc123": "kept\n"}).wanted
    (nobody,) = run(recall(), new="r").wanted

    assert texts(run(recall(), known=(stored,), stored={"abc123": "kept\n"})) == ["kept\n"]
    assert "nothing is kept" in texts(run(recall(), known=(nobody,), stored={"abc123": "kept\n"}))[0]


def test_a_recall_whose_line_was_not_printed_is_kept() -> None:
    """Nothing is pinned for it."""
    done = run(MARK, recall(text="command not found\n"), known=(MARKED,), new="r")

    assert texts(done)[1] == "command not found\n"
    assert (done.wanted, done.kept) == ([], {"recalled": 1})


def test_recalled_text_is_no_source() -> None:
    """It is shown in full whenever it is asked for, and so is what looks like it."""
    long = LISTING
    mark = pinned("m", long, form("[mark]", omissions=(Omission(id="abc123", spans=((0, len(long)),), lines=60),)))
    done = run(seen("m", long), recall(), seen("n", long), known=(mark,), new="rn")

    assert texts(done) == ["[mark]", long, long]


def test_a_form_is_rendered_once() -> None:
    """The same text object is given again."""
    forms, one = Forms(), form("text that is made")

    assert forms.render("k", "raw", one) == "text that is made"
    assert forms.render("k", "raw", one) is forms.render("k", "raw", one)
    assert forms.render("k", "raw", Form(script=((5, 9),), digest="d", applied=())) is None
