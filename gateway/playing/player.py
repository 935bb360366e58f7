"""Plays a scenario, whatever way the requests come and the answers go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.playing.counting import Prefixes
from gateway.playing.saying import Asked, Form, Items, Refused, Said, say
from gateway.scenario import Fault, Scenario
from gateway.sse import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said to a request, and what goes wrong with it."""

    form: Form
    whole: Mapping[str, Any]
    asked: Asked
    fault: Fault

    @property
    def ends(self) -> bool:
        """It is not to break off in the middle."""
        return self.fault.break_after is None and not self.fault.error_event

    def stream(self) -> Iterator[Event]:
        """The answer as events."""
        return self.form.stream(self.whole, self.asked, self.fault)


class Player:
    """A scripted model: it counts attempts, answers and what is in its cache."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._attempts: Counter[tuple[Form, bool, int]] = Counter()
        self._prefixes = Prefixes()
        self._serial = 0

    def read(self, form: Form, request: Mapping[str, Any], history: Items = ()) -> Asked:
        """What a request asks. Raises `Refused`."""
        try:
            return form.read(request, history)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused(400, f"the request cannot be read: {error!r}") from error

    def play(self, form: Form, request: Mapping[str, Any], history: Items = ()) -> Answer:
        """The answer to a request, in its form. Raises `Refused`."""
        asked = self.read(form, request, history)
        due, turn = self._scenario.turn(asked.answers)
        fault = Fault() if asked.silent else self._due_fault(form, asked, due, turn.fault or Fault())
        said = Said(number=due, text="") if asked.silent else say(turn, asked)
        whole = form.answer(said, asked, self._prefixes.count(asked, said), self.number())
        return Answer(form=form, whole=whole, asked=asked, fault=fault)

    def number(self) -> int:
        """A number that nothing here has yet."""
        self._serial += 1
        return self._serial

    def _due_fault(self, form: Form, asked: Asked, due: int, fault: Fault) -> Fault:
        # a question beside the conversation, which has no tools, uses up no attempt of the conversation
        attempt = form, bool(asked.tools), due
        self._attempts[attempt] += 1
        if fault.times and self._attempts[attempt] > fault.times:
            return Fault()
        if fault.status:
            message = f"turn {due} fails as its scenario says"
            raise Refused(fault.status, message, retry_after=fault.retry_after)
        return fault
