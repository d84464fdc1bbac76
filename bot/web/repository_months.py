"""What landed in a repository month by month, and where do its pages lead? Only to pages that exist."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from bot.landing.months import month_after, month_of, month_start
from bot.model.change import Change
from bot.model.ids import Month, PersonKey
from bot.render.html.organisation import RepositoryMonth, RepositoryWay, repository_month_page
from bot.render.html.site import PageLocation
from bot.render.redaction import redact_names
from bot.store import records
from bot.store.records import LedgerMark
from bot.store.visibility import RepositoryState
from bot.web.access import FEWEST_PEOPLE
from bot.web.collaborators import PageContext
from bot.web.profile_reader import repositories_of
from bot.web.subjects import OpenOrganisation
from bot.web.sums import has_visible_author, sums

_MOST_STEPS = 12
"""months with landings that are looked at for one that may be shown"""
_PLENTY = 4 * FEWEST_PEOPLE
"""authors of a month from which on an organisation has a page, whichever of their commits count"""


class RepositoryMonths(Struct, frozen=True):
    """The months of one repository for one viewer, at one position of the ledger."""

    context: PageContext
    opened: OpenOrganisation
    repository: RepositoryState
    mark: LedgerMark
    without: frozenset[PersonKey]

    async def page(self, month: Month) -> bytes:
        """What landed in that month, as changes without people; empty if nothing did."""
        if not await self._has_page(month):
            return b""
        base = self.opened.base if await self._has_organisation() else ""
        way = RepositoryWay(base, *[await self._nearest(month, step) for step in (-1, 1)])

        async def make() -> bytes:
            return await self.context.reader.in_thread(self._render, month, await self._found(month), way)

        return await self.context.reader.cached_page(("repository", *self._version(), month, way), make)

    def _version(self) -> tuple[object, ...]:
        return self.repository.id, self.mark, self.opened, self.without

    async def _has_page(self, month: Month) -> bool:
        async def make() -> bytes:
            found = await self._found(month)
            return b"1" if await self.context.reader.in_thread(self._visible, month, found) else b""

        return bool(await self.context.reader.cached_page(("landed", *self._version(), month), make))

    async def _nearest(self, month: Month, step: int) -> Month | None:
        """The nearest earlier (-1) or later (1) month with a page."""
        zone = self.context.pages.zone
        for _ in range(_MOST_STEPS):
            edge = month_start(month if step < 0 else month_after(month), zone)
            landed = await self.context.pages.store.read(records.nearest_landing, self.repository.id, edge, step)
            if landed is None:
                return None
            month = month_of(landed, zone)
            if await self._has_page(month):
                return month
        return None

    async def _has_organisation(self) -> bool:
        """Whether the organisation has a page: looked at once a day."""

        async def make() -> bytes:
            store, visible = self.context.pages.store, self.opened.grant.repositories
            people = defaultdict(set)
            for landed_at, author in await store.read(records.newest_authors, visible):
                if author not in self.without:
                    people[month_of(landed_at, self.context.pages.zone)].add(author)
            if max(map(len, people.values()), default=0) >= _PLENTY:
                return b"1"
            found = await store.read(records.facts_inside, visible)
            return await self.context.reader.in_thread(self._organisation, found)

        day = self.context.pages.clock().date()
        key = ("organisation exists", self.opened, self.without, day)
        return bool(await self.context.reader.cached_page(key, make))

    def _organisation(self, found: records.RecordedFacts) -> bytes:
        changes = found.changes(repositories_of(self.opened.repositories))
        return b"" if sums(changes, self.context.pages.zone, without=self.without) is None else b"1"

    async def _found(self, month: Month) -> records.RecordedFacts:
        zone, visible = self.context.pages.zone, self.opened.grant.repositories
        span = (month_start(month, zone), month_start(month_after(month), zone))
        return await self.context.pages.store.read(records.facts_of_month, self.repository.id, span, visible)

    def _visible(self, month: Month, found: records.RecordedFacts) -> Sequence[Change]:
        zone = self.context.pages.zone
        return [
            change
            for change in redact_names(found.changes(repositories_of(self.opened.repositories)), found.unnamed)
            if change.repository == self.repository.full_name
            and month_of(change.landed_at, zone) == month
            and has_visible_author(change, self.without)
        ]

    def _render(self, month: Month, found: records.RecordedFacts, way: RepositoryWay) -> bytes:
        name = self.repository.full_name.rpartition("/")[2]
        base, public = f"{self.opened.base}/repositories/{name}", self.opened.grant.public
        location = PageLocation(base, f"{self.context.pages.public_url}{base}/{month}" if public else "", public)
        landed = RepositoryMonth(
            self.repository.full_name, month, tuple(self._visible(month, found)), str(self.context.pages.zone)
        )
        return repository_month_page(landed, location, way).encode("utf-8", "replace")
