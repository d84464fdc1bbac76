"""How is a change stored: in which row, and with which part of each contributor?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from zoneinfo import ZoneInfo

from bot.landing.identity.credit import person_key
from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.fact import Lines, each_part
from bot.model.ids import Month, RepositoryId
from bot.store import changes, totals
from bot.store.border import ordered_json
from bot.store.columns import EncodedJson


def change_rows(found: Iterable[Change], ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> Iterator[changes.Kept]:
    """The rows of the changes in these repositories, each with every contributor's part."""
    for change in found:
        home = ids.get(change.repository)
        if home is not None:
            yield _row(change, home, month_of(change.landed_at, zone)), _parts(change, ids, zone)


def _row(change: Change, home: RepositoryId, delivered: Month) -> changes.ChangeRow:
    payload = {"commits": [one.fact.commit for one in change.commits], "title": change.title, "why": change.why}
    return changes.ChangeRow(
        *(change.id, home, delivered, change.landed_at, change.kind, change.state, change.pull_request),
        EncodedJson(ordered_json(payload)),
    )


def _parts(change: Change, ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> list[changes.PartRow]:
    """Each contributor's part in one change, by repository and month."""
    found: dict[totals.Cell, tuple[int, int, Lines]] = {}
    for commit in change.counted:
        fact = commit.fact
        where = ids.get(fact.repository)
        if where is None:
            continue
        landed = month_of(fact.landed_at, zone)
        author = (person_key(fact.author), where, landed)
        commits, helped, lines = found.get(author, _NOTHING)
        found[author] = commits + 1, helped, lines + commit.lines if commits else commit.lines
        for sig in fact.co_authors:
            helper = (person_key(sig), where, landed)
            commits, helped, lines = found.get(helper, _NOTHING)
            found[helper] = commits, helped + 1, lines
    return [
        (change.id, *cell, commits, helped, *each_part(lines))
        for cell, (commits, helped, lines) in sorted(found.items())
    ]


_NOTHING = (0, 0, Lines())
