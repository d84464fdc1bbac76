"""Worlds of organisations, repositories and people, with a canary in each string that is not public.

A world is generated from a source of randomness; what it may show is computed here from what was done to it, not by
the policy under test.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from msgspec.structs import replace

from bot.model.commit import Repository, Share, Signature
from bot.model.fact import AiMark, Evidence, Fact
from bot.model.ids import InstallationId, PersonKey, RepositoryId, UserId
from bot.store import installations, links, people, visibility
from bot.store.engine import Store
from bot.store.links import Link
from bot.store.visibility import subject_of_installation, subject_of_person
from tests.web.library import NOW, SECRET, Answer, Site, fact, keep

FORMS = (
    *("", ".json", ".txt", ".md", ".svg", ".atom", ".csv", ".resume.json"),
    *(".heatmap.svg", ".months.svg", ".languages.svg", ".share.svg", ".badge.svg"),
)
_LINK = re.compile(r'(?:href|src)="?(/[^">\s]*)')
CANARY = re.compile(r"zq[rp]\d+x", re.IGNORECASE)


@dataclass
class Place:
    """A repository: its canary is in its name and in every string of its work."""

    id: RepositoryId
    installation: InstallationId | None
    private: bool
    fate: str = "stays"
    hidden_by: set[int] = field(default_factory=set)
    authors: set[int] = field(default_factory=set)

    @property
    def canary(self) -> str:
        return f"zqr{self.id}x"

    @property
    def name(self) -> str:
        return f"org{(self.id // 10)}/{self.canary}"


@dataclass
class Someone:
    """A person: the canary is in the name and the login."""

    number: int
    public: bool
    naming: str
    opted_out: bool
    tokens: list[tuple[str, Link, bool]] = field(default_factory=list)
    """(token, link, still good)"""
    alias: str = ""

    @property
    def canary(self) -> str:
        return f"zqp{self.number}x"

    @property
    def key(self) -> PersonKey:
        return PersonKey(f"u:{self.number}")

    @property
    def unnamed(self) -> bool:
        return self.opted_out or self.naming == "anonymous"

    def signature(self, told: str = "") -> Signature:
        name = f"Some {self.canary} {told}".strip()
        return Signature(name, f"{self.canary}@example.org", UserId(self.number), self.canary)


@dataclass
class World:
    """Everything that was done, from which it follows what may be seen."""

    places: list[Place]
    people: list[Someone]
    gone: set[InstallationId] = field(default_factory=set)
    public_organisations: set[InstallationId] = field(default_factory=set)

    def alive(self, place: Place) -> bool:
        return place.installation is not None and place.installation not in self.gone and place.fate != "removed"

    def open(self, place: Place) -> bool:
        return self.alive(place) and not place.private


def make(rng: random.Random) -> World:
    """A world before anything is written."""
    count = rng.randint(1, 3)
    places = [
        Place(RepositoryId(10 * org + at), InstallationId(org), rng.random() < 0.4)
        for org in range(1, count + 1)
        for at in range(rng.randint(1, 4))
    ]
    someone = [
        Someone(100 + at, rng.random() < 0.75, rng.choice(["named", "named", "anonymous"]), rng.random() < 0.12)
        for at in range(rng.randint(1, 7))
    ]
    return World(places, someone)


async def write(world: World, store: Store, rng: random.Random) -> None:
    """Store the world as it was, then let happen to it what happens."""
    with store.transaction() as connection:
        for org in sorted({place.installation for place in world.places if place.installation}):
            account = installations.Account(1000 + org, f"org{org}")
            installations.save_installation(connection, org, account, app_id="1", now=NOW)
        for place in world.places:
            before = place.private if rng.random() < 0.7 else not place.private
            parent = rng.choice(world.places).name if rng.random() < 0.2 else None
            seen = Repository(place.name, place.id, private=before, fork=parent is not None, parent=parent)
            installations.save_repositories(connection, place.installation, [seen], NOW)  # type: ignore[arg-type]
    for place in world.places:
        await keep(store, place.id, _work(place, world, rng))
    await _happen(world, store, rng)
    await _decide(world, store, rng)


def _evidence(place: Place, author: Someone, helper: Someone, lines: int) -> Evidence:
    """The author opened the pull request; the other wrote so many lines of it beside the author's eleven."""
    own, other = author.signature(place.canary), helper.signature(place.canary)
    shares = (Share(own, 1, 11), Share(other, 1, lines)) if own != other else ()
    users = UserId(author.number), UserId(helper.number)
    return Evidence(users[0], True, users[0], collaborators=users, shares=shares, pull_request=True)


