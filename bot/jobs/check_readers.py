"""Each day, and once settings choose a digest repository: may all who read it read what it tells of?"""

from __future__ import annotations

from bot.model.ids import InstallationId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.digests import readers


async def check_readers(job: Job, context: Context) -> None:
    """Where the answer turns false, what was posted is taken back."""
    installation = InstallationId(job_arguments(job.ref_id)["installation"])
    pairs = await context.store.read(readers.pairs_of_installation, installation)
    await readers.check_readers(job, context, installation, pairs)
    await context.store.write(job.finish)
