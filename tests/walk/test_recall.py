"""An agent gets back what was left out with an ordinary shell command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memory import StoreError
from rules_engine import find_ids
from tests.samples import LISTING, SAMPLES, Step, dump
from tests.service import Service, configured, service
from tests.wire import Answer, Upstream, ask, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]
SHOWN = [Step("ls -l src", LISTING), Step("ls -l src | cat", LISTING)]
ANSWER = whole(SAMPLE.answer("ok"))


async def send(gateway: Service, *steps: Step) -> Answer:
    """The request after these steps."""
    return await ask(gateway.url, PATH, dump(SAMPLE.request(steps)))


async def mark(gateway: Service, up: Upstream) -> tuple[str, str]:
    """Have a listing shown twice; the recall id in the second showing, and what its mark hides."""
    for k in (0, 1, 2):
        await gateway.row(await send(gateway, *SHOWN[:k]))
    text = outputs(up)[1]
    (name,) = find_ids(text)
    before, after = text.split(next(line for line in text.split("\n") if f"recall:{name}" in line))
    return name, LISTING[len(before) : len(LISTING) - len(after)]


def outputs(up: Upstream) -> list[str]:
    """The tool outputs that reached the upstream last."""
    return SAMPLE.outputs(json.loads(up.last.body))


async def test_a_recall_gives_the_omitted_lines_back(tmp_path: Path) -> None:
    """In the place of the line that echo printed; on later turns the same bytes; and the recall is on record."""
    async with upstream(ANSWER) as up, service(configured(up.url), tmp_path) as gateway:
        name, hidden = await mark(gateway, up)
        recall = Step(f"cd src && echo recall:{name}; ls", f"recall:{name}\nREADME\n")
        row = await gateway.row(await send(gateway, *SHOWN, recall))
        first = outputs(up)
        await send(gateway, *SHOWN, recall, Step("true", ""))

        assert first[2] == f"{hidden}\nREADME\n"
        assert len(hidden) > 1000
        assert outputs(up)[:3] == first
        (signal,) = row.signals
        assert (signal.name, signal.evidence, signal.weight) == ("recall", f"echo recall:{name}", 1.0)
        assert signal.rules == (("shown", signal.rules[0][1]),)


async def test_recalled_text_is_never_compressed_again(tmp_path: Path) -> None:
    """Neither when it is recalled once more, nor by a pointer to where it was recalled before."""
    async with upstream(ANSWER) as up, service(configured(up.url), tmp_path) as gateway:
        name, hidden = await mark(gateway, up)
        recalls = [Step(f"echo recall:{name}", f"recall:{name}\n"), Step(f"echo 'recall:{name}'", f"recall:{name}\n")]
        await send(gateway, *SHOWN, recalls[0])
        await send(gateway, *SHOWN, *recalls)

        assert outputs(up)[2:] == [hidden + "\n", hidden + "\n"]


async def test_a_recall_works_after_a_restart(tmp_path: Path) -> None:
    """Asked before it and after it, with the same bytes."""
    async with upstream(ANSWER) as up:
        async with service(configured(up.url), tmp_path) as gateway:
            name, hidden = await mark(gateway, up)
            first = Step(f"echo recall:{name}", f"recall:{name}\n")
            await send(gateway, *SHOWN, first)
        async with service(configured(up.url), tmp_path) as gateway:
            await send(gateway, *SHOWN, first, Step(f"echo  recall:{name}", f"recall:{name}\n"))

    assert outputs(up)[2:] == [hidden + "\n", hidden + "\n"]


@pytest.mark.parametrize("restarted", [False, True], ids=["in the same process", "after a restart"])
async def test_a_recall_works_after_its_source_has_left_the_request(restarted: bool, tmp_path: Path) -> None:
    """An agent may compact its history and keep the mark in its notes; then the redacted store answers."""
    async with upstream(ANSWER) as up:
        async with service(configured(up.url), tmp_path) as gateway:
            name, hidden = await mark(gateway, up)
            if not restarted:
                await send(gateway, Step(f"echo recall:{name}", f"recall:{name}\n"))
        if restarted:
            async with service(configured(up.url), tmp_path) as gateway:
                await send(gateway, Step(f"echo recall:{name}", f"recall:{name}\n"))

    assert outputs(up) == [hidden + "\n"]


async def test_what_the_store_gave_once_is_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it still can or not."""
    async with upstream(ANSWER) as up, service(configured(up.url), tmp_path) as gateway:
        name, hidden = await mark(gateway, up)
        recall = Step(f"echo recall:{name}", f"recall:{name}\n")
        await send(gateway, recall)
        monkeypatch.setattr(gateway.gateway.archive, "_rows", fail)
        await send(gateway, recall, Step("true", ""))

        assert outputs(up)[0] == hidden + "\n"


