"""How do the first page of a site, a repository's page and the page of one of its months look?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from bot.landing.repo_config.files import PEOPLE_PATH
from bot.metrics import METHOD_VERSION
from bot.model.ids import Month
from bot.render import wording
from bot.render.html.organisation import RepositoryMonth, month_view
from bot.render.html.site import PageLocation, site_page
from bot.render.static.addresses import MonthLinks

_PUBLIC = PageLocation(public=True)


class MonthCounts(Struct, frozen=True):
    """What everybody together landed in a repository in one month."""

    month: Month
    people: int
    commits: int
    changes: int
    features: int
    bugs: int
    lines_of_code: int


class SiteRepository(Struct, frozen=True):
    """A repository of a site, with its months, oldest first."""

    full_name: str
    folder: str
    months: tuple[MonthCounts, ...]


class SitePerson(Struct, frozen=True):
    """Somebody who agreed to have a page: the name, the folder, and what a card's reader would hear."""

    name: str
    folder: str
    summary: str


class SiteFrame(Struct, frozen=True):
    """What every page says at its foot, and what the site is called."""

    title: str
    zone: str

    @property
    def foot(self) -> str:
        return f"Method {METHOD_VERSION} · months are calendar months of landing in {self.zone}"


def index_page(frame: SiteFrame, people: Sequence[SitePerson], repositories: Sequence[SiteRepository]) -> str:
    """The first page: who agreed to be shown, in alphabetical order, and the repositories."""
    return site_page(
        "static_index.html",
        frame.title,
        _PUBLIC,
        span=_span(month.month for one in repositories for month in one.months),
        people=people,
        people_file=PEOPLE_PATH,
        repositories=[(f"repositories/{one.folder}/index.html", *_total(one)) for one in repositories],
        foot=frame.foot,
    )


def _span(months: Iterable[Month]) -> str:
    found = set(months)
    return wording.span(min(found), max(found)) if found else "no work has landed yet"


def _total(one: SiteRepository) -> tuple[str, ...]:
    sums = [sum(getattr(month, field) for month in one.months) for field in _SUMMED]
    return (one.full_name, str(len(one.months)), *map(wording.thousands, sums))


_SUMMED = ("commits", "changes", "features", "bugs", "lines_of_code")


def repository_page(frame: SiteFrame, one: SiteRepository) -> str:
    """The months of a repository, newest first."""
    return site_page(
        "static_repository.html",
        one.full_name,
        _PUBLIC,
        span=_span(month.month for month in one.months),
        home="../../index.html",
        months=[_month_row(month) for month in reversed(one.months)],
        foot=frame.foot,
    )


def _month_row(one: MonthCounts) -> dict[str, Any]:
    numbers = (one.people, one.commits, one.changes, one.features, one.bugs, one.lines_of_code)
    return {
        "month": one.month,
        "name": wording.month_name(one.month),
        "numbers": [wording.thousands(number) for number in numbers],
    }


def month_page(month: RepositoryMonth, links: MonthLinks) -> str:
    """Everything that landed in the repository in that month."""
    name = f"{month.repository}, {wording.month_name(month.month)}"
    return site_page("static_month.html", name, _PUBLIC, home=links.home, links=links, **month_view(month))
