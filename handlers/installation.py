"""Almanac was installed, removed, suspended, unsuspended or granted more permissions: the worker asks GitHub which."""

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
    serial, action = f"installation:{installation}", deliveries.action(event.data)
    reported = {"action": action} if action == "deleted" else {}
    deferral.defer("update_installation", serial=serial, installation=installation, **reported)
    if action == "created":
        deferral.defer("backfill_installation", serial=serial, installation=installation)
    return None
