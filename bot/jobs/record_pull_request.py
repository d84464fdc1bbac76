"""When a pull request is closed or edited, store it, and record its landing if no push does."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from bot.github.payloads.hints import NOTHING
from bot.github.pushes import Pushed
from bot.queue.interface import Job, RetryLater
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.deliveries.inbox import delivery_hints
from bot.services.landings.arrivals import Arrivals, record_arrivals
from bot.services.landings.pull_requests import read_state, read_unpushed, recorded_facts, remeasure
from bot.services.repositories.installation import ensure_installation


async def record_pull_request(job: Job, context: Context) -> None:
    """Store the pull request and record or remeasure its landing; `again` forces measuring.

    It may have landed even if it was closed unmerged: a merge bot may push its commits earlier or later.
    """
    given = job_arguments(job.ref_id)
    await ensure_installation(context, given["installation"])
    client = context.reader(given["installation"], given["repository"])
    again = bool(given.get("again"))
    hints = NOTHING if again else await delivery_hints(context, given)
    with translate_github_errors():
        scene = await read_state(context, client, given, hints)
    carried, named, waits = await context.store.read(partial(recorded_facts, scene=scene))
    if scene.merge is not None and not carried and not waits:
        if given.get("delivery") and job.attempt < LOOKS and context.clock() - job.claim.created_at < GRACE:
            raise RetryLater(WAIT, "its push may still arrive")
        with translate_github_errors():
            arrived = await read_unpushed(context, client, scene)
    elif scene.is_news or again:
        with translate_github_errors():
            arrived = await remeasure(context, client, scene, (carried, named))
    else:
        arrived = Arrivals(scene.repository, Pushed(()))
    await record_arrivals(job, context, client, arrived)


GRACE = timedelta(seconds=6)
"""how much later than its pull request a merge's push may arrive; after that it counts as lost"""
WAIT = 2.0
LOOKS = 4
"""attempts; the last one never waits, because the clock may have stopped or be behind the job's"""
