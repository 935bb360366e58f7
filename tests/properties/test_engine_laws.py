"""The laws of deciding, whatever the text, the rules and the request."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rules_engine import codec, engine, marks
from rules_engine.kinds import LOSSLESS
from rules_engine.lines import index
from rules_engine.seeds import SEEDS
from rules_engine.types import Context, Decision, Form, Kept, Observation, Rewritten, Rule, RuleSet, Settings, Trigger

WORST = Rule(
    id="worst",
    kind="line_filter",
    trigger=Trigger(pattern=r"\w"),
    params={"strip_patterns": ["."], "keep_first_n": 0, "keep_last_n": 0},
    on_failing=True,
)
COMMANDS = ("make", "cat -n a.py", "git diff", "rg value", "pip install x", "curl x", "")
PIECES = st.sampled_from(
    [
        "value_1 = compute(1)",
        "     1\tvalue_1 = compute(1)\n     2\tvalue_2 = compute(4)\n     3\tvalue_3 = compute(9)",
        "12\tvalue_1 = compute(1)\n13\tvalue_2 = compute(4)",
        "src/app/main.py:12:value_1 = compute(1)\nsrc/app/main.py:13:value_2 = compute(4)",
        "still waiting for the server to answer",
        "downloading  12%\rdownloading  55%\rdownloading 100%",
        "\x1b[32mall is well\x1b[0m",
        "error: the disk is full\n    at line 12",
        "12 passed, 1 failed in 3.4 s",
        "Collecting package-a\n  Downloading package_a-1.0.whl (12 kB)",
        "[3 lines omitted: echo recall:abcdef]",
        "[the 2 lines above stand 3 times in a row]",
        "item  [x3]",
        '{"a": 1,\n "b": [1, 2]}',
        "}",
        "",
        "中文 😀 é",
        "\ufeff\u2028\x00",
    ]
)
BLOCKS = st.lists(st.tuples(PIECES, st.integers(1, 9)), max_size=12)
TEXTS = BLOCKS.map(lambda blocks: "\n".join("\n".join([piece] * times) for piece, times in blocks))
RULES = st.builds(
    RuleSet,
    rules=st.sampled_from([(), SEEDS, (WORST,)]),
    settings=st.builds(
        Settings,
        critical=st.sampled_from(["unchanged", "guarded"]),
        minimum_chars=st.sampled_from([0, 200]),
        pointer_lines=st.integers(1, 8),
        seam_lines=st.integers(0, 4),
        disabled=st.sampled_from([frozenset(), frozenset(LOSSLESS)]),
    ),
)
OBSERVATIONS = st.builds(
    Observation,
    key=st.just("key"),
    tool=st.sampled_from(["bash", "Read", ""]),
    command=st.sampled_from(COMMANDS),
    exit_code=st.sampled_from([None, 0, 1]),
    text=TEXTS,
)
EARLIER = st.lists(TEXTS, max_size=3).map(
    lambda texts: tuple(index(f"before {n}", text) for n, text in enumerate(texts))
)
CONTEXTS = st.builds(Context, shell=st.booleans(), chars=st.just(100_000), earlier=EARLIER)


def forms_of(decision: Decision) -> tuple[Form, ...]:
    """All forms of a decision; none if the text is kept."""
    return decision.forms if isinstance(decision, Rewritten) else ()


@settings(max_examples=300)
@given(OBSERVATIONS, RULES, CONTEXTS)
def test_deciding_never_fails_and_is_a_function(observation: Observation, rules: RuleSet, context: Context) -> None:
    """Same in, same out; no kind raises and none breaks an invariant."""
    decision = engine.decide(observation, rules, context)

    assert engine.decide(observation, rules, context) == decision
    assert not (isinstance(decision, Kept) and decision.reason in ("failed", "invariant")), decision


@given(OBSERVATIONS, RULES, CONTEXTS)
def test_a_rewrite_is_shorter(observation: Observation, rules: RuleSet, context: Context) -> None:
    """By at least what the guards demand of each edit."""
    for form in forms_of(engine.decide(observation, rules, context)):
        literal = sum(len(piece) for piece in form.script if isinstance(piece, str))

        assert len(engine.render_form(observation.text, form)) < len(observation.text)
        assert len(observation.text) >= 4 * literal


@given(OBSERVATIONS, RULES, CONTEXTS)
def test_without_rules_all_lines_can_be_had_again(observation: Observation, rules: RuleSet, context: Context) -> None:
    """What a mark hides is a slice of the raw text, and the marks count what they hide."""
    for form in forms_of(engine.decide(observation, rules, context)):
        text = engine.render_form(observation.text, form)
        said = {mark.id: mark.lines for line in text.split("\n") if (mark := marks.parse(line))}

        for omission in form.omissions:
            assert said[omission.id] == omission.lines
            assert all(0 <= start < end <= len(observation.text) for start, end in omission.spans)
        assert len({omission.id for omission in form.omissions}) == len(form.omissions)


@given(OBSERVATIONS, RULES, CONTEXTS)
def test_a_stored_decision_shows_the_same(observation: Observation, rules: RuleSet, context: Context) -> None:
    """In another process, from bytes."""
    decision = engine.decide(observation, rules, context)
    standing = {source.key: source.digest for source in context.earlier}
    if isinstance(decision, Rewritten):
        again = codec.load("key", codec.dump(decision))

        assert engine.shown(observation.text, again, standing) == engine.shown(observation.text, decision, standing)
        assert engine.shown(observation.text, again, {})[0] == engine.shown(observation.text, decision, {})[0]


@given(OBSERVATIONS, RULES, CONTEXTS, st.integers(0, 5_000), st.integers(0, 5_000))
def test_no_rewrite_takes_a_prompt_below_what_is_cached(
    observation: Observation, rules: RuleSet, context: Context, chars: int, cached_from: int
) -> None:
    """Whatever form is shown; and one that would not do so is rewritten as ever."""
    context = replace(context, chars=chars, cached_from=0)
    free = forms_of(engine.decide(observation, rules, replace(context, chars=10**9)))
    removed = [len(observation.text) - len(engine.render_form(observation.text, form)) for form in free]

    forms = forms_of(engine.decide(observation, rules, replace(context, cached_from=cached_from)))
    small = chars < rules.settings.minimum_conversation_chars or chars - max(removed, default=0) < cached_from
    assert forms == (() if small else free)


@given(OBSERVATIONS, RULES)
def test_a_second_gateway_finds_nothing_to_do(observation: Observation, rules: RuleSet) -> None:
    """The lossless kinds leave their own results alone."""
    lossless = RuleSet(settings=rules.settings)
    context = Context(shell=True, chars=100_000)
    for form in forms_of(engine.decide(observation, lossless, context)):
        text = engine.render_form(observation.text, form)
        done = {applied.rule[0] for applied in form.applied}
        again = engine.decide(replace(observation, text=text), lossless, context)

        assert not any(applied.rule[0] in done for other in forms_of(again) for applied in other.applied)


@given(
    st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)), CONTEXTS
)
def test_data_still_parses(value: object, context: Context) -> None:
    """To the same values."""
    text = json.dumps([value], indent=2)
    observation = Observation(key="key", tool="", command="curl x", exit_code=0, text=text)
    for form in forms_of(engine.decide(observation, RuleSet(settings=Settings(minimum_chars=0)), context)):
        assert json.loads(engine.render_form(text, form)) == [value]


@given(st.text(), st.text())
def test_secrets_are_not_in_a_decision(text: str, secret: str) -> None:
    """What is stored holds places in the text, not the text."""
    line = f"token_{secret!r}_is_here_in_this_line"
    raw = "\n".join([*[line] * 9, text, *(f"{line} {n}" for n in range(20))])
    decision = engine.decide(
        Observation(key="key", tool="bash", command="make", exit_code=0, text=raw),
        RuleSet(),
        Context(shell=True, chars=100_000, earlier=(index("before", "\n".join(f"{line} {n}" for n in range(20))),)),
    )
    for form in forms_of(decision):
        assert not [piece for piece in form.script if isinstance(piece, str) and "token_" in piece]
