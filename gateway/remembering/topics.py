"""Words by which a session is found in the index: the ones that its user says and few others do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memory.levels.insight import key_problem

MOST = 3
"""Keys of a session."""
_READ = 4000
"""Characters of a text that are looked at: the task stands at its beginning."""

_WORD = re.compile(r"[A-Za-z][A-Za-z]{3,23}|[\u3040-\u30ff\u3400-\u9fff]{2,6}|[\uac00-\ud7a3]{2,8}")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """about above after again all also always answer any anything are argument around ask assistant back based be because been
    before being below between both bug but call can change changes check class code command commands complete content
    correct could create current data default describe description different directory does done dont down each edit else
    ensure error errors every example expected explain fail failed failing fails false file files find first fix folder
    follow following from function get give given good have help here how implement implementation important in include
    input instead into issue just keep know last later like line lines list look main make many may method might module
    more most must name need needs never new next none not note nothing now number once one only open option order other
    output over package pass passed passes path please possible problem project provide question read really replace
    report repo repository request required result return returns right root run running same script see set should show
    simple since some source start state step steps still string such sure system take task tell test tests text than
    that the their them then there these they thing this those through time todo tool true try type under update upload
    uploaded use used user uses using value values version very want was way well were what when where whether which
    while will with within without work working works would write written wrong you your""",
    )
)


def keys_of(said: Iterable[str], others: Sequence[Iterable[str]] = ()) -> tuple[str, ...]:
    """The keys of a session by what its user said; `others` are sessions that they should tell it from."""
    words = Counter(word for text in said for word in _words(text))
    known = Counter(word for texts in others for word in {word for text in texts for word in _words(text)})
    ranked = sorted(words, key=lambda word: (known[word], -words[word], -len(word), word))
    return tuple(word for word in ranked if key_problem(word) is None)[:MOST]


def _words(text: str) -> list[str]:
    return [word for found in _WORD.findall(text[:_READ]) if (word := found.lower()) not in _COMMON]