def _work(place: Place, world: World, rng: random.Random) -> list[Fact]:
    """Work with the repository's canary in every string; some of it folds with work elsewhere."""
    found = []
    for number in range(rng.randint(0, 6)):
        author, helper = rng.choice(world.people), rng.choice(world.people)
        together = rng.random() < 0.3
        place.authors |= {author.number, helper.number} if together else {author.number}
        naming = f" for {helper.canary}" if together and helper.unnamed else ""
        one = fact(
            rng.randint(-900, 60),
            place.name,
            author=author.signature(place.canary),
            co_authors=(helper.signature(place.canary),) if together else (),
            evidence=_evidence(place, author, helper if together else author, rng.choice([1, 11])),
            title=f"Add {place.canary} part {number}{naming}",
            pull_request=number + 1 if rng.random() < 0.5 else None,
            keys=(f"drev:D{rng.randint(1, 4)}",) if rng.random() < 0.5 else (),
            reverts=(f"drev:D{rng.randint(1, 4)}",) if rng.random() < 0.2 else (),
            links=(f"issue:{place.name}#4",),
            languages={"Python": 9, f"{place.canary}lang": 8},
            skills={f"{place.canary}skill": 5},
            ai=(AiMark(3, f"{place.canary}tool", place.canary),) if rng.random() < 0.3 else (),
            paths=(f"{place.canary}/a.py",),
            kind=rng.choice(["feature", "bug_fix", "chore"]),
        )
        found.append(replace(one, commit=one.commit[:-2] + f"{number:02d}"))
    return found


async def _happen(world: World, store: Store, rng: random.Random) -> None:
    orgs = sorted({place.installation for place in world.places if place.installation})
    with store.transaction() as connection:
        for place in world.places:
            place.fate = rng.choice(["stays"] * 5 + ["removed", "transferred"])
            if place.fate == "transferred":
                place.installation = rng.choice(orgs)
            seen = Repository(place.name, place.id, private=place.private)
            installations.save_repositories(connection, place.installation, [seen], NOW)  # type: ignore[arg-type]
            if place.fate == "removed":
                installations.remove_repositories(connection, [place.id], NOW)
        for org in orgs:
            if rng.random() < 0.08:
                world.gone.add(org)
                end = rng.choice([installations.remove_installation, installations.suspend])
                end(connection, org, NOW)
            if rng.random() < 0.5:
                world.public_organisations.add(org)
                visibility.publish(connection, subject_of_installation(org), public=True, now=NOW)


async def _decide(world: World, store: Store, rng: random.Random) -> None:
    orgs = sorted({place.installation for place in world.places if place.installation})
    with store.transaction() as connection:
        for one in world.people:
            subject = subject_of_person(one.key)
            naming: visibility.Naming = "anonymous" if one.naming == "anonymous" else "named"
            visibility.publish(connection, subject, public=one.public, now=NOW, naming=naming)
            if one.opted_out:
                people.opt_out(connection, one.key, NOW)
            for place in world.places:
                if rng.random() < 0.06:
                    place.hidden_by.add(one.number)
                    visibility.hide_repository(connection, one.key, place.id, hidden=True)
            for _ in range(rng.randint(0, 2)):
                good = rng.random() < 0.7
                ends = None if good or rng.random() < 0.5 else NOW - timedelta(seconds=1)
                link = Link(subject, rng.choice(orgs), rng.random() < 0.5, expires_at=ends)
                token = links.mint(connection, link, secret=SECRET, now=NOW)
                if not good and ends is None:
                    nonce = links.open_link(connection, token, secrets=[SECRET]).nonce  # type: ignore[union-attr]
                    links.revoke(connection, subject, NOW, nonce=nonce)
                one.tokens.append((token, link, good))
    with store.snapshot() as connection:
        for one in world.people:
            state = visibility.person_state(connection, one.key)
            one.alias = state.alias if state else ""


# --- what may be seen, by what was done ------------------------------------------------------------------------------


