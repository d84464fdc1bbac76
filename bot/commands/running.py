"""How is the bot run? As a demo, a service or a worker, and with its tables up to date."""

from __future__ import annotations

import gc
from typing import Annotated

import typer


def demo(
    once: Annotated[bool, typer.Option("--once", help="End when the work is done, instead of staying up.")] = False,
) -> None:
    """Run the whole bot against a simulated organisation, and print the links."""
    from simulator.demo import run

    run(once=once)


def serve(
    relay: Annotated[
        str | None, typer.Option(metavar="URL", help="A smee channel to fetch deliveries from, on a laptop.")
    ] = None,
    no_work: Annotated[bool, typer.Option("--no-work", help="Accept only: workers run apart, on PostgreSQL.")] = False,
) -> None:
    """Run web, worker and month closer; without an App, open a page that registers one."""
    # Importing creates no garbage, and collecting it would take a tenth of the start-up time.
    gc.disable()
    from bot.operating import running

    gc.enable()
    running.serve(relay, working=not no_work)


def worker() -> None:
    """Run a worker alone, beside `almanac serve` on PostgreSQL."""
    from bot.operating import running

    running.work()


def migrate() -> None:
    """Bring the database's tables to the newest version."""
    from bot.operating import running

    running.migrate()
