"""What does a digest read of the notes of its month's releases: which releases, which landings, and who is shown?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from bot.landing.identity.credit import credited_keys
from bot.landing.identity.naming import signed_names
from bot.landing.months import month_after, month_start
from bot.metrics.non_code_activity import Deed
from bot.model.change import Change
from bot.model.commit import Person
from bot.model.ids import PersonKey
from bot.narrative.release_notes import NO_NOTES, MadeRelease, ReleaseNotes, may_be_inside, release_spans, version_of
from bot.render.redaction import redact_names
from bot.services.corrections import fold_corrected
from bot.services.digests.scope import DigestScope
from bot.store import ledger, observations, people, visibility


def release_notes(
    connection: Connection, scope: DigestScope, zone: ZoneInfo, changes: Sequence[Change], hidden: Collection[PersonKey]
) -> ReleaseNotes:
    """The releases that GitHub showed in the month, and what landed since the releases before them; `changes` are those
    of the month's people, with whatever reverts them.
    """
    end = month_start(month_after(scope.month), zone)
    spans = release_spans(_made(connection, scope, end), scope.month, zone)
    if not spans:
        return NO_NOTES
    by_name = {one.full_name: one for one in scope.repositories}
    found = []
    for name, number in zip(by_name, scope.ids, strict=True):
        since = min((span.since for span in spans if span.repository == name), default=end)
        found += ledger.facts_in(connection, number, since, end)
    folded = {one.id: one for one in fold_corrected(connection, found, by_name)} | {one.id: one for one in changes}
    inside = [one for one in folded.values() if any(may_be_inside(commit.fact, spans, end) for commit in one.commits)]
    keys = sorted({key for one in inside for commit in one.commits for key in credited_keys(commit.fact)})
    visible = people_shown(connection, inside, keys)
    names = {key: person.display for key, person in visible.items() if not person.bot}
    return ReleaseNotes(spans, redact_names(inside, hidden), names)


def _made(connection: Connection, scope: DigestScope, end: int) -> list[MadeRelease]:
    """The full releases up to the end of the month that were not withdrawn."""
    names = dict(zip(scope.ids, (one.full_name for one in scope.repositories), strict=True))
    deeds = observations.non_code_deeds(observations.releases_in(connection, scope.ids), names)
    gone = {_number(one) for one in deeds if one.did == "gone"}
    kept = [one for one in deeds if one.did == "release" and _number(one) not in gone and one.at < end]
    return [
        MadeRelease(one.repository, version, one.at) for one in kept if (version := version_of(one.tag, one.repository))
    ]


def _number(release: Deed) -> tuple[str, str]:
    return release.repository, release.source.partition(":")[0]


def people_shown(
    connection: Connection, changes: Sequence[Change], keys: Sequence[PersonKey]
) -> dict[PersonKey, Person]:
    """The people who may be shown, named as this work and GitHub name them."""
    hidden = visibility.hidden_people(connection)
    signed = signed_names(changes, [key for key in keys if key not in hidden])
    accounts = people.accounts_of(connection, list(signed))
    found = {}
    for key, one in signed.items():
        account = accounts.get(key)
        login, user_id = (account.login, account.user_id) if account else (None, None)
        bot = one.machine or bool(account and account.bot)
        found[key] = Person(key, one.name, (), login, user_id, bot)
    return found
