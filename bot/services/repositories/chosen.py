"""Which installation and repositories does OWNER or OWNER/REPO mean?"""

from __future__ import annotations

from bot.configuration.errors import UnusableInputError
from bot.github import operations as op
from bot.github.listings import read_installations
from bot.github.reads import read_installation_repositories
from bot.model.commit import Repository
from bot.model.ids import InstallationId
from bot.services.context import Context
from bot.services.repositories.installation import save_installation


async def read_chosen(context: Context, target: str) -> tuple[InstallationId, list[Repository]]:
    """The repositories that the installation reaches. Raises UnusableInputError if there are none."""
    owner, _, name = target.partition("/")
    found = [one async for one in read_installations(context.github.app) if one.account.lower() == owner.lower()]
    if not found:
        raise UnusableInputError(f"the App is not installed on {owner}; install it there first")
    if found[0].suspended:
        raise UnusableInputError(f"the installation on {owner} is suspended")
    client = context.github.installation(found[0].id, permissions=op.required_permissions(op.INSTALLATION_REPOSITORIES))
    reached = await read_installation_repositories(client)
    chosen = [one for one in reached if not name or one.full_name.lower() == target.lower()]
    if not chosen:
        raise UnusableInputError(f"the installation does not include {target}; choose the repository in its settings")
    await context.store.write(save_installation, context, found[0])
    return found[0].id, chosen
