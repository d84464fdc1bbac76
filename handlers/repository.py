"""A repository was renamed, moved, hidden, shown or deleted: who may see its record changes."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("repository", action="renamed")
@router.register("repository", action="transferred")
@router.register("repository", action="privatized")
@router.register("repository", action="publicized")
@router.register("repository", action="deleted")
@router.register("repository", action="unarchived")
@router.register("repository", action="edited")  # the default branch may have changed
async def on_repository(event: Event, deferral: Deferral) -> None:
    """Passes on the action, so that hiding need not wait for GitHub's answer; showing does."""
    source = deliveries.installed_repository(event.data)
    if source is None:
        return deferral.skip("no installation")
    return deferral.defer(
        "update_repository",
        serial=f"repository:{source.repository}",
        installation=source.installation,
        repository=source.repository,
        action=deliveries.action(event.data),
    )
