"""Sessions in which a rule drops the line that the agent needs, next to rules that drop noise, and sessions in which none does.

A deterministic agent reads what is forwarded to it, as the engine decides. If the line that it needs is not there it
reacts in one of several ways; else it goes on. Complaints stop the rules that they blame, so that the next output of the
same command shows whether it was mended. The agent also does what is no complaint: it edits and tests again, polls, reads
other files, and looks again at what it was shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from rules_engine import (
    Context,
    Observation,
    Omission,
    Result,
    Rewritten,
    Rule,
    RuleSet,
    Signal,
    Turn,
    decide,
    detect,
    render_form,
)
from rules_engine.evolution.complaints import complaints
from rules_engine.types import RuleRef, Trigger

SESSIONS = 60
"""Of each way to react, and of sessions without harm."""
UNQUOTED = 0.15
"""Share of losses after which the agent reads the line that it missed and quotes nothing of it."""
CHANGED = 0.2
"""Share of losses before which it changed something, so that running the command again proves nothing."""
CONTEXT = Context(shell=True, chars=100_000)
FAMILIES = (
    "make all",
    "cargo build",
    "pip install -r req.txt",
    "./deploy.sh staging",
    "node pack.js",
    "bazel query //...",
)
Act = tuple[str, str]
"""What the agent says and the command that it runs."""


@dataclass(slots=True)
class Figures:
    """What came of the sessions."""

    planted: int = 0
    found: int = 0
    blamed: int = 0
    rightly: int = 0
    delays: list[int] = field(default_factory=list)
    mended: int = 0
    quiet_turns: int = 0
    quiet_complaints: int = 0
    by: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        delay = f"delay {sum(self.delays) / max(len(self.delays), 1):.2f} turns, at most {max(self.delays, default=0)}"
        precision = f"precision {_percent(self.rightly, self.blamed)} ({self.blamed} rules blamed)"
        recall, mended = _percent(self.found, self.planted), _percent(self.mended, self.found)
        quiet = f"{self.quiet_complaints} complaints in {self.quiet_turns} turns"
        missed = ", ".join(f"{way} {count}" for way, count in self.by.most_common()) or "none"
        lines = [f"planted: {self.planted} losses, recall {recall}, {precision}, {delay}, mended {mended}"]
        lines += [f"without harm: {quiet} ({_percent(self.quiet_complaints, self.quiet_turns)})"]
        return "\n".join([*lines, f"not found, by reaction: {missed}"])


def report() -> str:
    """Run all sessions and say what came of them."""
    figures = Figures()
    for way in (*REACTIONS, "none"):
        for seed in range(SESSIONS):
            _play(Random(f"{way} {seed}"), way, figures)
    return str(figures)


@dataclass(slots=True)
class Session:
    """An agent at work: what it saw, what was said about it."""

    rng: Random
    command: str
    rules: tuple[Rule, ...]
    log: list[str]
    """Lines that the command prints, times apart."""
    turns: list[Turn] = field(default_factory=list)
    heard: list[Signal] = field(default_factory=list)
    blamed: dict[RuleRef, int] = field(default_factory=dict)
    """Rules against which there was a complaint, and the turn of the first."""
    went: int = 0
    """The turn in which the agent went for the missed line."""
    missed: set[RuleRef] = field(default_factory=set)
    """Rules that left out what the agent came to miss."""

    def step(self, said: str, command: str, output: str) -> str:
        """One turn: run something, hear the signals, and stop the rules that are complained about; what was forwarded."""
        key = f"{len(self.turns):04d}{self.rng.getrandbits(40):010x}"
        observation = Observation(key=key, tool="bash", command=command, exit_code=None, text=output)
        decision = decide(observation, RuleSet(rules=self.rules), CONTEXT)
        form = decision.forms[0] if isinstance(decision, Rewritten) else None
        result = Result(
            observation=observation, decision=decision if isinstance(decision, Rewritten) else None, form=form
        )
        self.turns.append(Turn(said=f"{said}\n{command}", results=(result,)))
        self.heard += detect(self.turns)
        for complaint in complaints(self.heard):
            for rule in complaint.rules:
                self.blamed.setdefault(rule, len(self.turns) - 1)
        self.rules = tuple(rule for rule in self.rules if (rule.id, rule.version) not in self.blamed)
        return render_form(output, form) if form else output

    @property
    def omissions(self) -> list[Omission]:
        """All that was left out, the newest result first."""
        forms = [result.form for turn in reversed(self.turns) for result in turn.results]
        return [omission for form in forms if form for omission in form.omissions]

    def run(self, said: str = "Now the command itself.") -> str:
        """Run the command; times differ whenever it runs."""
        return self.step(
            said,
            self.command,
            "\n".join(self.log) + f"\nended after {self.rng.randint(2, 99)}.{self.rng.randint(0, 9)}s\n",
        )

    def use(self, value: str) -> None:
        """Go on with what was found; now and then without a word of it."""
        if self.rng.random() < UNQUOTED:
            self.step("Good, that will do.", "./publish --latest", "pinned\n")
        else:
            self.step(f"The value is {value}.", f"./publish --pin {value}", f"pinned {value}\n")


def _play(rng: Random, way: str, figures: Figures) -> None:
    command = rng.choice(FAMILIES)
    name, value = f"target_{rng.randint(10, 99)}", f"{rng.getrandbits(48):012x}"
    needed = f"artifact {name} digest {value}"
    guilty, innocent = _rules(rng, command)
    session = Session(rng, command, (*innocent, *((guilty,) if way != "none" else ())), _log(rng, needed))
    for _ in range(rng.randint(0, 4)):
        _idle(session)
    shown = session.run()
    if needed in shown:
        session.use(value)
        for _ in range(rng.randint(8, 16)):
            _idle(session)
        figures.quiet_turns += len(session.turns)
        figures.quiet_complaints += len(session.blamed)
        return
    for _ in range(rng.choice((0, 0, 1, 3))):
        session.step("First something else.", f"cat notes_{rng.randint(1, 9)}.md", "Remember the milk.\n")
    if rng.random() < CHANGED:
        session.step("This may go.", f"rm old_{rng.randint(1, 9)}.o", "")
    session.went = len(session.turns)
    REACTIONS[way](session, name, value, needed)
    for _ in range(rng.randint(2, 6)):
        _idle(session)
    _count(figures, session, way, (guilty.id, guilty.version))
    figures.mended += (guilty.id, guilty.version) in session.blamed and needed in session.run("Once more at the end.")


def _count(figures: Figures, session: Session, way: str, guilty: RuleRef) -> None:
    figures.planted += 1
    figures.blamed += len(session.blamed)
    figures.rightly += len(session.blamed.keys() & (session.missed | {guilty}))
    figures.found += guilty in session.blamed
    if guilty in session.blamed:
        figures.delays.append(session.blamed[guilty] - session.went)
    else:
        figures.by[way] += 1


def _rules(rng: Random, command: str) -> tuple[Rule, tuple[Rule, ...]]:
    """The rule that drops what is needed, and those that drop noise only, in an order of chance."""
    trigger = Trigger(pattern=command.split()[0].strip("./"))

    def strip(name: str, *patterns: str) -> Rule:
        params = {"strip_patterns": list(patterns), "keep_first_n": 1, "keep_last_n": 1}
        return Rule(id=name, kind="line_filter", trigger=trigger, params=params, priority=rng.randint(1, 99))

    innocent = (strip("units", r"^unit \d+"), strip("transfers", r"^transfer "), strip("other", r"^nothing like it"))
    return strip("artifacts", r"^artifact "), innocent[: rng.randint(0, 3)]


def _log(rng: Random, needed: str) -> list[str]:
    """Units and transfers of no interest, artifacts of which one is needed, and lines that no rule drops; interleaved."""
    out = ["reading the plan"]
    for _ in range(rng.randint(6, 14)):
        out += [f"unit {rng.randint(1000, 9999)} of {rng.choice('abcdef')}_{k}.c" for k in range(rng.randint(2, 8))]
        out += [f"transfer {rng.getrandbits(20):05x} from mirror {k}" for k in range(rng.randint(2, 8))]
        out += [
            f"artifact target_{rng.randint(100, 999)} digest {rng.getrandbits(48):012x}"
            for _ in range(rng.randint(2, 7))
        ]
        out.append(f"stage {rng.choice('uvwxyz')}{rng.randint(1, 99)} begins")
    places = [at for at, line in enumerate(out) if line.startswith("artifact")]
    out[rng.choice(places)] = needed
    return out


def _idle(session: Session) -> None:
    """Something that is no complaint."""
    rng = session.rng
    ran = any(result.observation.command == session.command for turn in session.turns for result in turn.results)
    match rng.randint(0 if ran else 1, 5):
        case 0:
            session.step("I change the source.", f"sed -i s/a{rng.randint(1, 9)}/b/ main.c", "")
            session.run("And run it again.")
        case 1:
            for _ in range(rng.randint(1, 3)):
                session.step("Is it up?", "sleep 2 && curl -s localhost:80/health", "starting up, please wait\n")
        case 2:
            session.step("Another file.", f"cat part_{rng.randint(1, 9)}.txt", "one\ntwo\nthree\n")
        case 3:
            session.step("What is there?", "ls", "main.c\nMakefile\nreq.txt\n")
        case 4:
            stages = [line for line in session.log if line.startswith("stage")]
            session.step("The stages again.", f"{session.command} | grep stage", "\n".join(stages) + "\n")
        case _:
            session.step("How far am I?", "git status --short", f" M main.c\n M part_{rng.randint(1, 9)}.txt\n")


def _recall(session: Session, name: str, value: str, needed: str) -> None:
    for omission in session.omissions:
        source = next(r for t in session.turns for r in t.results if r.form and omission in r.form.omissions)
        hidden = "".join(source.observation.text[start:end] for start, end in omission.spans)
        session.went = len(session.turns)
        session.step("That part was left out.", f"echo recall:{omission.id}", f"recall:{omission.id}\n")
        if needed in hidden:
            session.use(value)
            break


def _rerun(session: Session, name: str, value: str, needed: str) -> None:
    if needed in session.run(f"I do not find {name}; once more."):
        session.use(value)
    else:
        _grep(session, name, value, needed)


def _grep(session: Session, name: str, value: str, needed: str) -> None:
    session.step("Closer.", f"{session.command} 2>&1 | grep {name}", f"{needed}\n")
    session.use(value)


def _sed(session: Session, name: str, value: str, needed: str) -> None:
    at = session.log.index(needed)
    start, end = max(at - 4, 0), min(at + 3, len(session.log))
    part = "\n".join(session.log[start:end])
    if needed in session.step("Those lines.", f"{session.command} | sed -n {start + 1},{end}p", part + "\n"):
        session.use(value)
    else:
        _grep(session, name, value, needed)


def _tail(session: Session, name: str, value: str, needed: str) -> None:
    count = len(session.log) - session.log.index(needed) + 1
    shown = session.step(
        "The end of it.", f"{session.command} | tail -n {count}", "\n".join(session.log[-count:]) + "\n"
    )
    if needed in shown:
        session.use(value)
    else:
        _grep(session, name, value, needed)


def _saved(session: Session, name: str, value: str, needed: str) -> None:
    session.step("Into a file.", f"{session.command} > out.txt 2>&1", "")
    session.step("And look there.", f"grep -n {name} out.txt", f"{session.log.index(needed) + 1}:{needed}\n")
    session.use(value)


def _script(session: Session, name: str, value: str, needed: str) -> None:
    session.step("With a script.", f"python3 -c \"print(find('{name}'))\"", f"{needed}\n")
    session.use(value)


def _words(session: Session, name: str, value: str, needed: str) -> None:
    said = session.rng.choice(ASKING)
    session.step(said, f"{session.command} --verbose | grep {name}", f"{needed}\n")
    session.use(value)


def _write(session: Session, name: str, value: str, needed: str) -> None:
    hiding = next(
        (o, r)
        for t in reversed(session.turns)
        for r in t.results
        if r.form
        for o in r.form.omissions
        if _hides(r, o, needed)
    )
    # None of the lines under the mark are in the report, whichever rule left them out.
    session.missed |= set(hiding[0].rules)
    mark = f"[{hiding[0].lines} lines omitted: echo recall:{hiding[0].id}]"
    session.step("I write the report.", f"cat > report.txt <<'E'\nreading the plan\n{mark}\nE", "")


def _edit(session: Session, name: str, value: str, needed: str) -> None:
    at = session.log.index(needed)
    before = next(line for line in reversed(session.log[:at]) if not line.startswith(("artifact", "unit", "transfer")))
    after = next((line for line in session.log[at:] if not line.startswith(("artifact", "unit", "transfer"))), before)
    patch = f"*** Begin Patch\n*** Update File: plan.log\n@@\n {before}\n-artifact {name} digest unknown\n {after}\n*** End Patch"
    session.step("I set the digest.", f"apply_patch <<'E'\n{patch}\nE", "Failed to find expected lines in plan.log\n")
    _grep(session, name, value, needed)


def _hides(result: Result, omission: Omission, needed: str) -> bool:
    return any(needed in result.observation.text[start:end] for start, end in omission.spans)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


ASKING = (
    "The output was truncated before the part that I need.",
    "I need to see the full output.",
    "Some lines were omitted; show me the complete log.",
    "What I need is not in that output.",
    "I can't see the rest of the output.",
    "Die Ausgabe ist abgeschnitten, ich brauche die vollständige Ausgabe.",
    "输出被截断了，我需要完整输出。",
)
REACTIONS: dict[str, Callable[[Session, str, str, str], None]] = {
    "recall": _recall,
    "rerun": _rerun,
    "grep": _grep,
    "sed": _sed,
    "tail": _tail,
    "saved": _saved,
    "script": _script,
    "words": _words,
    "write": _write,
    "edit": _edit,
}
