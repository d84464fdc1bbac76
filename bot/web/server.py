"""How does the HTTP server keep every connection in the registry, and refuse what is too slow or too much?"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from bot.configuration.listening import passed_socket
from bot.web.connections import ACCEPTED_AT_ONCE, ConnectionGroup, OpenConnections, Phase
from bot.web.peers import LOCAL, peer_key

_WAITING = 1024
"""connections that the operating system holds for us until we accept them"""
_LARGEST_HEAD = 64 * 1024
_LINGERING = 2.0
"""seconds for reading the rest of a refused body, so that the sender sees the answer"""
_LAST_HEADS = 1.0
"""seconds that requests which are arriving when the server stops have for their heads"""


class BoundedConnection(RequestHandler):
    """aiohttp's connection, which reports to the registry what it is doing."""

    __slots__ = ("_head_bytes", "_registry", "group", "known", "peer", "phase", "since")

    def __init__(self, registry: OpenConnections, server: web.Server, **options: Any) -> None:
        super().__init__(server, **options)
        self._registry = registry
        self._head_bytes = 0
        self.peer, self.phase, self.since, self.known = LOCAL, Phase.HEAD, 0.0, False
        self.group: ConnectionGroup | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        name = transport.get_extra_info("peername")
        self.peer = peer_key(name[0]) if isinstance(name, tuple) else LOCAL
        super().connection_made(transport)
        self._registry.add(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._registry.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.phase is Phase.IDLE and data:
            self._registry.change_phase(self, Phase.HEAD)
            self._head_bytes = 0
        requests = self._request_count
        super().data_received(data)
        if self.phase is not Phase.HEAD:
            return
        if self._request_count > requests:
            self._registry.change_phase(self, Phase.WORK)
            return
        self._head_bytes += len(data)
        if self._head_bytes > _LARGEST_HEAD:
            self._registry.drop(self, "head too large")

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        self._registry.change_phase(self, Phase.ANSWER)
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._registry.change_phase(self, Phase.WORK if self._messages else Phase.IDLE)

    def drop(self) -> None:
        if self.transport is not None:
            self.transport.abort()
        self.force_close()

    def begin_body(self) -> None:
        """The body of an unverified delivery is being read from now on."""
        self._registry.change_phase(self, Phase.BODY)

    def begin_work(self, *, verified: bool) -> None:
        """The body was read; if GitHub signed it, the connection is no longer a stranger's."""
        self._registry.change_phase(self, Phase.WORK)
        if verified:
            self._registry.recognise(self)


class _Server(web.Server):
    def __init__(self, registry: OpenConnections, made: web.Server) -> None:
        self.__dict__.update(made.__dict__)
        self._registry = registry

    def __call__(self) -> RequestHandler:
        return BoundedConnection(self._registry, self, loop=self._loop, **self._kwargs)


class BoundedRunner(web.AppRunner):
    """A runner whose connections are bounded. It never decompresses a body: compressed ones are refused, not decoded
    before the signature check."""

    __slots__ = ("_registry",)

    def __init__(self, app: web.Application, registry: OpenConnections, **options: Any) -> None:
        idle = registry.limits.idle_seconds
        super().__init__(app, auto_decompress=False, lingering_time=_LINGERING, keepalive_timeout=idle, **options)
        self._registry = registry

    async def _make_server(self) -> web.Server:
        return _Server(self._registry, await super()._make_server())


@contextlib.asynccontextmanager
async def run_server(app: web.Application, registry: OpenConnections, host: str, port: int) -> AsyncIterator[int]:
    """Serve the application while the block runs; yields the bound port (0 requests a free one).

    If systemd passed a socket, the server listens there.
    """
    runner = BoundedRunner(app, registry, access_log=None)
    await runner.setup()
    watching = asyncio.create_task(registry.watch())
    try:
        # The backlog is also how many connections are accepted in one turn, before any excess one is closed.
        passed = passed_socket()
        if passed is None:
            await web.TCPSite(runner, host, port, backlog=ACCEPTED_AT_ONCE).start()
        else:
            await web.SockSite(runner, passed, backlog=ACCEPTED_AT_ONCE).start()
        for site in runner.sites:
            _let_more_wait(site)
        yield int(runner.addresses[0][1])
    finally:
        watching.cancel()
        await _stop_accepting(runner, registry)
        await runner.cleanup()


async def _stop_accepting(runner: BoundedRunner, registry: OpenConnections) -> None:
    """Accept no more connections, and let those just accepted send their request, which is then answered."""
    for site in list(runner.sites):
        await site.stop()
    until = time.monotonic() + _LAST_HEADS
    while registry.has_half_heads() and time.monotonic() < until:  # noqa: ASYNC110  # once, at the end
        await asyncio.sleep(0.02)


def _let_more_wait(site: web.BaseSite) -> None:
    """A longer queue in the operating system: whoever does not fit into it tries again only after a second."""
    server = site._server  # aiohttp does not offer its sockets
    for one in server.sockets if isinstance(server, asyncio.Server) else ():
        with socket.socket(fileno=os.dup(one.fileno())) as same:
            same.listen(_WAITING)


def connection_of(request: web.BaseRequest) -> BoundedConnection | None:
    """The connection of a request; None for a server without bounds, as in some tests."""
    return request.protocol if isinstance(request.protocol, BoundedConnection) else None
