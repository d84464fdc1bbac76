"""Which title and keys does a landed commit have, once its messages are read?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.landing.addresses import plain_email
from bot.landing.keys import digest, patch_key, plain_title, pull_key, title_key
from bot.landing.patch import PatchLines
from bot.landing.reading import Finding, Reading, number_at_end
from bot.landing.spelt_targets import issues_of


def keys_of(reading: Reading, stated: Sequence[str], named: tuple[str, int | None], back: Finding) -> tuple[str, ...]:
    """The stated keys and those that every commit has; `named` is its title, with its proved pull request if any.

    What the commit reverts (`back`) is not among its own identities.
    """
    title, pull = named
    commit, repository = reading.landing.commit, reading.landing.repository.full_name
    authored = str(int(commit.authored_at.timestamp()))
    copy = digest(plain_email(commit.author.email), authored, plain_title(reading.subject))
    keys = {f"commit:{commit.id}", f"copy:{copy}", *stated}
    if pull:
        keys.add(pull_key(repository, pull))
    for said in (title,) if title == reading.subject else (title, reading.subject):
        keys.update([title_key(repository, name) for name in (said, *issues_of(said)) if plain_title(name)])
    return tuple(sorted(keys.difference([key.removeprefix("part:") for key in back.reverts])))


def patch_of(reading: Reading, patches: Sequence[PatchLines | None]) -> str | None:
    """The key of the commit's patch; `patches` are those of its files."""
    commit, repository = reading.landing.commit, reading.landing.repository
    scope, email = repository.parent or repository.full_name, plain_email(commit.author.email)
    return patch_key(scope, email, reading.subject, commit.files, patches)


def title_of(reading: Reading, proved: Sequence[Finding], pull: int | None) -> str:
    """The title of the proved pull request if known, else the subject without that pull request's number."""
    told = reading.landing.pull_request
    if told is not None and pull is not None and told.title.strip():
        return told.title.strip()
    title = next((each.title for each in proved if each.title and each.pull_request == pull), None) if pull else None
    if title:
        return title
    numbered = number_at_end(reading.subject)
    return numbered[1] if numbered and numbered[0] == pull and numbered[1] else reading.subject
