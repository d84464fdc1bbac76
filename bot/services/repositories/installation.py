"""Does the store know an installation? The delivery that announced it may be lost."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.payloads.answers import Installation
from bot.github.reads import read_installation
from bot.model.commit import Repository
from bot.model.ids import InstallationId
from bot.queue.interface import Refused
from bot.services.context import Context, translate_github_errors
from bot.store import installations
from bot.store.installations import Account


def account_of(found: Installation) -> Account:
    """The installation's account, as stored."""
    return Account(found.account_id, found.account, "Organization" if found.organisation else "User")


async def refresh_account(context: Context, installation: int, repository: Repository) -> None:
    """Read the account again if a repository's name shows that it was renamed: no delivery reports that."""
    number, owner = InstallationId(installation), repository.full_name.partition("/")[0]
    login = await context.store.read(installations.login_of, number)
    if login is None or login.lower() == owner.lower():
        return
    with translate_github_errors():
        found = await read_installation(context.github.app, number)
    if found is not None and found.account.lower() == owner.lower():
        await context.store.write(save_installation, context, found)


def save_installation(connection: Connection, context: Context, found: Installation) -> None:
    """Store an installation as GitHub returned it."""
    account, app_id = account_of(found), str(context.ourselves.id)
    installations.save_installation(connection, found.id, account, app_id=app_id, now=context.clock())


async def ensure_installation(context: Context, installation: int) -> None:
    """Ask GitHub about an unknown installation and store it. Raises Refused if GitHub does not know it."""
    number = InstallationId(installation)
    if await context.store.read(installations.is_active, number):
        return
    with translate_github_errors():
        found = await read_installation(context.github.app, number)
    if found is None:
        raise Refused(f"installation {installation} is not found")
    await context.store.write(save_installation, context, found)
