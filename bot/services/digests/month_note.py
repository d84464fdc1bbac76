"""What does one month's digest say, from the ledger and the writer's answers as they are now?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.identity.credit import credited_keys
from bot.landing.months import month_after, month_of, month_start
from bot.metrics.non_code_activity import activity_by_month
from bot.model.change import Change
from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import ChangeId, CommitId, Month, PersonKey
from bot.model.profile import NonCodeActivity
from bot.narrative.digest import DigestedMonth, changes_of_month, month_digest
from bot.narrative.project_texts import ProjectTexts, project_texts
from bot.narrative.quotes import Quotes
from bot.narrative.release_notes import ReleaseNotes
from bot.narrative.repository_month import ContributorMonth, contributor_months
from bot.narrative.title_quotes import quotes_of
from bot.render.markdown_escaping import MdText
from bot.render.notes.digest import DigestFrame, NamedLink, digest_note
from bot.render.redaction import redact_names, redact_texts
from bot.services.context import Context
from bot.services.corrections import disputes_in, fold_corrected
from bot.services.digests.release_notes import people_shown, release_notes
from bot.services.digests.scope import DigestScope, repositories_by_name
from bot.services.repository_settings import stored_settings
from bot.services.writer.answers import Offer, offer_of, read_answer
from bot.store import first_landings, ledger, months, observations, visibility, wordings
from bot.store.evidence import evidence_about
from bot.store.observations import Observation
from bot.store.wordings import Wording

MANY = 20
"""from so many repositories on, one digest for all of them is suggested"""


class MonthNote(Struct, frozen=True):
    """The text, and the month's newest commit, on which a preview is shown."""

    text: str
    newest: CommitId | None = None

    @property
    def markdown(self) -> MdText:
        """The text, for embedding in another note."""
        return MdText(self.text)


class MonthParts(Struct, frozen=True):
    """Everything in a digest except the order of its entries."""

    about: DigestedMonth
    contributors: tuple[ContributorMonth, ...]
    unnamed: frozenset[PersonKey]
    changes: tuple[Change, ...]
    quotes: Quotes
    frame: DigestFrame
    newest: CommitId
    notes: ReleaseNotes
    for_writer: bool
    """whether a language model may receive these entries"""

    @property
    def offer(self) -> Offer:
        """What a model may choose from."""
        people = {key for one in self.contributors for key in one.keys}
        return offer_of(self.quotes, changes_of_month(self.about, self.changes, people))

    def note(self, wording: Wording | None = None, *, preview: bool = False) -> MonthNote:
        """The Markdown, in the order that a model chose if its answer is about these entries."""
        order = None
        if wording is not None and self.for_writer:
            offer = self.offer
            order = read_answer(wording.answer, offer).order if wording.prompt_hash == offer.hash else None
        digest = month_digest(
            self.about,
            self.changes,
            self.contributors,
            quotes=self.quotes,
            order=order,
            unnamed=self.unnamed,
            notes=self.notes,
        )
        return MonthNote(digest_note(digest, replace(self.frame, preview=preview)), self.newest)


def month_note(
    connection: Connection, context: Context, scope: DigestScope, *, preview: bool = False
) -> MonthNote | None:
    """None if nobody who may be shown landed anything that month."""
    parts = month_parts(connection, context, scope)
    if parts is None:
        return None
    return parts.note(wordings.of_digest(connection, scope.home_id, scope.month), preview=preview)


def month_parts(connection: Connection, context: Context, scope: DigestScope) -> MonthParts | None:
    """None if nobody who may be shown landed anything that month."""
    zone = stored_settings(connection, scope.home_id).zone(context.zone)
    facts = _facts(connection, scope, zone)
    if not facts:
        return None
    keys = sorted({key for fact in facts for key in credited_keys(fact)})
    unnamed = visibility.anonymous_people(connection)
    hidden = visibility.unnamed_people(connection)
    changes = redact_names(_changes(connection, scope, keys, zone), hidden)
    about = DigestedMonth(frozenset(one.full_name for one in scope.repositories), scope.month, zone)
    visible = people_shown(connection, changes, keys)
    non_code = month_non_code(connection, scope, sorted(visible), changes, zone)
    where = about.repositories, scope.month, zone
    listed = [(person, frozenset((key,))) for key, person in visible.items()]
    contributors = contributor_months(changes, listed, where, non_code)
    if not contributors:
        return None
    newest = max(facts, key=lambda fact: (fact.landed_at, fact.merge_commit)).merge_commit
    frame = DigestFrame(
        str(zone),
        _title(scope),
        disputes=_disputes(connection, scope),
        releases=_releases(contributors),
        comparison=_comparison(connection, scope, newest, zone),
        many_digests=_many_digests(connection, scope),
    )
    landed = changes_of_month(about, changes, visible)
    quotes = quotes_of(landed, visible.keys(), zone, _texts(connection, scope, landed, hidden))
    open_to = _is_for_writer(connection, scope)
    notes = release_notes(connection, scope, zone, changes, hidden)
    return MonthParts(about, tuple(contributors), unnamed, changes, quotes, frame, newest, notes, open_to)


def _texts(
    connection: Connection, scope: DigestScope, landed: Sequence[Change], hidden: Collection[PersonKey]
) -> ProjectTexts:
    """What other landings tell of these changes, such as changelog entries that a later one added. Everybody who may be
    named in a digest stands behind the entries, so these name nobody."""
    names = dict(zip(scope.ids, (one.full_name for one in scope.repositories), strict=True))
    own = [commit.fact for change in landed for commit in change.commits]
    evidence, pulls = evidence_about(connection, own, names)
    found = redact_texts(map(ledger.fact_of, evidence), landed, hidden)
    return replace(project_texts(found, pulls=pulls), nameable=())


