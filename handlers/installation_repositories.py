"""The repositories of an installation changed: the worker lists them all, so the next event repairs a lost one."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("installation_repositories", action="added")
@router.register("installation_repositories", action="removed")
async def on_installation_repositories(event: Event, deferral: Deferral) -> None:
    installation = deliveries.installation_id(event.data)
    if installation is None:
        return deferral.skip("no installation")
    serial = f"installation:{installation}"
    deferral.defer("update_installation", serial=serial, installation=installation)
    if deliveries.action(event.data) == "added":
        deferral.defer("backfill_installation", serial=serial, installation=installation)
    return None
