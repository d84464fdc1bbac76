"""Which answers for everybody may be given again as they were, without asking the database what it was asked before?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web
from cachetools import LRUCache
from msgspec import Struct
from multidict import CIMultiDict

from bot.store.engine import Store, StoreUnavailableError
from bot.web.responses import etag_matches

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_MOST = 16 * 1024 * 1024
"""bytes of answers that are kept"""
_LONGEST_ACCEPT = 300
Key = tuple[str, str, str]


class CachedAnswer(Struct, frozen=True):
    """An answer as it was given when the database had this version; `body` is None where only its tag is known."""

    version: str
    tag: str
    headers: CIMultiDict[str]
    bare: CIMultiDict[str]
    """those of an answer without a body"""
    body: bytes | None

    def response_for(self, request: web.Request) -> web.Response | None:
        """The answer again; None where more would have to be known."""
        known = request.headers.get("If-None-Match")
        if known is not None and etag_matches(known, self.tag):
            return web.Response(status=304, headers=self.bare)
        return None if self.body is None else web.Response(body=self.body, headers=self.headers)


def _cached_answer(version: str, response: web.Response, body: bytes | None) -> CachedAnswer:
    bare = response.headers.copy()
    bare.popall("Content-Type", None)
    return CachedAnswer(version, response.headers.get("ETag", ""), response.headers.copy(), bare, body)


def _size(kept: CachedAnswer) -> int:
    return 1000 + len(kept.body or b"")


@dataclass(slots=True)
class AnswerCache:
    """Answers that everybody may see. One is given again only while no write at all was committed since it was made:
    whatever is revoked, hidden or corrected, in whichever way, is gone with the transaction that says so."""

    store: Store
    day: Callable[[], str]
    _kept: LRUCache[Key, CachedAnswer] = field(default_factory=lambda: LRUCache(_MOST, getsizeof=_size))

    async def answer(self, request: web.Request, make: Handler) -> web.StreamResponse:
        """The kept answer where there is one, else a new one, which is kept if it is public."""
        accept = request.headers.get("Accept", "")
        if len(accept) > _LONGEST_ACCEPT:
            return await make(request)
        try:
            version = await self.store.version()
        except StoreUnavailableError:
            version = None  # the page itself says what is wrong, if something is
        if version is None:
            return await make(request)
        key = (request.path, accept, self.day())
        kept = self._kept.get(key)
        if kept is not None and kept.version == version:
            again = kept.response_for(request)
            if again is not None:
                return again
        response = await make(request)
        self._keep(key, version, response)
        return response

    def _keep(self, key: Key, version: str, response: web.StreamResponse) -> None:
        """`version` is that of before it was made: a write meanwhile leaves an answer that is never given again."""
        public = response.headers.get("Cache-Control", "").startswith("public")
        if not public or not isinstance(response, web.Response) or response.status not in (200, 304):
            return
        body = response.body if response.status == 200 else None
        if body is None or isinstance(body, bytes):
            self._kept[key] = _cached_answer(version, response, body)

    def forget(self) -> None:
        """Drop everything that is kept in memory."""
        self._kept.clear()
