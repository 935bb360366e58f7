"""The six rules that a pool is born with: transfers, heredocs, installers, compilers and key generators; data only."""

from __future__ import annotations

from collections.abc import Sequence

from rules_engine.types import Rule, Trigger

COMMAND = (
    r"(?:^|[;&|(\n]|\s-\w*c\s+[\"'])\s*(?:\w+=\S*\s+)*"
    r"(?:(?:sudo|doas|env|time|timeout|nice|nohup|command|exec|then|do|else)\s+(?:-\S+\s+|\d+[smh]?\s+|\w+=\S*\s+)*)*(?:\S*/)?"
)
"""Where a program's name stands: not `grep -r cc`, nor a word in a message."""
_LAST = r"\s*(?:\d?>&\d\s*)?(?:\|\s*(?:tail|head|tee|cat)\b[^;&|\n]*)?\s*[\"']?\s*$"
"""Nothing runs after it, so all that is shown is its own."""
_MAKE = r"(?:g?make|ninja)(?:\s+(?:-[Cf]\s+\S+|-\S+|\d+|\w+=\S*|all|build|install|clean|debug|release)\b)*"
_COMPILER = r"(?:cmake\s+--build|gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?)(?:\s+(?:[^;&|\n]|>&)*)?"


def _seed(
    name: str,
    trigger: str,
    description: str,
    priority: int,
    ends: tuple[int, int],
    strip: Sequence[str],
    **more: object,
) -> Rule:
    params = {"strip_patterns": list(strip), "keep_first_n": ends[0], "keep_last_n": ends[1], **more}
    return Rule(
        id=name,
        kind="line_filter",
        trigger=Trigger(pattern=trigger),
        params=params,
        description=description,
        priority=priority,
        confidence=0.8,
    )


SEEDS: tuple[Rule, ...] = (
    _seed(
        "git_transfer",
        COMMAND + r"git\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*(?:clone|fetch|pull|push|submodule|remote\s+update)\b",
        "Progress of a git transfer",
        30,
        (3, 5),
        [
            r"^\s*(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Writing|Resolving|Unpacking|Filtering|Updating) [a-z]+:\s",
            r"^\s*remote: Total \d",
            r"^\s*Delta compression using ",
        ],
        keep_patterns=[r" -> ", r"rejected|conflict|fatal|error|denied"],
    ),
    _seed(
        "heredoc_echo",
        r"^\s*(?:cat|tee)\b[^\n|;]*<<-?\s*[\"']?\w+[\"']?[^\n|;&]*\n(?s:.*)\n\s*\w+\s*$",
        "A heredoc that the terminal echoes while it is typed",
        35,
        (2, 3),
        [r"^\s*>(?:\s|$)"],
        max_lines=10,
    ),
    _seed(
        "pip_install",
        COMMAND + r"(?:pip[\d.]*|(?:python[\d.]*|uv)\s+(?:-m\s+)?pip)\s+(?:-\S+\s+)*(?:install|download|wheel)\b",
        "Progress of pip",
        50,
        (3, 5),
        [
            r"^\s*(?:Collecting|Downloading|Using cached|Obtaining|Looking in|Processing|Preparing metadata|Installing build dependencies) ?",
            r"^\s*(?:Getting requirements to build|Building wheels? for|Created wheel for|Stored in directory|Requirement already satisfied)",
            r"^\s*(?:Attempting uninstall|Found existing installation|Uninstalling )",
            r"^\s*[━╸╺─#=>.\s|█▏▎▍▌▋▊▉-]+\s*[\d.]+(?:/[\d.]+)?\s*[kMG]?i?B",
        ],
        keep_patterns=[r"^Successfully|^Installing collected|error|warning|conflict|incompatible|no matching"],
    ),
    _seed(
        "apt_install",
        COMMAND
        + r"(?:apt|apt-get|aptitude)\s+(?:-\S+\s+(?:\S+=\S+\s+)?)*(?:install|update|upgrade|dist-upgrade|full-upgrade)\b",
        "Progress of apt",
        55,
        (2, 2),
        [
            r"^(?:Get|Hit|Ign):\d+ ",
            r"^(?:Selecting previously|Preparing to unpack|Unpacking |Processing triggers|\(Reading database|Reading package lists)",
            r"^(?:Building dependency tree|Reading state information|Fetched |Extracting templates|Preconfiguring packages)",
            r"^Progress: \[",
        ],
        keep_patterns=[r"^[EW]: |^Err:|newly installed|not upgraded|unable|failed"],
    ),
    _seed(
        "compiler_lines",
        f"{COMMAND}(?:{_MAKE}|{_COMPILER}){_LAST}",
        "Compiler calls that are longer than what they say",
        60,
        (5, 10),
        [r"^.{201}"],
        keep_patterns=[r"\b(?:error|warning|note|undefined|fatal)\b", r"\*\*\*"],
    ),
    _seed(
        "key_generation",
        COMMAND + r"(?:openssl|ssh-keygen|gpg2?|certtool|easyrsa)\b",
        "Dots that show that a key is being made",
        65,
        (5, 5),
        [r"^[.+*o\s-]{10,}$"],
    ),
)
"""In the order in which they are tried; numbers are those of the paper's released seeds, but for their cap of 30 lines for
compilers, which took whatever stood in the middle: what was configured, or asked for (``gcc -MM``, ``make -n``)."""
