"""A remark on a line is part of a review: it stands beside the record of its code."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("pull_request_review_comment", action="created")
async def on_pull_request_review_comment_created(event: Event, deferral: Deferral) -> None:
    """Of open pull requests and of closed ones: that somebody looked closely is told of whoever looked."""
    place = deliveries.place(event.data)
    if place is None:
        return deferral.skip("no installation")
    return deferral.observe(place, event.delivery_id)
