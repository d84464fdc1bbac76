"""Does the store know an installation? Deliveries may be lost, and the one that told of it is no exception."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.payloads.answers import Installation
from bot.github.reads import read_installation
from bot.model import InstallationId, Repository
from bot.queue.interface import Park
from bot.store import installations
from bot.store.installations import Account
from bot.tasks.workplace import Workplace, asking_github


def account_of(found: Installation) -> Account:
    """Whose installation it is, as the store keeps it."""
    return Account(found.account_id, found.account, "Organization" if found.organisation else "User")


async def know_account(place: Workplace, installation: int, repository: Repository) -> None:
    """No delivery tells that an account is called otherwise now, but its repositories' names do: ask, and keep it."""
    number, owner = InstallationId(installation), repository.full_name.partition("/")[0]
    login = await place.store.read(installations.login_of, number)
    if login is None or login.lower() == owner.lower():
        return
    with asking_github():
        found = await read_installation(place.github.app, number)
    if found is not None and found.account.lower() == owner.lower():
        await place.store.write(see_installation, place, found)


def see_installation(connection: Connection, place: Workplace, found: Installation) -> None:
    """Keep what GitHub says of it."""
    account, app_id = account_of(found), str(place.ourselves.id)
    installations.see_installation(connection, found.id, account, app_id=app_id, now=place.clock())


async def know_installation(place: Workplace, installation: int) -> None:
    """Ask GitHub about an installation that no delivery has told of. Raises Park where GitHub does not know it."""
    number = InstallationId(installation)
    if await place.store.read(installations.is_active, number):
        return
    with asking_github():
        found = await read_installation(place.github.app, number)
    if found is None:
        raise Park(f"installation {installation} is deleted")
    await place.store.write(see_installation, place, found)
