"""Somebody commented on a line in a review: an observation, since only GitHub can show it."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("pull_request_review_comment", action="created")
async def on_pull_request_review_comment_created(event: Event, deferral: Deferral) -> None:
    """Includes open and closed pull requests: a line comment shows that its author looked closely."""
    source = deliveries.installed_repository(event.data)
    if source is None:
        return deferral.skip("no installation")
    return deferral.observe(source, event.delivery_id)
