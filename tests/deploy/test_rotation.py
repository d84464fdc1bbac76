"""Is every delivery accepted, and does every link and snapshot stand, while each key is changed under load?"""

from __future__ import annotations

import shutil

import pytest

from tests.campaigns.rotation import rotate

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="NO openssl PROGRAM: no key was changed")


async def test_each_key_is_changed_under_load() -> None:
    outcome = await rotate()
    assert set(outcome.statuses) == {"202"}, "no delivery is refused, and none finds nobody listening"
    assert outcome.old_secret == "403"
    assert outcome.link == (200, 200, 404), "an old link works until its key is taken out"
    assert outcome.keys == (1, 2)
    assert outcome.verified, "an old snapshot's key is still published"
    assert 0 < outcome.posts[0] < outcome.posts[1], "the App's new key opens the installation"
