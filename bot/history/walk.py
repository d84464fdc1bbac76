"""When did each commit of a history reach the default branch, and which merge brought it?"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import NamedTuple
from zlib import crc32

from bot.history.clone import Clone
from bot.history.git import GitError, SpooledOutput, git
from bot.landing.conventions.merge_commits import numbered_merge
from bot.landing.conventions.nesting import Spot, parent_spots, unrelated_commits
from bot.landing.conventions.numbering import NumberUse, foreign_uses
from bot.landing.landing_times import believable_times, oldest_believable
from bot.landing.message.parts import IMPORTED_HISTORY, OTHER_NUMBERS, number_at_end
from bot.model.ids import CommitId

_NO_SURVEY = (0, 0, 0, ())


class CommitArrival(NamedTuple):
    """Where and when one non-merge commit reached the default branch. `merge_commit` is None if no merge
    commit brought it.
    """

    commit: CommitId
    landed_at: int
    merge_commit: CommitId | None
    brought_by: int | None = None
    """as in `Landing`, except for a merge whose own message lists several pull requests"""
    clamped: bool = False
    """whether `landed_at` stands for a time that cannot be"""


class _Step(NamedTuple):
    """One commit of a walk."""

    commit: CommitId
    parents: list[CommitId]
    spot: Spot
    landed_at: int
    merge_commit: CommitId | None
    authored_at: int
    on_mainline: bool
    committed_at: int
    number: int | None
    """the pull request that its subject names"""
    label: int
    """equal for equal subjects beside the number"""
    merge: bool
    """whether it has several parents, even if a shallow clone does not contain them"""


_Use = tuple[CommitId, int]
"""the merge on the first-parent line and the pull request that it, or a merge below it, names; or a commit and the
number at the end of its subject"""


class _Survey(NamedTuple):
    """What has to be known of a whole history before its commits can be placed."""

    times: dict[CommitId, int]
    """believable times of the commits of the first-parent line whose own time is not"""
    numbers: dict[CommitId, int]
    """the pull requests that merges of the first-parent line name"""
    foreign: set[_Use]
    """numbers of other repositories"""
    summary: str
    """what a later walk has to know of this one"""


class _PriorWalks(NamedTuple):
    """The summary of the walks before, as `Survey.summary` has it."""

    oldest: int
    """time of the oldest believable commit of the first-parent line; 0 if nothing is known"""
    last: int
    """time of its last believable commit"""
    until: int
    """the earliest time that was clamped because it was still to come; 0 if none was"""
    uses: Sequence[Sequence[int]]


def is_outdated(summary: str, now: int) -> bool:
    """Whether a time that was still to come when the history was read has passed."""
    until = _PriorWalks(*(json.loads(summary) if summary else _NO_SURVEY)).until
    return 0 < until <= now


class Walk:
    """The commits of a default branch, children before parents; git writes the list to a file in the background.

    `since` excludes what that commit contains; it has to be on the first-parent line (`continues`), and `known` is the
    `summary` of the walk up to there. No commit lands after `now`. Must be closed.
    """

    def __init__(self, clone: Clone, since: str | None = None, *, known: str = "", now: int | None = None) -> None:
        excluded = (f"^{since}",) if since else ()
        arguments = ("log", "--topo-order", "--format=%H %ct %at %P%x00%s", clone.head, *excluded, "--")
        self.clone = clone
        self._since = since
        self._head = clone.head
        self._now = int(time.time()) if now is None else now
        self._known = _PriorWalks(*(json.loads(known) if known else _NO_SURVEY))
        self._survey: _Survey | None = None
        self._imported: set[CommitId] = set()
        self._output = SpooledOutput(clone.git_dir, arguments)

    def close(self) -> None:
        self._output.close()

    def continues(self) -> bool:
        """Whether the first-parent line ends at `since`, and what landed before it landed as it did then."""
        if self._since is None:
            return True
        oldest: str | None = self._head
        try:
            for line in self._output.lines():
                sha, _, _, *parents = line.partition(b"\0")[0].decode().split()
                if sha == oldest:
                    oldest = parents[0] if parents else None
        except GitError:
            return False  # git no longer has that commit
        if oldest != self._since or not self._known.oldest or 0 < self._known.until <= self._now:
            return False
        before = [NumberUse(*row) for row in self._known.uses]
        after = json.loads(self.summary)[3]
        return foreign_uses(before) == {
            index for index in foreign_uses([NumberUse(*row) for row in after]) if index < len(before)
        }

    def size(self) -> int:
        """The number of commits that arrive: all except merges. Raises GitError if git could not list them."""
        size = sum(line.count(b" ", 0, line.index(b"\0")) < 4 for line in self._output.lines())
        merges = self.clone.cut_merges
        return size - sum(line.split(b" ", 1)[0].decode() in merges for line in self._output.lines() if merges)

    @property
    def summary(self) -> str:
        """What a walk that continues this one has to know. Raises GitError if git could not list the commits."""
        return self._surveyed().summary

    def arrivals(self) -> Iterator[CommitArrival]:
        """Every non-merge commit with the merge commit that brought it. Raises GitError if git could not list them."""
        survey = self._surveyed()
        for one in self._steps():
            if not one.merge:
                bringer = one.commit if one.on_mainline else one.merge_commit
                clamped = survey.times.get(bringer or one.commit)
                landed_at = one.landed_at if clamped is None else clamped
                brought_by = self._brought_by(one, survey)
                yield CommitArrival(one.commit, landed_at, one.merge_commit, brought_by, clamped is not None)

    def _brought_by(self, one: _Step, survey: _Survey) -> int | None:
        foreign, number = survey.foreign, one.spot.brought_by
        if one.merge_commit is None:
            return OTHER_NUMBERS if one.number and (one.commit, one.number) in foreign else None
        bringing = survey.numbers.get(one.merge_commit)
        if bringing and number is None and (one.merge_commit, bringing) in foreign:
            return OTHER_NUMBERS
        if one.commit in self._imported:
            return IMPORTED_HISTORY
        is_foreign = (one.merge_commit, number) in foreign or (one.commit, one.number) in foreign
        return IMPORTED_HISTORY if is_foreign else number

    # --- the survey ---

    def _surveyed(self) -> _Survey:
        if self._survey is None:
            self._imported = self._imported_commits()
            self._survey = self._survey_history()
        return self._survey

    def _survey_history(self) -> _Survey:
        line: list[tuple[CommitId, int]] = []
        numbers: dict[CommitId, int] = {}
        uses: dict[_Use, NumberUse] = {}
        for one in self._steps():
            bringer = one.merge_commit or one.commit
            if one.on_mainline:
                line.append((one.commit, one.committed_at))
            if one.number is not None and one.commit not in self._imported:
                if one.merge and one.on_mainline:
                    numbers[one.commit] = one.number
                key = (bringer if one.merge else one.commit, one.number)
                uses[key] = NumberUse(one.number, one.committed_at, one.authored_at, one.label)
            if not one.merge and not one.on_mainline:
                number = one.spot.brought_by or numbers.get(bringer, 0)
                use = uses.get((bringer, number))
                if use is not None and one.authored_at < use.authored_at:
                    uses[bringer, number] = use._replace(authored_at=one.authored_at)
        return self._judge(line[::-1], numbers, uses)

    def _judge(
        self, line: Sequence[tuple[CommitId, int]], numbers: dict[CommitId, int], uses: dict[_Use, NumberUse]
    ) -> _Survey:
        known, now = self._known, self._now
        stated = [moment for _, moment in line]
        oldest = known.oldest or oldest_believable(stated, now)
        clamped = believable_times(stated, now=now, oldest=oldest, before=known.last)
        every = [*(NumberUse(*row) for row in known.uses), *uses.values()]
        foreign = {index - len(known.uses) for index in foreign_uses(every)}
        coming = [moment for moment in stated if moment > now]
        until = min(filter(None, (known.until, min(coming, default=0))), default=0)
        last = clamped.get(len(stated) - 1, stated[-1]) if stated else known.last
        return _Survey(
            times={line[index][0]: moment for index, moment in clamped.items()},
            numbers=numbers,
            foreign={use for index, use in enumerate(uses) if index in foreign},
            summary=json.dumps([oldest, last, until, every]),
        )

    def _imported_commits(self) -> set[CommitId]:
        """The commits of imported histories of other repositories, each smaller than the history before its merge."""
        roots = sum(b" \0" in line for line in self._output.lines())
        if self.clone.shallow or roots <= (self._since is None):
            return set()
        with_roots = {one.merge_commit for one in self._steps() if not one.parents and one.merge_commit}
        brought: dict[CommitId, dict[CommitId, list[CommitId]]] = {merge_commit: {} for merge_commit in with_roots}
        for one in self._steps():
            if one.merge_commit in brought:
                brought[one.merge_commit][one.commit] = one.parents
        unrelated = {merge_commit: unrelated_commits(parents) for merge_commit, parents in brought.items()}
        smaller = (names for merge, names in unrelated.items() if names and len(names) < self._size_before(merge))
        return set(chain.from_iterable(smaller))

    def _size_before(self, merge_commit: CommitId) -> int:
        return int(git(self.clone.git_dir, "rev-list", "--count", f"{merge_commit}^1", "--"))

    def _steps(self) -> Iterator[_Step]:
        """Every commit, merges included.

        A commit landed with the oldest commit of the first-parent line that reaches it. Walking children first, only
        the edge of the walk has to be remembered, so memory depends on how many branches are open at once.
        """
        edge: dict[str, tuple[Spot, int, CommitId | None]] = {self._head: (Spot((0,)), 0, None)}
        mainline: str | None = self._head
        step = 0
        for line in self._output.lines():
            head, _, subject = line.decode("utf-8", "replace").rstrip("\n").partition("\0")
            sha, committed, authored, *parents = map(CommitId, head.split())
            on_mainline = sha == mainline
            spot, landed_at, merge_commit = edge.pop(sha)
            if on_mainline:
                step += 1
                spot, landed_at = Spot((step,)), int(committed)
                merge_commit = sha if len(parents) > 1 else None
                mainline = parents[0] if parents else None
            # on the first-parent line the values from the child are replaced when the parent itself is visited
            for parent, parent_spot in parent_spots(spot, parents, "" if on_mainline else subject):
                known = edge.get(parent)
                if known is None or known[0].depths < parent_spot.depths:
                    edge[parent] = (parent_spot, landed_at, merge_commit)
            merge = len(parents) > 1 or sha in self.clone.cut_merges
            number, label = _named_pull(subject, merge=merge)
            yield _Step(
                *(sha, parents, spot, landed_at, merge_commit),
                *(int(authored), on_mainline, int(committed), number, label),
                merge=merge,
            )


def _named_pull(subject: str, *, merge: bool) -> tuple[int | None, int]:
    """The pull request that a subject names, as a merge or at its end, and a number for its other words."""
    if merge and (number := numbered_merge(subject)) is not None:
        return number, crc32(subject.encode("utf-8", "replace"))
    found = number_at_end(subject) if subject.endswith(")") else None
    return (found[0], crc32(found[1].lower().encode("utf-8", "replace"))) if found else (None, 0)


def arrivals(clone: Clone, *, now: int | None = None) -> Iterator[CommitArrival]:
    """Every non-merge commit of the default branch, children before parents, with the merge commit that brought it."""
    with closing(Walk(clone, now=now)) as walk:
        yield from walk.arrivals()
