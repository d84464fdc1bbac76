"""How is the bot run? As a demo, a service or a worker, and with its tables up to date."""

from __future__ import annotations

import gc
from typing import Annotated

import typer


def demo(
    once: Annotated[bool, typer.Option("--once", help="Exit when the work is done instead of running on.")] = False,
) -> None:
    """Run the bot on a simulated organisation.

    Prints the links to its pages and posts.
    """
    from simulator.demo import run

    run(once=once)


def serve(
    relay: Annotated[
        str | None, typer.Option(metavar="URL", help="Fetch deliveries from this smee channel, for a laptop.")
    ] = None,
    no_work: Annotated[
        bool, typer.Option("--no-work", help="Run no jobs; separate workers do that, on PostgreSQL.")
    ] = False,
) -> None:
    """Run web server, worker and monthly job.

    If there is no App yet, opens a page that registers one.
    """
    # Imports create no garbage, and collecting takes a tenth of the start.
    gc.disable()
    from bot.cli.operating import run

    gc.enable()
    run.serve(relay, working=not no_work)


def worker() -> None:
    """Run only a worker, on PostgreSQL.

    It shares the database with `almanac serve`.
    """
    from bot.cli.operating import run

    run.work()


def migrate() -> None:
    """Update the tables to the newest version."""
    from bot.cli.operating import run

    run.migrate()
