"""Rules from what agents never used: for each family of commands and shape of line, how often was a line of it used?

What is protected (`critical`) is no evidence at all, and no rule may drop it anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rules_engine.critical import failures, protected
from rules_engine.engine import tidy
from rules_engine.evolution.counts import SOURCES, Count
from rules_engine.evolution.skeletons import DEPTH, NAME, NUMBER, Shape, families, pattern, skeleton, trigger
from rules_engine.evolution.use import cores, words
from rules_engine.natures import is_shell, nature
from rules_engine.scan import is_encodable
from rules_engine.types import Observation, Rule, Sample, Settings, Trigger

NARROW = 0.8
"""If one longer shape has so large a share of a shape's lines, the rule is made for the longer one."""
HOME = 0.5
"""A shape belongs to the family that shows so large a share of the outputs with it."""
PATTERNS = 32
"""Most strip patterns of one rule; those that remove most characters are taken."""
FAMILIES = 12
"""Most families that one trigger names; those with most outputs are taken."""
LARGEST = 1_000_000
"""Characters of an output that is learned from; what is longer is data."""
SHARED = ""
"""The name under which all families are counted together."""
END = ""
"""The last token of a shape after which the line ends."""
MOST_SHAPES = 300_000
_DEEDS = """add build bundle check ci clone compile create deploy dist-upgrade download fetch fmt format init install lint migrate
    pack package publish pull push restore run start submodule sync test train tidy typecheck update upgrade verify wheel
    make ninja cmake ctest meson bazel ant gradle gradlew mvn mvnw sbt gcc g++ cc c++ clang clang++ rustc javac tsc swiftc
    pytest unittest jest vitest mocha ava tap tox nox rspec phpunit playwright cypress webpack vite rollup esbuild eslint
    prettier biome ruff black mypy pyright tar unzip zip 7z gunzip rsync scp wget dd ffmpeg yt-dlp"""
DEEDS = frozenset(_DEEDS.split())
"""Commands that are run for what they do; what others print is what was asked for, and is read rather than quoted."""
_ASKS = frozenset(("gh",))


@dataclass(slots=True)
class Statistics:
    """Counts by family and shape; those of two archives can be merged."""

    shapes: dict[str, dict[Shape, Count]] = field(default_factory=dict)
    size: int = 0
    """How many shapes are counted, over all families."""

    def add(self, sample: Sample) -> None:
        """Count the lines of one observation."""
        observation = sample.observation
        names = [name for name in families(observation.command) if is_deed(name, observation.tool)]
        if not names or not is_legible(observation):
            return
        lines = tidy(observation, Settings()).text.split("\n")
        seen = _counted(lines, sample)
        for shape, count in seen.items():
            count.names.update(names)
            for name in (SHARED, *names):
                self._take(name, shape, count)
        self._forget()

    def merge(self, other: Statistics) -> None:
        """Take in the counts of another archive."""
        for name, shapes in other.shapes.items():
            for shape, count in shapes.items():
                self._take(name, shape, count)
        self._forget()

    def _take(self, name: str, shape: Shape, count: Count) -> None:
        shapes = self.shapes.setdefault(name, {})
        known = shapes.get(shape)
        if known is None:
            known = shapes[shape] = Count()
            self.size += 1
        known.merge(count)

    def _forget(self) -> None:
        """Where there is too much, let go what only one session has shown."""
        if self.size <= MOST_SHAPES:
            return
        for name, shapes in self.shapes.items():
            self.shapes[name] = {shape: count for shape, count in shapes.items() if len(count.witnesses) > 1}
        self.size = sum(map(len, self.shapes.values()))

    def rules(self) -> tuple[Rule, ...]:
        """Rules for shapes that nobody used: those that families share, and those of one family."""
        groups: dict[str, _Group] = {}
        shared = _chosen(self.shapes.get(SHARED, {}))
        for shape, count in shared.strip.items():
            # What has neither word nor sign is told by its family only.
            if any(token not in (NUMBER, NAME) for token in shape):
                group = groups.setdefault(_home(shape, count), _Group())
                group.take(shape, count, shared.keep, count.names)
        for name, shapes in self.shapes.items():
            own = _chosen(shapes) if name != SHARED else _Chosen()
            for shape, count in own.strip.items():
                if not any(shape[: len(other)] == other for other in shared.strip):
                    groups.setdefault(name, _Group()).take(shape, count, own.keep, {name: count.outputs})
        return tuple(group.rule(name) for name, group in sorted(groups.items()))


def _home(shape: Shape, count: Count) -> str:
    """The family that shows most of a shape, and so has it in its rule; else the shape has a rule to itself."""
    name, outputs = count.names.most_common(1)[0]
    return name if outputs >= HOME * count.outputs else " ".join(shape)


def mine(samples: Iterable[Sample]) -> tuple[Rule, ...]:
    """Rules that strip what agents never used in `samples`."""
    statistics = Statistics()
    for sample in samples:
        statistics.add(sample)
    return statistics.rules()


def is_legible(observation: Observation) -> bool:
    """Plain terminal output of a size that is read, not data."""
    text = observation.text
    if len(text) > LARGEST or "\0" in text or not is_encodable(text):
        return False
    return nature(observation) == "terminal"