def expected(world: World) -> dict[str, set[str] | None]:
    """The canaries that each page may hold, by its path; None where it must be as if it were not there."""
    pages: dict[str, set[str] | None] = {}
    known = {one.canary for one in world.people if one.public and not one.unnamed}
    for one in world.people:
        mine = [place for place in world.places if one.number not in place.hidden_by]
        public = [place for place in mine if world.open(place)]
        shown = one.public and not one.opted_out and any(one.number in place.authors for place in public)
        # What folds with one's own work is evidence too, within the organisations one works in.
        canaries = {place.canary for place in public} if shown else None
        pages[f"/@{one.canary}"] = canaries and (canaries | known if one.naming == "named" else None)
        if one.alias:
            pages[f"/anonymous/{one.alias}"] = canaries if one.naming == "anonymous" else None
        for token, link, good in one.tokens:
            pages[f"/p/{token}"] = _by_link(world, one, link, known) if good and not one.opted_out else None
    return pages


def _by_link(world: World, one: Someone, link: Link, known: set[str]) -> set[str] | None:
    places = [place for place in world.places if one.number not in place.hidden_by]
    places = [place for place in places if world.alive(place) and place.installation == link.installation]
    if not link.private:
        places = [place for place in places if not place.private]
    if not any(one.number in place.authors for place in places):
        return None
    return {place.canary for place in places} | (known | {one.canary} if one.naming == "named" else set())


def public_canaries(world: World) -> set[str]:
    """What a page for everybody that is about no single person may hold."""
    return {place.canary for place in world.places if world.open(place)}


# --- reading it all --------------------------------------------------------------------------------------------------


@dataclass
class Crawl:
    """How many pages were read, and what was wrong with them."""

    pages: int = 0
    absent: int = 0
    faults: list[str] = field(default_factory=list)


async def crawl(world: World, site: Site, rng: random.Random, *, forms: int = len(FORMS)) -> Crawl:
    """Read every page of the world in HTML and in a choice of the other forms, and whatever its pages link to."""
    done = Crawl()
    nothing = await site.get("/@nobody-here")
    for path, allowed in expected(world).items():
        for form in ("", *rng.sample(FORMS[1:], min(forms, len(FORMS) - 1))):
            await _look(done, site, path + form, allowed, nothing)
        await _look(done, site, f"{path}/months/2026-03", allowed, nothing, maybe=True)
    for org in sorted({place.id // 10 for place in world.places}):
        allowed = public_canaries(world) if org in world.public_organisations - world.gone else None
        await _look(done, site, f"/organisations/org{org}", allowed, nothing, maybe=True)
        for place in (place for place in world.places if place.installation == org):
            seen = allowed if world.open(place) else None
            path = f"/organisations/org{org}/repositories/{place.canary}/2026-03"
            await _look(done, site, path, seen, nothing, maybe=True)
    everybody = {one.canary for one in world.people if expected(world).get(f"/@{one.canary}")}
    for path in ("/", "/robots.txt", "/sitemap.xml"):
        await _look(done, site, path, everybody if path == "/sitemap.xml" else set(), nothing)
    return done


async def _look(
    done: Crawl, site: Site, path: str, allowed: set[str] | None, nothing: Answer, *, maybe: bool = False
) -> None:
    """Read one page; with `maybe` it need not be there even where it may."""
    answer = await site.get(path)
    done.pages += 1
    if allowed is None or (maybe and answer[0] == 404):
        done.absent += 1
        if answer != nothing:
            done.faults.append(f"{path} differs from a page that is not there: {answer[0]}")
        return
    if answer[0] != 200:
        done.faults.append(f"{path} answers {answer[0]}")
    text = answer[2].decode("utf-8", "replace") + str(answer[1])
    found = {one.lower() for one in CANARY.findall(text)} - _own_address(path)
    if found - allowed:
        done.faults.append(f"{path} holds {sorted(found - allowed)}")
    if not path.partition(".")[2] and answer[0] == 200:
        await _follow(done, site, path, text, allowed)


async def _follow(done: Crawl, site: Site, path: str, text: str, allowed: set[str]) -> None:
    for link in sorted(set(_LINK.findall(text))):
        if link.startswith(path + "/") and "/repositories/" not in link:
            status, _, body = await site.get(link)
            done.pages += 1
            found = {one.lower() for one in CANARY.findall(body.decode("utf-8", "replace"))}
            if status != 200 or found - allowed:
                done.faults.append(f"{link}, linked from {path}: {status} {sorted(found - allowed)}")


def _own_address(path: str) -> set[str]:
    return {one.lower() for one in CANARY.findall(path)}


def summary(crawls: Iterable[Crawl]) -> Crawl:
    """All of them together."""
    whole = Crawl()
    for one in crawls:
        whole.pages += one.pages
        whole.absent += one.absent
        whole.faults += one.faults
    return whole
