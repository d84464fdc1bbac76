"""What does the bot do with half a year of an organisation? The complete bot on SQLite against the simulated GitHub."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection

from bot.app import Bot, Timing, build, serve_http
from bot.configuration.settings import Settings
from bot.configuration.values import GitHubAddress
from bot.model.ids import InstallationId, PersonKey
from bot.services.digests.publishing import close_months
from bot.store import people
from bot.store.links import Link, mint
from bot.store.visibility import subject_of_person
from simulator.server import PREFIX, Simulator
from simulator.world import World, build_world, play_next


def print_line(text: str = "") -> None:
    """Print a line for the person who watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def settings_for(github: Simulator, world: World, data: Path, *, port: int = 0, backfill: bool = False) -> Settings:
    """The settings that an operator would write for this App."""
    base = github.url
    return Settings(
        app_id=str(world.app.id),
        private_key=world.app.private_key,
        webhook_secrets=(world.app.webhook_secret,),
        database_url=f"sqlite:///{data / 'almanac.sqlite'}",
        data=data,
        github=GitHubAddress(web=base, api=base + PREFIX, graphql=base + "/api/graphql"),
        client_id=world.app.client_id,
        client_secret=world.app.client_secret,
        port=port,
        public_url=f"http://127.0.0.1:{port or 8080}",
        write_gap=0.0,
        backfill=backfill,
    )


def free_port() -> int:
    """A port that is free now: links contain it before anything listens there."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.asynccontextmanager
async def _run_bot(github: Simulator, world: World, data: Path) -> AsyncIterator[tuple[Bot, int]]:
    """The bot, listening on a free port that receives the App's deliveries."""
    timing = Timing()
    settings = settings_for(github, world, data, port=free_port())
    async with build(settings, timing) as bot, serve_http(bot, "127.0.0.1", settings.port) as port:
        world.app.webhook_url = f"http://127.0.0.1:{port}/webhook"
        yield bot, port


async def _play(bot: Bot, world: World) -> None:
    """Play every event of the half year; deliveries arrive while the bot works."""
    total = len(world.lines)
    worker = asyncio.create_task(bot.queue.run())
    try:
        while await play_next(world):
            if world.played % 25 == 0 or world.played == total:
                print_line(f"  {world.played} of {total} landings delivered")
    finally:
        bot.queue.stop()
        await worker
    await bot.queue.drain()


def _posted_lines(world: World) -> list[str]:
    """What the bot posted, as the simulated GitHub stores it: check runs by repository, and every comment."""
    lines: list[str] = []
    for repository in world.repositories.values():
        runs = [run for run in repository.checks.values() if run.app is world.app]
        if runs:
            lines.append(
                f"{repository.full_name}: {len(runs)} check runs, the newest: {runs[-1].fields['output']['title']}"
            )
    for repository in world.repositories.values():
        ours = [
            comment for issue in repository.issues.values() for comment in issue.comments if comment.app is world.app
        ]
        if ours:
            lines.append(f"{repository.full_name}: {len(ours)} comments, the newest on #{ours[-1].issue.number}:")
            lines += ["  | " + line for line in ours[-1].body.splitlines()[1:40]]
    return lines


async def _links(bot: Bot, world: World, port: int) -> list[tuple[str, str]]:
    """An unlisted link to everybody's page, the same that each person would receive."""
    installation = world.installation
    if installation is None:
        return []

    def mint_all(connection: Connection) -> list[tuple[str, str]]:
        found = []
        for account in world.people.values():
            key = PersonKey(f"u:{account.id}")
            if account.type != "Bot" and people.person(connection, key) is not None:
                link = Link(subject_of_person(key), InstallationId(installation.id))
                token = mint(connection, link, secret=bot.pages.secret, now=bot.timing.clock())
                found.append((account.name or account.login, f"http://127.0.0.1:{port}/p/{token}"))
        return found

    return await bot.store.write(mint_all)


async def _demo(once: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="almanac-demo-", ignore_cleanup_errors=True) as folder:
        async with Simulator() as github:
            world = build_world(github, datetime.now(UTC))
            print_line(f"a simulated GitHub with the organisation {world.app.owner.login}: {github.url}")
            async with _run_bot(github, world, Path(folder)) as (bot, port):
                print_line(f"the bot, on SQLite: http://127.0.0.1:{port}")
                await _play(bot, world)
                await close_months(bot.context)
                await bot.queue.drain()
                for line in _posted_lines(world):
                    print_line("  " + line)
                for name, address in await _links(bot, world, port):
                    print_line(f"  {name}: {address}")
                print_line(f"  settings, signed in as whoever you choose: http://127.0.0.1:{port}/settings")
                if not once:
                    print_line("running; stop with Ctrl-C")
                    await asyncio.Event().wait()


def run(*, once: bool) -> None:
    """Run the demo; with `once`, end when the work is done."""
    with contextlib.suppress(KeyboardInterrupt):
        logging.getLogger("bot").setLevel(logging.ERROR)  # warnings are for operators
        asyncio.run(_demo(once))
