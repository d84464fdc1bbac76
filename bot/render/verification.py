"""With which commands can anybody recompute a record?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from bot.model.profile import Profile
from bot.render.anonymity import PERSONAL


def repository_addresses(profile: Profile) -> dict[str, str]:
    """The address of each repository of the record, read from its changes; a clone without a remote has none."""
    wanted = {record.full_name for record in profile.repositories}
    found: dict[str, str] = {}
    for change in profile.changes:
        name = change.repository
        if name in wanted and change.url and name in change.url:
            found[name] = change.url.partition(name)[0] + name
            wanted.remove(name)
            if not wanted:
                break
    return found


def verify_commands(profile: Profile, addresses: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The shell commands that recompute the record: a clone of each repository, then the comparison.

    `addresses` are those of the repositories, if they are known already. A repository without an address is named by
    its folder; an anonymised one cannot be cloned.
    """
    addresses = repository_addresses(profile) if addresses is None else addresses
    names = [record.full_name for record in profile.repositories if not record.full_name.startswith(PERSONAL)]
    folders = [shlex.quote(name.replace("/", "-") if name in addresses else name) for name in names]
    clones = tuple(
        f"git clone {shlex.quote(addresses[name])} {folder}"
        for name, folder in zip(names, folders, strict=True)
        if name in addresses
    )
    return (*clones, f"almanac verify {' '.join(folders) or 'CLONE...'} --profile profile.json")
