"""What does the database hold about one person, and how are that person's choices undone?"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from bot.model.ids import PersonKey
from bot.store import links, observations, people, snapshots, visibility
from bot.store.ledger import FACT, FACT_PERSON
from bot.store.links import LINK
from bot.store.visibility import HIDDEN_REPOSITORY, PUBLISHED, subject_of_person

_OF_OTHERS = ("committer", "co_authors", "evidence")
"""parts of a fact that name other people"""


def opt_out(connection: Connection, key: PersonKey, since: datetime | None) -> None:
    """Hide the person everywhere from `since` on, existing links included; None shows them again, through new links."""
    people.opt_out(connection, key, since)
    if since is not None:
        visibility.publish(connection, subject_of_person(key), public=False, now=since)
        links.revoke(connection, subject_of_person(key), since)


def forget(connection: Connection, key: PersonKey, now: datetime) -> None:
    """Opt the person out and delete every choice, link, log and snapshot. The ledger's rows are erased elsewhere."""
    people.opt_out(connection, key, now)
    keys = visibility.every_key(connection, key)
    subjects = [subject_of_person(one) for one in keys]
    connection.execute(delete(LINK).where(LINK.c.subject.in_(subjects)))
    connection.execute(delete(PUBLISHED).where(PUBLISHED.c.subject.in_(subjects)))
    connection.execute(delete(HIDDEN_REPOSITORY).where(HIDDEN_REPOSITORY.c.person_key.in_(keys)))
    snapshots.forget(connection, keys)


def export(connection: Connection, key: PersonKey) -> str:
    """Everything about the person as JSON: identity, landed work, non-code activity, choices, and when they were
    viewed."""
    person = people.person(connection, key)
    state = visibility.person_state(connection, key)
    minted = links.links_of(connection, subject_of_person(key))
    uses = links.uses_of(connection, [link.nonce for link in minted])
    keys = visibility.every_key(connection, key)
    record: dict[str, Any] = {
        "schema": "almanac.export/1",
        "person": None if person is None else [person.key, person.name, person.login, *person.emails],
        "public": bool(state and state.public),
        "naming": state.naming if state else "named",
        "opted_out": bool(state and state.opted_out),
        "hidden_repositories": sorted(visibility.hidden_repositories(connection, keys)),
        "links": [
            {
                "installation": link.installation,
                "private": link.private,
                "minted_at": link.minted_at.isoformat() if link.minted_at else None,
                "revoked_at": link.revoked_at.isoformat() if link.revoked_at else None,
                "opened": [[use.day, use.form, use.times] for use in uses if use.nonce == link.nonce],
            }
            for link in minted
        ],
        "snapshots": [json.loads(one.text) for one in snapshots.snapshots_of(connection, keys)],
        "landed": _landed(connection, keys),
        "seen": [
            {"repository": one.repository_id, "number": one.number, "what": one.signal, "at": one.at.isoformat()}
            | one.value
            for one in observations.observations_of(connection, keys)
        ],
    }
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _landed(connection: Connection, keys: Collection[PersonKey]) -> list[dict[str, Any]]:
    """The facts this person has a part in, without the other people in them."""
    query = select(FACT.c.payload).join(FACT_PERSON, FACT_PERSON.c.fact_id == FACT.c.id)
    query = query.where(FACT_PERSON.c.person_key.in_(keys)).order_by(FACT.c.landed_at, FACT.c.commit_id).distinct()
    rows = [row.payload for row in connection.execute(query.add_columns(FACT.c.landed_at, FACT.c.commit_id))]
    return [_without_others(row, keys) for row in rows]


def _without_others(row: dict[str, Any], keys: Collection[PersonKey]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in _OF_OTHERS}
    email, user = row["author"][1], row["author"][2]
    own = f"u:{user}" in keys or f"e:{email.strip().lower()}" in keys
    return kept if own else kept | {"author": None}
