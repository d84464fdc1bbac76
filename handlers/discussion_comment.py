"""Somebody wrote a comment in a discussion: if it contains a command, Almanac answers it."""

from gidgethub.routing import Router
from gidgethub.sansio import Event

from bot.github.payloads import deliveries
from bot.narrative.commands import PREFIX, commands_mark
from handlers.deferral import Deferral

router = Router()


@router.register("discussion_comment", action="created")
async def on_discussion_comment_created(event: Event, deferral: Deferral) -> None:
    """Discussions are read over GraphQL, which finds a comment by its node id alone."""
    source, sender = deliveries.installed_repository(event.data), deliveries.sender(event.data)
    if source is None or sender is None or sender.bot:
        return deferral.skip("no installation, or no person")
    comment = deliveries.discussion_comment(event.data, PREFIX)
    if not comment.asks or not comment.node:
        return deferral.skip("no command")
    return deferral.defer(
        "answer_command",
        serial=f"repository:{source.repository}",
        installation=source.installation,
        repository=source.repository,
        number=comment.number,
        comment=comment.comment,
        node=comment.node,
        said=commands_mark(comment.body),
    )
