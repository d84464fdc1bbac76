"""The checks of a commit are complete or were requested again: our check run is updated."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from handlers.deferral import Deferral

router = Router()


@router.register("check_suite", action="completed")
async def on_check_suite_completed(event: Event, deferral: Deferral) -> None:
    source, suite = deliveries.installed_repository(event.data), deliveries.check_suite(event.data)
    if source is None:
        return deferral.skip("no installation")
    ids = {"installation": source.installation, "repository": source.repository}
    return deferral.defer("refresh_check", serial=f"repository:{source.repository}", commit=suite.head, **ids)


@router.register("check_suite", action="requested")
async def on_check_suite_requested(event: Event, deferral: Deferral) -> None:
    """GitHub opened a check suite by itself: a tool that waits for all suites must not wait for this one."""
    source, suite = deliveries.installed_repository(event.data), deliveries.check_suite(event.data)
    if source is None:
        return deferral.skip("no installation")
    ids = {"installation": source.installation, "repository": source.repository}
    serial = f"suites:{source.repository}"
    return deferral.defer("close_check_suite", serial=serial, commit=suite.head, app=suite.app, **ids)


@router.register("check_suite", action="rerequested")
async def on_check_suite_rerequested(event: Event, deferral: Deferral) -> None:
    source, suite = deliveries.installed_repository(event.data), deliveries.check_suite(event.data)
    if source is None:
        return deferral.skip("no installation")
    ids = {"installation": source.installation, "repository": source.repository}
    return deferral.defer("refresh_check", serial=f"repository:{source.repository}", commit=suite.head, again=1, **ids)
