"""What does GitHub say of an App's registration: its secrets, once, its permissions and events, and its webhook?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from bot.github.payloads.fields import Fields
from bot.redaction import Redacted, Secret


class Registered(Redacted, frozen=True):
    """A new App. GitHub tells its secrets in this one answer and never again."""

    app_id: int
    slug: str
    page: str
    """its public page; people install it from there"""
    client_id: str
    client_secret: Secret[str]
    private_key: Secret[str]
    webhook_secret: Secret[str] = ""
    """empty where GitHub made none"""


def registered(answer: Any) -> Registered:
    fields = Fields(answer, "conversion")
    return Registered(
        app_id=fields.identity("id"),
        slug=fields.text_or("slug"),
        page=fields.text("html_url"),
        client_id=fields.text("client_id"),
        client_secret=fields.text("client_secret"),
        private_key=fields.text("pem"),
        webhook_secret=fields.text_or("webhook_secret"),
    )


class Terms(Struct, frozen=True):
    """What an App may do and is told of, as its owner has it at GitHub."""

    id: int
    slug: str
    permissions: Mapping[str, str]
    events: frozenset[str]


def terms(answer: Any) -> Terms:
    fields = Fields(answer, "app")
    held = fields.object("permissions")
    return Terms(
        id=fields.identity("id"),
        slug=fields.text_or("slug"),
        permissions={name: held.text_or(name) for name in answer["permissions"]},
        events=frozenset(fields.texts("events")),
    )


def hook_address(answer: Any) -> str:
    """Where GitHub sends the App's deliveries; empty where nowhere."""
    return Fields(answer, "hook").text_or("url")


class Attempt(Struct, frozen=True):
    """The last delivery GitHub tried: when, and the status it was answered with (0: no answer)."""

    event: str
    at: datetime
    status: int

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300


def attempts(answer: Any) -> tuple[Attempt, ...]:
    """A page of the delivery log, newest first."""
    rows = (Fields(row, "delivery") for row in answer)
    return tuple(Attempt(row.text("event"), row.time("delivered_at"), row.count("status_code")) for row in rows)


def manifest(shipped: Mapping[str, Any], *, hook: str, public_url: str, back: str) -> dict[str, Any]:
    """`app.yml` as GitHub is sent it, with the addresses of one installation.

    https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
    """
    return {
        **shipped,
        "url": public_url,
        "hook_attributes": {"url": hook, "active": True},
        "redirect_url": back,
        "callback_urls": [f"{public_url}/settings/signed-in"],
        "setup_on_update": False,
    }
