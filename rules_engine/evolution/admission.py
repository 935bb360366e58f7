"""Whether a rule may be tried: it is run over archived observations, and must lose nothing that agents used there.

rule × Sample* → Trial → Verdict: the rule as admitted, or why not
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rules_engine.critical import failures, is_failing
from rules_engine.engine import decide, render_form
from rules_engine.evolution.mining import DEEDS, is_legible
from rules_engine.evolution.naming import EVERYDAY, names
from rules_engine.evolution.skeletons import ACTING, families
from rules_engine.evolution.use import cores, words
from rules_engine.kinds import KINDS
from rules_engine.scan import compile_trigger, is_encodable
from rules_engine.script import render
from rules_engine.types import Context, Kept, Rewritten, Rule, RuleError, RuleSet, Sample, Settings

NAMED = 5
"""Lost strings that a refusal names."""
WITNESS = 10
"""Lost strings of one session that count towards a share: what one turn repeats is one witness."""
_ANYTHING = (
    "ls -la", "cd src", "cat notes.md", "echo done", "pwd", "git status", "git log -3", "grep -rn main src", "python3 run.py",
    "pip install -e .", "npm test", "make -j4", "cargo build", "go vet ./...", "apt-get update", "docker ps",
    "curl -s https://example.org", "find . -name x", "sed -n 1,9p a.txt", "tar xf a.tar",
)  # fmt: skip
"""Commands that have nothing to do with each other."""
_GUARDED = Settings(critical="guarded", minimum_chars=0)
_ALONE = Context(shell=True, chars=sys.maxsize)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What a rule has to reach in its trial to be admitted."""

    sessions: int = 3
    """Least number of sessions in which it left something out."""
    sources: int = 1
    """Least number of sources (repositories, files) in which it left something out."""
    literal_sources: int = 3
    """Least number of sources in which each word that its patterns spell out stands: else it belongs to one task."""
    breadth: float = 0.25
    """Largest share of unrelated commands, and of the families of commands seen, that its trigger may find."""
    gain: float = 0.03
    """Least share of the characters of the outputs that it is for which it has to leave out."""
    lost: float = 0.0
    """Largest share of all used strings that it may lose; a turn that repeats a whole output counts as `WITNESS`."""
    aimed: float = 0.02
    """Largest share of failures among the lines that its patterns find. They would stay, but such a rule was learned badly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a rule is admitted, and what its trial measured."""

    admitted: bool
    reason: str
    rule: Rule
    """The rule to use: also on failing outputs if it was tried on such, and with the measurements as its evidence."""
    figures: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class _Session:
    """Used strings of the session that is being read: in how many results they stood, and from which they would be gone."""

    name: tuple[str, str] = ("", "")
    held: Counter[str] = field(default_factory=Counter)
    gone: dict[bool, Counter[str]] = field(default_factory=lambda: {False: Counter(), True: Counter()})
    """By whether the result told of a failure."""


@dataclass(slots=True)
class _Tally:
    """Outputs of one sort, failing or not."""

    outputs: int = 0
    acted: int = 0
    chars: int = 0
    removed: int = 0
    used: int = 0
    """Strings in them that agents used."""
    lost: dict[str, None] = field(default_factory=dict)
    """Each once, in order."""
    weight: int = 0
    """How many of them count."""
    places: set[tuple[str, str]] = field(default_factory=set)
    """(source, session) where it left something out."""


