"""Where are the facts of clones stored while they are folded? In one SQLite file, instead of in memory.

The file is a cache: it is keyed by the clones, the rules and the method, and a second run measures new commits only.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from bot.history.rows import ASKS, OFFERS, Rows, from_bytes, key_number
from bot.history.scratch_lines import attribute_all, line_record
from bot.landing.same_work.keys import pull_key
from bot.metrics.line_fates import LineRecord
from bot.model.commit import Signature
from bot.model.fact import STATED_ROLES, Fact
from bot.model.ids import CommitId, PersonKey

_SCHEMA = """
create table if not exists head (
  repository text primary key, commit_id text not null, summary text not null) without rowid;
create table if not exists fact (
  id integer primary key, repository text not null, commit_id text not null, landed_at integer not null,
  merge_commit text not null, author text not null, payload blob not null,
  line_hashes blob not null);
create table if not exists fact_key (
  fact integer not null, key integer not null, role integer not null, primary key (fact, key)) without rowid;
create table if not exists linked (
  fact integer not null, key integer not null, primary key (fact, key)) without rowid;
create table if not exists part (person text not null, fact integer not null);
create table if not exists signature (
  name text not null, email text not null, user_id integer not null, login text not null, bot integer not null,
  host text not null, primary key (name, email, user_id, login, bot, host)) without rowid;
create table if not exists month_sum (
  zone text not null, month text not null, person text not null, commits integer not null, features integer not null,
  bugs integer not null, lines_of_code integer not null, primary key (zone, month, person)) without rowid;
create table if not exists summed (zone text primary key, last_fact integer not null) without rowid;
create table if not exists summed_person (
  zone text not null, key text not null, person text not null, primary key (zone, key)) without rowid;
create table if not exists evidence (key text not null, fact integer not null, primary key (key, fact)) without rowid;
create table if not exists not_measured (fact integer primary key, files integer not null);
create table if not exists release (
  repository text not null, commit_id text not null, version text not null,
  primary key (commit_id, repository)) without rowid;
create table if not exists tagged (repository text primary key, tags text not null) without rowid;
create table if not exists standing_lines (
  repository text not null, file integer not null, stack blob not null, primary key (repository, file)) without rowid;
create table if not exists added_lines (fact integer primary key, lines integer not null);
create table if not exists line_loss (
  owner integer not null, later integer not null, replaced integer not null, dropped integer not null,
  primary key (owner, later)) without rowid;
create table if not exists attributed (
  repository text primary key, last_fact integer not null, landed_at integer not null,
  commits integer not null) without rowid;
create temp table left_out (author text primary key) without rowid;
create temp view counting as select id, landed_at from fact where author not in left_out;
"""
_INDEXES = """
create index if not exists fact_landed on fact (landed_at, author);
create index if not exists fact_key_key on fact_key (key, role);
create index if not exists linked_key on linked (key);
create index if not exists part_person on part (person);
"""
"""Created after the first facts are added: sorting all rows once is far cheaper than inserting each in order."""
_LINK = """
insert or ignore into linked select fact, key from fact_key where key in (
  select key from fact_key {these} group by key having count(*) > 1 and max(role & :offers) and max(role & :asks))
"""
_OF_NEW = "where key in (select key from fact_key where fact > :after)"
"""Most keys belong to one fact only: those that connect facts are few, and fast to follow."""
_GROW = """
insert or ignore into wanted select other.fact from wanted
  cross join linked mine on mine.fact = wanted.fact cross join linked other on other.key = mine.key
