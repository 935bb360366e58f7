"""What recurs over sessions becomes a candidate, with verbatim quotes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gateway.remembering.recurring import LEAST, MOST, Proposal, Step, propose, recall, recur, steps
from memory import Archive, ExchangeRecord, Message, message_hash
from memory.levels import Levels, Pointer

BUILD = [
    ("pip install -e .", "Successfully installed app\n"),
    ("alembic upgrade head", "done\n"),
    ("pytest -q", "7 passed\n"),
]


def session(*ran: tuple[str, str], name: str = "s1") -> list[bytes]:
    """The messages of a session that ran commands."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "do it"}]
    for k, (command, output) in enumerate(ran):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"c{k}", "type": "function", "function": function}]})  # fmt: skip
        messages.append({"role": "tool", "tool_call_id": f"c{k}", "content": output})
    return [json.dumps(message).encode() for message in messages]


def ran(*commands: tuple[str, str], times: int = LEAST) -> list[list[Step]]:
    """The steps of so many sessions that ran the same."""
    return [steps(f"s{k}", session(*commands)) for k in range(times)]


def test_steps_are_commands_with_their_results_and_places() -> None:
    """Failed ones are told from others."""
    found = steps("s1", session(("make", "ok\n"), ("make test", "FAILED tests/test_a.py - assert 1 == 2\n1 failed\n")))
    assert [(step.command, step.succeeded, step.pointer) for step in found] == [
        ("make", True, Pointer("s1", 2)),
        ("make test", False, Pointer("s1", 4)),
    ]


def test_what_was_forgotten_is_passed_over() -> None:
    """The places of the other messages stay what they were."""
    messages = session(*BUILD)
    messages[0] = messages[1] = messages[2] = b""
    assert [step.pointer.message for step in steps("s1", messages)] == [4, 6]
    assert steps("s1", [b"", b""]) == steps("s1", []) == []


def test_a_tool_that_is_no_shell_runs_no_command() -> None:
    """An editor's arguments are no procedure."""
    call = {"id": "c", "type": "function", "function": {"name": "edit", "arguments": '{"path": "a"}'}}
    messages = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": "ok"}]
    assert steps("s1", [json.dumps(message).encode() for message in messages]) == []


@pytest.mark.parametrize(
    "sessions",
    [
        [],
        ran(*BUILD, times=LEAST - 1),
        [*ran(*BUILD, times=2), steps("s0", session(*BUILD))],
        ran(("ls", "a\n"), ("cat a", "x\n"), ("grep x a", "x\n")),
        ran(("pytest -q", "1 failed\n"), ("make", "make: *** [all] Error 2\n")),
        ran(("make", ""), ("make install", "")),
        ran(("make", "ok\n")),
        ran(("make", "ok\n"), ("make", "ok\n")),
        ran(("touch /tmp/x", "ok\n"), ("rm /tmp/x", "ok\n")),
        ran(("export TOKEN=[redacted:token]", "ok\n"), ("make", "ok\n")),
        ran(("python --version", "Python 3.11.2\n"), times=LEAST - 1),
        [steps(f"s{k}", session(("python --version", f"Python 3.{k}\n"))) for k in range(5)],
        ran(("date", "Mon\n")),
        ran(("curl example.org", "hello\n")),
    ],
    ids=["no session", "too few", "one of them twice", "looking only", "failures only", "nothing to quote", "one command", "one command twice",
         "passing paths", "a secret that was redacted", "a version in too few", "a version that changes", "what is no property", "the network"],
)  # fmt: skip
def test_what_does_not_recur_with_success_is_no_candidate(sessions: list[list[Step]]) -> None:
    """Junk is worse than a gap."""
    assert recur(sessions) == []


def test_a_command_that_tells_the_same_everywhere_is_a_fact() -> None:
    """With a quote of each session."""
    (proposal,) = recur(ran(("python --version", "Python 3.11.2\n")))

    assert (proposal.level, proposal.name) == ("L2", "ENVIRONMENT")
    assert proposal.text == "`python --version` prints: Python 3.11.2"
    assert [(w.pointer, w.quote, w.succeeded) for w in proposal.witnesses] == [
        (Pointer(f"s{k}", 2), "Python 3.11.2", True) for k in range(LEAST)
    ]


