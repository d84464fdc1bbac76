"""A pull request was closed or edited: keep what describes it, and record its landing if no push does."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from bot.github.payloads.hints import NOTHING
from bot.github.pushes import Pushed
from bot.queue.interface import Job, RetryLater
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.deliveries.hints import delivery_hints
from bot.services.landings.arrivals import Arrivals, record_arrivals
from bot.services.landings.pull_requests import read_state, read_unpushed, recorded_facts, remeasure
from bot.services.repositories.installation import ensure_installation


async def record_pull_request(job: Job, context: Context) -> None:
    """Closed unmerged is a candidate too: a merge bot may have pushed its commits, or will; `again` measures anew."""
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
"""that the push of a merge may come behind its pull request; after it the delivery is taken to be lost"""
WAIT = 2.0
LOOKS = 4
"""of which the last one waits no more, whatever the clock says: it may stand still, or be behind the job's"""