"""
_TABLES = (
    "head",
    "fact",
    "fact_key",
    "linked",
    "part",
    "signature",
    "evidence",
    "not_measured",
    "release",
    "tagged",
    "month_sum",
    "summed",
    "summed_person",
    *("standing_lines", "added_lines", "line_loss", "attributed"),
)
_CACHE_KIB = 4000

MonthSum = tuple[str, str, int, int, int, int]
"""month, key of a person, commits, features, bugs, lines of code"""


class Scratch:
    """The facts of a set of clones, searchable by shared keys and by people."""

    def __init__(self, path: Path | None) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="almanac-") if path is None else None
        file = Path(self._temporary.name) / "facts.sqlite" if self._temporary else path
        assert file is not None  # noqa: S101 (one of the two is set)
        self.file = file
        self._db = sqlite3.connect(file, isolation_level=None, timeout=0.5)
        self._db.execute("pragma journal_mode=off" if self._temporary else "pragma journal_mode=wal")
        self._db.execute("pragma synchronous=off")
        self._db.execute(f"pragma cache_size=-{_CACHE_KIB}")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        self._db.close()
        if self._temporary:
            self._temporary.cleanup()

    def begin(self) -> bool:
        """Open a write transaction; False if another run has the file locked."""
        try:
            self._db.execute("begin immediate")
        except sqlite3.OperationalError:
            return False
        return True

    def commit(self) -> None:
        self._db.execute("commit")

    # --- filling --------------------------------------------------------------------------------------------------

    def heads(self) -> dict[str, tuple[str, str]]:
        """By repository, the commit whose whole history is measured, and the summary of the walk through it."""
        rows = self._db.execute("select repository, commit_id, summary from head")
        return {repository: (commit, summary) for repository, commit, summary in rows}

    def save_head(self, repository: str, commit_id: str, summary: str) -> None:
        self._db.execute("insert or replace into head values (?, ?, ?)", (repository, commit_id, summary))

    def empty(self) -> None:
        """Delete everything."""
        for table in _TABLES:
            self._db.execute(f"delete from {table}")  # noqa: S608 (constants from above)

    def add(self, rows: Rows) -> None:
        first = self._db.execute("select coalesce(max(id), 0) + 1 from fact").fetchone()[0]
        self._db.executemany(
            "insert into fact values (?, ?, ?, ?, ?, ?, ?, ?)",
            ((first + index, *row) for index, row in enumerate(rows.facts)),
        )
        self._db.executemany(
            "insert into fact_key values (?, ?, ?)", ((first + index, key, role) for key, index, role in rows.keys)
        )
        self._db.executemany("insert into part values (?, ?)", ((key, first + index) for key, index in rows.parts))
        self._db.executemany("insert or ignore into signature values (?, ?, ?, ?, ?, ?)", rows.signatures)
        self._db.executemany(
            "insert into evidence values (?, ?)", ((key, first + index) for key, index in rows.evidence)
        )
        self._db.executemany(
            "insert into not_measured values (?, ?)", ((first + index, files) for index, files in rows.not_measured)
        )

    def index_keys(self, after: int) -> None:
        """Index what was added after that fact."""
        for statement in _INDEXES.strip().split("\n"):
            self._db.execute(statement)
        these = _OF_NEW if after else ""
        self._db.execute(_LINK.format(these=these), {"after": after, "offers": OFFERS, "asks": ASKS})

    # --- reading --------------------------------------------------------------------------------------------------

    def signatures(self) -> list[Signature]:
        """Every distinct author and credited co-author."""
        rows = self._db.execute("select name, email, user_id, login, bot, host from signature")
        return [
            Signature(name, email, user_id or None, login or None, bot == 1, STATED_ROLES.get(bot), host)
            for name, email, user_id, login, bot, host in rows
        ]

    def author_counts(self) -> dict[PersonKey, int]:
        """The number of facts by the key of their author."""
        rows = self._db.execute("select author, count(*) from fact group by author")
        return {PersonKey(author): count for author, count in rows}

    def count_not_measured(self) -> tuple[int, int]:
        """How many files could not be read, and in how many commits."""
        files, commits = self._db.execute("select coalesce(sum(files), 0), count(*) from not_measured").fetchone()
        return files, commits

    def facts(self) -> Iterator[Fact]:
        """All facts, oldest landing first."""
        for (payload,) in self._db.execute("select payload from fact order by landed_at, repository, commit_id"):
            yield from_bytes(payload)

    def knows_tags(self, repository: str, tags: str) -> bool:
        """Whether the stored releases are those of these tags (a digest)."""
        row = self._db.execute("select tags from tagged where repository = ?", (repository,)).fetchone()
        return row is not None and row[0] == tags

    def save_releases(self, repository: str, tags: str, rows: Iterable[tuple[str, str]]) -> None:
        """Replace the first release of each commit."""
        self._db.execute("delete from release where repository = ?", (repository,))
        self._db.executemany(
            "insert or ignore into release values (?, ?, ?)",
            ((repository, commit, version) for commit, version in rows),
        )
        self._db.execute("insert or replace into tagged values (?, ?)", (repository, tags))

    def releases(self, commits: Iterable[str]) -> dict[CommitId, str]:
        """The first release of each of these commits that is in one."""
        query = "select version from release where commit_id = ? order by repository limit 1"
        found = ((name, self._db.execute(query, (name,)).fetchone()) for name in commits)
        return {CommitId(name): row[0] for name, row in found if row is not None}

    def facts_with_evidence(self, keys: Iterable[str]) -> list[Fact]:
        """The facts with evidence under one of these keys (`bot.landing.changelogs.evidence`), oldest first."""
        self._db.execute("create temp table if not exists asked (key text primary key) without rowid")
        self._db.execute("delete from asked")
        self._db.executemany("insert or ignore into asked values (?)", ((key,) for key in keys))
        query = (
            "select payload from fact where id in (select fact from evidence where key in (select key from asked))"
            " order by landed_at, commit_id"
        )
        rows = self._db.execute(query)
        return [from_bytes(payload) for (payload,) in rows]

    def known_pulls(self, numbers: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
        """Of these numbers, by repository, those of pull requests that landed here."""
        query = "select 1 from fact_key where key = ? limit 1"
        return {
            (name, number)
            for name, number in numbers
            if self._db.execute(query, (key_number(pull_key(name, number)),)).fetchone()
        }

    def component(self, people: Collection[str]) -> list[Fact]:
        """The facts these people contributed to, with every fact that must be folded together with one of them."""
        self._clear_wanted()
        for person in sorted(people):
            self._db.execute("insert or ignore into wanted select fact from part where person = ?", (person,))
        return self._wanted_facts()

    def _clear_wanted(self) -> None:
        self._db.execute("create temp table if not exists wanted (fact integer primary key)")
        self._db.execute("delete from wanted")

    def _wanted_facts(self) -> list[Fact]:
        """The wanted facts, with every fact connected to them."""
        self._grow()
        rows = self._db.execute("select payload from fact where id in (select fact from wanted) order by id")
        return [from_bytes(payload) for (payload,) in rows]

    def _grow(self) -> None:
        """Add every fact that a wanted one asks for, or that asks for a wanted one, until there are no more."""
        grown = -1
        while grown:
            grown = self._db.execute(_GROW).rowcount

    def landed_between(self, begin: int, end: int) -> list[Fact]:
        """The facts that landed from `begin` until before `end`, with every fact connected to one of them."""
        self._clear_wanted()
        query = "insert into wanted select id from counting where landed_at >= ? and landed_at < ?"
        self._db.execute(query, (begin, end))
        return self._wanted_facts()

    # --- lines ----------------------------------------------------------------------------------------------------

    def attribute_lines(self) -> None:
        """Find out whose lines the commits replaced that were added since the last time."""
        attribute_all(self._db)

    def line_record(self) -> LineRecord:
        """How many source lines each commit added, and which later commits took them away."""
        return line_record(self._db)

    # --- sums -----------------------------------------------------------------------------------------------------

    def exclude_authors(self, authors: Iterable[str]) -> None:
        """From now on, facts by these authors are read only where they are connected to other people's."""
        self._db.execute("delete from left_out")
        self._db.executemany("insert into left_out values (?)", ((author,) for author in sorted(authors)))

    def last_fact(self) -> int:
        """The number of the last measured fact; 0 if there is none."""
        return int(self._db.execute("select coalesce(max(id), 0) from fact").fetchone()[0])

    def days(self) -> list[int]:
        """The start and the end of each day (in UTC) on which something landed."""
        days = self._db.execute("select distinct landed_at / 86400 from counting")
        return [moment for (day,) in days for moment in (day * 86_400, day * 86_400 + 86_399)]

    def count_between(self, begin: int, end: int) -> int:
        query = "select count(*) from counting where landed_at >= ? and landed_at < ?"
        return int(self._db.execute(query, (begin, end)).fetchone()[0])

    def touched_since(self, number: int) -> list[int]:
        """The landing times of the facts measured after that number, and of the facts connected to them."""
        self._clear_wanted()
        self._db.execute("insert into wanted select id from fact where id > ?", (number,))
        self._grow()
        rows = self._db.execute("select distinct landed_at from counting where id in (select fact from wanted)")
        return [landed_at for (landed_at,) in rows]

    def last_summed_fact(self, zone: str, identities: Mapping[str, str]) -> int:
        """The last fact in the stored sums; 0 if there are none, or if a person in them is now
        identified differently.
        """
        row = self._db.execute("select last_fact from summed where zone = ?", (zone,)).fetchone()
        if row is None:
            return 0
        people = self._db.execute("select key, person from summed_person where zone = ?", (zone,))
        return int(row[0]) if all(identities.get(key) == person for key, person in people) else 0

    def sums(self, zone: str) -> list[MonthSum]:
        query = "select month, person, commits, features, bugs, lines_of_code from month_sum where zone = ?"
        return sorted(self._db.execute(query, (zone,)))

    def save_sums(
        self, zone: str, stale: Collection[str], rows: Iterable[MonthSum], last: int, identities: Mapping[str, str]
    ) -> bool:
        """Replace the stored sums of the stale months; False if another run has the file locked."""
        if not self.begin():
            return False
        self._db.executemany("delete from month_sum where zone = ? and month = ?", ((zone, month) for month in stale))
        self._db.executemany("insert into month_sum values (?, ?, ?, ?, ?, ?, ?)", ((zone, *row) for row in rows))
        self._db.execute("insert or replace into summed values (?, ?)", (zone, last))
        self._db.execute("delete from summed_person where zone = ?", (zone,))
        self._db.executemany(
            "insert into summed_person values (?, ?, ?)", ((zone, key, person) for key, person in identities.items())
        )
        self.commit()
        return True

    def shared_facts(self, most: int) -> list[Fact]:
        """Facts of commits that more than one repository contains, newest first; at most this many."""
        rows = self._db.execute(
            "select payload from fact where commit_id in (select commit_id from fact group by commit_id"
            " having count(distinct repository) > 1) order by landed_at desc, commit_id, repository limit ?",
            (most,),
        )
        return [from_bytes(payload) for (payload,) in rows]
