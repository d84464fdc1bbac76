"""Which facts may a page be folded from? Those of the repositories it may show, and none reached through others.

Facts are selected by repository id before folding: a name may have belonged to another repository, and a change that
reflects what happened elsewhere would reveal that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection, Select, Text, func, select, type_coerce, union_all

from bot.landing.changes import fold
from bot.landing.corrections import Corrections, apply_corrections
from bot.landing.identity.addresses import person_key
from bot.landing.islands import islands_of
from bot.metrics.line_fates import LineLoss, LineRecord, OwnCommit, own_commits
from bot.metrics.non_code_activity import ItemNumber, activity_by_month
from bot.model.change import Change
from bot.model.commit import GITHUB, Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, Month, PersonKey, RepositoryId
from bot.model.profile import NonCodeActivity
from bot.narrative.project_texts import Move, ProjectTexts, project_texts
from bot.render.redaction import redact_texts
from bot.store import first_landings, installations, lines, naming, observations
from bot.store.classifications import read_corrections
from bot.store.corrections import CORRECTION
from bot.store.evidence import evidence_about
from bot.store.installations import REPOSITORY
from bot.store.ledger import FACT, FACT_KEY, FACT_PERSON, fact_of, meets


class LedgerMark(Struct, frozen=True):
    """The ledger's position in some repositories: pages made at the same mark are equal."""

    facts: int
    last: int
    corrections: int
    observations: int = 0
    naming: int = 0
    """whom pages may name"""


NO_LINES = LineRecord({}, ())
_NEWEST = 20_000
"""newest facts that are asked who authored them"""


class _EvidenceHead(Struct):
    """What is read of a fact where only its moves matter."""

    repository: str
    landed_at: int
    renames: tuple[tuple[str, str], ...] = ()


