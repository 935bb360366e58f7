"""A text on its way from raw to result, with the script that leads there and what was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rules_engine.script import Edit, compose, render, splice, text_digest
from rules_engine.types import Applied, Form, Loss, Omission, RuleRef, Script, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What has become of a text so far."""

    text: str
    script: Script
    applied: tuple[Applied, ...] = ()
    sources: tuple[Source, ...] = ()
    omissions: tuple[Omission, ...] = ()

    @classmethod
    def begin(cls, text: str) -> Draft:
        """The raw text, whole."""
        return cls(text=text, script=((0, len(text)),))

    def step(self, edits: Sequence[Edit]) -> Draft:
        """The draft after `edits` to its text."""
        script = splice(len(self.text), edits)
        return replace(self, text=render(self.text, script), script=compose(self.script, script))

    def credit(self, rule: RuleRef, loss: Loss, removed: int) -> Draft:
        """The draft with `rule` among those that took part."""
        done = Applied(rule=rule, loss=loss, removed=removed)
        return replace(self, applied=(*self.applied, done))

    def form(self) -> Form:
        """The draft as a form to be pinned."""
        return Form(
            script=self.script,
            digest=text_digest(self.text),
            applied=self.applied,
            sources=self.sources,
            omissions=self.omissions,
        )
