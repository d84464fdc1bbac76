"""The rest of the record: totals, changes, outbox, corrections, digests, people, pull requests, and its dump."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import ChangeId, CommitId, InstallationId, Lines, Month, Person, PersonKey, UserId
from bot.store import changes, corrections, digests, installations, ledger, outbox, people, pulls, totals
from bot.store.border import canonical_json, clean_text
from bot.store.changes import ChangeRow, Contribution
from bot.store.corrections import Correction
from bot.store.digests import DigestRow
from bot.store.dump import canonical_dump, dump_lines
from bot.store.engine import Store
from bot.store.outbox import Intent
from bot.store.pulls import PullRequestRow
from bot.store.totals import Totals
from tests.databases import fresh_database
from tests.store.conftest import ACME, APP, FORK, NOW, fact, seed

ADA, BEA, MAY, JUNE = PersonKey("u:7"), PersonKey("e:bea@example.org"), Month("2031-05"), Month("2031-06")
LEASE = NOW + timedelta(seconds=60)


async def test_totals_of_a_cell_are_replaced_and_an_empty_cell_goes(store: Store) -> None:
    await seed(store)
    first = [
        Totals(ADA, APP, MAY, commits=2, lines=Lines(authored=5), languages={"C": 5}),
        Totals(BEA, APP, MAY, outcomes=1),
    ]
    second = Totals(ADA, APP, MAY, commits=3, lines=Lines(authored=6, tests=1), days={"2031-05-01": 3})
    async with store.begin() as conn:
        await totals.replace(conn, [], first)
        assert await totals.of_month(conn, APP, MAY) == sorted(first, key=lambda row: row.person_key)
        await totals.replace(conn, [first[0].cell, first[1].cell], [second])
        assert await totals.of_month(conn, APP, MAY) == [second]
        assert await totals.of_person(conn, [ADA], [APP, FORK]) == [second]


async def test_totals_take_whole_numbers_only(store: Store) -> None:
    await seed(store)
    with pytest.raises(TypeError, match="whole numbers"):
        async with store.begin() as conn:
            await totals.replace(conn, [], [Totals(ADA, APP, MAY, languages={"C": 0.5})])  # type: ignore[dict-item]  # the point


async def test_changes_are_replaced_with_all_their_contributions(store: Store) -> None:
    await seed(store)
    one, two = ChangeId("acme/app#1"), ChangeId("acme/app#2")
    row = ChangeRow(one, APP, MAY, 5, "feature", "landed", 1, {"commits": ["a"]})
    parts = [Contribution(one, BEA, APP, MAY, 1, 0, Lines(docs=3)), Contribution(one, ADA, APP, MAY, 0, 1)]
    moved = ChangeRow(two, APP, JUNE, 6, "feature", "relanded", 2, {})
    async with store.begin() as conn:
        await changes.replace(conn, [], [row], parts)
        assert await changes.contributions(conn, [one]) == parts
        assert await changes.of_month(conn, APP, MAY) == [row]
        await changes.replace(conn, [one], [moved], [Contribution(two, ADA, APP, JUNE, 1)])
        assert await changes.read(conn, [one, two]) == [moved]
        assert await changes.contributions(conn, [one]) == []


def _intent(text: str = "counted") -> Intent:
    return Intent("check:10:abc", "check", APP, {"head": "abc"}, {"summary": text}, ACME)


async def test_an_intent_said_twice_is_posted_once(store: Store) -> None:
    async with store.begin() as conn:
        number = await outbox.intend(conn, _intent(), NOW)
        assert number == await outbox.intend(conn, _intent(), NOW)
        assert number is not None
        posting = await outbox.claim(conn, number, now=NOW, lease_until=LEASE)
        assert posting is not None
        assert posting.intent == _intent()
        assert await outbox.claim(conn, number, now=NOW, lease_until=LEASE) is None
        assert await outbox.done(conn, posting, "991")
        assert await outbox.intend(conn, _intent(), NOW) is None
        assert await outbox.waiting(conn, NOW) == []


async def test_a_newer_body_edits_the_post_that_stands(store: Store) -> None:
    async with store.begin() as conn:
        number = await outbox.intend(conn, _intent(), NOW) or 0
        posting = await outbox.claim(conn, number, now=NOW, lease_until=LEASE)
        assert posting is not None
        assert await outbox.intend(conn, _intent("corrected"), NOW) == number
        assert not await outbox.done(conn, posting, "991")
        assert await outbox.waiting(conn, NOW) == [number]
        again = await outbox.claim(conn, number, now=NOW, lease_until=LEASE)
        assert again is not None
        assert (again.remote_id, again.intent.body) == ("991", {"summary": "corrected"})
        assert await outbox.done(conn, again, "991")
        assert await outbox.intend(conn, _intent("counted"), NOW) == number


async def test_a_poster_whose_lease_ended_changes_nothing(store: Store) -> None:
    async with store.begin() as conn:
        number = await outbox.intend(conn, _intent(), NOW) or 0
        stale = await outbox.claim(conn, number, now=NOW, lease_until=LEASE)
        fresh = await outbox.claim(conn, number, now=LEASE, lease_until=LEASE + timedelta(seconds=60))
        assert stale is not None
        assert fresh is not None
        assert not await outbox.done(conn, stale, "1")
        assert not await outbox.let_go(conn, stale, "late")
        assert await outbox.done(conn, fresh, "2")


async def test_of_two_posters_at_once_one_gets_the_intent(store: Store) -> None:
    async with store.begin() as conn:
        number = await outbox.intend(conn, _intent(), NOW) or 0

    async def claim() -> bool:
        async with store.begin() as conn:
            return await outbox.claim(conn, number, now=NOW, lease_until=LEASE) is not None

    assert sorted(await asyncio.gather(*(claim() for _ in range(5)))) == [False] * 4 + [True]


async def test_what_is_given_up_waits_for_a_newer_body(store: Store) -> None:
    async with store.begin() as conn:
        number = await outbox.intend(conn, _intent(), NOW) or 0
        posting = await outbox.claim(conn, number, now=NOW, lease_until=LEASE)
        assert posting is not None
        assert await outbox.let_go(conn, posting, "422", give_up=True)
        assert await outbox.waiting(conn, NOW) == []
        await outbox.intend(conn, _intent("shorter"), NOW)
        assert await outbox.waiting(conn, NOW) == [number]


async def test_a_correction_heard_twice_is_one_and_order_is_kept(store: Store) -> None:
    change = ChangeId("acme/app#1")
    later = Correction("comment:2", "dispute", ADA, NOW + timedelta(1), {"text": "no"}, APP, change, ADA)
    first = Correction("comment:1", "classify", ADA, NOW, "feature", APP, change)
    async with store.begin() as conn:
        assert [await corrections.append(conn, one) for one in (later, first, later)] == [True, True, False]
        assert await corrections.of_repositories(conn, [APP]) == [first, later]
        assert await corrections.of_people(conn, [ADA]) == [later]


async def test_one_process_opens_a_months_digest_and_a_period(store: Store) -> None:
    digest = DigestRow("repository:10", MAY, NOW, APP)

    async def attempt() -> tuple[bool, bool]:
        async with store.begin() as conn:
            period = await digests.begin_period(conn, "reconcile", "2031-05-01", NOW)
            return await digests.open_digest(conn, digest), period

    answers = await asyncio.gather(*(attempt() for _ in range(4)))
    assert sorted(answers) == [(False, False)] * 3 + [(True, True)]
    posted = DigestRow("repository:10", MAY, NOW, APP, "posted", 3, 44, "hash")
    async with store.begin() as conn:
        await digests.record(conn, posted)
        assert await digests.of_target(conn, "repository:10") == [posted]
        assert await digests.missing(conn, "repository:10", [MAY, JUNE]) == [JUNE]


async def test_a_proved_address_comes_before_a_claimed_one_and_stays_proved(store: Store) -> None:
    ada = Person(ADA, "Ada Example", ("ada@example.org",), "Ada", UserId(7), names=("Ada", "Ada Example"))
    bea = Person(BEA, "Bea", ("ada@example.org",))
    async with store.begin() as conn:
        await people.see_people(conn, [bea, ada])
        await people.prove(conn, "email", "ADA@example.org", ADA)
        await people.see_people(conn, [ada])
        assert await people.keys_of(conn, "email", "Ada@Example.org") == [ADA, BEA]
        assert await people.keys_of(conn, "login", "ada") == [ADA]
        found = await people.person(conn, ADA)
        await people.opt_out(conn, BEA, NOW)
        assert await people.opted_out(conn) == {BEA}
    assert found is not None
    assert (found.login, found.names) == ("Ada", ("Ada", "Ada Example"))


async def test_a_pull_request_is_found_by_number_and_by_merge_commit(store: Store) -> None:
    await seed(store)
    pull = PullRequestRow(APP, 5, CommitId("b" * 40), NOW, CommitId("a" * 40), NOW, payload={"title": "half \ud800"})
    async with store.begin() as conn:
        await pulls.see(conn, pull)
        await pulls.see(conn, pull)
        found = await pulls.read(conn, APP, 5)
        assert found == await pulls.merged_as(conn, APP, CommitId("a" * 40))
        assert await pulls.read(conn, APP, 6) is None
    assert found is not None
    assert found.payload == {"title": "half \ufffd"}


async def test_suspension_and_removal_are_told_and_undone(store: Store) -> None:
    await seed(store)
    async with store.begin() as conn:
        await installations.suspend(conn, ACME, NOW)
        assert not await installations.is_active(conn, ACME)
        await installations.suspend(conn, ACME, None)
        assert await installations.is_active(conn, ACME)
        await installations.remove_installation(conn, ACME, NOW)
        assert not await installations.is_active(conn, ACME)
        assert await installations.repositories_of(conn, ACME) == []
        assert not await installations.is_active(conn, InstallationId(99))


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
    rows = [Totals(PersonKey(f"e:{name}@example.org"), APP, MAY, commits=n) for n, name in enumerate("bZaÄzé_-")]
    async with await Store.open(url) as store:
        await seed(store)
        async with store.begin() as conn:
            for one in rng.sample(facts, len(facts)):
                await ledger.add_facts(conn, APP, [one], now=NOW + timedelta(seconds=rng.random()))
            for row in rng.sample(rows, len(rows)):
                await totals.replace(conn, [], [row])
            await people.see_people(conn, [Person(ADA, "Ada", ("ada@example.org",), bot=True)])
            await corrections.append(conn, Correction("c:1", "forget", ADA, NOW, {"b": 1, "a": [None, True]}))
        return await canonical_dump(store), [line async for line in dump_lines(store)]
