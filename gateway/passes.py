"""One pass over the observations of a request, in order: what is forwarded of each, and a decision for what is new.

No I/O: what the store knows is handed in, what has to be pinned is handed out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from sys import getsizeof

from gateway import weights
from gateway.cache import BoundedCache
from gateway.identity import Item, Seen
from gateway.pins import Answer, Pinned, Recalled, weigh
from rules_engine import (
    Context,
    Earlier,
    Form,
    Kept,
    Rewritten,
    RuleSet,
    ScriptError,
    Signal,
    decide,
    detect_recalls,
    first_standing,
    index,
    render_form,
    requested,
    substitute,
    text_digest,
)

RENDERED_BYTES = 4 << 20
INDEXED_BYTES = 16 << 20
LARGEST_SOURCE = 1_000_000
"""Characters of a text that pointers may lead to: an index of a larger one holds up the request that needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An observation and the text that is forwarded of it."""

    item: Item
    at: int
    """Index of its message."""
    text: str
    digest: str
    pinned: Pinned | None = None
    form: Form | None = None

    @property
    def is_rewritten(self) -> bool:
        """It is forwarded otherwise than it came."""
        return self.digest != self.item.digest

    @property
    def removed(self) -> int:
        """Characters that are not forwarded."""
        return len(self.item.observation.text) - len(self.text)

    @property
    def weight(self) -> int:
        """Bytes in memory, beside what came."""
        text = getsizeof(self.text) if self.is_rewritten else 0
        return 700 + text + (weigh(self.pinned) if self.pinned else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSight:
    """What deciding needs to know of the request."""

    ruleset: RuleSet
    shell: bool | None
    whole: bool
    """The provider reads the whole history: only then may a pointer lead back in it."""
    chars: int
    """Text of the whole prompt, as it came."""
    cached_from: int
    """Characters from which on the provider surely caches a prompt."""
    allowed: Callable[[str], bool]
    """Whether the results of this tool may be rewritten."""


class Forms:
    """Texts that were made from pinned forms, and line indexes of forwarded texts: made once, kept while used."""

    def __init__(self) -> None:
        self._texts: BoundedCache[tuple[str, str], str] = BoundedCache(RENDERED_BYTES)
        self._indexes: BoundedCache[tuple[str, str], Earlier] = BoundedCache(INDEXED_BYTES)

    def render(self, key: str, raw: str, form: Form) -> str | None:
        """The text of a form; `None` if it does not give what was forwarded before."""
        text = self._texts.get((key, form.digest))
        if text is None:
            try:
                text = render_form(raw, form)
            except ScriptError:
                return None
            if text_digest(text) != form.digest:
                return None
            self._texts.put((key, form.digest), text, getsizeof(text) + 300)
        return text

    def index(self, shown: Shown) -> Earlier:
        """The line index of a forwarded text."""
        key = (shown.item.observation.key, shown.digest)
        found = self._indexes.get(key)
        if found is None:
            item = shown.item
            name = "" if shown.form and shown.form.adds_lines else item.source
            found = index(key[0], shown.text, name, item.first, item.observation.text.count("\n") + 1)
            self._indexes.put(key, found, weights.of_index(found))
        return found


@dataclass(slots=True, kw_only=True)
class Pass:
    """The state of one pass; `run` fills it."""

    forms: Forms
    pinned: dict[str, Pinned]
    stored: Mapping[str, str]
    """Omitted texts from the redacted store by recall id, for those whose source is not in the request."""
    shown: dict[str, Shown] = field(default_factory=dict)
    """By key, in the order of the request."""
    wanted: list[Pinned] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)
    signals: list[Signal] = field(default_factory=list)
    weight: int = 1000
    """Bytes in memory of what is shown."""

    def run(self, seen: list[Seen], new: frozenset[str], sight: FirstSight | None) -> Pass:
        """Show every observation; decide about those in `new` first."""
        for one in seen:
            for item in one.items:
                if sight is not None and item.observation.key in new:
                    self._meet(item, sight)
                self.shown[item.observation.key] = shown = self._show(item, one.at)
                self.weight += shown.weight
        return self

    def _meet(self, item: Item, sight: FirstSight) -> None:
        decision = self._decide(item, sight)
        if isinstance(decision, Kept):
            self.kept[decision.reason] += 1
        else:
            self.wanted.append(decision)
            self.pinned[decision.key] = decision

    def _decide(self, item: Item, sight: FirstSight) -> Pinned | Kept:
        observation = item.observation
        if asked := requested(observation.command):
            shown = (self.pinned.get(key) for key in self.shown)
            self.signals += detect_recalls(observation, (pinned for pinned in shown if isinstance(pinned, Rewritten)))
            recalled = Recalled(
                key=observation.key, raw_digest=item.digest, answers=tuple(self._answer(name, item) for name in asked)
            )
            if self._answered(item, recalled) == observation.text:
                return Kept(key=observation.key, reason="recalled")
            return recalled
        if not sight.allowed(observation.tool):
            return Kept(key=observation.key, reason="off")
        context = Context(
            shell=sight.shell,
            chars=sight.chars - sum(shown.removed for shown in self.shown.values()),
            cached_from=sight.cached_from,
            earlier=self._sources(item) if sight.whole else (),
            recall_ids=frozenset(o.id for form in self._known_forms() for o in form.omissions),
        )
        return decide(observation, sight.ruleset, context)

    def _sources(self, item: Item) -> list[Earlier]:
        """Texts that a pointer may lead to. What was asked for is only left out where the pointer can name its place:
        in the closed loop an agent that could not find it asked again, and that cost more than was saved."""
        names = Counter([item.source, *(shown.item.source for shown in self.shown.values())])
        indexes = (self.forms.index(shown) for shown in self.shown.values() if _is_source(shown))
        told = (index if names[index.name] == 1 else replace(index, name="") for index in indexes)
        return [index for index in told if index.name or item.unasked]

    def _known_forms(self) -> list[Form]:
        return [form for pinned in self.pinned.values() if isinstance(pinned, Rewritten) for form in pinned.forms]

    def _answer(self, name: str, item: Item) -> Answer:
        """The newest mark with this id that stands before `item`."""
        for key in reversed(self.shown):
            pinned = self.pinned.get(key)
            if not isinstance(pinned, Rewritten):
                continue
            omission = next((o for form in pinned.forms for o in form.omissions if o.id == name), None)
            if omission is not None:
                return Answer(id=name, source=key, spans=omission.spans)
        return Answer(id=name, source=None if name in self.stored else "")

    def _show(self, item: Item, at: int) -> Shown:
        """The first form whose sources stand, else the raw text."""
        observation = item.observation
        pinned = self.pinned.get(observation.key)
        if pinned is not None and pinned.raw_digest == item.digest:
            if isinstance(pinned, Recalled):
                answered = self._answered(item, pinned)
                return Shown(item=item, at=at, text=answered, digest=text_digest(answered), pinned=pinned)
            form = first_standing(pinned.forms, self._digest_of)
            text = self.forms.render(observation.key, observation.text, form) if form else None
            if form is not None and text is not None:
                return Shown(item=item, at=at, text=text, digest=form.digest, pinned=pinned, form=form)
        if pinned is not None:
            self.kept["mismatch"] += 1
        return Shown(item=item, at=at, text=observation.text, digest=item.digest)

    def _digest_of(self, key: str) -> str | None:
        shown = self.shown.get(key)
        return shown.digest if shown else None

    def _answered(self, item: Item, recalled: Recalled) -> str:
        omitted = {}
        for answer in recalled.answers:
            source = self.shown.get(answer.source or "")
            if source is not None:
                raw = source.item.observation.text
                omitted[answer.id] = "".join(raw[start:end] for start, end in answer.spans).removesuffix("\n")
            elif answer.source != "" and answer.id in self.stored:
                omitted[answer.id] = self.stored[answer.id].removesuffix("\n")
        return substitute(item.observation.text, omitted, [a.id for a in recalled.answers]).text


def _is_source(shown: Shown) -> bool:
    return not isinstance(shown.pinned, Recalled) and len(shown.text) <= LARGEST_SOURCE
