"""Where the facts of clones are kept while they are folded: one SQLite file, so that memory does not hold a history.

The file is a cache: it is keyed by the clones, the rules and the method, and a second run measures new commits only.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from bot.landing.identity import person_key
from bot.landing.keys import asks, offers
from bot.model import Commit, Fact, Signature, fact_from_json, fact_to_json

_SCHEMA = """
create table if not exists fact (
  id integer primary key, repository text not null, commit_id text not null, landed_at integer not null,
  carrier text not null, payload text not null, unique (repository, commit_id));
create table if not exists fact_key (key text not null, fact integer not null, asks integer not null);
create index if not exists fact_key_key on fact_key (key);
create index if not exists fact_key_fact on fact_key (fact);
create table if not exists part (person text not null, fact integer not null, primary key (person, fact)) without rowid;
create table if not exists signature (
  name text not null, email text not null, user_id integer, login text, bot integer not null, person text not null,
  commits integer not null, primary key (name, email, user_id, login)) ;
create table if not exists fix (path text not null, landed_at integer not null);
create index if not exists fix_path on fix (path, landed_at);
create temp table arrival (
  repository text not null, commit_id text not null, landed_at integer not null, carrier text not null,
  primary key (repository, commit_id)) without rowid;
create temp table carrier (commit_id text primary key, payload blob not null) without rowid;
create temp table todo (
  position integer primary key, repository text not null, commit_id text not null, landed_at integer not null,
  carrier text not null);
"""


def cache_file(identity: Sequence[str]) -> Path | None:
    """A file for this identity under the user's cache folder ($XDG_CACHE_HOME), None where none can be written."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "almanac"
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    name = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return root / f"{name}.sqlite" if os.access(root, os.W_OK) else None


