"""A pull request was reviewed: an observation, since only GitHub can show it."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("pull_request_review", action="submitted")
@router.register("pull_request_review", action="edited")
@router.register("pull_request_review", action="dismissed")
async def on_pull_request_review(event: Event, deferral: Deferral) -> None:
    """Includes open pull requests: at the merge it is then known who had approved."""
    source = deliveries.installed_repository(event.data)
    if source is None:
        return deferral.skip("no installation")
    return deferral.observe(source, event.delivery_id)
