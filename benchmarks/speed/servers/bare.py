"""What is the floor? aiohttp reads the body and answers 202; `gidgethub` also parses, checks and routes the event."""

from __future__ import annotations

import sys

from aiohttp import web
from gidgethub.routing import Router
from gidgethub.sansio import Event

router = Router()


@router.register("pull_request", action="closed")
async def nothing(_event: Event) -> None:
    """A handler that does nothing."""


def main() -> None:
    port, secret, parse = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "gidgethub"

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        if parse:
            await router.dispatch(Event.from_http(request.headers, body, secret=secret))
        return web.Response(status=202)

    app = web.Application(client_max_size=26 * 1024 * 1024)
    app.router.add_post("/webhook", answer)
    web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None)


if __name__ == "__main__":
    main()
