"""Is everybody who must stay unnamed found among those who signed something, however an address is written?"""

from __future__ import annotations

import pytest

from bot.model.commit import Person
from bot.model.ids import PersonKey, UserId
from bot.store import naming, people, visibility
from bot.store.engine import Store
from tests.store.conftest import NOW

CARL, MARA = PersonKey("u:8"), PersonKey("u:9")


@pytest.mark.parametrize(
    "written", ["carl@example.org", "<Carl@Example.org>", " carl@example.org ", "< carl@example.org>"]
)
@pytest.mark.parametrize("why", ["opted out", "anonymous"])
async def test_the_unnamed_are_found_by_key_and_by_each_address(store: Store, written: str, why: str) -> None:
    with store.transaction() as connection:
        people.save_people(connection, [Person(CARL, "Carl", (written,), "carl", UserId(8))])
        people.save_people(connection, [Person(MARA, "Mara", ("mara@example.org",), "mara", UserId(9))])
        people.see_accounts(connection, [people.GitHubAccount(UserId(8), "carl", address=written)])
        signed = {CARL, MARA, PersonKey("e:carl@example.org"), PersonKey("e:mara@example.org")}
        assert naming.unnamed_among(connection, signed) == frozenset()
        if why == "anonymous":
            visibility.publish(connection, "person:u:8", public=True, now=NOW, naming="anonymous")
        else:
            people.opt_out(connection, CARL, NOW)
        assert naming.unnamed_among(connection, signed) == {CARL, "e:carl@example.org"}
        assert naming.unnamed_among(connection, [PersonKey("e:carl@example.org")]) == {"e:carl@example.org"}
        assert naming.unnamed_among(connection, [MARA]) == frozenset()
        assert naming.unnamed_among(connection, signed) <= visibility.unnamed_people(connection)


async def test_the_mark_changes_with_each_choice_and_reads_those_only_who_chose(store: Store) -> None:
    seen = []
    with store.transaction() as connection:
        people.save_people(
            connection, [Person(key, "", (), f"p{key[2:]}", UserId(int(key[2:]))) for key in (CARL, MARA)]
        )
        people.see_addresses(connection, [PersonKey("e:old@example.org")])

        def note() -> None:
            seen.append(connection.execute(naming.naming_mark()).scalar_one())

        note()
        visibility.publish(connection, "person:u:8", public=True, now=NOW)
        note()
        visibility.set_naming(connection, "person:u:8", "anonymous")
        note()
        people.opt_out(connection, MARA, NOW)
        note()
        people.opt_out(connection, PersonKey("e:old@example.org"), NOW)
        note()
    assert len(set(seen)) == len(seen)