class RecordedFacts(Struct, frozen=True):
    """Stored facts, to be parsed off the event loop, and when the newest of them was recorded."""

    texts: tuple[str, ...]
    recorded_at: datetime
    corrections: Corrections = ()
    """what people corrected there"""
    lines: LineRecord = NO_LINES
    given: tuple[observations.Observation, ...] = ()
    """non-code activity of the requested people"""
    newcomers: tuple[first_landings.FirstLanding, ...] = ()
    """first landings of others that these people reviewed or merged"""
    fully_read: frozenset[RepositoryId] = frozenset()
    """repositories whose history is known from its first commit on"""
    names: Mapping[RepositoryId, str] = field(default_factory=dict)
    """the repositories' current full names"""
    times: tuple[datetime, ...] = ()
    """when each of the facts was recorded"""
    islands: Mapping[str, int] = field(default_factory=dict)
    """which repositories fold together"""
    installations: Mapping[str, InstallationId | None] = field(default_factory=dict)
    """the installation of each repository"""
    evidence: tuple[str, ...] = ()
    """facts that hold changelog entries about these, headings and moves of the files that they touch"""
    pulls: frozenset[tuple[str, int]] = frozenset()
    """of the numbers that stand beside others in these changelog entries, those of pull requests"""
    host: str = GITHUB
    """the server of the repositories"""
    nameable: frozenset[PersonKey] = frozenset()
    """those with a part in the facts whom this page may name beside the person"""
    unnamed: frozenset[PersonKey] = frozenset()
    """those who signed one of the facts and whom no page may name, other than the person"""

    def content(self) -> bytes:
        """A digest of everything here that a profile is made of: equal digests give equal profiles.

        Most landings of others do not change it: they are not among these facts and take none of their lines.
        """
        evidence = (self.corrections, self.given, self.newcomers)
        rest = (self.recorded_at, [sorted(map(repr, rows)) for rows in evidence])
        found = blake2b("\0".join((*self.texts, *self.evidence)).encode("utf-8", "surrogatepass"))
        taken = sorted((one.owner, one.by, one.replaced, one.dropped) for one in self.lines.losses)
        known = (sorted(self.fully_read), sorted(self.names.items()), sorted(self.nameable), sorted(self.unnamed))
        more = (rest, sorted(self.lines.added.items()), taken, known)
        found.update(repr(more).encode("utf-8", "replace"))
        return found.digest()

    def facts(self) -> list[Fact]:
        """The facts, oldest first."""
        return [fact_of(text) for text in self.texts]

    def project_texts(self, changes: Sequence[Change]) -> ProjectTexts:
        """What other landings tell of these changes, and who may be named."""
        found = redact_texts(map(fact_of, self.evidence), changes, self.unnamed)
        return replace(project_texts(found, pulls=self.pulls), nameable=self.nameable)

    def moves(self) -> dict[str, list[Move]]:
        """All moves of files, oldest first, by the repository's full name in lower case."""
        found: dict[str, list[Move]] = defaultdict(list)
        for one in self._evidence_heads():
            found[one.repository.lower()] += [Move(one.landed_at, old, new) for old, new in one.renames]
        return found

    def newest_evidence(self) -> datetime:
        """When the newest of the facts landed that tell of these."""
        return datetime.fromtimestamp(max((one.landed_at for one in self._evidence_heads()), default=0), UTC)

    def _evidence_heads(self) -> list[_EvidenceHead]:
        return [msgspec.json.decode(text, type=_EvidenceHead) for text in self.evidence]

    def fully_read_names(self) -> dict[RepositoryId, str]:
        """The full names of the repositories whose history is known from its first commit on."""
        return {number: self.names[number] for number in sorted(self.fully_read) if number in self.names}

    def timed_facts(self) -> list[tuple[Fact, datetime]]:
        """The facts, each with the time at which it was recorded."""
        return list(zip(self.facts(), self.times, strict=True))

    def own_lines(self, changes: Sequence[Change], zone: ZoneInfo) -> list[OwnCommit]:
        """What became of the lines of these changes."""
        return own_commits(changes, self.lines, zone)

    def until(self, end: int) -> RecordedFacts:
        """The same without what GitHub showed after that second of the epoch. It is for snapshots, which stay, so it
        names nobody else: who is public today may not be later."""
        given = tuple(one for one in self.given if one.at.timestamp() <= end)
        newcomers = tuple(one for one in self.newcomers if one.landed_at <= end)
        evidence = tuple(text for text in self.evidence if fact_of(text).landed_at <= end)
        return replace(self, evidence=evidence, given=given, newcomers=newcomers, nameable=frozenset())

    def non_code_by_month(self, zone: ZoneInfo) -> dict[Month, NonCodeActivity]:
        """What only GitHub showed about these people's activity, by month."""
        firsts: dict[ItemNumber, int] = {
            (self.names[one.repository_id], one.pull_request): one.landed_at
            for one in self.newcomers
            if one.pull_request is not None and one.repository_id in self.names
        }
        return activity_by_month(observations.non_code_deeds(self.given, self.names), firsts, zone, host=self.host)

    def partial(self) -> frozenset[str]:
        """The repositories whose history is not known from its first commit on."""
        return frozenset(name for number, name in self.names.items() if number not in self.fully_read)

    def changes(self, repositories: Mapping[str, Repository]) -> tuple[Change, ...]:
        """The changes that the facts fold into, with people's corrections, oldest first."""
        return apply_corrections(fold(self.facts(), repositories, self.islands), self.corrections)


def mark_of(connection: Connection, repositories: Collection[RepositoryId]) -> LedgerMark:
    """Changes whenever a fact of these repositories is added or deleted, or somebody corrects one."""
    corrections_query = select(func.count()).where(CORRECTION.c.repository_id.in_(repositories)).scalar_subquery()
    observed = observations.count_in(repositories).scalar_subquery()
    named_mark = naming.naming_mark().scalar_subquery()
    query = select(func.count(), func.max(FACT.c.id), corrections_query, observed, named_mark).where(
        FACT.c.repository_id.in_(repositories)
    )
    facts, last, corrections, seen, named = connection.execute(query).one()
    return LedgerMark(facts, last or 0, corrections, seen, int(named))


