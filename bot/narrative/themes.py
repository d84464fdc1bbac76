"""Which parts of the product did a person work on, named as the project names them?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log1p
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from bot.landing.changelogs.headings import heading_token
from bot.landing.identity.credit import person_key
from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.ids import ChangeId, PersonKey
from bot.narrative.component_paths import Moves, is_documentation, own_tokens
from bot.narrative.entry import Theme
from bot.narrative.part_totals import PartKey, TotalOf, change_identity, component_lines, no_total
from bot.narrative.project_texts import NO_TEXTS, ProjectTexts

LEAST_RECORD = 10
"""changes below which a record has no themes"""
LEAST_CHANGES = 3
LEAST_SHARES = (10, 20)
"""a theme has at least one in this many of the record's changes; the second where no part has the first"""
MOST_THEMES = 4


class _ProductPart(Struct):
    """The person's changes in one part of one repository."""

    changes: dict[ChangeId, Change] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    folders: Counter[str] = field(default_factory=Counter)
    children: set[PartKey] = field(default_factory=set)
    weight: float = 0.0


def themes_of(
    changes: Sequence[Change],
    keys: Collection[PersonKey],
    texts: ProjectTexts = NO_TEXTS,
    *,
    zone: ZoneInfo,
    totals: TotalOf = no_total,
) -> tuple[Theme, ...]:
    """One to four themes of the changes that these keys authored; none where nothing passes or there are too few."""
    own = [change for change in changes if change.outcome and _own_lines(change, keys) is not None]
    if len(own) < LEAST_RECORD:
        return ()
    parts = _parts(own, keys, texts)
    named = {key: part for key, part in parts.items() if not _is_product(key, totals)}
    leasts = (max(LEAST_CHANGES, -(-len(own) // share)) for share in LEAST_SHARES)
    chosen = next((found for least in leasts if (found := _chosen(named, least, len(own)))), [])
    return tuple(_theme(key, named[key], texts, zone=zone, totals=totals) for key in chosen)


def _chosen(parts: Mapping[PartKey, _ProductPart], least: int, record: int) -> list[PartKey]:
    """The parts with at least so many changes of a record of `record`, those with most work first."""
    passing = {key: part for key, part in parts.items() if len(part.changes) >= least}
    chosen: list[PartKey] = []
    for key in sorted(passing, key=lambda key: (-passing[key].weight, key[1].count("/"), key)):
        if not _is_split(passing[key], passing, record) and not _overlaps(passing[key], chosen, passing):
            chosen.append(key)
    return chosen[:MOST_THEMES]


def _is_product(key: PartKey, totals: TotalOf) -> bool:
    """Whether three quarters of the repository are in the part: then its name is the product's."""
    part, everything = totals(key), totals((key[0], ""))
    return part is not None and everything is not None and part.changes * 4 > everything.changes * 3


def _own_lines(change: Change, keys: Collection[PersonKey]) -> int | None:
    """The lines of the change that these keys authored; None if they authored no commit of it."""
    lines = [one.lines.code for one in change.commits if one.counts and person_key(one.fact.author) in keys]
    return sum(lines) if lines else None


def _parts(own: Sequence[Change], keys: Collection[PersonKey], texts: ProjectTexts) -> dict[PartKey, _ProductPart]:
    moves = {name: Moves(found) for name, found in texts.moves.items()}
    parts: dict[PartKey, _ProductPart] = defaultdict(_ProductPart)
    for change in own:
        facts = [one.fact for one in change.commits if one.counts and person_key(one.fact.author) in keys]
        weight = log1p(_own_lines(change, keys) or 0)
        touched = [(fact.paths, fact.landed_at) for fact in facts]
        moved = moves.get(change.repository.lower(), Moves(()))
        for line in component_lines(touched, own_tokens(change.repository), moved):
            for depth, part in enumerate(line):
                found = parts[change.repository, part.token]
                if change.id not in found.changes:
                    found.changes[change.id] = change
                    found.weight += weight
                found.names[part.name] += 1
                found.folders[part.folder] += 1
                found.children.update((change.repository, below.token) for below in line[depth + 1 :])
    return parts


def _is_split(part: _ProductPart, passing: Mapping[PartKey, _ProductPart], record: int) -> bool:
    """Whether the part is so broad that parts below it say more: half of the record, with two that pass."""
    below = [key for key in part.children if key in passing and len(passing[key].changes) < len(part.changes)]
    return len(part.changes) * 2 > record and len(below) > 1


def _overlaps(part: _ProductPart, chosen: Iterable[PartKey], passing: Mapping[PartKey, _ProductPart]) -> bool:
    """Whether most of its changes are those of a theme that was chosen before."""
    mine = part.changes.keys()
    return any(
        len(mine & passing[other].changes.keys()) * 2 > min(len(mine), len(passing[other].changes)) for other in chosen
    )


def _theme(key: PartKey, part: _ProductPart, texts: ProjectTexts, *, zone: ZoneInfo, totals: TotalOf) -> Theme:
    changes = sorted(part.changes.values(), key=lambda change: (change.landed_at, change.id))
    months = [month_of(change.landed_at, zone) for change in changes]
    total = totals(key)
    ids = tuple(change.id for change in changes)
    return Theme(
        name=_name(key, part, texts),
        folder=_folder(part.folders),
        changes=ids,
        total=max(total.changes, len(ids)) if total else 0,
        first=total is not None and any(total.first in _identities(change) for change in changes[:1]),
        months=(months[0], months[-1]),
    )


def _folder(folders: Counter[str]) -> str:
    """Where most of the work was done; of code and pages about it the code, unless it is a fifth or less."""
    code = {folder: count for folder, count in folders.items() if not is_documentation(folder)}
    found = code if sum(code.values()) * 5 > folders.total() else folders
    return min(found, key=lambda folder: (-found[folder], len(folder), folder))


def _name(key: PartKey, part: _ProductPart, texts: ProjectTexts) -> str:
    """A label that half of the changes bear, else the folder's or file's own name; spelled as the project spells it,
    so that it is the same on every page.
    """
    spelled = texts.headings.get(key[0].lower(), {})
    areas = Counter(area for change in part.changes.values() for area in _areas(change))
    label, count = max(areas.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    if count >= LEAST_CHANGES and count * 2 >= len(part.changes):
        return spelled.get(heading_token(label), label)
    own = max(part.names, key=lambda name: (part.names[name], name))
    return spelled.get(key[1].rpartition("/")[2], own)


def _areas(change: Change) -> set[str]:
    return {area for one in change.commits for area in one.fact.areas}


def _identities(change: Change) -> set[str]:
    return {change_identity(one.fact.repository, one.fact.commit, one.fact.pull_request) for one in change.commits}
