"""The record of a set of clones: their landings measured once, ready to be folded for one person or for all."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from functools import cached_property
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec.structs import replace

import bot.landing as landing_room
import bot.metrics as metrics_room
import bot.narrative as narrative_room
from bot import model
from bot.configuration.errors import NO_TEMPORARY_FILE, UnusableInputError
from bot.history.cache import cache_file, forget, is_damaged, report_cache_errors
from bot.history.clone import RULING, Clone
from bot.history.git import common_folder
from bot.history.releases import first_releases, release_tags, tags_digest
from bot.history.scratch import MonthSum, Scratch
from bot.history.sums import SumContext, month_sums
from bot.history.walk import Walk, is_outdated
from bot.landing.identity.credit import People
from bot.landing.identity.mailmap import NO_MAILMAP, Mailmap
from bot.metrics import METHOD_VERSION
from bot.model.change import Change
from bot.model.commit import Person, Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, PersonKey

if TYPE_CHECKING:
    from bot.history.measuring import Batch
    from bot.metrics.line_fates import LineRecord
    from bot.model.fact import Fact
    from bot.narrative.part_totals import TotalOf
    from bot.narrative.project_texts import ProjectTexts

BATCH = 150
"""Commits that a worker measures at once: few enough to limit memory and to keep all workers busy to the end."""

_FEW = 2 * BATCH
"""Commits that one process can measure before additional ones would be ready."""

_SHARED = 20_000
"""Newest shared commits that are examined to distinguish a fork from its parent."""

Progress = Callable[[int, int], None]
"""Called with (landings measured, landings to measure)."""


def program_stamp(*more: str | None) -> str:
    """An identifier of the measuring code, and of the rooms of more modules: what another build cached is not reused,
    whatever its method version.
    """
    rooms = (model.__file__, landing_room.__file__, metrics_room.__file__, narrative_room.__file__, __file__)
    modules = (*rooms, *more)
    files = [file for module in modules for file in _files(os.path.dirname(module or ""))]
    stats = [(os.path.basename(file), os.stat(file)) for file in files]
    stamps = [f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats]
    return " ".join([str(sys.implementation.cache_tag), *stamps])


def _files(folder: str) -> Iterator[str]:
    """Every file below the folder, sorted by name, without the files that Python compiles."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=attrgetter("name"))
    for entry in entries:
        if entry.is_dir():
            yield from _files(entry.path) if entry.name != "__pycache__" else ()
        elif not entry.name.endswith(".pyc"):
            yield entry.path


def _objects_of(clone: Clone) -> list[str]:
    """What changes when objects are added to an incomplete clone; nothing for a complete one."""
    if not clone.partial and not clone.shallow:
        return []
    packs = (common_folder(clone.folder) / "objects" / "pack").glob("*.pack")
    return [*sorted(clone.cut), *sorted(pack.name for pack in packs)]


def _batches(walks: Sequence[Walk]) -> Iterator[Batch]:
    for source, walk in enumerate(walks):
        landed = walk.arrivals()
        while batch := tuple(islice(landed, BATCH)):
            yield source, batch


def _scratch(file: Path | None) -> Scratch:
    """The cached facts, or a new file if they are damaged; a temporary one if the cache file cannot be used."""
    if file is not None:
        try:
            return Scratch(file)
        except sqlite3.DatabaseError as error:
            if is_damaged(error):
                forget(file)
                return Scratch(file)
    try:
        return Scratch(None)
    except (OSError, sqlite3.OperationalError) as error:
        raise UnusableInputError(f"{error}: {NO_TEMPORARY_FILE}") from None


