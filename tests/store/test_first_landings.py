"""Are first contributions reported only for people, and only if the full history of a repository is known?"""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from bot.model.commit import Person, Signature
from bot.model.ids import PersonKey, UserId
from bot.store import backfills, ledger, observations, people
from bot.store.backfills import Backfill
from bot.store.engine import Store
from bot.store.first_landings import first_landings, fully_read_repositories, newcomers_in
from bot.store.observations import Observation
from tests.store.conftest import ACME, ADA, APP, FOREIGN, FORK, NOW, fact, seed

MARA, CARL = PersonKey("u:9"), PersonKey("u:8")
NEW = Signature("Carl Example", "", UserId(8), "carl")
BOT = Signature("tidy[bot]", "", UserId(30), "tidy[bot]", bot=True)


def reviewed(number: int, who: PersonKey = MARA) -> Observation:
    return Observation(APP, number, "review", f"{number}:approved", NOW, {"state": "approved"}, who)


async def _reported(store: Store) -> None:
    """Carl's first pull request is 3 and his second 4; a machine's first is 5; nobody reviews Ada's."""
    await seed(store)
    facts = [
        fact(1, pull_request=1),
        fact(2, pull_request=2),
        fact(3, author=NEW, pull_request=3),
        fact(4, author=NEW, pull_request=4),
        fact(5, author=BOT, pull_request=5),
    ]
    with store.transaction() as connection:
        ledger.append_facts(connection, APP, facts, NOW)
        for sig in (ADA, NEW, BOT):
            person = Person(PersonKey(f"u:{sig.user_id}"), sig.name, (), sig.login, sig.user_id, sig.bot)
            people.save_people(connection, [person])
        observations.observe(connection, [reviewed(number) for number in (3, 4, 5)])


async def _known(store: Store) -> None:
    with store.transaction() as connection:
        for one in (APP, FORK):
            backfills.begin(connection, Backfill(one, ACME, NOW, state="done" if one == APP else "commits"))


async def test_the_first_commit_of_each_person_in_each_repository(store: Store) -> None:
    await _reported(store)
    with store.transaction() as connection:
        ledger.append_facts(connection, FORK, [fact(9, FORK, author=NEW)], NOW)
        found = first_landings(connection, [CARL, PersonKey("u:7")], [APP, FORK])
    assert sorted((one.repository_id, one.person_key, one.pull_request) for one in found if one.pull_request) == [
        (APP, "u:7", 1),
        (APP, "u:8", 3),
    ]
    assert [one.commit for one in found if one.repository_id == FORK] == [fact(9, FORK).commit]


async def test_a_newcomer_counts_only_for_those_who_met_their_first_work(store: Store) -> None:
    await _reported(store)
    with store.snapshot() as connection:
        assert newcomers_in(connection, [MARA], fully_read_repositories(connection, [APP, FORK, FOREIGN])) == []
    await _known(store)
    with store.snapshot() as connection:
        whole = fully_read_repositories(connection, [APP, FORK, FOREIGN])
        assert whole == {APP}
        assert [one.pull_request for one in newcomers_in(connection, [MARA], whole)] == [3]
        assert newcomers_in(connection, [MARA], [FORK]) == []
        assert newcomers_in(connection, [MARA, CARL], [APP]) == []
        assert newcomers_in(connection, [CARL], [APP]) == []


async def test_a_person_who_opted_out_is_not_counted_as_a_newcomer(store: Store) -> None:
    await _reported(store)
    await _known(store)
    with store.transaction() as connection:
        people.opt_out(connection, CARL, NOW)
        assert newcomers_in(connection, [MARA], [APP]) == []


async def test_earlier_work_under_a_proved_address_rules_out_a_newcomer(store: Store) -> None:
    await _reported(store)
    await _known(store)
    before = replace(NEW, user_id=None, login=None, email="carl@example.org")
    with store.transaction() as connection:
        ledger.append_facts(connection, APP, [fact(0, author=before)], NOW)
        assert len(newcomers_in(connection, [MARA], [APP])) == 1
        person = Person(CARL, NEW.name, ("Carl@example.org",), NEW.login, NEW.user_id)
        people.save_people(connection, [person], "proved")
        assert newcomers_in(connection, [MARA], [APP]) == []


async def test_only_facts_related_to_the_work_are_read(store: Store) -> None:
    await _reported(store)
    with store.transaction() as connection:
        assert observations.repositories_of_people(connection, [MARA]) == {APP}
        later = (NOW + timedelta(seconds=1), NOW + timedelta(days=1))
        assert observations.of_people(connection, [MARA], [APP], later) == []
