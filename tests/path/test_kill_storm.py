from tests.campaigns.kill_storm import storm


async def test_nothing_acknowledged_is_lost_and_nothing_is_counted_twice_when_the_bot_is_killed() -> None:
    """The short form of `make campaign-kill`."""
    outcome = await storm(kills=1, seed=11, landings=6)
    assert outcome.complete, outcome
