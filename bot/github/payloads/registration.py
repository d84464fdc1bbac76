"""What does GitHub say of an App's registration: its secrets, once, its permissions and events, and its webhook?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from bot.configuration.redaction import Redacted, Secret
from bot.github.payloads.reading import Identity, Number, read


class Registered(Redacted, frozen=True):
    """A new App. GitHub tells its secrets in this one answer and never again."""

    app_id: Identity = field(name="id")
    page: str = field(name="html_url")
    """its public page; people install it from there"""
    client_id: str
    client_secret: Secret[str]
    private_key: Secret[str] = field(name="pem")
    slug: str = ""
    webhook_secret: Secret[str] = ""
    """empty where GitHub made none"""


def registered(answer: object) -> Registered:
    known = {name: value for name, value in read(answer, dict[str, Any]).items() if value is not None}
    return read(known, Registered)


class Terms(Struct, frozen=True):
    """What an App may do and is told of, as its owner has it at GitHub."""

    id: Identity
    permissions: Mapping[str, str]
    events: frozenset[str] = frozenset()
    slug: str = ""


class _Hook(Struct, frozen=True):
    url: str | None = None


def hook_address(answer: object) -> str:
    """Where GitHub sends the App's deliveries; empty where nowhere."""
    return read(answer, _Hook).url or ""


class HookDelivery(Struct, frozen=True):
    """The last delivery GitHub tried: when, and the status it was answered with (0: no answer)."""

    event: str
    at: Annotated[datetime, Meta(tz=True)] = field(name="delivered_at")
    status: Number = field(name="status_code", default=0)

    @property
    def was_accepted(self) -> bool:
        return 200 <= self.status < 300


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
