"""Which facts have to be folded together with those in hand? The search of `ledger.component`, a step at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from bot.model import Fact
from bot.store.keyed import Keyed, keyed
from bot.store.ledger import by_number
from bot.store.turn import Ask, Plan, Rows, Spelling

# CROSS JOIN keeps the order on SQLite, whose planner would begin with all facts of the installation.
_MET = """
    SELECT fact.id, fact.payload FROM (
        SELECT fact_key.fact_id FROM {asked} CROSS JOIN fact_key
        WHERE fact_key.key = asked.value AND fact_key.role = 'offers'
        UNION SELECT fact_key.fact_id FROM {offered} CROSS JOIN fact_key
        WHERE fact_key.key = offered.value AND fact_key.role = 'asks'
        EXCEPT SELECT own.value FROM {own}) AS met
    CROSS JOIN fact CROSS JOIN repository
    WHERE fact.id = met.fact_id AND repository.id = fact.repository_id AND repository.installation_id = ?"""


@cache
def _met(spelling: Spelling) -> str:
    return _MET.format(
        asked=spelling.each("asked"), offered=spelling.each("offered"), own=spelling.each("own", "bigint")
    )


def meeting(spelling: Spelling, edge: Mapping[int, Keyed], found: Iterable[int], installation_id: int) -> Ask:
    """Which facts that are not found yet fold together with one of those at the edge?"""
    asked = {key for one in edge.values() for key in one.asked}
    offered = {key for one in edge.values() for key in one.offered}
    lists = [spelling.list_of(sorted(each)) for each in (asked, offered, found)]
    return Ask(_met(spelling), (*lists, installation_id))


def reaching(spelling: Spelling, known: Mapping[int, Keyed], met: Rows, installation_id: int) -> Plan[dict[int, Keyed]]:
    """The facts that fold together with those known, by row number, themselves among them, by steps, of
    which the first, `meeting` them, gave `met`. Most facts meet no other."""
    found = dict(known)
    edge = keyed(by_number(met))
    while edge:
        found.update(edge)
        edge = keyed(by_number((yield meeting(spelling, edge, found, installation_id))))
    return found


def closed_over(spelling: Spelling, facts: Mapping[int, Fact], installation_id: int) -> Plan[dict[int, Keyed]]:
    """The facts of these rows, with all that folds with them."""
    known = keyed(facts)
    if not known:
        return {}
    met = yield meeting(spelling, known, known, installation_id)
    return (yield from reaching(spelling, known, met, installation_id))
