"""Does the store know an installation? Deliveries may be lost, and the one that told of it is no exception."""

from __future__ import annotations

from bot.github.payloads.answers import Installation
from bot.github.reads import read_installation
from bot.model import InstallationId
from bot.queue.interface import Park
from bot.store import installations
from bot.store.installations import Account
from bot.tasks.workplace import Workplace, asking_github


def account_of(found: Installation) -> Account:
    """Whose installation it is, as the store keeps it."""
    return Account(found.account_id, found.account, "Organization" if found.organisation else "User")


async def know_installation(place: Workplace, installation: int) -> None:
    """Ask GitHub about an installation that no delivery has told of. Raises Park where GitHub does not know it."""
    number = InstallationId(installation)
    if await place.store.look(lambda conn: installations.is_active(conn, number)):
        return
    with asking_github():
        found = await read_installation(place.github.app, number)
    if found is None:
        raise Park(f"installation {installation} is deleted")
    async with place.store.begin() as conn:
        await installations.see_installation(
            conn, number, account_of(found), app_id=str(place.ourselves.id), now=place.clock()
        )
