"""The account that Almanac is installed on was renamed: the worker asks GitHub for its new name."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("installation_target", action="renamed")
async def on_installation_target_renamed(event: Event, deferral: Deferral) -> None:
    """The repositories of the account get other names too, so the installation is read again with all of them."""
    installation = deliveries.installation_id(event.data)
    if installation is None:
        return deferral.skip("no installation")
    serial = f"installation:{installation}"
    deferral.defer("update_installation", serial=serial, installation=installation)
    return None
