"""The short form of `make campaign-power`, and whether it finds planted bugs."""

from __future__ import annotations

import pytest

from bot.store.inbox import Delivery
from bot.store.ingest import GroupWriter
from tests.campaigns.power_cut import Plan, cut_repeatedly


class Hasty(GroupWriter):
    """Answers before the commit."""

    async def accept(self, delivery: Delivery) -> bool:
        try:
            return await super().accept(delivery)
        except Exception:
            return True


def test_nothing_acknowledged_is_lost_when_the_power_is_cut() -> None:
    found = cut_repeatedly(10, 3, Plan())
    assert found.nothing_lost, found
    assert found.in_checkpoints, found


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(Plan(settings=("PRAGMA synchronous = NORMAL",)), id="commits that do not wait for the disk"),
        pytest.param(Plan(settings=("PRAGMA synchronous = OFF",)), id="checkpoints that do not wait either"),
        pytest.param(Plan(honest=False), id="a disk that lies"),
        pytest.param(Plan(writer=Hasty), id="an answer before the commit"),
    ],
)
def test_planted_bugs_lose_rows(plan: Plan) -> None:
    found = cut_repeatedly(20, 3, plan)
    assert found.lost or found.damaged, found
