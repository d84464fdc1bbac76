"""Whom may a page name? Those who chose it; and of those who signed something, not those who chose not to be named."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, case, func, select

from bot.model.ids import PersonKey
from bot.store.dialect import among
from bot.store.people import PERSON, PERSON_ALIAS
from bot.store.visibility import HAS_LEFT, PUBLISHED, people_where

_NAMEABLE = PUBLISHED.c.public & (PUBLISHED.c.naming == "named") & PERSON.c.opted_out_at.is_(None)


def nameable_people(connection: Connection, those: Select[Any]) -> frozenset[PersonKey]:
    """The keys of those people whom the pages of others may name: they have a public page under their name."""
    found = people_where(connection, _NAMEABLE & PERSON.c.key.in_(those))
    return frozenset(one.key for one in found if not one.opted_out)


def naming_mark() -> Select[Any]:
    """A query of one number that changes with everybody's choice of being named. It reads only those who chose."""
    weight = case((_NAMEABLE, PERSON.c.user_id), (PUBLISHED.c.naming == "anonymous", -PERSON.c.user_id), else_=0)
    chose = PUBLISHED.join(PERSON, PUBLISHED.c.subject == "person:" + PERSON.c.key)
    named = select(func.coalesce(func.sum(weight), 0)).select_from(chose).scalar_subquery()
    left = select(func.coalesce(func.sum(func.coalesce(PERSON.c.user_id, 1)), 0)).where(HAS_LEFT).scalar_subquery()
    return select(named - 3 * left)


def unnamed_among(connection: Connection, keys: Collection[PersonKey]) -> frozenset[PersonKey]:
    """Of these keys, those of people whom nobody may name, as far as `unnamed_people` has them."""
    addresses = sorted(key[2:] for key in keys if key.startswith("e:"))
    owners: dict[PersonKey, set[PersonKey]] = {key: {key} for key in keys}
    for these in among(PERSON_ALIAS.c.value, addresses):
        query = select(PERSON_ALIAS.c.value, PERSON_ALIAS.c.person_key).where(PERSON_ALIAS.c.kind == "email", these)
        for value, owner in connection.execute(query):
            owners.setdefault(PersonKey(owner), set()).add(PersonKey(f"e:{value}"))
    choices = PERSON.outerjoin(PUBLISHED, PUBLISHED.c.subject == "person:" + PERSON.c.key)
    found: set[PersonKey] = set()
    for these in among(PERSON.c.key, sorted(owners)):
        unnamed = select(PERSON.c.key).select_from(choices).where(these, HAS_LEFT | (PUBLISHED.c.naming == "anonymous"))
        found |= {key for owner in connection.execute(unnamed).scalars() for key in owners[owner]}
    return frozenset(found)