def is_deed(family: str, tool: str) -> bool:
    """A command that is run for what it does, or what a shell tool shows of one that runs on."""
    if family.startswith("{"):
        return is_shell(tool)
    name, *rest = family.split(" ")
    return name not in _ASKS and not DEEDS.isdisjoint((name, *rest))


def _counted(lines: list[str], sample: Sample) -> dict[Shape, Count]:
    """Counts of one output, by shape and by every beginning of it."""
    stays = protected(lines, sample.observation.command)
    # What stands in a protected line, or stood in the context before, is not lost with another line.
    said = frozenset().union(*(words(lines[at]) for at in stays))
    used = _used(lines, stays, set(sample.used - sample.known - said))
    counts: dict[Shape, Count] = {}
    failed = failures(lines)
    for at, line in enumerate(lines):
        if at in stays and at not in failed:
            continue
        shape = skeleton(line)
        shape = (*shape, END) if shape and len(shape) < DEPTH else shape
        shows = bool(words(line) - sample.known)
        for depth in range(1, len(shape) + 1):
            count = counts.setdefault(shape[:depth], Count(outputs=1))
            if at in failed:
                count.failed += 1
                continue
            count.lines += 1
            count.used += at in used
            count.chars += len(line) + 1
            count.witness(sample.source, sample.session, int(shows))
    return counts


def _used(lines: Sequence[str], stays: Collection[int], strings: set[str]) -> set[int]:
    """For each used string the last line that it stands in: without the others it would still be there."""
    found = set()
    whole = cores(lines)
    for at in range(len(lines) - 1, -1, -1):
        if strings and at not in stays and (here := (words(lines[at]) | {whole[at]}) & strings):
            found.add(at)
            strings -= here
    return found


@dataclass(slots=True)
class _Chosen:
    """Shapes to strip, and longer ones to keep of them."""

    strip: dict[Shape, Count] = field(default_factory=dict)
    keep: list[Shape] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    """What becomes one rule: shapes that one family shows most, with the other families that show them."""

    strip: dict[Shape, Count] = field(default_factory=dict)
    keep: dict[Shape, None] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)

    def take(self, shape: Shape, count: Count, keep: Iterable[Shape], names: Mapping[str, int]) -> None:
        self.strip[shape] = count
        self.keep.update((other, None) for other in keep if other[: len(shape)] == shape)
        self.names.update(names)

    def rule(self, name: str) -> Rule:
        best = sorted(self.strip, key=lambda shape: (-self.strip[shape].chars, shape))[:PATTERNS]
        names = [other for other, _ in self.names.most_common(FAMILIES)]
        return Rule(
            id="mined_" + "_".join("".join(c if c.isalnum() else " " for c in name).split()),
            kind="line_filter",
            trigger=Trigger(pattern=trigger(*names)),
            params={
                "keep_patterns": [pattern(shape) for shape in self.keep],
                "strip_patterns": [pattern(shape) for shape in best],
                "keep_first_n": 3,
                "keep_last_n": 5,
            },
            description=f"Lines of {', '.join(names)} that nobody used",
            provenance="mined",
            evidence=_evidence({shape: self.strip[shape] for shape in best}),
        )


def _chosen(shapes: Mapping[Shape, Count]) -> _Chosen:
    tree: dict[Shape, list[Shape]] = {}
    for shape in sorted(shapes):
        tree.setdefault(shape[:-1], []).append(shape)
    chosen = _Chosen()
    waiting = list(tree.get((), ()))
    while waiting:
        shape = waiting.pop()
        if not _choose(shape, shapes, tree.get(shape, ()), chosen):
            waiting += [other for other in tree.get(shape, ()) if other[-1] != END]
    return chosen


def _choose(shape: Shape, shapes: Mapping[Shape, Count], longer: Sequence[Shape], chosen: _Chosen) -> bool:
    """Strip the shape as a whole, or but for the longer shapes that were used; or say that the longer ones are meant."""
    count = shapes[shape]
    if any(other[-1] != END and shapes[other].lines >= NARROW * count.lines for other in longer):
        return False
    if count.used == 0:
        rest, used = count, []
    else:
        rest, used = Count(), [other for other in longer if shapes[other].used]
        for other in longer:
            if other not in used:
                rest.merge(shapes[other])
    # That the used ones were told apart afterwards is paid for: each counts as one more use of the rest.
    if not rest.is_unused(len(used)) or any(shapes[other].sources < SOURCES for other in used):
        return False
    if any(other[-1] == END for other in used):
        return False  # lines that end where the shape does have no pattern of their own
    chosen.strip[shape] = rest
    chosen.keep += used
    return True


def _evidence(strip: Mapping[Shape, Count]) -> dict[str, object]:
    whole = Count()
    for count in strip.values():
        whole.merge(count)
    shapes = {
        " ".join(shape): {"lines": count.lines, "outputs": count.outputs, "bound": round(count.bound(), 4)}
        for shape, count in strip.items()
    }
    return {
        "lines": whole.lines,
        "used": whole.used,
        "sessions": len(whole.witnesses),
        "sources": whole.sources,
        "bound": round(max(count.bound() for count in strip.values()), 4),
        "shapes": shapes,
    }
