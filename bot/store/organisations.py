"""Which organisations have the App, and what have they decided to show?"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Text, cast, func, select

from bot.model.ids import InstallationId
from bot.store.installations import ACCOUNT, INSTALLATION
from bot.store.visibility import PUBLISHED


class OrganisationState(Struct, frozen=True):
    """The visibility of an installation and its account."""

    installation: InstallationId
    login: str
    active: bool
    public: bool


def organisation(connection: Connection, installation: InstallationId) -> OrganisationState | None:
    found = _organisations(connection, INSTALLATION.c.id == installation)
    return found[0] if found else None


def organisation_called(connection: Connection, login: str) -> OrganisationState | None:
    """The active installation on the account with this login; None if there is none or more than one."""
    found = [one for one in _organisations(connection, func.lower(ACCOUNT.c.login) == login.lower()) if one.active]
    return found[0] if len(found) == 1 else None


def public_organisations(connection: Connection) -> list[OrganisationState]:
    """The public organisations, by login."""
    found = _organisations(connection, PUBLISHED.c.public)
    return sorted((one for one in found if one.active), key=lambda one: one.login)


def _organisations(connection: Connection, which: Any) -> list[OrganisationState]:
    owned = INSTALLATION.join(ACCOUNT, ACCOUNT.c.id == INSTALLATION.c.account_id)
    subject = "installation:" + cast(INSTALLATION.c.id, Text)
    choices = owned.outerjoin(PUBLISHED, PUBLISHED.c.subject == subject)
    query = select(INSTALLATION, ACCOUNT.c.login, PUBLISHED.c.public).select_from(choices)
    return [_organisation(row) for row in connection.execute(query.where(which).order_by(INSTALLATION.c.id))]


def _organisation(row: Any) -> OrganisationState:
    active = row.removed_at is None and row.suspended_at is None
    return OrganisationState(InstallationId(row.id), row.login, active, bool(row.public))
