"""A repository was made public: older GitHub servers report it with this event only."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("public")
async def on_public(event: Event, deferral: Deferral) -> None:
    source = deliveries.installed_repository(event.data)
    if source is None:
        return deferral.skip("no installation")
    return deferral.defer(
        "update_repository",
        serial=f"repository:{source.repository}",
        installation=source.installation,
        repository=source.repository,
        action="publicized",
    )
