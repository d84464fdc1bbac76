"""What does the settings page show to a signed-in person?"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bot.render.html.site import site_page

MOST_CLAIMS = 50
"""on one page"""


class RepositoryRow(Struct, frozen=True):
    """A public repository with work of the person."""

    id: int
    name: str
    hidden: bool


class ClaimRow(Struct, frozen=True):
    """Work that others say is the person's: of one pull request, or without one (0)."""

    repository: int
    name: str
    number: int
    title: str
    commits: int
    why: tuple[str, ...] = ()
    """why this is only a claim"""


class ClaimsPage(Struct, frozen=True):
    """Some of the claims, and where they stand among all."""

    rows: tuple[ClaimRow, ...] = ()
    total: int = 0
    number: int = 1
    pages: int = 1


class LinkRow(Struct, frozen=True):
    """A signed link and its log: (day, format, times opened), newest day first."""

    nonce: str
    address: str
    private: bool
    minted: str
    good: bool
    uses: tuple[tuple[str, str, int], ...] = ()


class SettingsView(Struct, frozen=True):
    """Everything that the settings page shows."""

    login: str
    csrf: str
    known: bool = False
    """the record contains work of this account"""
    public: bool = False
    naming: str = "named"
    opted_out: bool = False
    address: str = ""
    """address of the public page; empty if there is none"""
    repositories: tuple[RepositoryRow, ...] = ()
    claims: ClaimsPage = ClaimsPage()
    withheld: bool = False
    """credit is withheld because the account is taken for a machine"""
    organisations: tuple[tuple[int, str], ...] = ()
    links: tuple[LinkRow, ...] = ()
    snapshots: tuple[tuple[str, str], ...] = ()
    """(id, day)"""
    signs: bool = False


def page_of_claims(rows: Sequence[ClaimRow], asked: int) -> ClaimsPage:
    """The page that was asked for, or the last one: what is decided on goes, so there may be fewer than before."""
    pages = max(1, -(-len(rows) // MOST_CLAIMS))
    number = min(max(asked, 1), pages)
    return ClaimsPage(tuple(rows[(number - 1) * MOST_CLAIMS : number * MOST_CLAIMS]), len(rows), number, pages)


def settings_page(view: SettingsView) -> str:
    """The settings page: each switch is a form with one button."""
    return site_page("settings.html", "Settings", span=f"The record of {view.login}", narrow=True, view=view)


def sign_in_page() -> str:
    """The page shown in its place before sign-in."""
    return site_page("sign_in.html", "Your page", narrow=True)