def facts_about(
    connection: Connection, people: Collection[PersonKey], repositories: Collection[RepositoryId]
) -> RecordedFacts:
    """Everything these people have a part in, and all that folds with it inside these repositories; oldest first."""
    theirs = select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key.in_(people))
    taken = select(lines.LINE_LOSS.c.later).where(lines.LINE_LOSS.c.owner.in_(theirs))
    found = _folding(connection, FACT.c.id.in_(theirs.union(taken)), repositories, with_lines=True)
    fully_read = first_landings.fully_read_repositories(connection, repositories)
    given = tuple(observations.of_people(connection, people, repositories))
    newcomers = tuple(first_landings.newcomers_in(connection, people, fully_read)) if given else ()
    host = installations.server_of(connection, repositories) if given else GITHUB
    unnamed = found.unnamed.difference(people)
    return replace(found, given=given, newcomers=newcomers, fully_read=fully_read, host=host, unnamed=unnamed)


def facts_of_month(
    connection: Connection, repository: RepositoryId, span: tuple[int, int], repositories: Collection[RepositoryId]
) -> RecordedFacts:
    """What landed in one repository within [since, until), epoch seconds, with what folds with it; oldest first."""
    since, until = span
    landed = (FACT.c.repository_id == repository) & (FACT.c.landed_at >= since) & (FACT.c.landed_at < until)
    return _folding(connection, landed, repositories)


def _folding(
    connection: Connection, seeds: Any, repositories: Collection[RepositoryId], *, with_lines: bool = False
) -> RecordedFacts:
    """The seeds inside these repositories with all that folds with them there, and what became of their lines.

    Nothing is followed from one installation into another, except between a fork and its parent.
    """
    installed, parents = _homes(connection, repositories)
    names = {number: name for name, (number, _) in installed.items()}
    islands = islands_of({name: (home, None) for name, (_, home) in installed.items()})
    with_forks = islands_of({name: (home, parents.get(name)) for name, (_, home) in installed.items()})
    inside: dict[int, list[RepositoryId]] = defaultdict(list)
    for name, island in with_forks.items():
        inside[island].append(installed[name][0])
    numbers = union_all(*(_reached(seeds, inside[island], f"reached_{island}") for island in sorted(inside) or (0,)))
    found = _facts(connection, FACT.c.id.in_(numbers))
    facts = found.facts()
    evidence, pulls = evidence_about(connection, facts, names)
    signed = {person_key(sig) for one in facts for sig in (one.author, one.committer, *one.co_authors)}
    people = select(FACT_PERSON.c.person_key).where(FACT_PERSON.c.fact_id.in_(numbers))
    return replace(
        found,
        nameable=naming.nameable_people(connection, people),
        unnamed=naming.unnamed_among(connection, signed),
        evidence=evidence,
        pulls=pulls,
        corrections=read_corrections(connection, names),
        lines=_line_record(connection, numbers, names) if with_lines else NO_LINES,
        names=names,
        islands=islands,
        installations={name: home for name, (_, home) in installed.items()},
    )


_Homes = dict[str, tuple[RepositoryId, InstallationId | None]]


def _homes(connection: Connection, repositories: Collection[RepositoryId]) -> tuple[_Homes, dict[str, str]]:
    """The id and installation of each repository by its name, and the parents of forks."""
    columns = (REPOSITORY.c.id, REPOSITORY.c.full_name, REPOSITORY.c.installation_id, REPOSITORY.c.parent)
    rows = list(connection.execute(select(*columns).where(REPOSITORY.c.id.in_(repositories))))
    homes = {str(row.full_name): (RepositoryId(row.id), row.installation_id) for row in rows}
    return homes, {str(row.full_name): str(row.parent) for row in rows if row.parent}


