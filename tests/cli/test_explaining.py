"""Does `almanac explain` on the record agree with its profiles?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.cli.operating.explain import recorded_profile
from bot.configuration.errors import UnusableInputError
from bot.narrative.explanation import explain
from simulator.server import Simulator
from tests.path.requests import shop


async def test_a_number_of_the_record_is_explained(github: Simulator, tmp_path: Path) -> None:
    async with shop(github, tmp_path) as there:
        pull = there.open()
        there.github.review(there.repository, pull, ("COMMENTED", ""), by=there.mara, at=there.clock.now)
        there.merge(pull, "squash")
        there.clock.now += timedelta(minutes=1)
        await there.cost()
        url = there.bot.settings.database_url
        profile = await recorded_profile(url, "ada", "Europe/Vienna")
        assert explain(profile, "commits").value == "2"
        assert "Not rated: no lines old enough." in explain(profile, "correctness").text()
        assert profile.method.timezone == "Europe/Vienna"
        with pytest.raises(UnusableInputError, match="the record knows nobody as zoe"):
            await recorded_profile(url, "zoe", "UTC")
