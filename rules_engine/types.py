"""The engine's nouns, in the order in which they flow.

    Observation × RuleSet × Context ─decide→ Kept | Rewritten ─render→ text
    Observation × Decision* × what the agent did next ─signals→ Signal*

An `Observation` is one tool result. A `Script` says how its new text is put together from slices of its raw text and
a few literals; it holds no text of the tool's, so it can be stored without storing a secret. A `Rewritten` decision
pins one or two such scripts for the life of the conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Piece = tuple[int, int] | str
"""Part of a result: a slice ``(start, end)`` of the input, in characters, or literal text."""

Script = tuple[Piece, ...]
"""A whole result as pieces, in order. ``render(text, ((0, len(text)),)) == text``."""

RuleRef = tuple[str, int]
"""A rule or lossless kind by id and version, e.g. ``("pip_install", 1)``, ``("gutter", 1)``."""

Loss = Literal["lossless", "lossy"]

Nature = Literal["read", "diff", "search", "structured", "terminal"]
"""What sort of output it is. All but ``terminal`` are open to lossless kinds only."""

KeptReason = Literal[
    "short",  # under the minimum size
    "small conversation",
    "off",  # switched off for the request, the tool, the upstream or altogether
    "old",  # not new: it was forwarded raw before, or nobody knows
    "no gain",  # nothing applied, or a guard refused every edit
    "invariant",  # the result broke an invariant, and was thrown away
    "budget",  # more work than one observation may cost
    "failed",  # a kind raised
    "unreadable",  # a lone surrogate or a duplicate key: it cannot be spliced
    "store",  # the store could not commit, so nothing may be pinned
    "recalled",  # the agent asked for this text: it is never compressed again
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One tool result, as the agent sent it."""

    key: str
    """Hash that names it wherever it occurs; see `gateway.identity`."""
    tool: str
    """The tool's name, or "" where terminal output comes as a user message."""
    command: str
    """The shell command, else the call's arguments as JSON, else ""."""
    exit_code: int | None
    """As the framing states it; `None` where it does not."""
    text: str
    """The body, without the agent's wrapper."""
    escaped: bool = False
    """It stands inside a JSON string: the model sees its line breaks as ``\\n``, and what follows runs on."""
    nature: Nature | None = None
    """Where it has been judged already; see `natures.nature`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text earlier in the same request that a pointer leads to."""

    key: str
    digest: str
    """Of the text as forwarded (`text_digest`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """What one mark stands for."""

    id: str
    """Recall id, lower-case hex, at least six characters."""
    spans: tuple[tuple[int, int], ...]
    """Slices of the raw text that the mark hides, in order; joined they are what a recall gives back."""
    lines: int
    rules: tuple[RuleRef, ...] = ()
    """Whose doing it is: a complaint about this omission concerns them only. Where there are as many as spans, each
    left out the span at its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One rule or kind that took part in a rewrite."""

    rule: RuleRef
    loss: Loss
    removed: int
    """Characters that it took away, net of what it inserted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One pinned way of showing an observation."""

    script: Script
    digest: str
    """Of the rendered result (`text_digest`): what is replayed is checked against it."""
    applied: tuple[Applied, ...]
    sources: tuple[Source, ...] = ()
    """All must stand earlier in the request, forwarded as they were then."""
    omissions: tuple[Omission, ...] = ()

    @property
    def adds_lines(self) -> bool:
        """It has lines of its own, such as headings, so that its lines cannot be counted in the raw text."""
        return any(isinstance(piece, str) and "\n" in piece for piece in self.script)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Forward the raw text. Not durable: it is what happens anyway."""

    key: str
    reason: KeptReason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """Forward the first form whose sources stand; else the next; else the raw text."""

    key: str
    raw_digest: str
    """Of the raw text. A text that does not match is forwarded raw."""
    forms: tuple[Form, ...]


