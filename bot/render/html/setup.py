"""What does the person see who registers the App: a question, what GitHub is asked for, and where to install it?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from bot.render.html.site import site_page


class SetupView(Struct, frozen=True):
    """The first page: where the App is to live, as far as it is known."""

    action: str
    """path that the answers are sent to"""
    github: str
    organisation: str = ""
    wrong: str = ""
    """what cannot be used of the answers given; empty where nothing"""
    warning: str = ""
    """why GitHub would not reach us; empty where it would"""
    hook: str = ""
    """where deliveries will be sent"""


class HandOver(Struct, frozen=True):
    """The second page: a form that goes to GitHub."""

    action: str
    """GitHub's address for new Apps, with the state"""
    owner: str
    """the organisation; empty for a personal account"""
    manifest: Mapping[str, Any]

    @property
    def manifest_text(self) -> str:
        return json.dumps(dict(self.manifest), ensure_ascii=False)


def setup_page(view: SetupView) -> str:
    """Who is to own the App, and on which GitHub."""
    return site_page("setup.html", "Register the App", narrow=True, view=view)


def hand_over_page(form: HandOver) -> str:
    """What GitHub will be asked for, and the button that takes it there."""
    return site_page("setup_confirm.html", "Continue at GitHub", narrow=True, form=form)


def registered_page(*, slug: str, install: str, starting: bool, missing: tuple[str, ...] = ()) -> str:
    """The App is there; the rest of the way is to install it. `missing`: what GitHub did not give."""
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
    """GitHub sent the browser back, and no App came of it."""
    return site_page("setup_failed.html", "Not registered", narrow=True, reason=reason)
