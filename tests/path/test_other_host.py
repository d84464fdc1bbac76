"""Does the bot work on a server that is not github.com? The same tests, with the simulator as ghe.example.com."""

from __future__ import annotations

import pytest

from simulator import web_host
from tests.path.test_batches import *  # noqa: F403 (the same tests again)
from tests.path.test_replay import (  # noqa: F401 (the same test again)
    test_a_small_replay_is_the_same_from_deliveries_and_from_clones,
)
from tests.services.test_claims import *  # noqa: F403 (the same tests again)
from tests.services.test_hours_to_land import *  # noqa: F403 (the same tests again)
from tests.services.test_observations import *  # noqa: F403 (the same tests again)


@pytest.fixture(autouse=True)
def other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_host, "HOST", "ghe.example.com")
