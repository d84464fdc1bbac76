"""What every room's tests may ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from simulator.server import Simulator
from tests.contract import Contract


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    """The simulated GitHub on a free port; each request and each answer must keep to GitHub's own description."""
    contract = Contract()
    async with Simulator(observer=contract) as running:
        yield running
    assert contract.violations == []
