"""What does one month's digest say, from the ledger and the writer's answers as they are now?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.identity.credit import credited_keys
from bot.landing.months import month_after, month_of, month_start
from bot.metrics.non_code_activity import activity_by_month
from bot.model.change import Change
from bot.model.commit import Person, Repository
from bot.model.fact import Fact
from bot.model.ids import ChangeId, CommitId, Month, PersonKey
from bot.model.profile import NonCodeActivity, Text
from bot.narrative.digest_text import organisation_month_text, repository_month_text
from bot.narrative.gathering import DigestFacts, digest_facts
from bot.narrative.narrative import Naming
from bot.narrative.repository_month import ContributorMonth, write_contributor_months
from bot.render.anonymity import redact_names
from bot.render.markdown_escaping import MdText
from bot.render.notes.digest import DigestFrame, DigestPart, digest_note
from bot.services.context import Context
from bot.services.corrections import disputes_in, fold_corrected
from bot.services.digests.scope import DigestScope, repositories_by_name
from bot.services.repository_settings import stored_settings
from bot.services.writer.answers import WriterResult, judge, prompt_hash
from bot.services.writer.prompt import AnyFacts
from bot.store import first_landings, ledger, months, observations, people, visibility, wordings
from bot.store.observations import Observation
from bot.store.wordings import EVERYBODY, Wording

UNNAMED = "Somebody who is not named"


class MonthNote(Struct, frozen=True):
    """The text, and the month's newest commit, on which a preview is shown."""

    text: str
    newest: CommitId | None = None

    @property
    def markdown(self) -> MdText:
        """The text, for embedding in another note."""
        return MdText(self.text)


class Passage(Struct, frozen=True):
    """One text of a digest: its person (or `EVERYBODY`), the facts it may state, and the template's text."""

    key: PersonKey
    facts: AnyFacts
    template: Text
    naming: Naming

    def words(self, by_person: Mapping[PersonKey, Wording]) -> WriterResult:
        """The writer's text if it was written for these exact facts, else the template's."""
        found = by_person.get(self.key)
        fits = found is not None and found.prompt_hash == prompt_hash(self.facts, self.naming)
        return judge(found.answer if found and fits else None, self.facts, self.template, naming=self.naming)


class MonthParts(Struct, frozen=True):
    """Everything in a digest except the choice of words."""

    lead: Passage
    contributors: tuple[ContributorMonth, ...]
    unnamed: frozenset[PersonKey]
    changes: Mapping[ChangeId, Change]
    frame: DigestFrame
    newest: CommitId
    for_writer: bool
    """whether a language model may receive these facts"""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Every text, the one about everybody first."""
        own = (Passage(one.person.key, one.facts, one.record.summary, one.naming) for one in self.contributors)
        return (self.lead, *own)

    def name(self, one: ContributorMonth) -> str:
        return UNNAMED if one.person.key in self.unnamed else one.person.display

    def note(self, by_person: Mapping[PersonKey, Wording], *, preview: bool = False) -> MonthNote:
        """The Markdown, with the writer's words if they passed the checks."""
        lead, *words = [passage.words(by_person if self.for_writer else {}).text for passage in self.passages]
        parts = [
            DigestPart(self.name(one), replace(one.record, summary=text))
            for one, text in zip(self.contributors, words, strict=True)
        ]
        return MonthNote(digest_note(parts, self.changes, replace(self.frame, preview=preview, lead=lead)), self.newest)


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
    changes = redact_names(_changes(connection, scope, keys, zone), unnamed)
    where = {one.full_name for one in scope.repositories}, scope.month, zone
    visible = _people(connection, keys)
    non_code = month_non_code(connection, scope, sorted(visible), changes, zone)
    contributors = write_contributor_months(changes, visible, where, unnamed=unnamed, non_code=non_code)
    if not contributors:
        return None
    subject = scope.repositories[0].full_name if len(scope.repositories) == 1 else ""
    frame = DigestFrame(str(zone), _title(scope), disputes=_disputes(connection, scope), subject=subject)
    newest = max(facts, key=lambda fact: (fact.landed_at, fact.merge_commit)).merge_commit
    by_id = {change.id: change for change in changes}
    open_to = _is_for_writer(connection, scope)
    return MonthParts(_lead(scope, contributors), tuple(contributors), unnamed, by_id, frame, newest, open_to)


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


def _lead(scope: DigestScope, contributors: Sequence[ContributorMonth]) -> Passage:
    """The text about everybody's month together; it names nobody."""
    several = len(scope.repositories) > 1
    name = scope.home.full_name.partition("/")[0] if several else scope.repositories[0].full_name
    facts: DigestFacts = digest_facts(scope.month, name, [one.facts for one in contributors], organisation=several)
    text = organisation_month_text(facts, "anonymous") if several else repository_month_text(facts, "anonymous")
    return Passage(EVERYBODY, facts, text if len(contributors) > 1 else Text(()), "anonymous")


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


def _people(connection: Connection, keys: Sequence[PersonKey]) -> dict[PersonKey, Person]:
    """The people who may be shown."""
    hidden = visibility.hidden_people(connection)
    found = {key: people.person(connection, key) for key in keys if key not in hidden}
    return {key: person for key, person in found.items() if person is not None}


__all__ = ["MonthNote", "MonthParts", "Passage", "Repository", "month_note", "month_number", "month_parts"]


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
        seen = activity_by_month(deeds, {}, zone).get(scope.month, NonCodeActivity())
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
