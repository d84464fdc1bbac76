"""How does the bot's own webhook run in a separate process? It stores inbox row and jobs on disk, then answers 202.

By default jobs are stored but not run, as with `almanac serve --no-work`, so that only accepting is measured. With
`working` a worker runs them in the same process, as `almanac serve` does, but cannot reach GitHub. With `single` each
delivery has its own commit.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

from msgspec.structs import replace

from bot import app
from bot.configuration.settings import Settings
from bot.configuration.values import GitHubAddress
from bot.store import inbox
from bot.store.engine import Store


class Single:
    """A writer that commits each delivery separately, for comparison."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def accept(self, delivery: inbox.Delivery) -> bool:
        return await self._store.write(inbox.accept, delivery)


async def serve(port: int, secret: str, mode: str, data: Path) -> None:
    settings = Settings(
        app_id="1",
        private_key=(data / "key.pem").read_text(),
        webhook_secrets=(secret,),
        database_url=f"sqlite:///{data}/{mode}-{port}.db",
        data=data / f"{mode}-{port}",
        host="127.0.0.1",
        port=port,
        github=GitHubAddress("http://127.0.0.1:9", "http://127.0.0.1:9", "http://127.0.0.1:9/graphql"),
    )
    if mode != "single":
        await app.serve(settings, asyncio.Event(), working=mode == "working")
        return
    async with app.build(settings) as bot:
        single = replace(bot, writer=Single(bot.store))  # it answers the one call
        async with app.serve_http(single, settings.host, port):
            await asyncio.Event().wait()


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])))
