"""A small stored record and the pages served from it, for tests that read them over HTTP."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import aiohttp
from aiohttp import web
from msgspec.structs import replace
from multidict import CIMultiDict

from bot.landing.identity.credit import person_key
from bot.model.commit import Person, Repository, Signature
from bot.model.fact import Evidence, Fact, Lines
from bot.model.ids import CommitId, InstallationId, PersonKey, RepositoryId, UserId
from bot.store import installations, ledger, links, people, visibility
from bot.store.engine import Store
from bot.store.links import Link
from bot.store.visibility import subject_of_person
from bot.web.pages import Pages, add_routes

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECRET = b"a secret of thirty-two bytes, ok!"
ACME = InstallationId(1)
OPEN, CLOSED = RepositoryId(10), RepositoryId(11)
ADA = Signature("Ada Example", "ada@example.org", UserId(7), "ada-example")
ADA_KEY = PersonKey("u:7")
_MARCH = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())


def fact(number: int, repository: str, *, author: Signature = ADA, **values: Any) -> Fact:
    """A feature of 12 lines that its author landed `number` hours into March 2026 (earlier where negative)."""
    commit = CommitId(hashlib.sha1(f"{repository}{number}".encode(), usedforsecurity=False).hexdigest())
    given: dict[str, Any] = {
        "repository": repository,
        "commit": commit,
        "landed_at": _MARCH + 3600 * number,
        "authored_at": _MARCH + 3600 * number,
        "author": author,
        "committer": author,
        "title": f"Add part {number}",
        "how": "push",
        "merge_commit": commit,
        "kind": "feature",
        "lines": Lines(authored=10, tests=2),
        "languages": {"Python": 12},
        "evidence": Evidence(author.user_id, pusher=author.user_id, pull_request="pull_request" in values),
    }
    return Fact(**(given | values))


async def keep(store: Store, repository: RepositoryId, facts: Iterable[Fact]) -> None:
    """Append facts with their people, as recording does."""
    found = list(facts)
    signed = [sig for one in found for sig in (one.author, *one.co_authors)]
    with store.transaction() as connection:
        ledger.append_facts(connection, repository, found, NOW)
        persons = [Person(person_key(sig), sig.name, (sig.email,), sig.login, sig.user_id, sig.bot) for sig in signed]
        people.save_people(connection, persons)


async def fill(store: Store) -> None:
    """One organisation with a public and a private repository, and Ada's work in both."""
    with store.transaction() as connection:
        installations.save_installation(connection, ACME, installations.Account(100, "acme"), app_id="1", now=NOW)
        both = [Repository("acme/open", OPEN), Repository("acme/secret-plan", CLOSED, private=True)]
        installations.save_repositories(connection, ACME, both, NOW)
    mine = [fact(number, "acme/open", pull_request=number) for number in (1, 2, 30)]
    mine += [fact(-100, "acme/open", title="Fix the gate", kind="bug_fix")]
    await keep(store, OPEN, mine)
    await keep(
        store, CLOSED, [fact(5, "acme/secret-plan", title="Plan the secret", author=replace(ADA, name="Adarella"))]
    )


async def publish(store: Store, *, public: bool = True, naming: visibility.Naming = "named") -> None:
    with store.transaction() as connection:
        visibility.publish(connection, subject_of_person(ADA_KEY), public=public, now=NOW, naming=naming)


async def mint(store: Store, *, private: bool = False, subject: str = subject_of_person(ADA_KEY)) -> str:
    with store.transaction() as connection:
        return links.mint(connection, Link(subject, ACME, private), secret=SECRET, now=NOW)


Answer = tuple[int, CIMultiDict[str], bytes]


@dataclass
class Site:
    """The pages on loopback."""

    url: str
    session: aiohttp.ClientSession

    async def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """(status, headers, body), with no redirect followed."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(method, self.url + path, headers=given, allow_redirects=False) as answer:
            found = CIMultiDict(answer.headers)
            found.pop("Date")
            return answer.status, found, await answer.read()

    async def text(self, path: str, **headers: str) -> str:
        """The body of a page that is there."""
        status, _, body = await self.get(path, **headers)
        assert status == 200, (path, status)
        return body.decode()


@asynccontextmanager
async def serve(store: Store, **more: Any) -> AsyncIterator[Site]:
    """The pages of this store; `more` are collaborators."""
    given: dict[str, Any] = {
        "store": store,
        "public_url": "https://almanac.example",
        "zone": ZoneInfo("UTC"),
        "clock": lambda: NOW,
        "secret": SECRET,
    }
    app = web.Application()
    add_routes(app, Pages(**(given | more)))
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()) as session:
            yield Site(f"http://127.0.0.1:{runner.addresses[0][1]}", session)
    finally:
        await runner.cleanup()


async def revoke(store: Store, why: str) -> None:
    """One of the ways in which Ada's page stops being everybody's."""
    with store.transaction() as connection:
        if why == "opted out":
            people.opt_out(connection, ADA_KEY, NOW)
        elif why == "hidden by its person":
            visibility.hide_repository(connection, ADA_KEY, OPEN, hidden=True)
        elif why == "privatised":
            installations.save_repositories(connection, ACME, [Repository("acme/open", OPEN, private=True)], NOW)
        elif why == "removed":
            installations.remove_repositories(connection, [OPEN], NOW)
        elif why == "uninstalled":
            installations.remove_installation(connection, ACME, NOW)
        elif why == "suspended":
            installations.suspend(connection, ACME, NOW)
    if why == "private":
        await publish(store, public=False)
    elif why == "anonymous":
        await publish(store, naming="anonymous")
