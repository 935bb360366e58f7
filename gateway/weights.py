"""What things that are kept weigh in memory, in bytes: roughly, and rather too much than too little.

A cache whose entries weigh more than they say is not bounded. What several caches share is counted in each of them:
any of them may be the last to hold it.
"""

from __future__ import annotations

from sys import getsizeof

from gateway.types import Message
from rules_engine import Earlier, Form, Rewritten

_PIECE = 130
"""A slice in a tuple: two numbers and a pair of them."""
_PLACE = 150
"""A line that an index finds: an entry in a table, and a list of its places."""


def of_message(message: Message) -> int:
    """A message, read. Where it has one text only, that is its words, too."""
    texts = sum([300 + (0 if text.value is message.words else getsizeof(text.value)) for text in message.texts])
    calls = sum([500 + getsizeof(call.arguments) + getsizeof(call.command) for call in message.calls])
    return 500 + getsizeof(message.words) + texts + calls


def of_decision(decision: Rewritten) -> int:
    """A decision with all its forms."""
    return 300 + sum(map(_of_form, decision.forms))


def _of_form(form: Form) -> int:
    literals = sum([len(piece) for piece in form.script if isinstance(piece, str)])
    hidden = sum([600 + _PIECE * (len(omission.spans) + len(omission.rules)) for omission in form.omissions])
    return 300 + _PIECE * len(form.script) + 4 * literals + 300 * len(form.applied) + 300 * len(form.sources) + hidden


def of_index(earlier: Earlier) -> int:
    """The index of a text's lines."""
    found = _PLACE * (len(earlier.places) + len(earlier.hidden))
    return 1000 + sum(map(getsizeof, filter(None, earlier.lines))) + 16 * len(earlier.lines) + found
