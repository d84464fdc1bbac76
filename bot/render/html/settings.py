"""What does a signed-in person see of their switches, links and log?"""

from __future__ import annotations

from msgspec import Struct

from bot.render.html.site import site_page


class RepositoryRow(Struct, frozen=True):
    """A public repository with work of the person."""

    id: int
    name: str
    hidden: bool


class LinkRow(Struct, frozen=True):
    """A signed link, and when it was opened: (day, form, times), the newest day first."""

    nonce: str
    address: str
    private: bool
    minted: str
    good: bool
    uses: tuple[tuple[str, str, int], ...] = ()


class SettingsView(Struct, frozen=True):
    """All that the settings page shows."""

    login: str
    csrf: str
    known: bool = False
    """the record holds work of this account"""
    public: bool = False
    naming: str = "named"
    opted_out: bool = False
    address: str = ""
    """of the public page; empty where there is none"""
    repositories: tuple[RepositoryRow, ...] = ()
    organisations: tuple[tuple[int, str], ...] = ()
    links: tuple[LinkRow, ...] = ()
    snapshots: tuple[tuple[str, str], ...] = ()
    """(id, day)"""
    signs: bool = False


def settings_page(view: SettingsView) -> str:
    """The switches, each a form of one button."""
    return site_page("settings.html", f"Settings of {view.login}", title="Settings", narrow=True, view=view)


def sign_in_page() -> str:
    """What stands there before anybody is signed in."""
    return site_page("sign_in.html", "Your page", narrow=True)