Decision = Kept | Rewritten


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """When a rule applies: an RE2 pattern searched, case-insensitively, in the command."""

    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A lossy rule, as data. Field names of its `params` are TACO's (paper, appendix L)."""

    id: str
    version: int = 1
    kind: str
    """A key of `KINDS`."""
    trigger: Trigger
    params: Mapping[str, object]
    description: str = ""
    priority: int = 42
    confidence: float = 1.0
    times_applied: int = 0
    times_complained: int = 0
    parent: str | None = None
    provenance: str = "seed"
    on_failing: bool = False
    """Admitted on failing outputs: under ``critical: guarded`` it may run on them."""
    evidence: Mapping[str, object] = field(default_factory=dict)
    """What it was learned from: counts of outputs, lines and sessions, and the bound that they give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an operator may say about deciding (`config.yaml`, section `rules`)."""

    critical: Literal["unchanged", "guarded"] = "guarded"
    minimum_chars: int = 200
    """Observations under this are left alone."""
    minimum_conversation_chars: int = 2000
    """So is everything in a prompt that holds less text than this."""
    pointer_lines: int = 5
    """The shortest run that becomes a pointer."""
    seam_lines: int = 1
    """Lines kept at each end of such a run."""
    work_limit: int = 400_000_000
    """Characters × patterns that one observation may cost; above it the text stays raw."""
    disabled: frozenset[str] = frozenset({"fold"})
    """Ids of rules and names of lossless kinds that are switched off. Folds are: an agent that looks for a line has to
    put it together first, and in the closed loop that cost 12 of 108 tasks for 0.1 % of the tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """A frozen version of the rules in use; rules in the order in which they are tried."""

    version: int = 1
    rules: tuple[Rule, ...] = ()
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a decision may know of the request around the observation."""

    shell: bool | None
    """The client declared or used a shell, so a recall can be asked for: lossy kinds and pointers may run. `None`: it did
    not say what it has, as recordings do not; a pointer can still be followed."""
    chars: int
    """Text of the whole prompt with this observation as it came and those before it as forwarded, in characters."""
    cached_from: int = 0
    """Characters from which on the provider surely caches a prompt: what would be cached as it came stays that long."""
    earlier: Sequence[Earlier] = ()
    """Texts before the observation, as forwarded, in order; empty where the provider may clear history unseen."""
    recall_ids: frozenset[str] = frozenset()
    """Ids of the marks that already stand in the request."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A forwarded text with its line index, made once (`rules_engine.lines.index`)."""

    key: str
    digest: str
    lines: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]
    """Line → its positions, for lines worth finding."""
    name: str = ""
    """The id of the call that it answers, where the whole message is this text and what stands before it."""
    first: int = 1
    """Number of its first line among the lines of that message."""
    hidden: Mapping[int, int] = field(default_factory=dict)
    """Lines that are marks, and how many lines each stands for: nothing points to them."""

    def number(self, at: int) -> int:
        """The number of line `at` in the message as the agent sent it."""
        return self.first + at + sum(lines - 1 for place, lines in self.hidden.items() if place < at)


SignalName = Literal["recall", "mark", "edit", "reappeared", "reran", "asked", "used"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One tool result of a turn, and the form that it was shown in."""

    observation: Observation
    decision: Rewritten | None = None
    form: Form | None = None
    """`None`: it was forwarded raw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the agent said and did in one answer, and the results of its calls."""

    said: str
    """Its text, and the arguments of its calls, as the words that they are."""
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One observation of a session that has ended, and what of it the agent went on to use."""

    observation: Observation
    used: frozenset[str]
    """Strings that later turns took from it and could have from nowhere else in the context; edit anchors as whole lines."""
    known: frozenset[str]
    """Words of it that stood in the context before it."""
    session: str
    source: str = ""
    """Where the session comes from, a repository or a file: a literal counts once a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What the agent's next step says about a decision."""

    name: SignalName
    key: str
    """The observation concerned."""
    rules: tuple[RuleRef, ...]
    evidence: str
    weight: float


class EngineError(Exception):
    """Base of this package's errors.

    EngineError
    ├── RuleError      a rule or pool file that cannot be used; says which field and what to do
    └── ScriptError    a script that does not fit its text
    """


class RuleError(EngineError):
    """A rule or a pool file cannot be used."""


class ScriptError(EngineError):
    """A script does not fit the text that it is applied to."""
