"""What does the digest of one month say, from the ledger and from what a writer answered, as they are now?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.digest.digest_text import organisation_month_text, repository_month_text
from bot.digest.gathering import DigestFacts, digest_facts
from bot.digest.narrative import Naming
from bot.digest.repository_month import ToldMonth, told_months
from bot.landing.identity import credited
from bot.landing.months import begins_at, month_after
from bot.model import Change, ChangeId, CommitId, Fact, Month, Person, PersonKey, Repository, Text
from bot.narrator.sheet import AnyFacts
from bot.narrator.writing import Written, judge, sheet_hash
from bot.render.anonymity import without_names
from bot.render.digest_note import DigestFrame, DigestPart, digest_note
from bot.render.md_text import MdText
from bot.store import ledger, months, people, visibility, wordings
from bot.store.wordings import WHOLE, Wording
from bot.tasks.configuring import in_force
from bot.tasks.correcting import disputed, fold_corrected
from bot.tasks.digest_home import Scope, repositories_here
from bot.tasks.month_beside import beside_month
from bot.tasks.workplace import Workplace

UNNAMED = "Somebody who is not named"


class MonthNote(Struct, frozen=True):
    """The text, and the newest commit of the month, which shows a preview."""

    text: str
    newest: CommitId | None = None

    @property
    def markdown(self) -> MdText:
        """The text, for inside another one of ours."""
        return MdText(self.text)


class Passage(Struct, frozen=True):
    """One text of a digest: whose (`WHOLE` of all), the facts it may state, and the template's words for them."""

    key: PersonKey
    facts: AnyFacts
    template: Text
    naming: Naming

    def words(self, said: Mapping[PersonKey, Wording]) -> Written:
        """What a writer said, where it was said of these very facts; else the template's."""
        found = said.get(self.key)
        fits = found is not None and found.sheet_hash == sheet_hash(self.facts, self.naming)
        return judge(found.answer if found and fits else None, self.facts, self.template, naming=self.naming)


class MonthParts(Struct, frozen=True):
    """All that a digest is made of, before its words are chosen."""

    lead: Passage
    told: tuple[ToldMonth, ...]
    unnamed: frozenset[PersonKey]
    changes: Mapping[ChangeId, Change]
    frame: DigestFrame
    newest: CommitId
    for_writer: bool
    """a model may be given these facts"""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Every text, the one about all first."""
        own = (Passage(one.person.key, one.facts, one.record.summary, one.naming) for one in self.told)
        return (self.lead, *own)

    def name(self, one: ToldMonth) -> str:
        return UNNAMED if one.person.key in self.unnamed else one.person.display

    def note(self, said: Mapping[PersonKey, Wording], *, preview: bool = False) -> MonthNote:
        """The Markdown, in a writer's words where those are true."""
        lead, *words = [passage.words(said if self.for_writer else {}).text for passage in self.passages]
        parts = [
            DigestPart(self.name(one), replace(one.record, summary=text))
            for one, text in zip(self.told, words, strict=True)
        ]
        return MonthNote(digest_note(parts, self.changes, replace(self.frame, preview=preview, lead=lead)), self.newest)


def month_note(connection: Connection, place: Workplace, scope: Scope, *, preview: bool = False) -> MonthNote | None:
    """None where nobody who may be shown has landed anything then."""
    parts = month_parts(connection, place, scope)
    if parts is None:
        return None
    return parts.note(wordings.of_digest(connection, scope.home_id, scope.month), preview=preview)


def month_parts(connection: Connection, place: Workplace, scope: Scope) -> MonthParts | None:
    """None where nobody who may be shown has landed anything then."""
    zone = in_force(connection, scope.home_id).zone(place.zone)
    facts = _facts(connection, scope, zone)
    if not facts:
        return None
    keys = sorted({key for fact in facts for key in credited(fact)})
    unnamed = visibility.anonymous(connection)
    changes = without_names(_changes(connection, scope, keys, zone), unnamed)
    where = {one.full_name for one in scope.repositories}, scope.month, zone
    shown = _people(connection, keys)
    beside = beside_month(connection, scope, sorted(shown), changes, zone)
    told = told_months(changes, shown, where, unnamed=unnamed, beside=beside)
    if not told:
        return None
    subject = scope.repositories[0].full_name if len(scope.repositories) == 1 else ""
    frame = DigestFrame(str(zone), _title(scope), disputes=_disputes(connection, scope), subject=subject)
    newest = max(facts, key=lambda fact: (fact.landed_at, fact.carrier)).carrier
    by_id = {change.id: change for change in changes}
    open_to = _is_for_writer(connection, scope)
    return MonthParts(_lead(scope, told), tuple(told), unnamed, by_id, frame, newest, open_to)


def _facts(connection: Connection, scope: Scope, zone: ZoneInfo) -> list[Fact]:
    since, until = begins_at(scope.month, zone), begins_at(month_after(scope.month), zone)
    return [fact for one in scope.ids for fact in ledger.facts_in(connection, one, since, until)]


def _changes(connection: Connection, scope: Scope, keys: Sequence[PersonKey], zone: ZoneInfo) -> tuple[Change, ...]:
    """The changes as readers of this digest may see them: other private repositories, and lost ones, do not exist."""
    names = repositories_here(connection, scope.installation)
    seen = {name: one for name, one in names.items() if not one.private or one.id in scope.ids}
    whole = months.component_of_month(connection, keys, scope.month, zone=zone, within=scope.installation)
    return fold_corrected(connection, [fact for fact in whole if fact.repository in seen], seen)


def _title(scope: Scope) -> str:
    """What is told of, where that is not simply the repository that the digest stands in."""
    if len(scope.repositories) > 1:
        return scope.home.full_name.partition("/")[0]
    (only,) = scope.repositories
    return "" if only.id == scope.home.id else only.full_name


def _lead(scope: Scope, told: Sequence[ToldMonth]) -> Passage:
    """What is said of everybody's month together; it names nobody."""
    several = len(scope.repositories) > 1
    name = scope.home.full_name.partition("/")[0] if several else scope.repositories[0].full_name
    facts: DigestFacts = digest_facts(scope.month, name, [one.facts for one in told], organisation=several)
    text = organisation_month_text(facts, "anonymous") if several else repository_month_text(facts, "anonymous")
    return Passage(WHOLE, facts, text if len(told) > 1 else Text(()), "anonymous")


def _is_for_writer(connection: Connection, scope: Scope) -> bool:
    """Facts of a private repository go to a model only where its settings say so, those of a public one unless."""
    for one, number in zip(scope.repositories, scope.ids, strict=True):
        wanted = in_force(connection, number).config.writer
        if wanted == "template" or (wanted is None and one.private):
            return False
    return True


def _disputes(connection: Connection, scope: Scope) -> Sequence[str]:
    """What was said against this month: `dispute` on the digest issue speaks of the newest digest that stands there."""
    found = disputed(connection, scope.home_id)
    return found.get(month_number(scope.month), [])


def month_number(month: Month) -> int:
    """A number below zero that stands for a month where others stand for pull requests."""
    return -int(month.replace("-", ""))


def _people(connection: Connection, keys: Sequence[PersonKey]) -> dict[PersonKey, Person]:
    """Those who may be told of."""
    hidden = visibility.left_out(connection)
    found = {key: people.person(connection, key) for key in keys if key not in hidden}
    return {key: person for key, person in found.items() if person is not None}


__all__ = ["MonthNote", "MonthParts", "Passage", "Repository", "month_note", "month_number", "month_parts"]
