"""The agent says in words that it needs more of an output than it was shown."""

from __future__ import annotations

import json
from collections.abc import Sequence

import re2

from rules_engine.evolution.gaps import Gap, Look, blamed, looks
from rules_engine.evolution.steps import is_same_target, name
from rules_engine.evolution.use import words
from rules_engine.types import Signal, Turn

WEIGHT = 0.7
_SOON = 3
"""Turns back to which words about an output without its name may refer."""

_TEXT = r"(?:outputs?|logs?|listing|traces?|results?|text|lines?|rows|details?|response|report)"
_GONE = r"(?:truncated|cut(?: off| short)?|omitted|elided|hidden|filtered(?: out)?|compressed|shortened|abbreviated|collapsed|missing|incomplete|left out)"
_WANT = r"(?:need|want|see|show|get|print|view|read|require|give|inspect|check|display)"
_ASKS = re2.compile(
    r"(?i)need_full_output"
    rf"|\b{_WANT}\b[^.\n]{{0,40}}\b(?:full|whole|entire|complete|untruncated|unfiltered|raw|rest of the|omitted|missing|hidden) (?:[\w-]+ ){{0,2}}{_TEXT}\b"
    rf"|\b{_TEXT}\b[^.\n]{{0,40}}\b(?:was|were|is|are|got|been|seems?|looks?|appears?)\b[^.\n]{{0,15}}\b{_GONE}\b"
    rf"|\b(?:truncated|omitted|elided|compressed|cut[- ]off) (?:[\w-]+ )?{_TEXT}\b|\b{_TEXT} (?:that )?I need (?:is|are|was|were) (?:not|left out|missing)"
    r"|\bnot in (?:that|the|this) (?:output|log|listing|result)\b|\bcan(?:no|')t see (?:the |all )?[\w -]{0,30}\b(?:output|log|lines|part|rest)\b"
    r"|(?:vollständige|ganze|komplette) Ausgabe|Ausgabe[^.\n]{0,30}(?:abgeschnitten|gekürzt|unvollständig)"
    r"|sortie (?:complète|entière|tronquée)|salida (?:completa|truncada)|saída (?:completa|truncada)"
    r"|полный вывод|вывод (?:обрезан|усечён)|完整(?:的)?(?:输出|日志|內容|内容)|输出(?:被|已)(?:截断|省略)|(?:出力|ログ)[^。\n]{0,10}(?:全体|全文|省略|切れ)|전체 출력|출력이 (?:잘|생략)"
)
_CODE = re2.compile(r'(?s)```.*?(?:```|\z)|"keystrokes"\s*:\s*"(?:[^"\\]|\\.)*"')
"""Commands that an agent without calls writes into its text."""
_CUT_ITSELF = re2.compile(r"(?i)\b(?:truncated|omitted|elided|output too (?:large|long))\b")


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """One signal if the newest turn asks for more, about the newest result that it can mean."""
    prose = _prose(turns[-1])
    seen = looks(turns) if _ASKS.search(prose) else []
    for look in seen:
        gaps = _named(look, turns[-1], prose)
        if not gaps and (_is_next(look, seen, turns) or _is_tried_again(look, turns[-1])):
            gaps = look.gaps
        # Where the tool had cut its output itself, the words may be about that, and say nothing.
        if gaps and not _CUT_ITSELF.search(look.observation.text):
            evidence = f"the agent asked for more of the output of {name(look.observation)}"
            key = look.observation.key
            return (Signal(name="asked", key=key, rules=blamed(gaps), evidence=evidence, weight=WEIGHT),)
    return ()


def _is_next(look: Look, seen: Sequence[Look], turns: Sequence[Turn]) -> bool:
    return look is seen[0] and look.at >= len(turns) - 1 - _SOON


def _is_tried_again(look: Look, turn: Turn) -> bool:
    return any(is_same_target(look.observation, result.observation) for result in turn.results)


def _named(look: Look, turn: Turn, prose: str) -> tuple[Gap, ...]:
    """The gaps that what it ran then shows, of those the ones with words that it names; else all with such words."""
    shown = tuple(dict.fromkeys(gap for result in turn.results for gap in look.missed(result.observation.text)))
    return look.used(shown or look.gaps, words(prose)) or shown


def _prose(turn: Turn) -> str:
    """What the agent said, without the arguments of its calls."""
    said = str(_CODE.sub("", turn.said))
    for result in turn.results:
        for part in _given(result.observation.command):
            said = said.replace(part, "")
    return said


def _given(command: str) -> list[str]:
    if command[:1] != "{":
        return [command] if command else []
    try:
        given = json.loads(command)
    except (ValueError, RecursionError):
        return [command]
    return [value for value in given.values() if isinstance(value, str) and value] if isinstance(given, dict) else []
