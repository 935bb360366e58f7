"""Installing the agents: once, or not at all with the reason."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.clients.installing import HERE, NotHad, install


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npm that notes how it was called, and fails while there is a file that says how."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nif test -e {tmp_path}/wrong; then cat {tmp_path}/wrong >&2; exit 1; fi\n'
        "mkdir node_modules\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return tmp_path


def calls(npm: Path) -> int:
    """How often npm was called."""
    return len((npm / "calls").read_text().splitlines())


def test_without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are the stand-ins."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotHad, match="no npm"):
        install(tmp_path)


def test_the_reason_is_told_once_a_run(npm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other workers of a run don't try again; the next run does."""
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "a")
    (npm / "wrong").write_text("no network")
    for _ in range(2):
        with pytest.raises(NotHad, match="no network"):
            install(npm / "root")
    assert calls(npm) == 1

    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "b")
    (npm / "wrong").unlink()
    assert install(npm / "root").is_dir()


def test_workers_that_ask_at_once(npm: Path) -> None:
    """One installs, the others wait and find it done."""
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: install(npm / "root"), range(4)))

    assert (len(folders), calls(npm)) == (1, 1)


def test_what_is_pinned_is_pinned_whole() -> None:
    """Each package in one version, with its digest, and without the address of a registry."""
    lock = json.loads((HERE / "package-lock.json").read_text())
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]

    for name, version in wanted.items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert all(
        "integrity" in package and "resolved" not in package for name, package in lock["packages"].items() if name
    )
    assert "://" not in (HERE / "package-lock.json").read_text()