async def test_what_the_store_could_not_give_is_not_given_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The final answer was forwarded, and stays as it is; who asks once more is given the text."""
    async with upstream(ANSWER) as up, service(configured(up.url), tmp_path) as gateway:
        name, hidden = await mark(gateway, up)
        recall = Step(f"echo recall:{name}", f"recall:{name}\n")
        with monkeypatch.context() as patch:
            patch.setattr(gateway.gateway.archive, "_rows", fail)
            await send(gateway, recall)
        first = outputs(up)
        await send(gateway, recall, recall)

        assert "nothing is kept" in first[0]
        assert outputs(up) == [*first, hidden + "\n"]


async def fail(*_: object) -> None:
    """A store that cannot be read."""
    raise StoreError("cannot be read")


async def test_another_tenant_gets_nothing(tmp_path: Path) -> None:
    """Ids are no keys."""
    async with upstream(ANSWER) as up, service(configured(up.url), tmp_path) as gateway:
        name, _ = await mark(gateway, up)
        body = dump(SAMPLE.request([Step(f"echo recall:{name}", f"recall:{name}\n")]))
        headers = [("content-type", "application/json"), ("authorization", "Bearer somebody-else")]
        await ask(gateway.url, PATH, body, headers=headers)

        assert outputs(up) == [
            f"[nothing is kept under recall:{name}, and asking again will not change that: run the command again]\n"
        ]


@pytest.mark.parametrize("gone", [False, True], ids=["never given", "given, and then lost with the store"])
async def test_an_unknown_id_gets_one_final_answer(gone: bool, tmp_path: Path) -> None:
    """The agent is told to run the command again, in the same words on every turn."""
    async with upstream(ANSWER) as up:
        name = "abc123"
        if gone:
            async with service(configured(up.url), tmp_path / "one") as gateway:
                name, _ = await mark(gateway, up)
            shutil.rmtree(tmp_path / "one")
        async with service(configured(up.url), tmp_path / "one") as gateway:
            ask_for = Step(f"echo recall:{name}", f"recall:{name}\n")
            await send(gateway, ask_for)
            first = outputs(up)
            await send(gateway, ask_for, Step("true", ""))

    assert first == outputs(up)[:1] != [ask_for.output]
    assert "run the command again" in first[0]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("cat notes.txt", "recall:{}\n"),
        ("echo recall:{}", "see recall:{} for more\n"),
        ("echo recall:{}", "bash: echo: command not found\n"),
        ("echo recall:ffffff", "recall:{}\n"),
        ("grep -r 'recall:{}' .", "recall:{}\n"),
    ],
    ids=["in another command", "within a line", "not printed", "another id", "looked for"],
)
async def test_what_is_no_recall_is_plain_text(command: str, printed: str, tmp_path: Path) -> None:
    """Both the command and the whole line must say it."""
    async with upstream(ANSWER) as up, service(configured(up.url), tmp_path) as gateway:
        name, _ = await mark(gateway, up)
        step = Step(command.format(name), printed.format(name))
        await send(gateway, *SHOWN, step)

        assert outputs(up)[2] == step.output
