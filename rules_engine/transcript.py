"""The engine for those who own their agent's loop: each tool result goes in once, and the text for the history comes out."""

from __future__ import annotations

from collections.abc import Iterable

from rules_engine.alikes import ALIKES
from rules_engine.engine import decide, shown
from rules_engine.lines import index
from rules_engine.recall import requested, substitute
from rules_engine.script import text_digest
from rules_engine.seeds import SEEDS
from rules_engine.types import Context, Decision, Earlier, Observation, Rule, RuleSet, Settings


class Transcript:
    """The tool results of one conversation, in order, as the model reads them.

    The same results in the same order give the same texts, in another process too: after a restart, show the history again.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (*SEEDS, *ALIKES),
        settings: Settings | None = None,
        *,
        shell: bool = True,
    ) -> None:
        """`rules` as `rules_engine.taco.load` reads them; without a `shell` nothing is left out, since nobody could ask for it."""
        ordered = tuple(sorted(rules, key=lambda rule: (rule.priority, rule.id)))
        self._ruleset = RuleSet(rules=ordered, settings=settings or Settings())
        self._shell = shell
        self._texts: dict[tuple[str, str], str] = {}
        self._earlier: list[Earlier] = []
        self._digests: dict[str, str] = {}
        self._omitted: dict[str, str] = {}
        self._chars = 0

    def show(self, call: str, command: str, text: str, *, tool: str = "bash", exit_code: int | None = None) -> str:
        """What to send for the result of a call, now and on every later turn. Raises nothing: in doubt it is `text`.

        `command` is what was run, or the call's arguments as JSON. Where it asks for omitted lines (``echo recall:ID``), they
        are put in the place of what the shell printed.
        """
        name = (call, text_digest(text))
        if name not in self._texts:
            self._chars += len(text)
            self._texts[name] = self._decide(name, command, text, tool, exit_code)
        return self._texts[name]

    def _decide(self, name: tuple[str, str], command: str, text: str, tool: str, exit_code: int | None) -> str:
        key = text_digest("\0".join((tool, command, *name)))
        if asked := requested(command):
            return substitute(text, self._omitted, asked).text
        observation = Observation(key=key, tool=tool, command=command, exit_code=exit_code, text=text)
        context = Context(
            shell=self._shell, chars=self._chars, earlier=self._earlier, recall_ids=frozenset(self._omitted)
        )
        return self._keep(observation, name[0], decide(observation, self._ruleset, context))

    def _keep(self, observation: Observation, call: str, decision: Decision) -> str:
        text = observation.text
        out, form = shown(text, decision, self._digests)
        for omission in form.omissions if form else ():
            self._omitted[omission.id] = "".join(text[start:end] for start, end in omission.spans).removesuffix("\n")
        self._digests[observation.key] = text_digest(out)
        name = "" if form and form.adds_lines else call
        self._earlier.append(index(observation.key, out, name, 1, text.count("\n") + 1))
        return out
