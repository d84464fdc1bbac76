"""How did a commit land, which title and keys does it have, and what does it revert?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from bot.landing.conventions.catalogue import CONVENTIONS, Convention
from bot.landing.identity.addresses import plain_email
from bot.landing.lines.patch import PatchLines, read_patches
from bot.landing.message.parts import DEFAULT, TRAILERS, LandingReading, LandingSettings, MessageFinding, number_at_end
from bot.landing.reverts.by_lines import line_keys, mentions_revert
from bot.landing.reverts.statements import own_keys, read_reverts
from bot.landing.reverts.targets import issues_of
from bot.landing.same_work.keys import digest, patch_key, plain_title, pull_key, title_key
from bot.model.commit import Landing

__all__ = ["Recognised", "proved_pull_request", "recognise", "recognise_all"]

_WORDS = tuple((word, entry.name) for entry in CONVENTIONS for word in entry.words if entry.looks_at != "merge")
"""(word, convention that it may indicate) in the commit's own message"""
_MERGE_WORDS = tuple((word, entry.name) for entry in CONVENTIONS for word in entry.words if entry.looks_at == "merge")
"""the same in the message of its merge commit"""


class Recognised(NamedTuple):
    """What a landing's messages prove. The form of keys is defined in `bot.landing.same_work.keys`."""

    how: str
    pull_request: int | None
    keys: tuple[str, ...]
    reverts: tuple[str, ...]
    relands: tuple[str, ...]
    title: str


def _signs(reading: LandingReading) -> frozenset[str]:
    """The signs in a landing that decide which conventions to try."""
    lower = reading.message.lower
    signs = ["anything"] + [name for word, name in _WORDS if word in lower]
    if reading.merged:
        lower = reading.merge_commit.lower
        signs += ["merge"] + [name for word, name in _MERGE_WORDS if word in lower]
    if not TRAILERS.isdisjoint(reading.trailers):
        signs.append("trailers")
    if reading.subject.endswith(")"):
        signs.append("number")
    if reading.landing.pull_request is not None:
        signs.append("answer")
    if reading.settings.trailers:
        signs.append("settings")
    return frozenset(signs)


@cache
def _possible_conventions(signs: frozenset[str]) -> tuple[Convention, ...]:
    """The conventions that may apply, in their order."""
    return tuple(entry for entry in CONVENTIONS if entry.looks_at in signs and (not entry.words or entry.name in signs))


def recognise(landing: Landing, settings: LandingSettings = DEFAULT) -> Recognised:
    """How the commit landed and which identities it has; GitHub's own answer, if present, overrides every message."""
    return recognise_all((landing,), (read_patches(landing.commit.files),), settings)[0]


def proved_pull_request(landing: Landing, settings: LandingSettings = DEFAULT) -> int | None:
    """The number of the pull request that the landing's messages and shape prove, as in `recognise`; reads no patch."""
    reading = LandingReading.of(landing, settings)
    return _proved_pull(reading, _proofs(reading))


def recognise_all(
    landings: Sequence[Landing], patches: Sequence[Sequence[PatchLines | None]], settings: LandingSettings = DEFAULT
) -> list[Recognised]:
    """How several landings landed, processed together step by step; `patches` are those of the files of each commit."""
    readings = [LandingReading.of(one, settings) for one in landings]
    found = [_proofs(reading) for reading in readings]
    pulls = [_proved_pull(*read) for read in zip(readings, found, strict=True)]
    reverts = [read_reverts(reading) for reading in readings]
    findings = [[finding for _, finding in proofs] for proofs in found]
    titles = [_title_of(*known) for known in zip(readings, findings, pulls, strict=True)]
    works = [
        None if revert.reverts else _patch_key_of(reading, lines)
        for reading, revert, lines in zip(readings, reverts, patches, strict=True)
    ]
    stated = [
        [*own_keys(reading, [key for finding in proved for key in finding.keys]), *([work] if work else ())]
        for reading, proved, work in zip(readings, findings, works, strict=True)
    ]
    for reading, known, lines in zip(readings, stated, patches, strict=True):
        known += line_keys(lines, undoing=mentions_revert(reading.subject.lower(), reading.message.lower))
    keys = [_keys_of(*known) for known in zip(readings, stated, zip(titles, pulls, strict=True), reverts, strict=True)]
    return [
        Recognised(proofs[0][0].name, pull, named_keys, revert.reverts, revert.relands, title)
        for proofs, pull, named_keys, revert, title in zip(found, pulls, keys, reverts, titles, strict=True)
    ]


Proofs = list[tuple[Convention, MessageFinding]]
"""the conventions that apply, in their order"""


def _proofs(reading: LandingReading) -> Proofs:
    worth = _possible_conventions(_signs(reading))
    return [(entry, finding) for entry in worth if (finding := entry.read(reading)) is not None]


def _proved_pull(reading: LandingReading, proofs: Proofs) -> int | None:
    """The number that GitHub's answer gives, else the first proved one; none for a pull request that pushes exports.

    In imported history only the merge that brought it proves a number of this repository.
    """
    github_pull = reading.landing.pull_request
    findings = [each for entry, each in proofs if not reading.is_imported_history or entry.looks_at == "merge"]
    findings = [] if reading.has_other_numbers else findings
    pull = (
        github_pull.number if github_pull else next((each.pull_request for each in findings if each.pull_request), None)
    )
    return None if _is_export(reading, proofs) else pull


def _is_export(reading: LandingReading, found: Proofs) -> bool:
    """A pull request that pushes a series of exported changes ("Push up to 123"): each is separate work."""
    if not reading.merged:
        return False
    exported = any(entry.name == "copybara" and each.keys and not each.pull_request for entry, each in found)
    return exported and plain_title(reading.merge_body()) != plain_title(reading.subject)


def _title_of(reading: LandingReading, proved: Sequence[MessageFinding], pull: int | None) -> str:
    """The title of the proved pull request if known, else the subject without that pull request's number."""
    pull_request = reading.landing.pull_request
    if pull_request is not None and pull is not None and pull_request.title.strip():
        return pull_request.title.strip()
    title = next((each.title for each in proved if each.title and each.pull_request == pull), None) if pull else None
    if title:
        return title
    numbered = number_at_end(reading.subject)
    return numbered[1] if numbered and numbered[0] == pull and numbered[1] else reading.subject


def _patch_key_of(reading: LandingReading, patches: Sequence[PatchLines | None]) -> str | None:
    """The key of the commit's patch; `patches` are those of its files."""
    commit, repository = reading.landing.commit, reading.landing.repository
    scope, email = repository.parent or repository.full_name, plain_email(commit.author.email)
    return patch_key(scope, email, reading.subject, commit.files, patches)


def _keys_of(
    reading: LandingReading, stated: Sequence[str], title_and_pull: tuple[str, int | None], reverts: MessageFinding
) -> tuple[str, ...]:
    """The stated keys and those that every commit has, from its title and its proved pull request, if any.

    What the commit reverts is not among its own identities.
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
