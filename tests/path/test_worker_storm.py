import os

import pytest

from tests.campaigns.worker_storm import storm
from tests.databases import postgres_address


@pytest.mark.skipif(
    bool(os.environ.get("TEST_DATABASE_URL")), reason="the storm restarts PostgreSQL: its own, never the given one"
)
async def test_nothing_is_lost_or_doubled_when_workers_die_and_postgresql_restarts() -> None:
    """The short form of `make campaign-storm`."""
    postgres_address()  # skips, and says why, where there is none
    outcome = await storm(20, 1, landings=4, every=1.0)
    assert outcome.whole, outcome
    assert outcome.harm["killed"] >= 1
    assert outcome.harm["restarts"] == 1
