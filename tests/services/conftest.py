"""The simulated GitHub for these tests: a fast one, and one that checks each exchange against its description."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from simulator.server import Simulator
from tests.contract import strict_simulator


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    """On a free port, refusing what it does not know."""
    async with Simulator() as running:
        yield running


@pytest.fixture
async def strict_github() -> AsyncIterator[Simulator]:
    """Each request and each answer must keep to GitHub's own description."""
    async with strict_simulator() as running:
        yield running
