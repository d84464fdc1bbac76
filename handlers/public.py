"""A repository was made public: older GitHub servers report it with this event only."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("public")
async def on_public(event: Event, deferral: Deferral) -> None:
    place = deliveries.place(event.data)
    if place is None:
        return deferral.skip("no installation")
    return deferral.defer(
        "update_repository",
        serial=f"repository:{place.repository}",
        installation=place.installation,
        repository=place.repository,
        action="publicized",
    )
