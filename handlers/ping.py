"""GitHub tests a hook: there is nothing to do, but the log names events that it will not send."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("ping")
async def on_ping(event: Event, deferral: Deferral) -> None:
    events = deliveries.hook_events(event.data)
    if "*" not in events and not {"pull_request", "push"} <= set(events):
        return deferral.skip("the hook lacks pull_request or push, so no landing will be reported")
    return deferral.skip("the hook reaches us")
