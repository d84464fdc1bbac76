"""How many changes did everybody make in the parts of the repositories on a page? Read once for all pages."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from cachetools import LRUCache
from msgspec import Struct

from bot.model.ids import RepositoryId
from bot.narrative.part_totals import RepositoryTotals, TotalOf, total_of
from bot.narrative.project_texts import Move
from bot.store.engine import Store
from bot.store.touched_paths import LedgerEnd, ledger_ends, path_rows, touched_paths

_MOST = 300_000
"""pairs of a change and a part of a product that are kept, about 100 bytes each"""
_Key = tuple[RepositoryId, str, tuple[Move, ...]]


class _Read(Struct):
    """What is known of one repository: the facts up to a row number."""

    totals: RepositoryTotals
    end: LedgerEnd = LedgerEnd()

    def size(self) -> int:
        return min(self.totals.size() + 1, _MOST)


class PageTotals(Struct, frozen=True):
    """The totals of a page's repositories, by full name."""

    repositories: Mapping[str, RepositoryTotals]

    def as_of(self, until: int) -> TotalOf:
        """The totals of what landed up to that second of the epoch."""
        return total_of(self.repositories, until)

    def mark(self, until: int) -> list[int]:
        """Changes with what is counted."""
        wholes = (self.repositories[name].total("", until) for name in sorted(self.repositories))
        return [one.changes if one else 0 for one in wholes]


class KnownTotals:
    """The totals of repositories. New facts are added; all are read again only where facts are gone or files moved."""

    def __init__(self) -> None:
        self._kept: LRUCache[_Key, _Read] = LRUCache(_MOST, getsizeof=_Read.size)
        self._turn = asyncio.Lock()

    async def read(
        self, store: Store, names: Mapping[RepositoryId, str], moves: Mapping[str, Collection[Move]]
    ) -> PageTotals:
        """The totals of these repositories; `moves` are those of their files, by full name in lower case."""
        found: dict[str, RepositoryTotals] = {}
        async with self._turn:
            ends = await store.read(ledger_ends, sorted(names)) if names else {}
            for number, end in sorted(ends.items()):
                name = names[number]
                key = (number, name, tuple(moves.get(name.lower(), ())))
                found[name] = await self._read_on(store, key, end)
        return PageTotals(found)

    async def _read_on(self, store: Store, key: _Key, end: LedgerEnd) -> RepositoryTotals:
        """The repository's totals with all facts up to that end."""
        number, name, moves = key
        known = self._kept.get(key) or _Read(RepositoryTotals(name, moves))
        fresh = known.end == LedgerEnd()
        while known.end != end:
            rows = await store.read(path_rows, number, known.end.last) if known.end.last < end.last else []
            if rows:
                await asyncio.to_thread(lambda one, these: one.add(touched_paths(name, these)), known.totals, rows)
                known.end = LedgerEnd(known.end.facts + len(rows), rows[-1].id)
                self._kept[key] = known
            elif fresh or known.end.last > end.last:
                break  # more was recorded, or deleted, since `end` was read: the next page sees it
            else:
                known, fresh = _Read(RepositoryTotals(name, moves)), True
        return known.totals
