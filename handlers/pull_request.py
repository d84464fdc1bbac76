"""A pull request was closed: merged or not, its work may have landed."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("pull_request", action="closed")
@router.register("pull_request", action="labeled")
@router.register("pull_request", action="unlabeled")
@router.register("pull_request", action="edited")
async def on_pull_request(event: Event, deferral: Deferral) -> None:
    """Ignores `merged`, since a merge bot pushes the commit and closes unmerged; later edits change the record."""
    source = deliveries.installed_repository(event.data)
    if source is None:
        return deferral.skip("no installation")
    if not deliveries.pull_request_is_closed(event.data) and deliveries.action(event.data) != "closed":
        return deferral.skip("still open")
    number = deliveries.pull_request_number(event.data)
    return deferral.defer(
        "record_pull_request",
        serial=f"repository:{source.repository}",
        installation=source.installation,
        repository=source.repository,
        delivery=event.delivery_id,
        number=number,
    )


@router.register("pull_request", action="closed")
async def on_pull_request_merged(event: Event, deferral: Deferral) -> None:
    """Observes which head landed and whether its author merged it: no other event shows that."""
    source = deliveries.installed_repository(event.data)
    if source is None or not deliveries.pull_request_is_merged(event.data):
        return
    deferral.observe(source, event.delivery_id)