def _reached(seeds: Any, repositories: Collection[RepositoryId], name: str) -> Select[Any]:
    """The row numbers of the seeds in these repositories and of all that folds with them there."""
    left, right = FACT_KEY.alias("here"), FACT_KEY.alias("there")
    allowed = FACT.c.repository_id.in_(repositories)
    reached = select(FACT.c.id).where(seeds, allowed).cte(name, recursive=True)
    step = (
        select(right.c.fact_id)
        .select_from(reached)
        .join(left, left.c.fact_id == reached.c.id)
        .join(right, meets(left, right))
        .join(FACT, FACT.c.id == right.c.fact_id)
        .where(allowed)
    )
    return select(reached.union(step).c.id)


def _line_record(connection: Connection, facts: Any, names: Mapping[RepositoryId, str]) -> LineRecord:
    """What became of the lines of these facts (a query of row numbers), as far as it is derived.

    Only losses to facts among them are told; `names` are the repositories' current full names.
    """
    commits = select(FACT.c.id, FACT.c.repository_id, FACT.c.commit_id).where(FACT.c.id.in_(facts))
    keys = {
        row.id: (names[row.repository_id], CommitId(row.commit_id))
        for row in connection.execute(commits)
        if row.repository_id in names
    }
    added = select(lines.ADDED_LINES.c.fact_id, lines.ADDED_LINES.c.lines).where(lines.ADDED_LINES.c.fact_id.in_(facts))
    lost = (
        select(lines.LINE_LOSS)
        .where(lines.LINE_LOSS.c.owner.in_(facts))
        .order_by(lines.LINE_LOSS.c.owner, lines.LINE_LOSS.c.later)
    )
    return LineRecord.of(
        ((keys[row.fact_id], row.lines) for row in connection.execute(added) if row.fact_id in keys),
        (
            LineLoss(keys[row.owner], keys[row.later], row.replaced, row.dropped)
            for row in connection.execute(lost)
            if row.owner in keys and row.later in keys
        ),
    )


def nearest_landing(connection: Connection, repository: RepositoryId, edge: int, step: int) -> int | None:
    """When the repository's last fact before that second of the epoch landed (step -1), or its first from then on."""
    mine = FACT.c.repository_id == repository
    if step < 0:
        query = select(func.max(FACT.c.landed_at)).where(mine, FACT.c.landed_at < edge)
    else:
        query = select(func.min(FACT.c.landed_at)).where(mine, FACT.c.landed_at >= edge)
    found: int | None = connection.execute(query).scalar_one()
    return found


def newest_authors(connection: Connection, repositories: Collection[RepositoryId]) -> list[tuple[int, PersonKey]]:
    """(landed at, author) of the newest facts of these repositories."""
    query = select(FACT.c.landed_at, FACT.c.author_key).where(FACT.c.repository_id.in_(repositories))
    rows = connection.execute(query.order_by(FACT.c.landed_at.desc()).limit(_NEWEST))
    return [(int(landed_at), PersonKey(author)) for landed_at, author in rows]


def facts_inside(connection: Connection, repositories: Collection[RepositoryId]) -> RecordedFacts:
    """All facts of these repositories, oldest first."""
    return _facts(connection, FACT.c.repository_id.in_(repositories))


def _facts(connection: Connection, which: Any) -> RecordedFacts:
    payload = type_coerce(FACT.c.payload, Text).label("text")
    query = select(payload, FACT.c.recorded_at).where(which)
    rows = connection.execute(query.order_by(FACT.c.landed_at, FACT.c.repository_id, FACT.c.commit_id)).all()
    newest = max((row.recorded_at for row in rows), default=datetime(1970, 1, 1, tzinfo=UTC))
    times = tuple(row.recorded_at for row in rows)
    return RecordedFacts(tuple(row.text for row in rows), newest, times=times)
