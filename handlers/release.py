"""A release was published or withdrawn: non-code activity that only GitHub can show."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("release", action="deleted")
@router.register("release", action="prereleased")
@router.register("release", action="published")
@router.register("release", action="released")
@router.register("release", action="unpublished")
async def on_release(event: Event, deferral: Deferral) -> None:
    """Several of these events concern one release; a draft becomes a release when it is published."""
    source = deliveries.installed_repository(event.data)
    if source is None:
        return deferral.skip("no installation")
    return deferral.observe(source, event.delivery_id, "observe_non_code")
