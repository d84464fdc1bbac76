"""Which facts may a page be folded from? Those of the repositories it may show, and none reached through others.

Facts are selected by repository id before folding: a name may have belonged to another repository, and a change that
reflects what happened elsewhere would reveal that.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection, Text, func, select, type_coerce

from bot.landing.changes import fold
from bot.landing.corrections import Classification, apply_corrections
from bot.metrics.hotspots import History, relevant_visits
from bot.metrics.non_code_activity import ItemNumber, activity_by_month
from bot.metrics.scores import KnownOutcome
from bot.model.change import Change
from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import ChangeId, Month, PersonKey, RepositoryId
from bot.model.profile import NonCodeActivity
from bot.narrative.project_texts import ProjectTexts, project_texts
from bot.store import first_landings, observations, visits
from bot.store.classifications import read_classifications
from bot.store.corrections import CORRECTION
from bot.store.evidence import evidence_about
from bot.store.installations import REPOSITORY
from bot.store.ledger import FACT, FACT_KEY, FACT_PERSON, fact_of, meets

LIVE_SIGNALS: tuple[observations.Signal, ...] = ("checks", "review", "merge")
"""signals that accompany the scores of a change"""


class LedgerMark(Struct, frozen=True):
    """The ledger's position in some repositories: pages made at the same mark are equal."""

    facts: int
    last: int
    corrections: int
    observations: int = 0


class RecordedFacts(Struct, frozen=True):
    """Stored facts, to be parsed off the event loop, and when the newest of them was recorded."""

    texts: tuple[str, ...]
    recorded_at: datetime
    corrections: tuple[Classification, ...] = ()
    """how people classified changes there"""
    visits: tuple[visits.Row, ...] = ()
    observed: tuple[observations.Observation, ...] = ()
    given: tuple[observations.Observation, ...] = ()
    """non-code activity of the requested people"""
    newcomers: tuple[first_landings.FirstLanding, ...] = ()
    """first landings of others that these people reviewed or merged"""
    fully_read: frozenset[RepositoryId] = frozenset()
    """repositories whose history is known from its first commit on"""
    names: Mapping[RepositoryId, str] = field(default_factory=dict)
    """the repositories' current full names"""
    landed_at: int = 0
    """epoch seconds at which the newest of the facts landed"""
    evidence: tuple[str, ...] = ()
    """facts that hold changelog entries about these, headings and moves of the files that they touch"""
    pulls: frozenset[tuple[str, int]] = frozenset()
    """of the numbers that stand beside others in these changelog entries, those of pull requests"""

    def content(self) -> bytes:
        """A digest of everything here that a profile is made of: equal digests give equal profiles.

        Most landings of others do not change it: they are not among these facts and fix none of their files.
        """
        met = sorted(relevant_visits(self.visits, self.landed_at))
        evidence = (self.corrections, self.observed, self.given, self.newcomers)
        rest = (self.recorded_at, [sorted(map(repr, rows)) for rows in evidence])
        found = blake2b("\0".join((*self.texts, *self.evidence)).encode("utf-8", "surrogatepass"))
        found.update(array("q", chain.from_iterable(met)).tobytes())
        found.update(
            repr((len(met), rest, sorted(self.fully_read), sorted(self.names.items()))).encode("utf-8", "replace")
        )
        return found.digest()

    def facts(self) -> list[Fact]:
        """The facts, oldest first."""
        return [fact_of(text) for text in self.texts]

    def project_texts(self) -> ProjectTexts:
        """What other landings tell of these facts."""
        return project_texts([fact_of(text) for text in self.evidence], pulls=self.pulls)

    def history(self) -> History:
        """The history of the files that the facts touch."""
        return visits.history_of(self.visits, self.names)

    def until(self, end: int) -> RecordedFacts:
        """The same without what GitHub showed after that second of the epoch."""
        observed, given = (
            tuple(one for one in rows if one.at.timestamp() <= end) for rows in (self.observed, self.given)
        )
        newcomers = tuple(one for one in self.newcomers if one.landed_at <= end)
        evidence = tuple(text for text in self.evidence if fact_of(text).landed_at <= end)
        return replace(self, evidence=evidence, observed=observed, given=given, newcomers=newcomers)

    def live_values(self) -> dict[ChangeId, KnownOutcome]:
        """What only GitHub showed about changes there."""
        return observations.live_values(self.observed, self.names)

    def non_code_by_month(self, zone: ZoneInfo) -> dict[Month, NonCodeActivity]:
        """What only GitHub showed about these people's activity, by month."""
        firsts: dict[ItemNumber, int] = {
            (self.names[one.repository_id], one.pull_request): one.landed_at
            for one in self.newcomers
            if one.pull_request is not None and one.repository_id in self.names
        }
        return activity_by_month(observations.non_code_deeds(self.given, self.names), firsts, zone)

    def partial(self) -> frozenset[str]:
        """The repositories whose history is not known from its first commit on."""
        return frozenset(name for number, name in self.names.items() if number not in self.fully_read)

    def changes(self, repositories: Mapping[str, Repository]) -> tuple[Change, ...]:
        """The changes that the facts fold into, with people's corrections, oldest first."""
        return apply_corrections(fold(self.facts(), repositories), self.corrections)


