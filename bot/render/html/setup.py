"""What does a person see who registers the App?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from bot.render.html.site import site_page


class SetupView(Struct, frozen=True):
    """The first page: what the App is called, which account will own it, and on which GitHub."""

    action: str
    """path that the form is sent to"""
    github: str
    organisation: str = ""
    name: str = ""
    """of the App"""
    wrong: str = ""
    """which of the answers are invalid; empty if none"""
    warning: str = ""
    """why GitHub cannot reach this server; empty if it can"""
    hook: str = ""
    """address for deliveries"""


class HandOver(Struct, frozen=True):
    """The second page: a form that is sent to GitHub."""

    action: str
    """GitHub's address for new Apps, with the `state` parameter"""
    owner: str
    """the organisation; empty for a personal account"""
    manifest: Mapping[str, Any]

    @property
    def manifest_text(self) -> str:
        return json.dumps(dict(self.manifest), ensure_ascii=False)


def setup_page(view: SetupView) -> str:
    """The page that asks who will own the App, and on which GitHub."""
    return site_page("setup.html", "Register the App", narrow=True, view=view)


def hand_over_page(form: HandOver) -> str:
    """The page that shows what GitHub will be asked for, with the button that sends it."""
    return site_page("setup_confirm.html", "Continue at GitHub", narrow=True, form=form)


def registered_page(*, slug: str, install: str, starting: bool, missing: tuple[str, ...] = ()) -> str:
    """The page after registration, which asks to install the App. `missing` lists what GitHub did not return."""
    return site_page(
        "setup_done.html",
        "The App is registered",
        narrow=True,
        slug=slug,
        install=install,
        starting=starting,
        missing=missing,
    )


def unregistered_page(reason: str) -> str:
    """The page after GitHub sent the browser back without registering an App."""
    return site_page("setup_failed.html", "Not registered", narrow=True, reason=reason)
