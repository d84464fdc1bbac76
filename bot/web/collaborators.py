"""Which objects do the pages use? Built once by the composition root."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from aiohttp import web
from msgspec import Struct, field
from sqlalchemy import Connection

from bot.configuration.keys import link_secrets, snapshot_signing_key
from bot.configuration.package_files import shipped_file
from bot.configuration.redaction import Redacted, Secret
from bot.configuration.settings import Settings
from bot.configuration.signing import SigningKey
from bot.model.ids import PersonKey, RepositoryId
from bot.services.claims import ClaimDecision, decide_on_page
from bot.services.context import Context
from bot.services.no_machine import say_human_everywhere
from bot.services.privacy.erasure import defer_for_account, forget
from bot.store.engine import Store
from bot.web.answer_cache import AnswerCache
from bot.web.limits import RateLimit
from bot.web.page_budget import PageBudget
from bot.web.peers import NO_PROXY, Peers
from bot.web.profile_reader import Reader
from bot.web.sign_in import SignIn
from bot.web.theme_totals import KnownTotals


class Pages(Redacted, frozen=True):
    """The collaborators of every page."""

    store: Store
    public_url: str
    """base URL of the pages, without a trailing slash"""
    zone: ZoneInfo
    clock: Callable[[], datetime]
    secret: Secret[bytes]
    """signs links; at least 32 bytes, kept as long as the links must work"""
    older_secrets: Secret[tuple[bytes, ...]] = ()
    """signed links before, and still open them"""
    signing: SigningKey | None = None
    """signs snapshots; without it none are taken"""
    definitions: Path | None = None
    """the Markdown file that explains each metric"""
    sign_in: SignIn | None = None
    """GitHub sign-in; without it there is no settings page"""
    erase: Callable[[Connection, PersonKey], None] | None = None
    """erases a person from the ledger, in the transaction that deletes their choices"""
    decide: Callable[[Connection, ClaimDecision, RepositoryId], None] | None = None
    """accepts or rejects what others say is a person's work in a repository"""
    say_human: Callable[[Connection, PersonKey, str], None] | None = None
    """records that a person is no machine, wherever their work is withheld; the last argument identifies the event"""
    refresh_posts: Callable[[Connection, PersonKey], None] | None = None
    """schedules rewriting of posts, in the transaction that changes how a person is shown"""
    requests_a_minute: int = 240
    """per address"""
    budget: PageBudget = field(default_factory=PageBudget)
    totals: KnownTotals = field(default_factory=KnownTotals)
    address: Callable[[web.Request], str | None] = NO_PROXY.limited_address
    timer: Callable[[], float] = time.monotonic


class PageContext(Struct, frozen=True):
    """The collaborators and their caches."""

    pages: Pages
    reader: Reader
    limit: RateLimit
    cache: AnswerCache
    budget: PageBudget


PAGE_CONTEXT = web.AppKey("desk", PageContext)


def page_context(request: web.Request) -> PageContext:
    return request.app[PAGE_CONTEXT]


def build_pages(settings: Settings, context: Context) -> Pages:
    """Build the pages with the keys from the settings; missing keys are created in the data folder at first start."""

    def erase(connection: Connection, key: PersonKey) -> None:
        forget(connection, context, key, context.clock())

    def decide(connection: Connection, decision: ClaimDecision, repository: RepositoryId) -> None:
        decide_on_page(connection, context, decision, repository)

    def say_human(connection: Connection, key: PersonKey, event: str) -> None:
        say_human_everywhere(connection, context, key, event)

    def refresh_posts(connection: Connection, key: PersonKey) -> None:
        defer_for_account(connection, context, "refresh_person", key)

    secret, *older = settings.links_keys or link_secrets(settings.data / "links.key")
    return Pages(
        store=context.store,
        address=Peers(settings.trusted_proxy).limited_address,
        public_url=settings.public_url,
        zone=settings.timezone,
        clock=context.clock,
        definitions=_definitions(),
        sign_in=_sign_in(settings),
        erase=erase,
        decide=decide,
        say_human=say_human,
        refresh_posts=refresh_posts,
        secret=secret,
        older_secrets=tuple(older),
        signing=snapshot_signing_key(settings),
    )


def _definitions() -> Path | None:
    """The document that explains each metric; None if this installation lacks it."""
    found = shipped_file("docs/metrics.md")
    return found if isinstance(found, Path) and found.is_file() else None


def _sign_in(settings: Settings) -> SignIn | None:
    """The App's OAuth client; without one there is no settings page."""
    if not settings.client_id or not settings.client_secret:
        return None
    return SignIn(
        settings.client_id,
        settings.client_secret,
        web=settings.github.web,
        api=settings.github.api,
        route=settings.route,
    )
