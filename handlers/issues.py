"""Somebody triaged another person's issue: non-code activity that only GitHub can show."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("issues", action="assigned")
@router.register("issues", action="closed")
@router.register("issues", action="labeled")
@router.register("issues", action="milestoned")
@router.register("issues", action="transferred")
async def on_issues(event: Event, deferral: Deferral) -> None:
    """Machines do not triage, and the author of an issue does not triage it."""
    source, sender = deliveries.installed_repository(event.data), deliveries.sender(event.data)
    if source is None or sender is None or sender.bot:
        return deferral.skip("no installation, or no person")
    if deliveries.issue_author(event.data) == sender.id:
        return deferral.skip("their own issue")
    return deferral.observe(source, event.delivery_id, "observe_non_code")
