"""What does GitHub answer about an App's registration: its secrets (once), permissions, events and webhook?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from bot.configuration.redaction import Redacted, Secret
from bot.github.payloads.reading import Identity, Number, read


class Registered(Redacted, frozen=True):
    """A new App. GitHub sends its secrets only in this answer."""

    app_id: Identity = field(name="id")
    page: str = field(name="html_url")
    """its public page, from which people install it"""
    client_id: str
    client_secret: Secret[str]
    private_key: Secret[str] = field(name="pem")
    slug: str = ""
    webhook_secret: Secret[str] = ""
    """empty if GitHub created none"""


def registered_app(answer: object) -> Registered:
    known = {name: value for name, value in read(answer, dict[str, Any]).items() if value is not None}
    return read(known, Registered)


class Terms(Struct, frozen=True):
    """An App's permissions and events as configured at GitHub."""

    id: Identity
    permissions: Mapping[str, str]
    events: frozenset[str] = frozenset()
    slug: str = ""


class Hook(Struct, frozen=True):
    """Where and how GitHub sends the App's deliveries; `url` is empty if not configured."""

    url: str = ""
    content_type: str = "json"


class _Hook(Struct, frozen=True):
    url: str | None = None
    content_type: str | None = None


def hook(answer: object) -> Hook:
    """The App's webhook."""
    found = read(answer, _Hook)
    return Hook(found.url or "", found.content_type or "form")


class HookDelivery(Struct, frozen=True):
    """GitHub's last attempt at a delivery: when, and the status of the answer (0: no answer)."""

    event: str
    at: Annotated[datetime, Meta(tz=True)] = field(name="delivered_at")
    status: Number = field(name="status_code", default=0)

    @property
    def was_accepted(self) -> bool:
        return 200 <= self.status < 300


def manifest(shipped: Mapping[str, Any], *, name: str, hook: str, public_url: str, back: str) -> dict[str, Any]:
    """`app.yml` as sent to GitHub, with the name and the addresses of one App.

    https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
    """
    return {
        **shipped,
        "name": name,
        "url": public_url,
        "hook_attributes": {"url": hook, "active": True},
        "redirect_url": back,
        "callback_urls": [f"{public_url}/settings/signed-in"],
        "setup_on_update": False,
    }
