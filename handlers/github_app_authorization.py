"""A person revoked what they had allowed Almanac to do on their behalf."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("github_app_authorization", action="revoked")
async def on_github_app_authorization_revoked(event: Event, deferral: Deferral) -> None:
    sender = deliveries.sender(event.data)
    if sender is None:
        return deferral.skip("nobody named")
    return deferral.defer("end_authorization", serial=f"user:{sender.id}", user=sender.id)
