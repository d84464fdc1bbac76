"""How does the past enter the record? Commands for a repository's history and for missed deliveries."""

from __future__ import annotations

from typing import Annotated

import typer


def backfill(
    target: Annotated[
        str, typer.Argument(metavar="OWNER[/REPO]", help="An account or repository on which the App is installed.")
    ],
) -> None:
    """Read the history of repositories.

    Reads one repository, or all repositories of an account, into the record. Can be resumed.
    """
    from bot.cli.operating import history

    history.backfill(target)


def catch_up() -> None:
    """Fetch missed deliveries and landings.

    Fetches the deliveries that GitHub could not deliver, and looks for landings without a delivery.
    """
    from bot.cli.operating import history

    history.catch_up()
