"""How does an operator handle the record? Replay a delivery, export or erase a person, rebuild or move everything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import Output
from bot.cli.printing import stop, write

Login = Annotated[str, typer.Argument(metavar="LOGIN", help="A GitHub login or an email address.")]


def replay(
    delivery: Annotated[
        Path, typer.Argument(metavar="DELIVERY.json", help="A JSON file with event, guid and payload.")
    ],
) -> None:
    """Handle a delivery from a file.

    Works as if GitHub had sent it; running it twice changes nothing.
    """
    from bot.cli.operating import upkeep

    write(upkeep.replay_delivery(delivery))


def export(login: Login, output: Output = None) -> None:
    """Print everything stored about a person."""
    from bot.cli.operating import upkeep

    write(upkeep.export_person(login), output)


def forget(
    login: Login,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm; this cannot be undone.")] = False,
) -> None:
    """Erase a person from record and posts."""
    from bot.cli.operating import upkeep

    if not yes:
        stop(f"this erases everything about {login} for good; check with `almanac export {login}`, then add --yes")
    upkeep.forget_person(login)
    write(f"{login} is erased; a worker will rewrite the posts that mention them")


def rebuild() -> None:
    """Recompute all totals from the facts.

    Reports what was wrong. On SQLite, stop the bot first.
    """
    from bot.cli.operating import upkeep

    upkeep.rebuild_totals(lambda line: write(line))


def move(
    to: Annotated[str, typer.Option("--to", metavar="URL", help="An empty database, sqlite:///… or postgresql://…")],
) -> None:
    """Copy the record into another database.

    Checks that both are the same. Stop the bot first.
    """
    from bot.cli.operating import upkeep

    moved = upkeep.move_record(to, lambda line: write(line))
    write(f"{sum(moved.rows.values())} rows; canonical dump SHA-256 {moved.sha256} on both sides")
    write("Now set ALMANAC_DATABASE_URL to the new database and start the bot.")