def _releases(contributors: Iterable[ContributorMonth]) -> list[NamedLink]:
    """The releases that GitHub showed in the month."""
    traces = [trace for one in contributors for trace in one.record.non_code.releases]
    found = {(trace.repository, trace.name): NamedLink(trace.name, trace.url) for trace in traces}
    return [found[key] for key in sorted(found)]


def _comparison(connection: Connection, scope: DigestScope, newest: CommitId, zone: ZoneInfo) -> str | None:
    """The address that compares the last commit before the month with its last commit, for a single repository."""
    if len(scope.repositories) != 1:
        return None
    (only,) = scope.repositories
    before = ledger.newest_merge_commit(connection, scope.ids[0], month_start(scope.month, zone))
    return f"{only.web}/compare/{before[:12]}...{newest[:12]}" if before else None


def _many_digests(connection: Connection, scope: DigestScope) -> int:
    """The number of repositories, if it is time to suggest one digest for all of them."""
    if stored_settings(connection, scope.home_id).config.digest_repository:
        return 0
    number = len(repositories_by_name(connection, scope.installation))
    return number if number >= MANY else 0


def _facts(connection: Connection, scope: DigestScope, zone: ZoneInfo) -> list[Fact]:
    since, until = month_start(scope.month, zone), month_start(month_after(scope.month), zone)
    return [fact for one in scope.ids for fact in ledger.facts_in(connection, one, since, until)]


def _changes(
    connection: Connection, scope: DigestScope, keys: Sequence[PersonKey], zone: ZoneInfo
) -> tuple[Change, ...]:
    """The changes that readers of this digest may see, without other private or unreachable repositories."""
    names = repositories_by_name(connection, scope.installation)
    seen = {name: one for name, one in names.items() if not one.private or one.id in scope.ids}
    component = months.component_of_month(connection, keys, scope.month, zone=zone, within=scope.installation)
    return fold_corrected(connection, [fact for fact in component if fact.repository in seen], seen)


def _title(scope: DigestScope) -> str:
    """The subject, unless it is just the repository that the digest is posted in."""
    if len(scope.repositories) > 1:
        return scope.home.full_name.partition("/")[0]
    (only,) = scope.repositories
    return "" if only.id == scope.home.id else only.full_name


def _is_for_writer(connection: Connection, scope: DigestScope) -> bool:
    """Whether a model may receive the facts: a private repository must allow it, a public one can forbid it."""
    for one, number in zip(scope.repositories, scope.ids, strict=True):
        wanted = stored_settings(connection, number).config.writer
        if wanted == "template" or (wanted is None and one.private):
            return False
    return True


def _disputes(connection: Connection, scope: DigestScope) -> Sequence[str]:
    """The disputes about this month: `dispute` on the digest issue refers to the newest digest there."""
    found = disputes_in(connection, scope.home_id)
    return found.get(month_number(scope.month), [])


def month_number(month: Month) -> int:
    """A negative number that identifies a month where others identify pull requests."""
    return -int(month.replace("-", ""))


__all__ = ["MonthNote", "MonthParts", "Repository", "month_note", "month_number", "month_parts"]


def month_non_code(
    connection: Connection, scope: DigestScope, keys: Sequence[PersonKey], changes: Iterable[Change], zone: ZoneInfo
) -> dict[PersonKey, NonCodeActivity]:
    """By person: non-code activity in the digest's repositories, and first contributions to them."""
    begin, end = (
        datetime.fromtimestamp(month_start(month, zone), UTC) for month in (scope.month, month_after(scope.month))
    )
    rows = observations.of_people(connection, keys, scope.ids, (begin, end))
    by_person: dict[PersonKey, list[Observation]] = defaultdict(list)
    for row in rows:
        for key in [row.person_key] if row.person_key else keys:  # a deleted release is deleted for everybody
            by_person[key].append(row)
    names = dict(zip(scope.ids, (one.full_name for one in scope.repositories), strict=True))
    first = _first_contributions(connection, scope, keys, changes, zone)
    found: dict[PersonKey, NonCodeActivity] = {}
    for key in keys:
        deeds = observations.non_code_deeds(by_person[key], names)
        seen = activity_by_month(deeds, {}, zone, host=scope.home.host).get(scope.month, NonCodeActivity())
        found[key] = replace(seen, first_contributions=first.get(key, ()))
    return found


def _first_contributions(
    connection: Connection, scope: DigestScope, keys: Sequence[PersonKey], changes: Iterable[Change], zone: ZoneInfo
) -> Mapping[PersonKey, tuple[ChangeId, ...]]:
    """This month's changes with somebody's first commit to a repository whose whole history is known."""
    fully_read = first_landings.fully_read_repositories(connection, scope.ids)
    carried: dict[CommitId, ChangeId] = {
        commit.fact.commit: change.id for change in changes for commit in change.counted
    }
    found: dict[PersonKey, list[ChangeId]] = defaultdict(list)
    for one in first_landings.first_landings(connection, keys, fully_read) if fully_read else ():
        if one.commit in carried and month_of(one.landed_at, zone) == scope.month:
            found[one.person_key].append(carried[one.commit])
    return {key: tuple(sorted(ids)) for key, ids in found.items()}
