from __future__ import annotations

from tests.campaigns.zones import Outcome, run
from tests.databases import database_url

__all__ = ["database_url"]
ZONES = {"sqlite": "Pacific/Kiritimati", "postgresql+psycopg": "America/Asuncion"}


async def test_three_years_pass_with_one_digest_a_month_on_both_sides_of_the_date_line(database_url: str) -> None:
    """A sample; `make campaign-zones` goes through every zone on each database."""
    outcome = await run(database_url, [ZONES[database_url.partition(":")[0]]])
    assert outcome == Outcome(zones=1, asked=36)
