"""What is a person's current profile, as far as a grant shows it, and which profiles need not be folded again?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from zoneinfo import ZoneInfo

from cachetools import LRUCache, TTLCache
from msgspec import Struct
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.landing.corrections import apply_corrections
from bot.landing.identity.naming import signed_names
from bot.landing.identity.public_work import changes_for_public, commits_shown, facts_for_public
from bot.landing.islands import count_once
from bot.model.change import Change
from bot.model.commit import Person, Repository
from bot.model.fact import Fact
from bot.model.profile import Profile
from bot.narrative.profile import ProfileContext, ProfileScope, build
from bot.render.anonymity import apply_naming
from bot.render.redaction import redact_names
from bot.store import records
from bot.store.engine import Store
from bot.store.lines import bring_up_to_date
from bot.store.records import LedgerMark, RecordedFacts
from bot.store.visibility import Naming, PersonState, RepositoryState
from bot.web.access import Grant
from bot.web.theme_totals import KnownTotals, PageTotals

if TYPE_CHECKING:
    from bot.web.subjects import OpenPerson

_PROFILES = 64
_MOST_TEXT = 32 * 1024 * 1024
"""bytes of cached pages"""
_STALE = 300.0
"""seconds after which a profile is folded again, whatever the mark is"""
_AT_ONCE = 2
Answer = TypeVar("Answer")
Given = ParamSpec("Given")

VisibleRepositories = Sequence[RepositoryState]
_Key = tuple[PersonState, Naming, bool, tuple[RepositoryState, ...], datetime]


class Reading(Struct, frozen=True):
    """A profile with a unique number."""

    number: int
    mark: LedgerMark
    content: bytes
    """a digest of what it was folded from"""
    profile: Profile


class Reader:
    """Folds profiles off the event loop, once for all simultaneous requests."""

    def __init__(self, store: Store, zone: ZoneInfo, *, timer: Callable[[], float], totals: KnownTotals) -> None:
        self._store, self._zone, self._totals = store, zone, totals
        self._kept: TTLCache[_Key, Reading] = TTLCache(_PROFILES, _STALE, timer=timer)
        self._texts: LRUCache[tuple[object, ...], bytes] = LRUCache(_MOST_TEXT, getsizeof=len)
        self._building: dict[_Key, asyncio.Task[Reading]] = {}
        self._numbers = count(1)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "almanac-page")

    async def in_thread(self, work: Callable[Given, Answer], /, *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        """Run the work in the pages' own threads, which deliveries and jobs do not use."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *args, **kwargs))

    async def read(self, opened: OpenPerson, now: datetime) -> Reading:
        """The profile of what the grant shows. It stays the same for a whole UTC day unless something lands."""
        visible = tuple(one for one in opened.repositories if one.id in opened.grant.repositories)
        day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        key = (opened.person, opened.grant.naming, opened.grant.public, visible, day)
        mark = opened.mark
        if mark is None:
            mark = await self._store.read(records.mark_of, opened.grant.repositories)
        kept = self._kept.get(key)
        if kept is not None and kept.mark == mark:
            return kept
        if key not in self._building:
            task = asyncio.create_task(self._build(key, mark))
            task.add_done_callback(partial(self._end_building, key))
            self._building[key] = task
        return await asyncio.shield(self._building[key])

    def _end_building(self, key: _Key, task: asyncio.Task[Reading]) -> None:
        self._building.pop(key, None)
        if not task.cancelled():
            task.exception()  # whoever still waits gets it; if nobody does, the log does not need it

    async def _build(self, key: _Key, mark: LedgerMark) -> Reading:
        person, naming, public, visible, day = key
        async with self._turns:
            await bring_up_to_date(self._store, [one.id for one in visible])
            found = await self._store.read(records.facts_about, person.keys, [one.id for one in visible])
            frame = _ProfileScope(person, visible, naming, self._zone, public)
            totals = await self._totals.read(self._store, found.fully_read_names(), await self.in_thread(found.moves))
            content = await self.in_thread(_content, found, totals, day)
            kept = self._kept.get(key)
            if kept is not None and kept.content == content:
                # What landed does not concern this person: the profile and its pages stay valid.
                reading = replace(kept, mark=mark)
            else:
                profile = await self.in_thread(
                    lambda: _profile(found.timed_facts(), found, totals, frame=frame, day=day)
                )
                reading = Reading(next(self._numbers), mark, content, profile)
        self._kept[key] = reading
        return reading

    async def text(self, reading: Reading, name: object, render: Callable[[Profile], str]) -> bytes:
        """The rendered profile, each form rendered once; `name` identifies the rendering among those of the same
        profile."""
        key = (reading.number, name)
        kept = self._texts.get(key)
        if kept is None:
            async with self._turns:
                kept = (await self.in_thread(render, reading.profile)).encode("utf-8", "replace")
            if len(kept) <= _MOST_TEXT // 8:
                self._texts[key] = kept
        return kept

    async def cached_page(self, name: object, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """A page that does not show one profile, made once while `name` stays the same."""
        key = ("made", name)
        kept = self._texts.get(key)
        if kept is None:
            async with self._turns:
                kept = self._texts.get(key)
                if kept is None:
                    kept = await make()
                    self._texts[key] = kept
        return kept

    def forget(self) -> None:
        """Empty the caches."""
        self._kept.clear()
        self._texts.clear()


class _ProfileScope(Struct, frozen=True):
    person: PersonState
    visible: tuple[RepositoryState, ...]
    naming: Naming
    zone: ZoneInfo
    public: bool = False


def _content(found: RecordedFacts, totals: PageTotals, day: datetime) -> bytes:
    """A digest of all that a profile of that day is made of."""
    moment = max(day, found.recorded_at, found.newest_evidence())
    return found.content() + repr(totals.mark(int(moment.timestamp()))).encode()


def _profile(
    timed: Sequence[tuple[Fact, datetime]],
    found: RecordedFacts,
    totals: PageTotals,
    *,
    frame: _ProfileScope,
    day: datetime,
) -> Profile:
    """The profile on that day, or when the newest of its facts was recorded or the newest that tells of them landed."""
    facts, keys = [fact for fact, _ in timed], frame.person.keys
    if frame.public:
        facts = facts_for_public(facts, keys, found.installations, found.corrections)
    islands = found.islands
    changes = apply_corrections(fold(facts, repositories_of(frame.visible), islands), found.corrections)
    if frame.public:
        changes = changes_for_public(changes, keys)
    changes = count_once(changes, keys)
    texts = found.project_texts(changes)
    changes = redact_names(changes, found.unnamed)
    commits = commits_shown(changes, keys)
    now = max([day, found.newest_evidence(), *(at for fact, at in timed if (fact.repository, fact.commit) in commits)])
    person = _visible_person(frame.person, changes)
    scope = ProfileScope(person=person, keys=frame.person.keys, zone=frame.zone, now=now, naming=frame.naming)
    context = ProfileContext(
        found.own_lines(changes, frame.zone),
        non_code=found.non_code_by_month(frame.zone),
        partial=found.partial(),
        texts=texts if frame.naming == "named" else replace(texts, nameable=()),
        totals=totals.as_of(int(now.timestamp())),
    )
    return apply_naming(build(changes, scope, context), changes, scope)


async def profile_as_of(
    store: Store,
    opened: tuple[PersonState, Grant, VisibleRepositories],
    zone: ZoneInfo,
    end: int,
    *,
    totals: KnownTotals,
) -> Profile:
    """The profile as it was after the second `end` (of the epoch), based only on what had landed by then.

    The same facts give the same profile, whenever and wherever they were recorded.
    """
    person, grant, repositories = opened
    visible = tuple(one for one in repositories if one.id in grant.repositories)
    await bring_up_to_date(store, [one.id for one in visible])
    found = await store.read(records.facts_about, person.keys, [one.id for one in visible])
    frame = _ProfileScope(person, visible, grant.naming, zone, grant.public)
    by_then = found.until(end)
    known = await totals.read(store, by_then.fully_read_names(), by_then.moves())

    def make() -> Profile:
        moment = datetime.fromtimestamp(end, UTC)
        facts = [(fact, moment) for fact in found.facts() if fact.landed_at <= end]
        return _profile(facts, by_then, known, frame=frame, day=moment)

    return await asyncio.to_thread(make)


def repositories_of(visible: Iterable[RepositoryState]) -> Mapping[str, Repository]:
    """The repositories by name; a parent that is not among them is not named."""
    states = tuple(visible)
    names = {one.full_name.lower() for one in states}
    return MappingProxyType(
        {
            one.full_name: Repository(
                full_name=one.full_name,
                id=one.id,
                fork=one.fork,
                parent=one.parent if one.parent and one.parent.lower() in names else None,
                default_branch=one.default_branch,
            )
            for one in states
        }
    )


def _visible_person(person: PersonState, changes: Iterable[Change]) -> Person:
    """The person with the name in the visible work: other work may contain a name that is not public."""
    names = signed_names(changes, person.keys)
    name = next((names[key].name for key in (person.key, *sorted(person.keys)) if key in names), "")
    return Person(person.key, name or person.login or "A contributor", (), person.login, person.user_id)
