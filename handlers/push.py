"""A branch moved: on the default branch, work landed."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("push")
async def on_push(event: Event, deferral: Deferral) -> None:
    """Ignores the payload's commits: it lists at most 2,048, and none of them completely."""
    source = deliveries.installed_repository(event.data)
    if source is None:
        return deferral.skip("no installation")
    push = deliveries.push(event.data)
    if not push.on_default_branch or push.after is None:
        return deferral.skip("not the default branch, or deleted")
    return deferral.defer(
        "record_landing",
        serial=f"repository:{source.repository}",
        installation=source.installation,
        repository=source.repository,
        delivery=event.delivery_id,
        before=push.before or "",
        after=push.after,
    )
