"""Every contract of the wire holds for every shape of the table."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.samples import SAMPLES, Sample
from tests.service import Wire, configured, service
from tests.wire import upstream, whole


@pytest.fixture(params=SAMPLES, ids=lambda path: str(path).removeprefix("/v1/"))
def path(request: pytest.FixtureRequest) -> str:
    """The path of a shape."""
    return str(request.param)


@pytest.fixture
def sample(path: str) -> Sample:
    """A conversation in that shape."""
    return SAMPLES[path]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wire]:
    """An upstream behind a gateway, shared by the tests of a module that leave nothing behind."""
    async with upstream(whole(b"{}")) as up, service(configured(up.url), tmp_path_factory.mktemp("data")) as gateway:
        yield Wire(up, gateway)
