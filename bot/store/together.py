"""Which facts must be folded together with these? The search of `ledger.component`, one step at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection

from bot.store.dialect import fetch, value_list, values_as
from bot.store.fact_keys import KeyedFact, with_keys
from bot.store.ledger import facts_by_number

# CROSS JOIN fixes the order on SQLite, whose planner would start with all facts of the installation.
_MET = """
    SELECT fact.id, fact.payload FROM (
        SELECT fact_key.fact_id FROM {asked} CROSS JOIN fact_key
        WHERE fact_key.key = asked.value AND fact_key.role = 'offers'
        UNION SELECT fact_key.fact_id FROM {offered} CROSS JOIN fact_key
        WHERE fact_key.key = offered.value AND fact_key.role = 'asks'
        EXCEPT SELECT own.value FROM {own}) AS met
    CROSS JOIN fact CROSS JOIN repository
    WHERE fact.id = met.fact_id AND repository.id = fact.repository_id AND repository.installation_id = ?"""


def facts_meeting(
    connection: Connection, edge: Mapping[int, KeyedFact], found: Iterable[int], installation_id: int
) -> dict[int, KeyedFact]:
    """The facts that fold together with one at the edge and are not found yet, by row number."""
    asked = sorted({key for one in edge.values() for key in one.asked})
    offered = sorted({key for one in edge.values() for key in one.offered})
    sql = _MET.format(
        asked=values_as(connection, "asked"),
        offered=values_as(connection, "offered"),
        own=values_as(connection, "own", "bigint"),
    )
    lists = [value_list(connection, each) for each in (asked, offered, sorted(found))]
    return with_keys(facts_by_number(fetch(connection, sql, (*lists, installation_id))))


def facts_folding_with(
    connection: Connection, known: Mapping[int, KeyedFact], installation_id: int
) -> dict[int, KeyedFact]:
    """The facts that fold together with the known ones, including these, by row number. Most meet no other."""
    found = dict(known)
    edge = found
    while edge:
        edge = facts_meeting(connection, edge, found, installation_id)
        found.update(edge)
    return found
