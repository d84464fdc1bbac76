"""Which signed links open a page that is not public, when were they opened, and are they still valid?

A link is a random nonce, stored so that it can be revoked, and a signature over what it opens. Creating one takes both
the database and the secret.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import datetime
from secrets import token_hex

from msgspec import Struct
from sqlalchemy import Boolean, Column, Connection, ForeignKey, Index, Table, false, select, update

from bot.model.ids import InstallationId, PersonKey
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.dialect import insert_into

LINK = Table(
    "link",
    METADATA,
    Column("nonce", CleanText, primary_key=True),
    Column("subject", CleanText, nullable=False),
    Column("installation_id", WholeNumber, nullable=False),
    Column("private", Boolean(create_constraint=False), nullable=False, server_default=false()),
    Column("minted_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Index(None, "subject"),
)
# By day and form only: who opened it is not recorded.
LINK_USE = Table(
    "link_use",
    METADATA,
    Column("nonce", CleanText, ForeignKey(LINK.c.nonce, ondelete="CASCADE"), primary_key=True),
    Column("day", CleanText, primary_key=True),
    Column("form", CleanText, primary_key=True),
    Column("times", WholeNumber, nullable=False, server_default="0"),
)
_PERSON = "person:"
"""prefix of the subject of a person's link"""
_BYTES = 16
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class Link(Struct, frozen=True):
    """What a link opens: the page of a person or of an installation (`subject`), as seen in one installation.

    `private` if its owner included private repositories.
    """

    subject: str
    installation: InstallationId
    private: bool = False
    nonce: str = ""
    minted_at: datetime | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def good(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class LinkUse(Struct, frozen=True):
    """How often a link was opened on one UTC day in one form."""

    nonce: str
    day: str
    form: str
    times: int


def mint(connection: Connection, link: Link, *, secret: bytes, now: datetime) -> str:
    """Create the link that `link` describes; return the token for its address `/p/<token>`."""
    nonce = token_hex(_BYTES)
    names = ("subject", "installation", "private", "expires_at")
    row = {("installation_id" if name == "installation" else name): getattr(link, name) for name in names}
    connection.execute(insert_into(connection, LINK).values(row | {"nonce": nonce, "minted_at": now}))
    return token_of(link, nonce, secret)


def token_of(link: Link, nonce: str, secret: bytes) -> str:
    """The token of an existing link, so that its owner can see it again."""
    return _encoded(bytes.fromhex(nonce) + _signature(link, nonce, secret))


def open_link(connection: Connection, token: str, *, secrets: Sequence[bytes]) -> Link | None:
    """The link of a token, valid or not; None for a token that was never created with one of these secrets."""
    raw = _decoded(token)
    if raw is None:
        return None
    nonce = raw[:_BYTES].hex()
    row = connection.execute(select(LINK).where(LINK.c.nonce == nonce)).mappings().one_or_none()
    if row is None:
        return None
    link = _link(dict(row))
    fits = [hmac.compare_digest(raw[_BYTES:], _signature(link, nonce, secret)) for secret in secrets]
    return link if any(fits) else None


def _link(row: dict[str, object]) -> Link:
    row["installation"] = row.pop("installation_id")
    return Link(**row)  # type: ignore[arg-type]  # the columns are the fields


def _signature(link: Link, nonce: str, secret: bytes) -> bytes:
    text = "\n".join(("almanac link 1", link.subject, str(link.installation), str(int(link.private)), nonce))
    return hmac.new(secret, text.encode(), hashlib.sha256).digest()[:_BYTES]


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decoded(token: str) -> bytes | None:
    """The token's bytes; None if it is not a token, or not in its canonical encoding."""
    if not _TOKEN.fullmatch(token):
        return None
    try:
        raw = base64.urlsafe_b64decode(token + "=")
    except binascii.Error:
        return None
    return raw if _encoded(raw) == token else None


def revoke(connection: Connection, subject: str, now: datetime, *, nonce: str | None = None) -> None:
    """Revoke all links of the subject, or the one with this nonce."""
    mine = (LINK.c.subject == subject) & LINK.c.revoked_at.is_(None)
    if nonce is not None:
        mine &= LINK.c.nonce == nonce
    connection.execute(update(LINK).where(mine).values(revoked_at=now))


def links_of(connection: Connection, subject: str) -> list[Link]:
    """All links of the subject, newest first."""
    query = select(LINK).where(LINK.c.subject == subject).order_by(LINK.c.minted_at.desc(), LINK.c.nonce)
    return [_link(dict(row)) for row in connection.execute(query).mappings()]


def people_with_links(connection: Connection, now: datetime) -> list[PersonKey]:
    """The key of everybody shown by a link that is still valid."""
    good = LINK.c.revoked_at.is_(None) & (LINK.c.expires_at.is_(None) | (LINK.c.expires_at > now))
    query = select(LINK.c.subject).where(good, LINK.c.subject.startswith(_PERSON)).distinct().order_by(LINK.c.subject)
    return [PersonKey(row[0].removeprefix(_PERSON)) for row in connection.execute(query)]


def note_use(connection: Connection, link: Link, form: str, now: datetime) -> None:
    """Count one use of the link."""
    row = {"nonce": link.nonce, "day": now.strftime("%Y-%m-%d"), "form": form, "times": 1}
    statement = insert_into(connection, LINK_USE).values(row)
    key = [column.name for column in LINK_USE.primary_key]
    again = {"times": LINK_USE.c.times + 1}
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=again))


def uses_of(connection: Connection, nonces: Sequence[str]) -> list[LinkUse]:
    """The uses of these links, newest day first."""
    query = select(LINK_USE).where(LINK_USE.c.nonce.in_(nonces))
    query = query.order_by(LINK_USE.c.day.desc(), LINK_USE.c.nonce, LINK_USE.c.form)
    return [LinkUse(**row) for row in connection.execute(query).mappings()]
