"""A remark on a line is part of a review; on a closed pull request it also changes what its record says."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("pull_request_review_comment", action="created")
@router.register("pull_request_review_comment", action="deleted")
async def on_pull_request_review_comment(event: Event, deferral: Deferral) -> None:
    """An open pull request is read when it closes, so only closed ones are read again."""
    place = deliveries.place(event.data)
    if place is None:
        return deferral.skip("no installation")
    if not deliveries.pull_request_is_closed(event.data):
        return deferral.skip("still open")
    return deferral.defer(
        "record_pull_request",
        serial=f"repository:{place.repository}",
        installation=place.installation,
        repository=place.repository,
        delivery=event.delivery_id,
        number=deliveries.pull_request_number(event.data),
    )


@router.register("pull_request_review_comment", action="created")
async def on_pull_request_review_comment_created(event: Event, deferral: Deferral) -> None:
    """Of open pull requests too: that somebody looked closely is told of whoever looked."""
    place = deliveries.place(event.data)
    if place is None:
        return
    deferral.observe(place, event.delivery_id)
