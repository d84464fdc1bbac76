"""Which changes do the landed commits make, each counted once, and which of them were reverted?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from bot.landing.keys import NO_REPOSITORIES
from bot.landing.pieces import Pieces
from bot.landing.timeline import Event, Standing, stand
from bot.landing.undoing import Undoing
from bot.model import Change, ChangeId, CommitId, CountedCommit, Fact, Lines, Repository

_NAMES_IT = "names what it reverts"


def fold(facts: Iterable[Fact], repositories: Mapping[str, Repository] = NO_REPOSITORIES) -> tuple[Change, ...]:
    """Every change in the facts, oldest first; neither the order of the facts nor repetition matters.

    `repositories` maps every name a repository ever had to its current description, including whether it is a fork. For
    names it does not contain, forks are recognised by shared commit ids. The facts of one `bot.landing.keys.component`
    fold to the same changes by themselves as among all others, as long as `repositories` contains their repositories.
    """
    pieces = Pieces(facts, repositories)
    return tuple(sorted(_Folding(pieces, Undoing(pieces)).changes(), key=attrgetter("landed_at", "id")))


def alone(fact: Fact) -> Change | None:
    """What `fold` makes of a fact that is connected to no other; None where even such a fact must be folded."""
    return _plain_change(fact) if _is_plain(fact) else None


class _Folding:
    """The work groups of several facts, and those that revert something; all other facts are plain changes."""

    def __init__(self, pieces: Pieces, undoing: Undoing) -> None:
        self._pieces = pieces
        self._undoing = undoing
        self._against = undoing.by_piece()
        self._groups = pieces.groups()
        self._roots = {place: root for root, group in self._groups.items() for place in group}
        for place, fact in enumerate(pieces.facts):
            if place not in self._roots and (place in self._against or not _is_plain(fact)):
                self._roots[place] = place
                self._groups[place] = [place]
        self._work = {root: self._landings(group) for root, group in self._groups.items()}
        self._homes = {root: self._home(group) for root, group in self._groups.items()}
        self._at_home = {root: self._here(root) for root in self._groups}
        self._ids = {root: self._id(root) for root in self._groups}

    def changes(self) -> Iterator[Change]:
        for place, fact in enumerate(self._pieces.facts):
            root = self._roots.get(place)
            if root is None:
                yield _plain_change(fact)
            elif self._groups[root][0] == place:
                yield self._change(root)

    def _landings(self, group: Sequence[int]) -> list[int]:
        """The commits of a work group that do the work; all of them if the group only reverts."""
        counting = list(filter(self._pieces.is_home, group))
        return [place for place in counting if not self._undoing.is_revert(place)] or counting

    def _home(self, group: Sequence[int]) -> str:
        facts = [self._pieces.facts[place] for place in filter(self._pieces.is_home, group)]
        work = [fact for fact in facts if not fact.reverts]
        return self._pieces.families.home(work or facts)

    def _here(self, root: int) -> list[int]:
        """The commits that landed in the work group's home repository."""
        here = [place for place in self._work[root] if self._pieces.facts[place].repository == self._homes[root]]
        return here or self._work[root]

    def _id(self, root: int) -> tuple[ChangeId, int | None]:
        """The first pull request that brought the work, else its first commit."""
        here = [self._pieces.facts[place] for place in self._at_home[root]]
        number = next((fact.pull_request for fact in here if fact.pull_request is not None), None)
        return _identity(self._homes[root], number, here[0].commit), number

    def _change(self, root: int) -> Change:
        home = self._homes[root]
        places = self._at_home[root]
        is_revert = all(map(self._undoing.is_revert, places))
        now = self._stand(root, places, is_revert=is_revert)
        main = self._main(places)
        identity, number = self._ids[root]
        group = self._groups[root]
        slice_only = not is_revert and self._is_slice(root)
        return Change(
            id=identity,
            repository=home,
            title=self._title(places),
            kind="revert" if is_revert else main.kind,
            why=_NAMES_IT if is_revert and main.kind != "revert" else main.why,
            certain=is_revert or main.certain,
            state=now.state,
            landed_at=now.delivered,
            commits=tuple(self._counted(place, root, now, slice_only) for place in group),
            pull_request=number,
            also_in=tuple(sorted({self._pieces.facts[place].repository for place in group} - {home})),
            reverted_by=self._id_of(now.reverted_by) if now.state == "reverted" else None,
            partly_reverted_by=self._ids_of(now.partly, root),
            url=_url(home, number, self._pieces.facts[places[0]].commit),
            elsewhere=slice_only,
        )

    def _stand(self, root: int, places: Sequence[int], *, is_revert: bool) -> Standing:
        facts, undoing = self._pieces.facts, self._undoing
        if is_revert or (root not in self._against and undoing.relands.isdisjoint(places)):
            return Standing(set(places), facts[places[0]].landed_at)
        events = [
            Event(facts[p].landed_at, self._rank(p), p, "again" if p in undoing.relands else "land") for p in places
        ]
        here = set(places)
        for revert in self._against.get(root, ()):
            if revert not in undoing.relands or undoing.effects[revert].depth == 1:
                events += self._taking_back(root, revert, here)
        return stand(events, self._pieces.patch)

    def _rank(self, place: int) -> int:
        effect = self._undoing.effects.get(place)
        return effect.depth if effect is not None else 2 if place in self._undoing.relands else 0

    def _taking_back(self, root: int, revert: int, here: set[int]) -> list[Event]:
        """What a revert does to the work group in its home; a fork's own revert has no effect on it."""
        effect, facts, families = self._undoing.effects[revert], self._pieces.facts, self._pieces.families
        home, where = self._homes[root], facts[revert].repository
        if where != home and families.are_kin(where, home):
            return []
        mine = [target for target in effect.signs if self._pieces.piece(target) == root]
        named = {self._pieces.patch(target) for target in mine}
        met = frozenset(place for place in here if self._pieces.patch(place) in named) | frozenset(mine)
        at = max([facts[revert].landed_at, *(facts[target].landed_at for target in mine)])
        landed_there = any(facts[place].repository == where for place in self._groups[root])
        if not mine or (where != home and landed_there):
            return [Event(at, effect.depth, revert, "part")]
        back = frozenset(target for target in mine if effect.signs[target] < 0)
        events = [Event(at, effect.depth, revert, "back", back)] if back else []
        again = frozenset(met - back) & frozenset(target for target in mine if effect.signs[target] > 0) & here
        return events + ([Event(at, effect.depth, revert, "restore", again)] if again else [])

    def _counted(self, place: int, root: int, now: Standing, slice_only: bool) -> CountedCommit:
        fact, home = self._pieces.facts[place], self._homes[root]
        if not self._counts(place, root):
            return CountedCommit(fact, False, fact.lines)
        if self._undoing.is_revert(place):
            partly = any(key.startswith("part:") for key in fact.reverts)
            return CountedCommit(fact, True, fact.lines if partly else Lines(reverted=fact.lines.total))
        if fact.repository == home and place not in now.live:
            return CountedCommit(fact, True, Lines(reverted=fact.lines.total))
        if slice_only or fact.repository != home:
            return CountedCommit(fact, True, Lines(mirrored=fact.lines.total))
        return CountedCommit(fact, True, fact.lines)

    def _counts(self, place: int, root: int) -> bool:
        """Whether it is neither in a fork of the home repository nor a copy of a commit that counts there."""
        name, home = self._pieces.facts[place].repository, self._homes[root]
        if not self._pieces.is_home(place):
            return False
        if name == home:
            return True
        if self._pieces.families.are_kin(name, home):
            return False
        patches = {self._pieces.patch(p) for p in self._groups[root] if self._pieces.facts[p].repository == home}
        return self._pieces.patch(place) not in patches

    def _main(self, places: Sequence[int]) -> Fact:
        """The commit whose kind becomes the change's: the largest feature or fix, else the largest commit."""
        facts = [self._pieces.facts[place] for place in places]
        plain = [fact for fact in facts if not fact.reverts] or facts
        return max(
            plain, key=lambda f: (f.kind in ("feature", "bug_fix"), f.kind != "revert", f.lines.code, -f.landed_at)
        )

    def _title(self, places: Sequence[int]) -> str:
        facts = [self._pieces.facts[place] for place in places]
        plain = [fact for fact in facts if not fact.reverts and not fact.relands] or facts
        return next((fact for fact in plain if fact.pull_request is not None), plain[0]).title

    def _is_slice(self, root: int) -> bool:
        """Whether it contains only exports of work whose home repository is outside the record."""
        facts = [self._pieces.facts[place] for place in self._work[root]]
        if any(fact.pull_request is not None for fact in facts):
            return False
        names = {self._pieces.facts[place].repository.lower() for place in self._groups[root]}
        return all(
            any(key.startswith("slice:") and key[6:].partition("#")[0] not in names for key in fact.keys)
            for fact in facts
        )

    def _id_of(self, place: int | None) -> ChangeId | None:
        return None if place is None else self._ids[self._pieces.piece(place)][0]

    def _ids_of(self, places: Sequence[int], root: int) -> tuple[ChangeId, ...]:
        own = self._ids[root][0]
        found = (self._ids[self._pieces.piece(place)][0] for place in places)
        return tuple(dict.fromkeys(each for each in found if each != own))


def _is_plain(fact: Fact) -> bool:
    """Whether it reverts nothing and is not an export of work that may have its home elsewhere."""
    return not fact.reverts and (fact.pull_request is not None or not any("slice:" in key[:6] for key in fact.keys))


def _plain_change(fact: Fact) -> Change:
    number = fact.pull_request
    return Change(
        id=_identity(fact.repository, number, fact.commit),
        repository=fact.repository,
        title=fact.title,
        kind=fact.kind,
        why=fact.why,
        certain=fact.certain,
        state="landed",
        landed_at=fact.landed_at,
        commits=(CountedCommit(fact, True, fact.lines),),
        pull_request=number,
        url=_url(fact.repository, number, fact.commit),
    )


def _identity(repository: str, number: int | None, commit: CommitId) -> ChangeId:
    return ChangeId(f"{repository}@{commit}" if number is None else f"{repository}#{number}")


def _url(repository: str, number: int | None, commit: CommitId) -> str | None:
    """The change's address; None for a clone without a remote, where only the name of the folder is known."""
    if "/" not in repository:
        return None
    tail = f"pull/{number}" if number is not None else f"commit/{commit}"
    return f"https://github.com/{repository}/{tail}"
