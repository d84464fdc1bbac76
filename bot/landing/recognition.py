"""How did a commit land, which title and keys does it have, and what does it revert?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from bot.landing.conventions import CONVENTIONS, Convention
from bot.landing.keys import plain_title
from bot.landing.names import keys_of, patch_of, title_of
from bot.landing.patch import PatchLines, read_patches
from bot.landing.reading import DEFAULT, TRAILERS, Finding, LandingSettings, Reading
from bot.landing.reverts import read_reverts
from bot.model import Landing

__all__ = ["Recognised", "recognise", "recognise_all"]


class Recognised(NamedTuple):
    """What a landing's messages prove. The form of keys is defined in `bot.landing.keys`."""

    how: str
    pull_request: int | None
    keys: tuple[str, ...]
    reverts: tuple[str, ...]
    relands: tuple[str, ...]
    title: str


@cache
def _words(*, merged: bool) -> tuple[tuple[str, str], ...]:
    """(word, convention that it may indicate)."""
    return tuple(
        (word, entry.name) for entry in CONVENTIONS for word in entry.words if (entry.looks_at == "merge") is merged
    )


def _signs(reading: Reading) -> frozenset[str]:
    """The signs in a landing that decide which conventions to try."""
    lower = reading.message.lower
    signs = ["anything"] + [name for word, name in _words(merged=False) if word in lower]
    if reading.merged:
        lower = reading.carrier.lower
        signs += ["merge"] + [name for word, name in _words(merged=True) if word in lower]
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
def _worth_asking(signs: frozenset[str]) -> tuple[Convention, ...]:
    """The conventions that may apply, in their order."""
    return tuple(entry for entry in CONVENTIONS if entry.looks_at in signs and (not entry.words or entry.name in signs))


def recognise(landing: Landing, settings: LandingSettings = DEFAULT) -> Recognised:
    """How the commit landed and which identities it has; GitHub's own answer, if present, overrides every message."""
    return recognise_all((landing,), (read_patches(landing.commit.files),), settings)[0]


def recognise_all(
    landings: Sequence[Landing], patches: Sequence[Sequence[PatchLines | None]], settings: LandingSettings = DEFAULT
) -> list[Recognised]:
    """How several landings landed, processed together step by step; `patches` are those of the files of each commit."""
    readings = [Reading.of(one, settings) for one in landings]
    found = [_proofs(reading) for reading in readings]
    pulls = [_pull_of(*read) for read in zip(readings, found, strict=True)]
    backs = [read_reverts(reading) for reading in readings]
    titles = [title_of(*known) for known in zip(readings, map(_findings, found), pulls, strict=True)]
    works = [
        None if back.reverts else patch_of(reading, lines)
        for reading, back, lines in zip(readings, backs, patches, strict=True)
    ]
    stated = [
        [*(key for finding in _findings(proofs) for key in finding.keys), *([work] if work else ())]
        for proofs, work in zip(found, works, strict=True)
    ]
    keys = [keys_of(*known) for known in zip(readings, stated, zip(titles, pulls, strict=True), backs, strict=True)]
    return [
        Recognised(proofs[0][0].name, pull, named, back.reverts, back.relands, title)
        for proofs, pull, named, back, title in zip(found, pulls, keys, backs, titles, strict=True)
    ]


Proofs = list[tuple[Convention, Finding]]
"""the conventions that apply, in their order"""


def _proofs(reading: Reading) -> Proofs:
    worth = _worth_asking(_signs(reading))
    return [(entry, finding) for entry in worth if (finding := entry.read(reading)) is not None]


def _findings(proofs: Proofs) -> list[Finding]:
    return [finding for _, finding in proofs]


def _pull_of(reading: Reading, proofs: Proofs) -> int | None:
    """The number that GitHub's answer gives, else the first proved one; none for a pull request that pushes exports.

    In imported history only the merge that brought it proves a number of this repository.
    """
    told = reading.landing.pull_request
    heard = [each for entry, each in proofs if not reading.taken_in or entry.looks_at == "merge"]
    pull = told.number if told else next((each.pull_request for each in heard if each.pull_request), None)
    return None if _is_export(reading, proofs) else pull


def _is_export(reading: Reading, found: Proofs) -> bool:
    """A pull request that pushes a series of exported changes ("Push up to 123"): each is separate work."""
    if not reading.merged:
        return False
    exported = any(entry.name == "copybara" and each.keys and not each.pull_request for entry, each in found)
    return exported and plain_title(reading.carrier_body()) != plain_title(reading.subject)