class Trial:
    """Runs one rule over samples, which may come one at a time, and judges it at the end."""

    def __init__(self, rule: Rule, bar: Bar | None = None) -> None:
        self._rule = rule
        self._bar = bar or Bar()
        self._fault = _fault(rule)
        self._ruleset = RuleSet(rules=(replace(rule, on_failing=True, confidence=1.0),), settings=_GUARDED)
        self._sound, self._failing = _Tally(), _Tally()
        self._session = _Session()
        self._families: dict[str, bool] = {}
        self._literals: dict[str, set[str]] = {} if self._fault else {name: set() for name in _literals(rule)}
        self._after = self._aimed = self._broken = self._used = 0

    def add(self, sample: Sample) -> None:
        """Run the rule over one observation; those of a session follow each other."""
        if self._fault:
            return
        if self._session.name != (sample.source, sample.session):
            self._settle()
            self._session = _Session((sample.source, sample.session))
        self._session.held.update(sample.used)
        self._used += len(sample.used - sample.known)
        observation = sample.observation
        if not is_encodable(observation.command):
            return
        hit = bool(compile_trigger(self._rule.trigger.pattern).search(observation.command))
        for name in families(observation.command):
            self._families[name] = self._families.get(name, False) or hit
        if hit and is_legible(observation):
            self._spell(sample)
            self._try(sample)

    @property
    def lost(self) -> frozenset[str]:
        """Strings that agents used and that the rule would have taken from them, in outputs without a failure."""
        return frozenset(self._sound.lost)

    @property
    def loses_too_much(self) -> bool:
        """Whether the rule loses a larger share of the strings that were used than the bar allows."""
        return self._sound.weight > self._bar.lost * self._used

    @property
    def has_acted(self) -> bool:
        """Whether the rule left anything out of an output without a failure."""
        return self._sound.acted > 0

    def verdict(self) -> Verdict:
        """Close the trial and judge the rule; no sample can be added afterwards."""
        self._settle()
        reason = self._fault or self._refusal()
        failing = self._failing
        harmless = failing.weight <= self._bar.lost * failing.used
        on_failing = not reason and harmless and len(failing.places) >= self._bar.sessions
        figures = self._figures()
        evidence = dict(self._rule.evidence) | {"trial": figures}
        rule = self._rule if reason else replace(self._rule, on_failing=on_failing, evidence=evidence)
        return Verdict(
            admitted=not reason,
            reason=reason or f"lost {len(self._sound.lost)} of {self._used} strings that were used",
            rule=rule,
            figures=figures,
        )

    def _settle(self) -> None:
        """A used string is lost if it would be gone from every result in which it stood."""
        session, self._session = self._session, _Session()
        for tally, gone in ((self._sound, session.gone[False]), (self._failing, session.gone[True])):
            lost = sorted(string for string in gone if gone[string] == session.held[string])
            tally.lost.update(dict.fromkeys(lost))
            tally.weight += min(len(lost), WITNESS)

    def _spell(self, sample: Sample) -> None:
        pending = [name for name, sources in self._literals.items() if sample.source not in sources]
        text = f"{sample.observation.command}\n{sample.observation.text}".lower() if pending else ""
        for name in pending:
            if name in text:
                self._literals[name].add(sample.source)

    def _try(self, sample: Sample) -> None:
        observation = sample.observation
        lines = observation.text.split("\n")
        self._aim(lines)
        tally = self._failing if is_failing(observation, lines) else self._sound
        tally.outputs += 1
        tally.chars += len(observation.text)
        tally.used += len(sample.used - sample.known)
        decision = decide(observation, self._ruleset, _ALONE)
        if isinstance(decision, Kept):
            self._broken += decision.reason == "failed"
            return
        removed = sum(a.removed for a in decision.forms[-1].applied if a.loss == "lossy")
        if removed:
            tally.acted += 1
            tally.removed += removed
            tally.places.add((sample.source, sample.session))
            self._session.gone[tally is self._failing].update(_gone(sample, decision))

    def _aim(self, lines: Sequence[str]) -> None:
        kind = KINDS[self._rule.kind]
        after = set(kind.drop(tuple(lines), kind.parse(self._rule.params), frozenset()))
        self._after += len(after)
        self._aimed += len(after & failures(lines)) if after else 0

    def _refusal(self) -> str:
        bar, sound = self._bar, self._sound
        sessions, sources = len(sound.places), len({source for source, _ in sound.places})
        private = [name for name, sources in self._literals.items() if len(sources) < bar.literal_sources]
        found = sum(self._families.values())
        checks = (
            (self._broken, f"it raised on {self._broken} outputs"),
            (
                self._rule.kind == "line_filter"
                and found > max(bar.breadth * len(self._families), len(_ANYTHING) // 4),
                f"its trigger is too broad: it finds {found} of {len(self._families)} kinds of commands",
            ),
            (
                self._aimed > bar.aimed * self._after,
                f"it is after lines that state a failure: {self._aimed} of {self._after}",
            ),
            (
                self.loses_too_much,
                f"it loses {len(sound.lost)} strings that agents used: {', '.join(sorted(sound.lost)[:NAMED])}",
            ),
            (
                sessions < bar.sessions,
                f"it acted in {sessions} sessions; {bar.sessions} have to show that it is harmless",
            ),
            (sources < bar.sources, f"it acted in {sources} sources; {bar.sources} have to show that it is harmless"),
            (
                private,
                f"{', '.join(private[:NAMED])}: seen in fewer than {bar.literal_sources} sources, so it may be one task's own",
            ),
            (
                sound.removed < bar.gain * sound.chars,
                f"it saves too little: {sound.removed / max(sound.chars, 1):.1%} of its outputs",
            ),
        )
        return next((reason for wrong, reason in checks if wrong), "")

    def _figures(self) -> dict[str, object]:
        sound, failing = self._sound, self._failing
        return {
            "outputs": sound.outputs,
            "acted": sound.acted,
            "chars": sound.chars,
            "removed": sound.removed,
            "used": self._used,
            "lost": len(sound.lost),
            "sessions": len(sound.places),
            "sources": len({source for source, _ in sound.places}),
            "failing": failing.acted,
            "failing_lost": len(failing.lost),
        }


def admit(rule: Rule, samples: Iterable[Sample], bar: Bar | None = None) -> Verdict:
    """Try `rule` over `samples`, the one that caused its proposal among them."""
    trial = Trial(rule, bar)
    for sample in samples:
        trial.add(sample)
    return trial.verdict()


def _fault(rule: Rule) -> str:
    """Why the rule cannot even be tried."""
    kind = KINDS.get(rule.kind)
    if kind is None:
        return f"there is no kind {rule.kind!r}"
    try:
        kind.parse(rule.params)
        trigger = compile_trigger(rule.trigger.pattern)
    except RuleError as error:
        return str(error)
    found = [command for command in _ANYTHING if trigger.search(command)]
    if rule.kind == "line_filter" and len(found) > Bar().breadth * len(_ANYTHING):
        return f"its trigger is too broad: it finds {', '.join(found[:NAMED])}"
    return ""


def _literals(rule: Rule) -> frozenset[str]:
    """Words that its patterns spell out and that are not everybody's."""
    listed = (value for value in rule.params.values() if isinstance(value, list | tuple))
    patterns = [rule.trigger.pattern, *(item for value in listed for item in value if isinstance(item, str))]
    return frozenset(name for pattern in patterns for name in names(pattern)) - EVERYDAY - ACTING - DEEDS


def _gone(sample: Sample, decision: Rewritten) -> frozenset[str]:
    """Used strings that stand in what is left out, and no longer in what is shown."""
    text, form = sample.observation.text, decision.forms[-1]
    left_out = "\n".join(render(text, omission.spans) for omission in form.omissions)
    gone = sample.used & _strings(left_out)
    return gone - _strings(render_form(text, form)) if gone else gone


def _strings(text: str) -> frozenset[str]:
    return words(text).union(cores(text.split("\n")))
