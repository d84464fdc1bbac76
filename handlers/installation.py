"""Almanac was installed, removed, suspended, taken back or granted more: the worker asks GitHub which."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("installation", action="created")
@router.register("installation", action="deleted")
@router.register("installation", action="suspend")
@router.register("installation", action="unsuspend")
@router.register("installation", action="new_permissions_accepted")
async def on_installation(event: Event, deferral: Deferral) -> None:
    installation = deliveries.installation_id(event.data)
    if installation is None:
        return deferral.skip("no installation")
    return deferral.defer("update_installation", serial=f"installation:{installation}", installation=installation)
