"""How much may pages use? A time, a size, and a number at once: a page that is hard to make holds up no delivery."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from bot.store.engine import ReadTooLongError, page_reads
from bot.store.opening import PAGE_SECONDS

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class PageRefusedError(Exception):
    """The page is answered with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"refused with {status}")
        self.status = status


class PageBudget:
    """The pages that are being made. What one of them reads from the database is stopped at the end of its time; what
    it renders goes on in the pages' own threads and is cached for the next request."""

    def __init__(
        self, *, seconds: float = PAGE_SECONDS, largest: int = 16 * 1024 * 1024, at_once: int = 64, of_one: int = 8
    ) -> None:
        self._seconds, self._largest, self._at_once, self._of_one = seconds, largest, at_once, of_one
        self._being_made: Counter[str | None] = Counter()

    async def answer(self, address: str | None, request: web.Request, make: Handler) -> web.StreamResponse:
        """The page. Raises PageRefusedError 429 if too many are being made or it takes too long, 413 if it is too
        large. `address` None means everybody behind a proxy."""
        making = self._being_made
        if making.total() >= self._at_once or (address is not None and making[address] >= self._of_one):
            raise PageRefusedError(429)
        making[address] += 1
        try:
            with page_reads(self._seconds):
                async with asyncio.timeout(self._seconds):
                    return self._checked(await make(request))
        except (TimeoutError, ReadTooLongError):
            raise PageRefusedError(429) from None
        finally:
            making[address] -= 1
            if not making[address]:
                del making[address]

    def _checked(self, response: web.StreamResponse) -> web.StreamResponse:
        body: Any = response.body if isinstance(response, web.Response) else None
        if isinstance(body, bytes) and len(body) > self._largest:
            raise PageRefusedError(413)
        return response