class CloneRecord:
    """Facts of clones, refreshed from git and stored in a scratch file."""

    def __init__(
        self,
        clones: Sequence[Clone],
        *,
        cache: bool = True,
        now: int | None = None,
        mailmap: Mailmap = NO_MAILMAP,
    ) -> None:
        """`now` is the time of reading, in epoch seconds: nothing landed later."""
        self._now = int(time.time()) if now is None else now
        self.clones = tuple(clones)
        self._mailmap = mailmap
        self._damaged = False
        self._ruling = {clone: clone.files(*RULING) for clone in self.clones}
        self._scratch = _scratch(cache_file(self._identity()) if cache else None)

    def _identity(self) -> list[str]:
        parts = [METHOD_VERSION, program_stamp()]
        for clone in self.clones:
            rules = {path: blob for path, (blob, _) in self._ruling[clone].items()}
            parts += [
                str(clone.git_dir),
                clone.repository.full_name,
                clone.repository.host,
                str(clone.other_accounts),
                clone.branch,
                clone.notes,
                str(sorted(rules.items())),
                *_objects_of(clone),
            ]
        return parts

    def close(self) -> None:
        """Facts of a damaged clone are not kept: nothing shows when it is mended."""
        self._scratch.close()
        if self._damaged:
            forget(self._scratch.file)

    def count_not_measured(self) -> tuple[int, int]:
        """How many files could not be read because a clone does not contain them, and in how many commits."""
        return self._scratch.count_not_measured()

    @property
    def without_start(self) -> frozenset[str]:
        """The repositories whose clones do not contain the start of the history."""
        return frozenset(clone.repository.full_name for clone in self.clones if clone.cut)

    def report_cache_errors(self) -> AbstractContextManager[None]:
        """A context that reports a damaged file or a full disk to the user in one line."""
        return report_cache_errors(self._scratch.file)

    # --- measuring ------------------------------------------------------------------------------------------------

    def refresh(self, progress: Progress | None = None, workers: int | None = None) -> None:
        """Measure what landed since the last time. Raises GitError if a history cannot be read to its end."""
        if not self._scratch.begin():
            self._scratch.close()
            self._scratch = Scratch(None)
            self._scratch.begin()
        scratch = self._scratch
        with ExitStack() as stack:
            walks = self._walks(scratch.heads(), stack)
            if walks:
                known = scratch.last_fact()
                self._measure(walks, progress, workers)
                scratch.index_keys(known)
                scratch.attribute_lines()
            for walk in walks:
                scratch.save_head(walk.clone.repository.full_name, walk.clone.head, walk.summary)
        scratch.commit()
        complete = any(not clone.partial and not clone.shallow for clone in self.clones)
        self._damaged = complete and self.count_not_measured()[0] > 0

    def _walks(self, heads: Mapping[str, tuple[str, str]], stack: ExitStack) -> list[Walk]:
        """The history after `heads`; the whole history if it was rewritten since, so that the
        cached facts are invalid.
        """
        known = [(clone, *heads.get(clone.repository.full_name, (None, ""))) for clone in self.clones]
        walks = [
            stack.enter_context(closing(Walk(clone, head, known=summary, now=self._now)))
            for clone, head, summary in known
            if head != clone.head or is_outdated(summary, self._now)
        ]
        if walks:
            # loaded while git lists: new commits are measured and folded afterwards
            import bot.history.measuring
            import bot.landing.changes
        if walks and not heads:
            import bot.metrics.measure  # noqa: F401  # there is time to load every metric during a whole history
        if all(walk.continues() for walk in walks):
            return walks
        self._scratch.empty()
        return [stack.enter_context(closing(Walk(clone, now=self._now))) for clone in self.clones]

    def _measure(self, walks: Sequence[Walk], progress: Progress | None, workers: int | None) -> None:
        from bot.history.measuring import Source, measure_batches

        sources = [Source(walk.clone, self._ruling[walk.clone]) for walk in walks]
        total, done = sum(walk.size() for walk in walks), 0
        few = workers == 1 or total <= _FEW
        for rows in measure_batches(sources, _batches(walks), 1 if few else workers or os.cpu_count() or 1):
            self._scratch.add(rows)
            done += len(rows.facts)
            if progress:
                progress(done, total)

    # --- reading --------------------------------------------------------------------------------------------------

    @cached_property
    def people(self) -> People:
        return People.of(self._scratch.signatures(), self._mailmap)

    def keys_of(self, persons: Iterable[Person]) -> frozenset[PersonKey]:
        """The keys under which these persons' commits are stored: one for each address."""
        return frozenset(key for person in persons for key in self._keys.get(person.key, ()))

    def count_commits(self, person: Person) -> int:
        """The commits that this person authored."""
        counts = self._author_counts
        return sum(counts.get(key, 0) for key in self.keys_of((person,)))

    @property
    def authors(self) -> Collection[PersonKey]:
        """The keys of everybody who authored a landed commit."""
        return self._author_counts.keys()

    @cached_property
    def _author_counts(self) -> Mapping[PersonKey, int]:
        return self._scratch.author_counts()

    @cached_property
    def _keys(self) -> Mapping[PersonKey, set[PersonKey]]:
        return self.people.keys()

    @cached_property
    def repositories(self) -> Mapping[str, Repository]:
        """The repositories, with forks and their parents identified by the commits they share."""
        found = {clone.repository.full_name: clone.repository for clone in self.clones}
        if len(found) == 1:
            return found
        from bot.landing.same_work.fork_networks import ForkNetworks

        networks = ForkNetworks(self._scratch.shared_facts(_SHARED), {})
        roots = [name for name in found if not networks.is_fork(name)]
        for name in found:
            if networks.is_fork(name):
                parent = next((root for root in roots if networks.same_network(root, name)), None)
                found[name] = replace(found[name], fork=True, parent=parent)
        return found

    def line_record(self) -> LineRecord:
        """How many source lines each commit added, and which later commits took them away."""
        return self._scratch.line_record()

    def changes_of(self, persons: Sequence[Person]) -> tuple[Change, ...]:
        """Every change these persons contributed to, with the changes folded together with it, oldest first."""
        from bot.landing.changes import fold

        return fold(self._scratch.component(self.keys_of(persons)), self.repositories)

    def texts_about(self, changes: Sequence[Change], *, until: int | None = None) -> ProjectTexts:
        """What other landings (up to that second), the tags and the documentation tell of these changes."""
        from bot.narrative.project_texts import companions, project_texts, sought_evidence

        found = self._scratch.facts_with_evidence(
            sought_evidence(one.fact for change in changes for one in change.commits)
        )
        found = [one for one in found if until is None or one.landed_at <= until]
        return project_texts(
            found,
            pulls=self._scratch.known_pulls(companions(found)),
            releases=self._releases({one.fact.commit for change in changes for one in change.commits}),
        )

    def theme_totals(self, texts: ProjectTexts, *, until: int | None = None) -> TotalOf:
        """Everybody's changes in the parts of the product, landed up to that second of the epoch."""
        from bot.narrative.part_totals import theme_totals

        facts = self._scratch.facts()
        return theme_totals((one for one in facts if until is None or one.landed_at <= until), texts)

    def _releases(self, commits: Collection[CommitId]) -> Mapping[CommitId, str]:
        """The first release of each commit that is in one; found again only if tags or commits changed."""
        found: dict[CommitId, str] = {}
        for clone in self.clones:
            name, tags = clone.repository.full_name, release_tags(clone)
            digest = tags_digest(clone, tags)
            if not self._scratch.knows_tags(name, digest):
                rows = dict(first_releases(clone, tags))
                found |= {commit: rows[commit] for commit in commits if commit in rows}
                if self._scratch.begin():
                    self._scratch.save_releases(name, digest, rows.items())
                    self._scratch.commit()
        return {**self._scratch.releases(commits), **found}

    def month_sums(self, zone: ZoneInfo, workers: int | None = None) -> list[MonthSum]:
        """The sums of each person's months, without machines, by month and person."""
        return month_sums(self._scratch, self._sum_context(zone), workers)

    def _sum_context(self, zone: ZoneInfo) -> SumContext:
        keys = {person.key: self._keys[person.key] for person in self.people.all() if not person.bot}
        machines = set().union(*self._keys.values()).difference(*keys.values())
        return SumContext(self.people, keys, machines, self.repositories, zone)

    def sums_of_commits(self, commits: Collection[str], zone: ZoneInfo) -> list[MonthSum]:
        """The sums of each person's months, without machines, over these commits only."""
        parts = []
        for change in self.all_changes():
            counted = tuple(commit for commit in change.commits if commit.fact.commit in commits)
            if counted:
                parts.append(change if len(counted) == len(change.commits) else replace(change, commits=counted))
        return self._sum_context(zone).sums_of(parts)

    def facts(self) -> Iterator[Fact]:
        """All facts, oldest landing first."""
        return self._scratch.facts()

    def all_changes(self) -> tuple[Change, ...]:
        """Every change of the record, oldest first."""
        from bot.landing.changes import fold

        return fold(self._scratch.facts(), self.repositories)
