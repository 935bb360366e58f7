"""What belongs to one task is found in a pattern, and ordinary words of tools are not."""

from __future__ import annotations

import pytest

from rules_engine.evolution.literals import find_literal
from rules_engine.seeds import SEEDS

TASK = "Unpack vault.7z in /app/data and write what secret_file.txt says to /srv/out; see build42x9 and my.dotted.name"
COMMAND = "cd /app/data && 7z x vault.7z && sha256sum vault.7z && pip install -r requirements.txt && /opt/acme/run report_q3.csv"
CONTEXT = (TASK, COMMAND)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\s*\d+%",
        r"7z\s+x",
        r"\bpip3?\s+install\b",
        r"sha256sum",
        r"(?:/usr/bin/)?make\b",
        r"requirements\.txt",
        r"^Get:\d+ https?://",
        r"other_file\.txt",
        r"^\s*[━╸#=>.\s|█-]+\s*[\d.]+(?:/[\d.]+)?\s*[kMG]?i?B",
        r"(?i)error|warning",
        r"^.{201}",
        r"[a-f0-9]{12}",
        r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}",
        r"node_modules/",
        r"^added \d+ packages",
    ],
)
def test_words_of_tools_stay(pattern: str) -> None:
    """Programs, classes of characters and names that every project has."""
    assert find_literal(pattern, CONTEXT) is None


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        (r"vault\.7z", "vault.7z"),
        (r"vault.7z", "vault.7z"),
        (r"(?:a|vault\.7z)", "vault.7z"),
        (r"secret_file\.txt", "secret_file.txt"),
        (r"^secret_file", "secret_file"),
        (r"/app/data", "/app/data"),
        (r"make -C /app/data\b", "/app/data"),
        (r"report_q3\.csv", "report_q3.csv"),
        (r"build42x9", "build42x9"),
        (r"/home/ann/x", "/home/a"),
        (r"10\.1\.2\.3", "10.1.2.3"),
        (r"ann@example\.org", "ann@example.o"),
        (r"pid 48213", "48213"),
        (r"token \[redacted:token\]", "[redacted:"),
        (r"commit deadbeef0123", " deadbeef0123"),
        (r"-----BEGIN RSA PRIVATE KEY-----", "BEGIN RSA PRIVATE KEY"),
    ],
)
def test_names_of_one_task_are_found(pattern: str, literal: str) -> None:
    """Files, paths, addresses, long numbers, keys: the paper's own example bore an archive's name."""
    assert find_literal(pattern, CONTEXT) == literal


@pytest.mark.parametrize("rule", SEEDS, ids=lambda rule: rule.id)
def test_the_seeds_hold_none(rule: object) -> None:
    """They are what a good rule looks like."""
    params = rule.params  # type: ignore[attr-defined]
    patterns = [rule.trigger.pattern, *params["strip_patterns"], *params.get("keep_patterns", ())]  # type: ignore[attr-defined]

    assert [pattern for pattern in patterns if find_literal(pattern, CONTEXT)] == []
