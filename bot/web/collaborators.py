"""What are the pages made from? Built once by the composition root."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from aiohttp import web
from msgspec import Struct
from sqlalchemy import Connection

from bot.model import PersonKey
from bot.redaction import Redacted, Secret
from bot.signatures import SigningKey
from bot.store.engine import Store
from bot.web.failures import peer_address
from bot.web.limits import RateLimit
from bot.web.reading import Reader
from bot.web.shelf import Shelf
from bot.web.sign_in import SignIn


class Pages(Redacted, frozen=True):
    """The collaborators of every page."""

    store: Store
    public_url: str
    """what people type to reach the pages, without a closing slash"""
    zone: ZoneInfo
    clock: Callable[[], datetime]
    secret: Secret[bytes]
    """signs links; 32 bytes or more, kept as long as links are to work"""
    signing: SigningKey | None = None
    """signs snapshots; without it none are taken"""
    definitions: Path | None = None
    """the Markdown file that explains each metric"""
    sign_in: SignIn | None = None
    """GitHub sign-in; without it there is no settings page"""
    erase: Callable[[Connection, PersonKey], None] | None = None
    """erases a person from the ledger, in the transaction that forgets their choices"""
    retell: Callable[[Connection, PersonKey], None] | None = None
    """has what was posted written anew, in the transaction that says how a person is shown"""
    requests_a_minute: int = 240
    """of one address"""
    address: Callable[[web.Request], str | None] = peer_address
    timer: Callable[[], float] = time.monotonic


class Desk(Struct, frozen=True):
    """The collaborators, with what they remember between requests."""

    pages: Pages
    reader: Reader
    limit: RateLimit
    shelf: Shelf


DESK = web.AppKey("desk", Desk)


def desk_of(request: web.Request) -> Desk:
    return request.app[DESK]