class Scratch:
    """The facts of a set of clones, searchable by the keys they share and by the people who made them."""

    def __init__(self, path: Path | None) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="almanac-") if path is None else None
        file = Path(self._temporary.name) / "facts.sqlite" if self._temporary else path
        assert file is not None  # noqa: S101 (one of the two names it)
        self._db = sqlite3.connect(file, isolation_level=None, timeout=0.5)
        self._db.execute("pragma journal_mode=off" if self._temporary else "pragma journal_mode=wal")
        self._db.execute("pragma synchronous=off")
        self._db.execute("pragma cache_size=-4000")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        self._db.close()
        if self._temporary:
            self._temporary.cleanup()

    def begin(self) -> bool:
        """Take the file to write; False where another run has it just now."""
        try:
            self._db.execute("begin immediate")
        except sqlite3.OperationalError:
            return False
        return True

    def commit(self) -> None:
        self._db.execute("commit")

    # --- filling --------------------------------------------------------------------------------------------------

    def expect(self, rows: Iterable[tuple[str, str, int, str]]) -> None:
        """Name what the default branches hold now: (repository, commit, landed_at, carrier)."""
        self._db.executemany("insert or replace into arrival values (?, ?, ?, ?)", rows)

    def keep_carrier(self, carrier: Commit) -> None:
        """Keep a merge commit until the commits it brought are measured."""
        self._db.execute("insert or ignore into carrier values (?, ?)", (carrier.id, pickle.dumps(carrier)))

    def carrier(self, commit_id: str) -> Commit | None:
        row = self._db.execute("select payload from carrier where commit_id = ?", (commit_id,)).fetchone()
        return cast(Commit, pickle.loads(row[0])) if row else None  # noqa: S301 (written by this process, into a temporary table)

    def plan(self) -> int:
        """Work out what is expected and not yet measured; the number of commits."""
        self._db.execute("delete from todo")
        return self._db.execute(
            "insert into todo (repository, commit_id, landed_at, carrier)"
            " select a.* from arrival a left join fact f on f.repository = a.repository"
            " and f.commit_id = a.commit_id and f.landed_at = a.landed_at and f.carrier = a.carrier"
            " where f.id is null order by a.repository, a.landed_at desc, a.commit_id"
        ).rowcount

    def planned(self, repository: str, size: int) -> Iterator[list[tuple[str, int, str]]]:
        """The plan of one repository in batches of (commit, landed_at, carrier), newest landing first."""
        after = 0
        query = (
            "select position, commit_id, landed_at, carrier from todo where position > ? and repository = ?"
            " order by position limit ?"
        )
        while rows := self._db.execute(query, (after, repository, size)).fetchall():
            after = rows[-1][0]
            yield [(commit_id, landed_at, carrier) for _, commit_id, landed_at, carrier in rows]

    def forget_vanished(self) -> None:
        """Start afresh where history was rewritten: a measured commit is gone, or landed otherwise."""
        gone = self._db.execute(
            "select 1 from fact f left join arrival a on a.repository = f.repository"
            " and a.commit_id = f.commit_id and a.landed_at = f.landed_at and a.carrier = f.carrier"
            " where a.commit_id is null limit 1"
        ).fetchone()
        if gone:
            for table in ("fact", "fact_key", "part", "signature", "fix"):
                self._db.execute(f"delete from {table}")  # noqa: S608 (the names stand in the line above)

    def add(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            self._add(fact)

    def _add(self, fact: Fact) -> None:
        payload = json.dumps(fact_to_json(fact), ensure_ascii=False, separators=(",", ":"))
        payload = payload.encode("utf-8", "replace").decode()
        row = self._db.execute(
            "insert or ignore into fact (repository, commit_id, landed_at, carrier, payload) values (?, ?, ?, ?, ?)",
            (fact.repository, fact.commit, fact.landed_at, fact.carrier, payload),
        )
        if not row.rowcount:
            return
        keys = [(key, row.lastrowid, 0) for key in offers(fact)] + [(key, row.lastrowid, 1) for key in asks(fact)]
        self._db.executemany("insert into fact_key values (?, ?, ?)", keys)
        people = {person_key(fact.author), *map(person_key, fact.co_authors)}
        self._db.executemany("insert into part values (?, ?)", ((key, row.lastrowid) for key in sorted(people)))
        if fact.kind == "bug_fix":
            self._db.executemany("insert into fix values (?, ?)", ((path, fact.landed_at) for path in fact.paths))
        self._sign(fact.author, 1)
        for person in fact.co_authors:
            self._sign(person, 0)

    def _sign(self, person: Signature, commits: int) -> None:
        self._db.execute(
            "insert into signature values (?, ?, ?, ?, ?, ?, ?)"
            " on conflict do update set commits = commits + excluded.commits",
            (
                person.name,
                person.email,
                person.user_id or 0,
                person.login or "",
                int(person.bot),
                person_key(person),
                commits,
            ),
        )

    # --- reading --------------------------------------------------------------------------------------------------

    def signatures(self) -> list[Signature]:
        """Every distinct author and credited co-author, the busiest first."""
        rows = self._db.execute("select * from signature order by commits desc, name, email, user_id, login")
        return [
            Signature(name, email, user_id or None, login or None, bool(bot))
            for name, email, user_id, login, bot, _, _ in rows
        ]

    def facts(self) -> Iterator[Fact]:
        """All facts, oldest landing first."""
        for (payload,) in self._db.execute("select payload from fact order by landed_at, repository, commit_id"):
            yield fact_from_json(json.loads(payload))

    def component(self, people: Collection[str]) -> list[Fact]:
        """The facts these people have a part in, with every fact that must be folded together with one of them."""
        self._db.execute("create temp table if not exists wanted (fact integer primary key)")
        self._db.execute("delete from wanted")
        for person in sorted(people):
            self._db.execute("insert or ignore into wanted select fact from part where person = ?", (person,))
        grown = -1
        while grown:
            grown = self._db.execute(
                "insert or ignore into wanted select other.fact from wanted w join fact_key mine on mine.fact = w.fact"
                " join fact_key other on other.key = mine.key and other.asks <> mine.asks"
            ).rowcount
        rows = self._db.execute("select payload from fact where id in (select fact from wanted) order by id")
        return [fact_from_json(json.loads(payload)) for (payload,) in rows]

    def shared(self, most: int) -> list[Fact]:
        """Facts of commits that more than one repository holds, the newest first; at most so many."""
        self._db.execute("create index if not exists fact_commit on fact (commit_id)")
        rows = self._db.execute(
            "select payload from fact f where exists (select 1 from fact o where o.commit_id = f.commit_id"
            " and o.repository <> f.repository) order by landed_at desc, commit_id, repository limit ?",
            (most,),
        )
        return [fact_from_json(json.loads(payload)) for (payload,) in rows]
