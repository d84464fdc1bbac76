"""Which handler answers which GitHub event? `ROUTERS` is the complete list: an event is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from bot.github.posts import Ourselves
from handlers import (
    check_run,
    check_suite,
    discussion_comment,
    github_app_authorization,
    installation,
    installation_repositories,
    installation_target,
    issue_comment,
    issues,
    ping,
    public,
    pull_request,
    pull_request_review,
    pull_request_review_comment,
    push,
    release,
    repository,
)
from handlers.deferral import Deferral, DeferredJob

__all__ = ["ROUTERS", "Deferral", "DeferredJob", "Handlers"]

ROUTERS: Mapping[str, Router] = MappingProxyType(
    {
        "check_run": check_run.router,
        "check_suite": check_suite.router,
        "discussion_comment": discussion_comment.router,
        "github_app_authorization": github_app_authorization.router,
        "installation": installation.router,
        "installation_repositories": installation_repositories.router,
        "installation_target": installation_target.router,
        "issue_comment": issue_comment.router,
        "issues": issues.router,
        "ping": ping.router,
        "public": public.router,
        "pull_request": pull_request.router,
        "pull_request_review": pull_request_review.router,
        "pull_request_review_comment": pull_request_review_comment.router,
        "push": push.router,
        "release": release.router,
        "repository": repository.router,
    }
)


class Handlers:
    """All handlers of one App, as the webhook uses them."""

    events = frozenset(ROUTERS)

    def __init__(self, ourselves: Ourselves) -> None:
        self._ourselves = ourselves
        self._router = Router(*ROUTERS.values())

    async def route(self, event: Event) -> Deferral:
        """What to do about an event whose data is a `DeliveryPayload`.

        Raises KeyError if it lacks a field required for its kind.
        """
        deferral = Deferral()
        if self._is_echo(event):
            deferral.skip("our own doing")
        else:
            await self._router.dispatch(event, deferral)
        return deferral

    def _is_echo(self, event: Event) -> bool:
        """Our own posts come back as events. Work landed by other bots is no echo, and counts."""
        if deliveries.comment_app(event.data) == self._ourselves.id:
            return True
        sender = deliveries.sender(event.data)
        return sender is not None and sender.bot and sender.login == self._ourselves.login
