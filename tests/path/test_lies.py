"""The short form of `make campaign-lies`: does a hesitating and lying GitHub change nothing, and are bugs noticed?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import bot.github.client
import bot.github.posts
import bot.jobs.publish_post
import bot.services.landings.arrivals
import bot.services.posting.publishing
import bot.services.refusals
from bot.queue.interface import Job
from bot.services.context import Context
from simulator.faults import Kind
from tests.campaigns.lies import CALM, Outcome, Trouble, play

LANDINGS, REPOSITORIES = 9, 2
SHORT = Trouble(chance=0.3, deliveries=0.2, absences=1, afterwards=timedelta(days=3))


@pytest.fixture(scope="module")
def calm() -> Outcome:
    return asyncio.run(play(LANDINGS, CALM, repositories=REPOSITORIES))


async def test_lies_change_nothing(calm: Outcome) -> None:
    lying = await play(LANDINGS, SHORT, repositories=REPOSITORIES)
    assert sum(lying.faults.values()) > 20
    assert lying.compare(calm) == []


def repeat_lost_posts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bot.github.client, "may_repeat", lambda error, method, url: True)


def never_search(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bot.services.posting.publishing, "is_first", lambda context, posting: True)


def ignore_limits(patch: pytest.MonkeyPatch) -> None:
    known = bot.github.client.limit_wait
    patch.setattr(bot.github.client, "limit_wait", lambda *one, **more: known(*one, **more) and 1.0)


def believe_one_refusal(patch: pytest.MonkeyPatch) -> None:
    async def run(function: Callable[[Job, Context], Any], job: Job, context: Context) -> None:
        try:
            await function(job, context)
        except (bot.services.refusals.Refused, bot.services.refusals.BadRequest):
            return

    patch.setattr("bot.app.run_doubting", run)


def keep_partial_facts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bot.services.landings.arrivals, "faulty_commits", lambda landed: [])


def believe_short_lists(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bot.github.client, "stated_total", lambda page: 0)
    patch.setattr(bot.services.posting.publishing, "is_first", lambda context, posting: False)
    patch.setattr(bot.github.client, "may_repeat", lambda error, method, url: True)


BUGS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], tuple[Kind, ...]]] = {
    "a post is sent again when its answer was lost": (repeat_lost_posts, ("lost",)),
    "nobody looks whether a lost post stands there": (never_search, ("lost",)),
    "a limit's end is not waited for": (ignore_limits, ("secondary", "429", "unnamed")),
    "one refusal is believed": (believe_one_refusal, ("lag", "404")),
    "half a commit stays half": (keep_partial_facts, ("zeros", "short", "empty")),
    "a short list is believed": (believe_short_lists, ("empty", "lost")),
}


@pytest.mark.parametrize("bug", BUGS)
async def test_planted_bugs_are_noticed(bug: str, calm: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, kinds = BUGS[bug]
    plant(monkeypatch)
    trouble = Trouble(chance=0.4, kinds=kinds, deliveries=0.4, afterwards=timedelta(days=1))
    assert (await play(LANDINGS, trouble, repositories=REPOSITORIES)).compare(calm)