def mark_of(connection: Connection, repositories: Collection[RepositoryId]) -> LedgerMark:
    """Changes whenever a fact of these repositories is added or deleted, or somebody corrects one."""
    corrections_query = select(func.count()).where(CORRECTION.c.repository_id.in_(repositories)).scalar_subquery()
    observed = observations.count_in(repositories).scalar_subquery()
    query = select(func.count(), func.max(FACT.c.id), corrections_query, observed).where(
        FACT.c.repository_id.in_(repositories)
    )
    facts, last, corrections, seen = connection.execute(query).one()
    return LedgerMark(facts, last or 0, corrections, seen)


def facts_about(
    connection: Connection, people: Collection[PersonKey], repositories: Collection[RepositoryId]
) -> RecordedFacts:
    """Everything these people have a part in, and all that folds with it inside these repositories; oldest first."""
    theirs = select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key.in_(people))
    found = _folding(connection, FACT.c.id.in_(theirs), repositories, past=True)
    fully_read = first_landings.fully_read_repositories(connection, repositories)
    given = tuple(observations.of_people(connection, people, repositories))
    newcomers = tuple(first_landings.newcomers_in(connection, people, fully_read)) if given else ()
    return replace(found, given=given, newcomers=newcomers, fully_read=fully_read)


def facts_of_month(
    connection: Connection, repository: RepositoryId, span: tuple[int, int], repositories: Collection[RepositoryId]
) -> RecordedFacts:
    """What landed in one repository within [since, until), epoch seconds, with what folds with it; oldest first."""
    since, until = span
    landed = (FACT.c.repository_id == repository) & (FACT.c.landed_at >= since) & (FACT.c.landed_at < until)
    return _folding(connection, landed, repositories)


def _folding(
    connection: Connection, seeds: Any, repositories: Collection[RepositoryId], *, past: bool = False
) -> RecordedFacts:
    """The seeds inside these repositories with all that folds with them there; with `past`, their files' history."""
    left, right = FACT_KEY.alias("here"), FACT_KEY.alias("there")
    allowed = FACT.c.repository_id.in_(repositories)
    reached = select(FACT.c.id).where(seeds, allowed).cte("reached", recursive=True)
    step = (
        select(right.c.fact_id)
        .select_from(reached)
        .join(left, left.c.fact_id == reached.c.id)
        .join(right, meets(left, right))
        .join(FACT, FACT.c.id == right.c.fact_id)
        .where(allowed)
    )
    reached = reached.union(step)
    found = _facts(connection, FACT.c.id.in_(select(reached.c.id)))
    rows = connection.execute(select(REPOSITORY.c.id, REPOSITORY.c.full_name).where(REPOSITORY.c.id.in_(repositories)))
    names = {RepositoryId(row.id): str(row.full_name) for row in rows}
    met = visits.visits_to_same_files(connection, select(reached.c.id), repositories) if past else ()
    work = select(FACT.c.repository_id, FACT.c.pull_request).where(FACT.c.id.in_(select(reached.c.id)))
    work = work.where(FACT.c.pull_request.is_not(None))
    seen = observations.observations_near(connection, work, repositories, LIVE_SIGNALS) if past else ()
    evidence, pulls = evidence_about(connection, found.facts(), names)
    found = replace(found, evidence=evidence, pulls=pulls)
    return replace(
        found, corrections=read_classifications(connection, names), visits=met, observed=tuple(seen), names=names
    )


def facts_inside(connection: Connection, repositories: Collection[RepositoryId]) -> RecordedFacts:
    """All facts of these repositories, oldest first."""
    return _facts(connection, FACT.c.repository_id.in_(repositories))


def _facts(connection: Connection, which: Any) -> RecordedFacts:
    payload = type_coerce(FACT.c.payload, Text).label("text")
    query = select(payload, FACT.c.recorded_at, FACT.c.landed_at).where(which)
    rows = connection.execute(query.order_by(FACT.c.landed_at, FACT.c.repository_id, FACT.c.commit_id)).all()
    newest = max((row.recorded_at for row in rows), default=datetime(1970, 1, 1, tzinfo=UTC))
    return RecordedFacts(tuple(row.text for row in rows), newest, landed_at=rows[-1].landed_at if rows else 0)
