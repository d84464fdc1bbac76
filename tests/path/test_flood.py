from tests.campaigns.flood import Load, flood


async def test_signed_deliveries_are_accepted_while_strangers_hold_connections_open() -> None:
    """The short form of `make campaign-doors`."""
    outcome = await flood(Load(seconds=1.0, rate=20, bodies=60, heads=300, pages=20, files=512))
    assert outcome.all_accepted, outcome
    assert outcome.files < 512
    assert outcome.log_bytes < 100_000
