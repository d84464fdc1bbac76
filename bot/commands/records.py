"""How does an operator handle the record? Replay a delivery, export or erase a person, rebuild or move everything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.commands.options import Output
from bot.commands.printing import stop, write

Login = Annotated[str, typer.Argument(metavar="LOGIN", help="Who, by login at GitHub or by e-mail.")]


def replay(
    delivery: Annotated[Path, typer.Argument(metavar="DELIVERY.json", help="event, guid and payload of a delivery.")],
) -> None:
    """Take a delivery from a file as if GitHub sent it, and do its work; twice is once."""
    from bot.operating import upkeep

    write(upkeep.replay_delivery(delivery))


def export(login: Login, output: Output = None) -> None:
    """Print everything that is kept of a person, as JSON."""
    from bot.operating import upkeep

    write(upkeep.export_person(login), output)


def forget(
    login: Login,
    yes: Annotated[bool, typer.Option("--yes", help="Yes, erase it; nothing brings it back.")] = False,
) -> None:
    """Erase a person from the record and from what was posted."""
    from bot.operating import upkeep

    if not yes:
        stop(f"this erases everything of {login} for good; look with `almanac export {login}`, then add --yes")
    upkeep.forget_person(login)
    write(f"{login} is erased; posts that told of them are written anew when a worker runs")


def rebuild() -> None:
    """Make all totals anew from the facts, and say what was wrong; on SQLite, stop the bot first."""
    from bot.operating import upkeep

    upkeep.rebuild_totals(lambda line: write(line))


def move(
    to: Annotated[str, typer.Option("--to", metavar="URL", help="An empty database: sqlite:///… or postgresql://…")],
) -> None:
    """Copy the whole record into another database, and prove that both are the same. Stop the bot first."""
    from bot.operating import upkeep

    moved = upkeep.move_record(to, lambda line: write(line))
    write(f"{sum(moved.rows.values())} rows; canonical dump SHA-256 {moved.sha256} on both sides")
    write("Now set ALMANAC_DATABASE_URL to the new database, and start the bot.")
