"""The rest of the record: totals, changes, outbox, corrections, digests, people, pull requests, and its dump."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from bot.model.commit import Person
from bot.model.fact import Lines, each_part
from bot.model.ids import ChangeId, CommitId, InstallationId, Month, PersonKey, UserId
from bot.store import changes, corrections, digests, installations, ledger, outbox, people, pulls, totals
from bot.store.border import canonical_json, clean_text
from bot.store.changes import CHANGE, CONTRIBUTION, ChangeRow
from bot.store.corrections import Correction
from bot.store.digests import DigestRow
from bot.store.dump import canonical_dump, dump_lines
from bot.store.engine import Store
from bot.store.outbox import OUTBOX, Intent
from bot.store.people import PERSON
from bot.store.pulls import PullRequestRow
from tests.databases import fresh_database
from tests.store.conftest import ACME, APP, NOW, fact, seed

ADA, BEA, MAY, JUNE = PersonKey("u:7"), PersonKey("e:bea@example.org"), Month("2031-05"), Month("2031-06")
LEASE = NOW + timedelta(seconds=60)


async def test_totals_of_a_cell_are_replaced_and_an_empty_cell_is_deleted(store: Store) -> None:
    await seed(store)
    ada, bea = (ADA, APP, MAY), (BEA, APP, MAY)
    first = {ada: _sum(commits=2, languages={"C": 5}), bea: _sum(outcomes=1)}
    second = {ada: _sum(commits=3, days={"2031-05-01": 3})}
    with store.transaction() as connection:
        totals.write_cells(connection, first)
        assert _read_cells(connection, (ada, bea)) == {cell: _plain(one) for cell, one in first.items()}
        totals.write_cells(connection, second, empty=first)
        assert _read_cells(connection, (ada, bea)) == {ada: _plain(second[ada]), bea: None}


def _sum(*, commits: int = 0, outcomes: int = 0, **tallies: dict[str, int]) -> totals.Sum:
    found = totals.Sum()
    found.numbers[totals.COUNTERS.index("commits")] = commits
    found.numbers[totals.COUNTERS.index("outcomes")] = outcomes
    for name, tally in tallies.items():
        setattr(found, name, tally)
    return found


def _plain(found: totals.Sum | None) -> tuple[object, ...] | None:
    return found and (found.numbers, *found.tallies())


def _read_cells(connection: Connection, cells: tuple[totals.Cell, ...]) -> dict[totals.Cell, tuple[object, ...] | None]:
    return {cell: _plain(found) for cell, found in totals.read_cells(connection, cells).items()}


async def test_changes_are_replaced_with_all_their_contributions(store: Store) -> None:
    await seed(store)
    one, two = ChangeId("acme/app#1"), ChangeId("acme/app#2")
    row = ChangeRow(one, APP, MAY, 5, "feature", "landed", 1, {"commits": ["a"]})
    parts = [
        (one, ADA, APP, MAY, 0, 1, *each_part(Lines(authored=2))),
        (one, BEA, APP, MAY, 1, 0, *each_part(Lines(docs=3))),
    ]
    own = (two, ADA, APP, JUNE, 1, 0, *each_part(Lines()))
    moved = ChangeRow(two, APP, JUNE, 6, "feature", "relanded", 2, {})
    with store.transaction() as connection:
        changes.replace_changes(connection, [], [(row, parts)])
        stored = connection.execute(select(CONTRIBUTION).order_by(CONTRIBUTION.c.commits))
        assert [tuple(each) for each in stored] == parts
        assert [ChangeRow(*each) for each in connection.execute(select(CHANGE))] == [row]
        changes.replace_changes(connection, [one], [(moved, [own])])
        assert [ChangeRow(*each) for each in connection.execute(select(CHANGE))] == [moved]
        assert [tuple(each) for each in connection.execute(select(CONTRIBUTION))] == [own]


def _intent(text: str = "counted") -> Intent:
    return Intent("check:10:abc", "check", APP, {"head": "abc"}, {"summary": text}, ACME)


def _is_waiting(connection: Connection) -> bool:
    return connection.execute(select(OUTBOX.c.state)).scalar_one() == "waiting"


async def test_an_intent_stored_twice_is_posted_once(store: Store) -> None:
    with store.transaction() as connection:
        number = outbox.add_intent(connection, _intent(), NOW)
        assert number == outbox.add_intent(connection, _intent(), NOW)
        assert number is not None
        posting = outbox.claim(connection, number, now=NOW, lease_until=LEASE)
        assert posting is not None
        assert posting.intent == _intent()
        assert outbox.claim(connection, number, now=NOW, lease_until=LEASE) is None
        assert outbox.mark_posted(connection, posting, "991", NOW)
        assert outbox.add_intent(connection, _intent(), NOW) is None
        assert not _is_waiting(connection)


async def test_a_newer_body_edits_the_existing_post(store: Store) -> None:
    with store.transaction() as connection:
        number = outbox.add_intent(connection, _intent(), NOW) or 0
        posting = outbox.claim(connection, number, now=NOW, lease_until=LEASE)
        assert posting is not None
        assert outbox.add_intent(connection, _intent("corrected"), NOW) == number
        assert not outbox.mark_posted(connection, posting, "991", NOW)
        assert _is_waiting(connection)
        again = outbox.claim(connection, number, now=NOW, lease_until=LEASE)
        assert again is not None
        assert (again.remote_id, again.intent.body) == ("991", {"summary": "corrected"})
        assert outbox.mark_posted(connection, again, "991", NOW)
        assert outbox.add_intent(connection, _intent("counted"), NOW) == number


async def test_a_poster_whose_lease_ended_changes_nothing(store: Store) -> None:
    with store.transaction() as connection:
        number = outbox.add_intent(connection, _intent(), NOW) or 0
        stale = outbox.claim(connection, number, now=NOW, lease_until=LEASE)
        fresh = outbox.claim(connection, number, now=LEASE, lease_until=LEASE + timedelta(seconds=60))
        assert stale is not None
        assert fresh is not None
        assert not outbox.mark_posted(connection, stale, "1", NOW)
        assert not outbox.release(connection, stale, "late")
        assert outbox.mark_posted(connection, fresh, "2", NOW)


async def test_only_one_of_two_concurrent_posters_claims_the_intent(store: Store) -> None:
    with store.transaction() as connection:
        number = outbox.add_intent(connection, _intent(), NOW) or 0

    def claim(connection: Connection) -> bool:
        return outbox.claim(connection, number, now=NOW, lease_until=LEASE) is not None

    assert sorted(await asyncio.gather(*(store.write(claim) for _ in range(5)))) == [False] * 4 + [True]


async def test_an_abandoned_post_waits_for_a_newer_body(store: Store) -> None:
    with store.transaction() as connection:
        number = outbox.add_intent(connection, _intent(), NOW) or 0
        posting = outbox.claim(connection, number, now=NOW, lease_until=LEASE)
        assert posting is not None
        assert outbox.release(connection, posting, "422", give_up=True)
        assert not _is_waiting(connection)
        outbox.add_intent(connection, _intent("shorter"), NOW)
        assert _is_waiting(connection)


async def test_a_correction_delivered_twice_counts_once_and_order_is_preserved(store: Store) -> None:
    change = ChangeId("acme/app#1")
    later = Correction("comment:2", "dispute", ADA, NOW + timedelta(1), {"text": "no"}, APP, change, ADA)
    first = Correction("comment:1", "classify", ADA, NOW, "feature", APP, change)
    with store.transaction() as connection:
        assert [corrections.append(connection, one) for one in (later, first, later)] == [True, True, False]
        assert corrections.of_repositories(connection, [APP]) == [first, later]


async def test_only_one_process_opens_a_months_digest(store: Store) -> None:
    digest = DigestRow("repository:10", MAY, NOW, APP)

    def attempt(connection: Connection) -> tuple[bool, bool]:
        period = digests.begin_period(connection, "reconcile", "2031-05-01", NOW)
        return digests.open_digest(connection, digest), period

    answers = await asyncio.gather(*(store.write(attempt) for _ in range(4)))
    assert sorted(answers) == [(False, False)] * 3 + [(True, True)]
    posted = DigestRow("repository:10", MAY, NOW, APP, "posted", 3, 44, "hash")
    with store.transaction() as connection:
        digests.record(connection, posted)
        assert digests.of_target(connection, "repository:10") == [posted]
        assert digests.missing_months(connection, "repository:10", [MAY, JUNE]) == [JUNE]


async def test_a_proved_address_comes_before_a_claimed_one_and_stays_proved(store: Store) -> None:
    ada = Person(ADA, "Ada Example", ("ada@example.org",), "Ada", UserId(7), names=("Ada", "Ada Example"))
    bea = Person(BEA, "Bea", ("ada@example.org",))
    with store.transaction() as connection:
        people.save_people(connection, [bea, ada])
        people.save_people(connection, [ada], "proved")
        people.save_people(connection, [ada])
        assert people.keys_of(connection, "email", "Ada@Example.org") == [ADA, BEA]
        assert people.keys_of(connection, "login", "ada") == [ADA]
        found = people.person(connection, ADA)
        people.opt_out(connection, BEA, NOW)
        hidden = connection.execute(select(PERSON.c.key).where(PERSON.c.opted_out_at.is_not(None)))
        assert hidden.scalars().all() == [BEA]
    assert found is not None
    assert (found.login, found.names) == ("Ada", ("Ada", "Ada Example"))


async def test_a_pull_request_is_found_by_number_and_by_merge_commit(store: Store) -> None:
    await seed(store)
    pull = PullRequestRow(APP, 5, CommitId("b" * 40), NOW, CommitId("a" * 40), NOW, payload={"title": "half \ud800"})
    with store.transaction() as connection:
        pulls.save_pull_request(connection, pull)
        pulls.save_pull_request(connection, pull)
        found = pulls.read(connection, APP, 5)
        assert found == pulls.row_merged_as(connection, APP, CommitId("a" * 40))
        assert pulls.read(connection, APP, 6) is None
    assert found is not None
    assert found.payload == {"title": "half \ufffd"}


async def test_suspension_and_removal_are_reported_and_undone(store: Store) -> None:
    await seed(store)
    with store.transaction() as connection:
        installations.suspend(connection, ACME, NOW)
        assert not installations.is_active(connection, ACME)
        installations.suspend(connection, ACME, None)
        assert installations.is_active(connection, ACME)
        installations.remove_installation(connection, ACME, NOW)
        assert not installations.is_active(connection, ACME)
        assert installations.repositories_of(connection, ACME) == []
        assert not installations.is_active(connection, InstallationId(99))


@given(st.text(st.characters(codec=None, categories=None)))
def test_clean_text_can_be_stored_and_is_stable(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned.encode().decode() == cleaned
    assert "\0" not in cleaned
    assert clean_text(cleaned) == cleaned
    assert clean_text(text) == "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
    assert canonical_json([text]) == canonical_json([cleaned])


@pytest.mark.parametrize("kind", ["postgresql"])
def test_the_dump_is_equal_on_both_databases_whatever_the_order_of_arrival(kind: str, tmp_path: Path) -> None:
    hashes, lines = [], []
    for number, database in enumerate(("sqlite", kind, "sqlite")):
        folder = tmp_path / str(number)
        folder.mkdir()
        with fresh_database(database, folder) as url:
            dumped = asyncio.run(_filled_dump(url, random.Random(number)))
        hashes.append(dumped[0])
        lines.append(dumped[1])
    assert lines[0] == lines[1]
    assert len(set(hashes)) == 1
    assert len(lines[0]) > 80


async def _filled_dump(url: str, rng: random.Random) -> tuple[str, list[str]]:
    facts = [fact(n, keys=(f"drev:D{n % 3}", "title:acme/app:Ü-ä"), title=f"É {n} \0") for n in range(12)]
    rows = [((PersonKey(f"e:{name}@example.org"), APP, MAY), _sum(commits=n)) for n, name in enumerate("bZaÄzé_-")]
    async with await Store.open(url) as store:
        await seed(store)
        with store.transaction() as connection:
            for one in rng.sample(facts, len(facts)):
                ledger.append_facts(connection, APP, [one], NOW + timedelta(seconds=rng.random()))
            for row in rng.sample(rows, len(rows)):
                totals.write_cells(connection, dict([row]))
            people.save_people(connection, [Person(ADA, "Ada", ("ada@example.org",), bot=True)])
            corrections.append(connection, Correction("c:1", "forget", ADA, NOW, {"b": 1, "a": [None, True]}))
        return await canonical_dump(store), await store.read(lambda connection: list(dump_lines(connection)))
