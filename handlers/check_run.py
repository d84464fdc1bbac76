"""Somebody pressed a button on one of our check runs."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("check_run", action="rerequested")
async def on_check_run_rerequested(event: Event, deferral: Deferral) -> None:
    source, check = deliveries.installed_repository(event.data), deliveries.check_run(event.data)
    if source is None:
        return deferral.skip("no installation")
    return deferral.defer(
        "refresh_check",
        serial=f"repository:{source.repository}",
        installation=source.installation,
        repository=source.repository,
        commit=check.head,
        again=1,
    )


@router.register("check_run", action="requested_action")
async def on_check_run_requested_action(event: Event, deferral: Deferral) -> None:
    """Passes on who pressed it: the task asks GitHub what that person may do."""
    source, sender = deliveries.installed_repository(event.data), deliveries.sender(event.data)
    if source is None or sender is None or sender.bot:
        return deferral.skip("no installation, or no person")
    check = deliveries.check_run(event.data)
    return deferral.defer(
        "answer_button",
        serial=f"repository:{source.repository}",
        installation=source.installation,
        repository=source.repository,
        check_run=check.id,
        identifier=check.identifier,
        user=sender.id,
        login=sender.login,
    )
