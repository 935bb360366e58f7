"""What a provider of Responses keeps: conversations by the names under which a request goes on from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateway.playing.responses import items_of
from gateway.playing.saying import BORN, Items, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A response with all that led to it."""

    response: Mapping[str, Any]
    given: Items
    """What its request brought."""
    history: Items
    """The conversation, with the response."""


class Keeper:
    """Conversations by name: those that the provider stores, and those that only one connection remembers."""

    def __init__(self, stored: dict[str, Kept]) -> None:
        self._stored = stored
        self._remembered: dict[str, Kept] = {}

    def history(self, request: Mapping[str, Any]) -> Items:
        """What a request goes on from. Raises `Refused` if it names a response that is not there."""
        previous = request.get("previous_response_id")
        if previous:
            return self.find(str(previous), "previous_response_id").history
        known = self._look_up(_conversation(request) or "")
        return known.history if known else ()

    def find(self, name: str, param: str | None = None) -> Kept:
        """A response. Raises `Refused` if it is not there."""
        known = self._look_up(name)
        if known is None and param:
            message = f"Previous response with id '{name}' not found."
            raise Refused(400, message, code="previous_response_not_found", param=param)
        if known is None:
            raise Refused(404, f"Response with id '{name}' not found.")
        return known

    def keep(self, request: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        """Keep a response, in the connection alone where the client says so."""
        given = items_of(request)
        kept = Kept(response=response, given=given, history=(*self.history(request), *given, *response["output"]))
        into = self._remembered if request.get("store") is False else self._stored
        into |= dict.fromkeys(filter(None, (response["id"], _conversation(request))), kept)

    def steer(self, name: str, request: Mapping[str, Any]) -> None:
        """Put what a request brings behind a response: whoever goes on from that goes on from this, too."""
        kept = self.find(name)
        into = self._remembered if name in self._remembered else self._stored
        into[name] = replace(kept, history=(*kept.history, *items_of(request)))

    def open(self, name: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """A conversation of this name, with the items that it begins with."""
        given = list(request.get("items") or ())
        made = {"id": name, "object": "conversation", "created_at": BORN, "metadata": request.get("metadata") or {}}
        self._stored[name] = Kept(response=made, given=given, history=given)
        return made

    def _look_up(self, name: str) -> Kept | None:
        return self._remembered.get(name) or self._stored.get(name)


def _conversation(request: Mapping[str, Any]) -> str | None:
    named = request.get("conversation")
    name = named.get("id") if isinstance(named, dict) else named
    return str(name) if name else None
