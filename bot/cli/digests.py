"""How does an operator print or post a monthly digest by hand?"""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import Zone
from bot.cli.printing import write


def digest(
    repository: Annotated[
        str, typer.Argument(metavar="OWNER/REPO", help="A repository on which the App is installed.")
    ],
    month: Annotated[str, typer.Option(metavar="YYYY-MM", help="The month to publish.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the digest and post nothing.")] = False,
    clone: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Print it from this clone, without an App or a server.")
    ] = None,
    timezone: Zone = "UTC",
) -> None:
    """Print and post one month's digest."""
    if clone:
        from bot.cli.recomputing.digest import clone_digest
        from bot.cli.recomputing.offline import read_window

        window = read_window(None, None, timezone)
        write(clone_digest(clone, repository, month, window) or "nothing landed in that month")
        return
    from bot.cli.operating import run

    write(run.digest(repository, month, dry_run=dry_run) or "nothing landed in that month")
