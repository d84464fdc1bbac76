"""Which public answers can be served again unchanged, without asking the database again?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web
from cachetools import LRUCache
from msgspec import Struct
from multidict import CIMultiDict

from bot.render.images.options import ADDRESS_OPTIONS
from bot.store.engine import Store, StoreUnavailableError
from bot.web.responses import etag_matches

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_MOST = 16 * 1024 * 1024
"""bytes of cached answers"""
_LONGEST_ACCEPT, _LONGEST_QUERY = 300, 600
Key = tuple[str, str, str, str]


class CachedAnswer(Struct, frozen=True):
    """An answer made at this version of the database; `body` is None if only its tag is known."""

    version: str
    tag: str
    headers: CIMultiDict[str]
    bare: CIMultiDict[str]
    """the headers of an answer without a body"""
    body: bytes | None

    def response_for(self, request: web.Request) -> web.Response | None:
        """The cached answer; None if it lacks what this request needs."""
        known = request.headers.get("If-None-Match")
        if known is not None and etag_matches(known, self.tag):
            return web.Response(status=304, headers=self.bare)
        return None if self.body is None else web.Response(body=self.body, headers=self.headers)


def _cached_answer(version: str, response: web.Response, body: bytes | None) -> CachedAnswer:
    bare = response.headers.copy()
    bare.popall("Content-Type", None)
    return CachedAnswer(version, response.headers.get("ETag", ""), response.headers.copy(), bare, body)


def _picture_options(request: web.Request) -> str:
    """The options of a picture; nothing else in a query changes an answer."""
    query = request.query if request.path.endswith(".svg") else {}
    return repr([(name, value) for name, value in query.items() if name in ADDRESS_OPTIONS])


def _size(kept: CachedAnswer) -> int:
    return 1500 + len(kept.body or b"")


@dataclass(slots=True)
class AnswerCache:
    """A cache of public answers. One is served only while no write was committed since it was made: whatever is
    revoked, hidden or corrected disappears with its transaction."""

    store: Store
    day: Callable[[], str]
    _kept: LRUCache[Key, CachedAnswer] = field(default_factory=lambda: LRUCache(_MOST, getsizeof=_size))

    async def answer(self, request: web.Request, make: Handler) -> web.StreamResponse:
        """The cached answer if there is one, else a new one, which is cached if it is public."""
        accept = request.headers.get("Accept", "")
        if len(accept) > _LONGEST_ACCEPT or len(request.query_string) > _LONGEST_QUERY:
            return await make(request)
        try:
            version = await self.store.version()
        except StoreUnavailableError:
            version = None  # the page itself reports a database error
        if version is None:
            return await make(request)
        key = (request.path, _picture_options(request), accept, self.day())
        kept = self._kept.get(key)
        if kept is not None and kept.version == version:
            again = kept.response_for(request)
            if again is not None:
                return again
        response = await make(request)
        self._keep(key, version, response)
        return response

    def _keep(self, key: Key, version: str, response: web.StreamResponse) -> None:
        """`version` is the one before the answer was made: after a write meanwhile, the entry is never served."""
        public = response.headers.get("Cache-Control", "").startswith("public")
        if not public or not isinstance(response, web.Response) or response.status not in (200, 304):
            return
        body = response.body if response.status == 200 else None
        if body is None or isinstance(body, bytes):
            self._kept[key] = _cached_answer(version, response, body)

    def forget(self) -> None:
        """Empty the cache."""
        self._kept.clear()