def test_a_sequence_that_succeeds_in_several_sessions_is_a_procedure() -> None:
    """Whole, and not each part of it; what only looks, and what failed and was run again, is not in it."""
    looked = [("ls", "a\n"), BUILD[0], ("cat a", "x\n"), BUILD[1], ("pytest -q", "2 failed\n"), BUILD[2]]
    (proposal,) = recur([*ran(*BUILD, times=2), steps("s9", session(*looked))])

    assert proposal.level == "L3"
    assert proposal.name.startswith("pip_alembic_pytest_")
    assert "1. `pip install -e .`\n2. `alembic upgrade head`\n3. `pytest -q`\n" in proposal.text
    assert [witness.quote for witness in proposal.witnesses] == ["7 passed"] * 3


def test_a_part_that_more_sessions_show_stands_for_itself() -> None:
    """Three ran all, five the last two."""
    proposals = recur([*ran(*BUILD), *(steps(f"t{k}", session(*BUILD[1:])) for k in range(2))])
    assert [len(proposal.witnesses) for proposal in proposals] == [5, 3]
    assert "alembic upgrade head" in proposals[0].text
    assert "pip install" not in proposals[0].text


def test_more_sessions_do_not_make_another_candidate() -> None:
    """What is proposed is the same, whoever shows it."""
    assert [p.text for p in recur(ran(*BUILD, times=3))] == [p.text for p in recur(ran(*BUILD, times=6))]


def test_few_are_proposed_at_once() -> None:
    """Those that most sessions show."""
    many = [ran((f"tool{k} --version", f"{k}.0\n"), times=LEAST + (k == 7)) for k in range(MOST + 5)]
    proposals = recur([step for sessions in many for step in sessions])
    assert len(proposals) == MOST
    assert proposals[0].text.startswith("`tool7 --version`")


def test_proposals_become_candidates_with_their_evidence(tmp_path: Path) -> None:
    """What memory refuses is told and costs nothing else."""
    levels = Levels(tmp_path, lambda: 1.0)
    good = recur(ran(*BUILD))
    bad = Proposal(level="L2", name="ENVIRONMENT", text="pid 4711", witnesses=good[0].witnesses)
    found, refused = propose(levels, [bad, *good])

    assert [(c.level, c.text) for c in found] == [("L3", good[0].text)]
    assert [c.id for c in levels.candidates()] == [c.id for c in found]
    assert len(refused) == 1
    assert "a process id" in refused[0]
    assert levels.cited_by("s0") == (f"candidate:{found[0].id}",)
    assert levels.promote(found[0].id, by="person") == f"L3:{good[0].name.removesuffix('.md')}"


async def test_sessions_are_read_from_the_archive(tmp_path: Path) -> None:
    """A tenant's own; a quote stands in the message that its pointer names."""
    archive = await Archive.open(tmp_path)
    try:
        for k in range(3):
            await archive.append([record(f"s{k}", "ours")])
        await archive.append([record("s9", "theirs")])
        sessions = [found async for found in recall(archive, "ours")]
        (proposal,) = recur(sessions)
        for witness in proposal.witnesses:
            message = (await archive.conversation(witness.pointer.session))[witness.pointer.message or 0]
            assert witness.quote in json.loads(message.content)["content"]
    finally:
        await archive.aclose()
    assert {step.pointer.session for found in sessions for step in found} == {"s0", "s1", "s2"}


def record(name: str, tenant: str) -> ExchangeRecord:
    """The exchange of a session."""
    chain: list[Message] = []
    for content in session(*BUILD):
        parent = chain[-1].hash if chain else None
        role = json.loads(content)["role"]
        chain.append(Message(hash=message_hash(parent, content), parent=parent, role=role, content=content))
    return exchange(name, tenant, chain)


def exchange(name: str, tenant: str, chain: Sequence[Message]) -> ExchangeRecord:
    """A record about these messages."""
    return ExchangeRecord(
        id=f"r-{name}", session=name, parent_session=None, tenant=tenant, started=1.0, first_byte=1.5, ended=2.0,
        method="POST", path="/v1/chat/completions", shape="chat_completions", upstream="main", model="small", stream=False,
        retry=False, status=200, outcome="completed", error=None, tip=chain[-1].hash, messages=tuple(chain), head=b"{}",
        reply=None, reported=None, accounts={}, kept={},
    )  # fmt: skip
