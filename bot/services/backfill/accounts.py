"""Which accounts own the addresses in a history? GitHub is asked once per address, up to sixty in one request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from bot.github.client import Client
from bot.github.graphql import MOST_ADDRESSES, PullRequestPage, read_accounts
from bot.github.listings import read_people_of
from bot.github.payloads.own_commits import ResolvedAccount
from bot.history.fetching import FetchedClone
from bot.landing.identity.addresses import app_of
from bot.landing.identity.machines import is_web_flow
from bot.model.commit import Commit, Landing, Repository, Signature
from bot.model.ids import CommitId, UserId


@dataclass(slots=True)
class Accounts:
    """The accounts behind addresses, as GitHub resolves them: one address always has the same account."""

    clone: FetchedClone
    wanted: dict[str, tuple[CommitId, int]] = field(default_factory=dict)
    """people's addresses still to be resolved, each with a commit and its role there (0 author, 1 committer)"""
    machines: dict[str, tuple[CommitId, int]] = field(default_factory=dict)
    """the same for machines whose address contains no id: GraphQL resolves only users"""
    known: dict[str, list[object] | None] = field(default_factory=dict)
    requests: int = 0
    points: int = 0

    @classmethod
    def of(cls, clone: FetchedClone, addresses: Mapping[str, tuple[CommitId, int]]) -> Accounts:
        found, host = cls(clone, known=clone.known_accounts()), clone.repository.host
        for email, one in addresses.items():
            if email in found.known:
                continue
            if app := app_of(email, host):
                found.known[email] = [*app, True]
            else:
                (found.machines if is_web_flow(Signature("", email, host=host)) or "[bot]@" in email else found.wanted)[
                    email
                ] = one
        return found

    @property
    def is_incomplete(self) -> bool:
        """Whether addresses are still to be resolved."""
        return bool(self.wanted or self.machines)

    def next(self, most: int = MOST_ADDRESSES) -> list[CommitId]:
        """Commits whose accounts the next request should include."""
        return list(dict.fromkeys(commit for commit, _ in self.wanted.values()))[:most]

    def learn(self, page: PullRequestPage) -> None:
        """Store what an answer says about the addresses of its commits."""
        for email, (commit, role) in list(self.wanted.items()):
            if commit in page.accounts:
                self.known[email] = _plain(page.accounts[commit][role])
                del self.wanted[email]

    async def learn_all(self, client: Client, repository: Repository) -> None:
        """Resolve every remaining address."""
        while self.machines:
            await self._learn_machine(client, repository)
        while self.wanted:
            page = await read_accounts(client, repository, self.next())
            self.requests += page.requests
            self.points += page.points.cost
            self.learn(page)
        self.keep()

    async def _learn_machine(self, client: Client, repository: Repository) -> None:
        """Resolve a machine from one commit, preferably one it authored: usually a machine committed it too."""
        email, (commit, role) = min(self.machines.items(), key=lambda one: one[1][1])
        self.requests += 1
        people = await read_people_of(client, repository, commit)
        for address, who in ((email, people[role]), *((one.email, one) for one in people)):
            if self.machines.pop(address, None):
                self.known[address] = None if who.user_id is None else [who.user_id, who.login, who.bot]

    def keep(self) -> None:
        self.clone.save_accounts(self.known)

    def resolve(self, landing: Landing) -> Landing:
        """The landing with its people resolved to accounts."""
        merge_commit = self._of_commit(landing.merge_commit)
        commit = merge_commit if landing.commit.id == merge_commit.id else self._of_commit(landing.commit)
        # The merge commit's files are never read; a commit that landed by itself is its own merge commit.
        return replace(landing, commit=commit, merge_commit=merge_commit)

    def _of_commit(self, commit: Commit) -> Commit:
        return replace(commit, author=self._of(commit.author), committer=self._of(commit.committer))

    def _of(self, sig: Signature) -> Signature:
        row, host = self.known.get(sig.email), self.clone.repository.host
        if row is None:
            return Signature(sig.name, sig.email, host=host)
        user_id, login, bot = row
        return Signature(sig.name, sig.email, UserId(int(str(user_id))), str(login), bool(bot), host=host)


def addresses_of(commits: Iterable[Commit]) -> dict[str, tuple[CommitId, int]]:
    """The addresses in these commits, each with one commit and its role there."""
    found: dict[str, tuple[CommitId, int]] = {}
    for commit in commits:
        found.setdefault(commit.author.email, (commit.id, 0))
        found.setdefault(commit.committer.email, (commit.id, 1))
    return found


def _plain(account: ResolvedAccount | None) -> list[object] | None:
    return None if account is None else [account.user_id, account.login, account.bot]
