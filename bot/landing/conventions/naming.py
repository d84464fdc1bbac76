"""Which title and keys does a landed commit have, once its messages are read?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.landing.identity.addresses import plain_email
from bot.landing.lines.patch import PatchLines
from bot.landing.message.parts import LandingReading, MessageFinding, number_at_end
from bot.landing.reverts.targets import issues_of
from bot.landing.same_work.keys import digest, patch_key, plain_title, pull_key, title_key


def keys_of(
    reading: LandingReading, stated: Sequence[str], title_and_pull: tuple[str, int | None], reverts: MessageFinding
) -> tuple[str, ...]:
    """The stated keys and those that every commit has; `named` is its title, with its proved pull request if any.

    What the commit reverts (`back`) is not among its own identities.
    """
    title, pull = title_and_pull
    commit, repository = reading.landing.commit, reading.landing.repository.full_name
    authored = str(int(commit.authored_at.timestamp()))
    copy = digest(plain_email(commit.author.email), authored, plain_title(reading.subject))
    keys = {f"commit:{commit.id}", f"copy:{copy}", *stated}
    if pull:
        keys.add(pull_key(repository, pull))
    for text in (title,) if title == reading.subject else (title, reading.subject):
        keys.update([title_key(repository, name) for name in (text, *issues_of(text)) if plain_title(name)])
    return tuple(sorted(keys.difference([key.removeprefix("part:") for key in reverts.reverts])))


def patch_key_of(reading: LandingReading, patches: Sequence[PatchLines | None]) -> str | None:
    """The key of the commit's patch; `patches` are those of its files."""
    commit, repository = reading.landing.commit, reading.landing.repository
    scope, email = repository.parent or repository.full_name, plain_email(commit.author.email)
    return patch_key(scope, email, reading.subject, commit.files, patches)


def title_of(reading: LandingReading, proved: Sequence[MessageFinding], pull: int | None) -> str:
    """The title of the proved pull request if known, else the subject without that pull request's number."""
    pull_request = reading.landing.pull_request
    if pull_request is not None and pull is not None and pull_request.title.strip():
        return pull_request.title.strip()
    title = next((each.title for each in proved if each.title and each.pull_request == pull), None) if pull else None
    if title:
        return title
    numbered = number_at_end(reading.subject)
    return numbered[1] if numbered and numbered[0] == pull and numbered[1] else reading.subject
