"""Nobody in these tests has time to wait for a second attempt."""

from __future__ import annotations

import pytest

from gateway.evolving import attempts


@pytest.fixture(autouse=True)
def _in_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further attempts come at once."""
    monkeypatch.setattr(attempts, "_PAUSE", 0.0)
