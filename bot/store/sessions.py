"""Who is signed in? Only the cookie's hash is stored, so that a copy of the database opens no session."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Column, Connection, Index, Table, delete, select

from bot.model.ids import UserId
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.dialect import insert_into

SESSION = Table(
    "session",
    METADATA,
    Column("hash", CleanText, primary_key=True),
    Column("user_id", WholeNumber, nullable=False),
    Column("login", CleanText, nullable=False),
    Column("csrf", CleanText, nullable=False),
    Column("begun_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
LASTS = timedelta(hours=12)


class Session(Struct, frozen=True):
    """A signed-in person. `csrf` is in each of their forms."""

    user_id: UserId
    login: str
    csrf: str


def begin(connection: Connection, user_id: UserId, login: str, now: datetime) -> str:
    """Start a session and return its cookie; expired sessions are deleted."""
    connection.execute(delete(SESSION).where(SESSION.c.expires_at <= now))
    cookie = secrets.token_urlsafe(32)
    row = {"hash": _hash(cookie), "user_id": user_id, "login": login, "csrf": secrets.token_urlsafe(24)}
    connection.execute(insert_into(connection, SESSION).values(row | {"begun_at": now, "expires_at": now + LASTS}))
    return cookie


def session(connection: Connection, cookie: str, now: datetime) -> Session | None:
    query = select(SESSION).where(SESSION.c.hash == _hash(cookie), SESSION.c.expires_at > now)
    row = connection.execute(query).one_or_none()
    return None if row is None else Session(UserId(row.user_id), row.login, row.csrf)


def end(connection: Connection, cookie: str) -> None:
    connection.execute(delete(SESSION).where(SESSION.c.hash == _hash(cookie)))


def end_all(connection: Connection, user_id: UserId) -> None:
    connection.execute(delete(SESSION).where(SESSION.c.user_id == user_id))


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()
