"""Can anybody write a record about somebody else? Seeded worlds with and without a forger, compared byte for byte.

A forger commits to an organisation of their own, gets a pull request merged in another, or may write to a repository of
a third. Whatever their texts say, other organisations' digests and sums, accounts, proved work and, for the first two,
public pages equal those of the same world without them. Who may write to a repository reaches the attributed work in
that organisation, and through it a page of somebody whose work there is proved; nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from msgspec.structs import replace
from sqlalchemy import select

from bot.landing.identity.addresses import noreply
from bot.landing.identity.evidence import shares_of
from bot.metrics.measure import Measure, measure
from bot.model.commit import Commit, FileChange, Landing, PullRequest, Repository, Share, Signature
from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, Month, PersonKey, RepositoryId, UserId
from bot.render.text.json import render_json
from bot.services.digests.month_note import month_note
from bot.services.digests.scope import DigestScope
from bot.services.recording.record import RecordingTarget, record
from bot.store import installations, totals, visibility
from bot.store.engine import Store
from bot.store.people import PERSON
from bot.store.visibility import subject_of_person
from bot.web import subjects
from bot.web.profile_reader import Reader
from bot.web.theme_totals import KnownTotals
from tests.databases import put_tables

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
MONTH = Month("2026-02")
Forger = Literal["stranger", "outsider", "writer"]
FORGERS: tuple[Forger, ...] = ("stranger", "outsider", "writer")
ACCOUNTS = {7: "ada", 8: "odo", 9: "mira", 66: "mallory"}
NAMES = {7: "Ada Vance", 8: "Odo Kessler", 9: "Mira Holt", 66: "Mallory Quill"}
VICTIMS = (7, 8, 9)
_WORDS = ("Fix", "Add", "Remove", "Rename", "Document")


@dataclass(frozen=True)
class Tenant:
    """An installation with its repository. The forger owns the last one, and may write to the third."""

    installation: InstallationId
    repository: Repository

    @property
    def id(self) -> RepositoryId:
        return RepositoryId(self.repository.id or 0)


TENANTS = tuple(
    Tenant(InstallationId(number), Repository(name, RepositoryId(10 * number)))
    for number, name in ((1, "acme/app"), (2, "birch/lib"), (3, "cedar/tool"), (4, "mallory/den"))
)
ACME, BIRCH, CEDAR, DEN = TENANTS


@dataclass
class World:
    """What landed where, in the order in which deliveries arrive."""

    source: random.Random
    landed: list[tuple[Tenant, Fact]] = field(default_factory=list)
    number: int = 0

    def signature(self, user: int, *, email: str = "", name: str = "") -> Signature:
        return resolved(Signature(name or NAMES[user], email or f"{ACCOUNTS[user]}@example.org"))

    def land(self, tenant: Tenant, author: Signature, message: str, **more: Any) -> Fact:
        """Measure and append one landing; `more` are fields of the landing, and `days` before now."""
        self.number += 1
        days = more.pop("days", self.source.randrange(5, 31))
        at = more.pop("at", NOW - timedelta(days=days, minutes=self.number))
        committer = more.pop("committer", author)
        lines = more.pop("size", self.source.randrange(3, 9))
        body = f"{tenant.repository.full_name} {self.number} {self.source.random()} {message}"
        name = CommitId(more.pop("commit", hashlib.sha1(body.encode(), usedforsecurity=False).hexdigest()))
        patch = f"@@ -0,0 +1,{lines} @@\n" + "".join(f"+line_{self.number}_{n} = {n}\n" for n in range(lines))
        file = FileChange(f"src/part{self.number}.py", "added", lines, 0, patch)
        commit = Commit(name, (), author, committer, at, at, message, (file,), signer=more.pop("signer", None))
        landing = Landing(tenant.repository, commit, commit, at, on_github=True, **more)
        fact = measure(landing, Measure())
        self.landed.append((tenant, fact))
        return fact

    def pull(self, opener: int, *, writes: bool, shares: Sequence[Share] = ()) -> PullRequest:
        return PullRequest(
            *(100 + self.number, "A pull request", "", self.signature(opener), "main", "topic", CommitId("f" * 40)),
            author_writes=writes,
            shares=shares_of(shares),
        )


def resolved(sig: Signature) -> Signature:
    """The signature as GitHub resolves its address: by the id of a noreply address, else by a verified address."""
    found = noreply(sig.email)
    by_address = next((user for user, login in ACCOUNTS.items() if sig.email == f"{login}@example.org"), None)
    user = (found[0] if found and found[0] in ACCOUNTS else None) or by_address
    return sig if user is None else replace(sig, user_id=UserId(user), login=ACCOUNTS[user])


def honest_world(source: random.Random) -> World:
    """People who push and open pull requests in three organisations; in each, some of their work is proved."""
    world = World(source)
    for tenant in (ACME, BIRCH, CEDAR):
        for user in VICTIMS:
            author = world.signature(user)
            pushed = world.land(
                tenant, author, f"{source.choice(_WORDS)} the {ACCOUNTS[user]} part", pusher=UserId(user)
            )
            if source.random() < 0.6:
                pull = world.pull(user, writes=source.random() < 0.5)
                world.land(tenant, author, f"{source.choice(_WORDS)} a door (#{pull.number})", pull_request=pull)
            if source.random() < 0.3:
                message = f'Revert "{pushed.title}"\n\nThis reverts commit {pushed.commit}.'
                world.land(tenant, author, message, pusher=UserId(user), days=2)
    return world


# --- forgeries -------------------------------------------------------------------------------------------------------


def _addresses(source: random.Random, user: int) -> str:
    return source.choice(
        (
            f"{user}+x@users.noreply.github.com",
            f"{user}+x[bot]@users.noreply.github.com",
            f"{ACCOUNTS[user]}@users.noreply.github.com",
            f"{ACCOUNTS[user]}@example.org",
            f"{user}+{ACCOUNTS[user]}@users.noreply.github.com",
        )
    )


def _names(source: random.Random, user: int) -> str:
    return source.choice((NAMES[user], "Someone Else", "x[bot]", "renovate[bot]", "Claude", ACCOUNTS[user], "‮drawkcab"))


def _messages(world: World, user: int) -> str:
    """A message that lies about other work: reverts, numbers, origins, trailers."""
    source = world.source
    theirs = source.choice([fact for _, fact in world.landed if fact.author.user_id == user])
    trailer = f"Co-authored-by: {_names(source, user)} <{_addresses(source, user)}>"
    return source.choice(
        (
            f"Add a lie\n\n{trailer}",
            f'Revert "{theirs.title}"\n\nThis reverts commit {theirs.commit}.',
            f"Reverts {theirs.repository}#{theirs.pull_request or 1}",
            f"{theirs.title}\n\n(cherry picked from commit {theirs.commit})",
            f"Merge pull request #{theirs.pull_request or 3} from {ACCOUNTS[user]}/topic\n\n{trailer}",
            f"fix: everything ({theirs.repository}#{theirs.pull_request or 1})\n\n{trailer}\n{trailer}",
            f"{theirs.title}\n\nThis reverts commit {theirs.commit}.\n\nReland of {theirs.commit}",
        )
    )


def _moments(source: random.Random) -> datetime:
    """Dates that a delivery may carry once they are clamped to its own, and any earlier one."""
    return source.choice((datetime(1981, 1, 1, tzinfo=UTC), NOW, NOW - timedelta(days=source.randrange(1, 9000))))


def forge(world: World, forger: Forger, acts: int = 6) -> None:
    """Land what the forger can get landed; each act is about one of the victims."""
    for _ in range(acts):
        user = world.source.choice(VICTIMS)
        author = world.signature(user, email=_addresses(world.source, user), name=_names(world.source, user))
        message, own = _messages(world, user), world.signature(66)
        if forger == "outsider":
            _forge_pull_request(world, (author, own), message)
        elif forger == "writer":
            world.land(CEDAR, world.source.choice((author, own)), message, pusher=UserId(66), committer=author)
        else:
            _forge_at_home(world, user, author, message)


def _forge_pull_request(world: World, who: tuple[Signature, Signature], message: str) -> None:
    """A pull request of the forger in another organisation: a maintainer merges it, and so pushes it."""
    author, own = who
    merger = UserId(world.source.choice(VICTIMS))
    if world.source.random() < 0.5:
        pull = world.pull(66, writes=False)
        world.land(ACME, author, message, pull_request=pull, pusher=merger)
        return
    shares = [Share(own, 1, 3, "Add a part"), Share(author, 2, 900, "The victim wrote it")]
    name = CommitId(hashlib.sha1(f"squash {world.number}".encode(), usedforsecurity=False).hexdigest())
    pull = replace(world.pull(66, writes=False, shares=shares), merge_commit=name)
    world.land(ACME, own, message, pull_request=pull, pusher=merger, commit=name)


def _forge_at_home(world: World, user: int, author: Signature, message: str) -> None:
    """Work in the forger's own organisation; also copies of the victim's commits, signed ones among them."""
    source = world.source
    if source.random() < 0.3:
        theirs = source.choice([fact for _, fact in world.landed if fact.author.user_id == user])
        signer = theirs.author.user_id if source.random() < 0.5 else None
        early = datetime.fromtimestamp(theirs.landed_at, UTC) - timedelta(days=20)
        more = {"commit": theirs.commit, "signer": signer, "at": early, "pusher": UserId(66)}
        world.land(DEN, theirs.author, theirs.title, **more)
        return
    world.land(DEN, author, message, at=_moments(source), pusher=UserId(66), committer=author)


# --- what is compared ------------------------------------------------------------------------------------------------


async def outcome(world: World, forger: Forger, folder: Path) -> dict[str, str]:
    """Everything that a forger of this kind must not change, as text."""
    await asyncio.to_thread(_empty_database, folder)
    async with await Store.open(f"sqlite:///{folder / 'world.sqlite'}") as store:
        with store.transaction() as connection:
            for tenant in TENANTS:
                account = installations.Account(int(tenant.installation), tenant.repository.full_name.split("/")[0])
                installations.save_installation(connection, tenant.installation, account, app_id="1", now=NOW)
                installations.save_repositories(connection, tenant.installation, [tenant.repository], NOW)
            for number, (tenant, fact) in enumerate(world.landed):
                where = RecordingTarget(tenant.installation, tenant.id, UTC_ZONE)
                record(connection, where, [fact], now=NOW + timedelta(seconds=number * (fact.author.user_id == 66)))
            for user in VICTIMS:
                visibility.publish(connection, subject_of_person(PersonKey(f"u:{user}")), public=True, now=NOW)
        found = _stored(store, forger)
        reader = Reader(store, UTC_ZONE, timer=time.monotonic, totals=KnownTotals())
        for user in VICTIMS:
            found[f"page of {ACCOUNTS[user]}"] = await _page(store, reader, user, forger)
    return found


def _empty_database(folder: Path) -> None:
    for file in folder.glob("world.sqlite*"):
        file.unlink()
    put_tables(folder, "world.sqlite")


def _stored(store: Store, forger: Forger) -> dict[str, str]:
    columns = (PERSON.c.key, PERSON.c.user_id, PERSON.c.login, PERSON.c.name, PERSON.c.bot, PERSON.c.opted_out_at)
    context = cast(Any, SimpleNamespace(zone=UTC_ZONE, clock=lambda: NOW))
    found: dict[str, str] = {}
    with store.snapshot() as connection:
        rows = connection.execute(select(*columns).where(PERSON.c.key.in_([f"u:{user}" for user in VICTIMS])))
        found["accounts"] = repr(sorted(map(tuple, rows)))
        for tenant in (ACME, BIRCH, CEDAR):
            if (tenant, forger) == (CEDAR, "writer"):
                continue
            query = select(totals.TOTALS).where(totals.TOTALS.c.repository_id == tenant.id)
            kept = [f"u:{user}" for user in VICTIMS]
            own = connection.execute(query.where(totals.TOTALS.c.person_key.in_(kept))).mappings()
            found[f"sums in {tenant.repository.full_name}"] = repr(sorted(repr(dict(row)) for row in own))
            if (tenant, forger) != (ACME, "outsider"):
                scope = DigestScope(tenant.installation, MONTH, tenant.repository, (tenant.repository,))
                note = month_note(connection, context, scope)
                found[f"digest of {tenant.repository.full_name}"] = note.text if note else ""
    return found


async def _page(store: Store, reader: Reader, user: int, forger: Forger) -> str:
    opened = await store.read(subjects.open_by_login, ACCOUNTS[user])
    if opened is None:
        return "404"
    return unreachable_part(render_json((await reader.read(opened, NOW)).profile), forger)


def unreachable_part(page: str, forger: Forger) -> str:
    """What this forger must not change in the JSON form of a public page.

    Who may write to a repository reaches that organisation's attributed work, and nothing that is proved anywhere.
    """
    if forger != "writer":
        return page
    rows = [row for row in json.loads(page)["changes"] if row["repository"] != CEDAR.repository.full_name]
    return json.dumps([row for row in rows if row.get("grade") == "proved"], sort_keys=True)


def differences(seed: int, folder: Path, *, forgers: Sequence[Forger] = FORGERS) -> Iterator[str]:
    """What each forger changed in the world of this seed and must not have."""
    for forger in forgers:
        plain, forged = honest_world(random.Random(seed)), honest_world(random.Random(seed))
        forge(forged, forger)
        before, after = (asyncio.run(outcome(world, forger, folder)) for world in (plain, forged))
        yield from (f"seed {seed}, {forger}: {name}" for name in before if before[name] != after[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--deliveries", type=int, default=40, help="of them, worlds in which all arrives as webhooks")
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    end = time.monotonic() + 60 * given.minutes
    delivered = range(given.first, given.first + min(given.deliveries, given.worlds))
    recorded = range(delivered.stop, given.first + given.worlds)
    by_webhook = _run(delivered, end, by_deliveries)
    directly = _run(recorded, end, lambda seed, folder: list(differences(seed, folder)))
    for (done, wrong), how in ((by_webhook, "by webhooks"), (directly, "recorded directly")):
        print(f"{done} worlds {how}, with {len(FORGERS)} forgers each: {wrong} differences")
    raise SystemExit(1 if by_webhook[1] or directly[1] else 0)


def by_deliveries(seed: int, folder: Path) -> list[str]:
    """The same for a world of this seed in which everything arrives as webhooks of a simulated GitHub."""
    from tests.campaigns.forged_deliveries import forged_differences

    return asyncio.run(forged_differences(seed, folder))


def _run(seeds: range, end: float, compare: Callable[[int, Path], list[str]]) -> tuple[int, int]:
    """How many of these worlds were compared by `end`, and the differences in them, each of which is printed."""
    done, wrong = 0, 0
    for seed in seeds:
        if time.monotonic() > end:
            break
        with tempfile.TemporaryDirectory() as folder:
            found = compare(seed, Path(folder))
        for line in found:
            print(line, flush=True)
        done, wrong = done + 1, wrong + len(found)
    return done, wrong


if __name__ == "__main__":
    main()
