"""How does the past enter the record? Commands for a repository's history and for missed deliveries."""

from __future__ import annotations

from typing import Annotated

import typer


def backfill(
    target: Annotated[str, typer.Argument(metavar="OWNER[/REPO]", help="Where the App is installed.")],
) -> None:
    """Read the history of one repository, or of all of an account's, into the record; resumable at any point."""
    from bot.operating import past

    past.backfill(target)


def catch_up() -> None:
    """Take the deliveries that GitHub failed to deliver, and look for landings that no delivery told of."""
    from bot.operating import past

    past.catch_up()
