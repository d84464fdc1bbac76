"""The checks of a commit are complete, or asked for again: what the record says of them is read anew."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("check_suite", action="completed")
@router.register("check_suite", action="rerequested")
async def on_check_suite(event: Event, deferral: Deferral) -> None:
    place, suite = deliveries.place(event.data), deliveries.check_suite(event.data)
    if place is None:
        return deferral.skip("no installation")
    return deferral.defer(
        "refresh_check",
        serial=f"repository:{place.repository}",
        installation=place.installation,
        repository=place.repository,
        commit=suite.head,
    )
