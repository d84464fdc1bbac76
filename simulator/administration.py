"""Who and what exists? Accounts, Apps, installations and repositories are created and changed here."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import datetime

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from simulator import payloads
from simulator.deliveries import Deliveries
from simulator.differences import Differences
from simulator.git import Draft, Edits, GitRepository, apply_edits
from simulator.shapes.accounts import user
from simulator.state import Json, SimAccount, SimApp, SimInstallation, SimLabel, SimRepository, State
from simulator.web_host import web_flow

PERMISSIONS = {
    "metadata": "read",
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
    "issues": "write",
    "discussions": "write",
}
EVENTS = [
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "issue_comment",
    "discussion_comment",
    "issues",
    "push",
    "release",
    "check_run",
    "check_suite",
    "repository",
    "public",
]
SECRET = "a webhook secret of the simulated GitHub alone"  # noqa: S105  # opens nothing but this simulator


@functools.cache
def key_pair() -> tuple[str, str]:
    """(private, public) PEM of one RSA key per run; generating one takes a tenth of a second."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    no_password = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, no_password)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


class Administration:
    """The accounts, Apps and repositories of one simulated GitHub. Delivers the changes that GitHub reports to Apps."""

    def __init__(self, state: State, deliveries: Deliveries) -> None:
        self.state, self.deliveries = state, deliveries
        self.api_url = "http://127.0.0.1:1/api/v3"
        self.account("web-flow", name=web_flow().name, email=web_flow().email)

    # -- accounts and Apps

    def account(self, login: str, *, name: str | None = None, email: str | None = None) -> SimAccount:
        """A person's account, created on first use."""
        if login not in self.state.accounts:
            self.state.accounts[login] = SimAccount(self.state.new_id(), login, name=name, email=email)
        return self.state.accounts[login]

    def organisation(self, login: str) -> SimAccount:
        found = self.account(login)
        found.type = "Organization"
        return found

    def bot(self, login: str) -> SimAccount:
        """A bot account, created on first use; its login ends in `[bot]`."""
        found = self.account(login)
        found.type = "Bot"
        return found

    def register_app(self, slug: str, owner: SimAccount, *, webhook_url: str | None = None) -> SimApp:
        """Register an App with the permissions and events that Almanac requests."""
        private, public = key_pair()
        bot = self.bot(f"{slug}[bot]")
        app = SimApp(self.state.new_id(), slug, owner, bot, public, private, SECRET, webhook_url)
        app.permissions, app.events = dict(PERMISSIONS), list(EVENTS)
        self.state.apps[app.id] = app
        return app

    def install(
        self, app: SimApp, account: SimAccount, *, only: Sequence[SimRepository] | None = None
    ) -> SimInstallation:
        """Install an App on an account, for all its repositories or some."""
        selection = None if only is None else {found.id for found in only}
        found = SimInstallation(self.state.new_id(), app, account, self.state.clock(), selection)
        self.state.installations[found.id] = found
        self._send_installation(found, "created")
        return found

    def uninstall(self, found: SimInstallation) -> None:
        self._send_installation(found, "deleted")
        del self.state.installations[found.id]

    def suspend(self, found: SimInstallation) -> None:
        found.suspended_at = self.state.clock()
        self._send_installation(found, "suspend")

    def unsuspend(self, found: SimInstallation) -> None:
        found.suspended_at = None
        self._send_installation(found, "unsuspend")

    def select(self, found: SimInstallation, repositories: Sequence[SimRepository]) -> None:
        """Choose the repositories that an installation can access."""
        before = {entry.id for entry in self.state.visible_to(found)}
        found.selection = {entry.id for entry in repositories}
        added = [entry for entry in repositories if entry.id not in before]
        removed = [self.state.repositories[id_] for id_ in sorted(before - found.selection)]
        for change in (([added, []] if added else None), ([[], removed] if removed else None)):
            if change:
                payload = payloads.selection_event(self.api_url, found, (change[0], change[1]))
                self._send(found, "installation_repositories", payload)

    def _send_installation(self, found: SimInstallation, action: str) -> None:
        visible = self.state.visible_to(found)
        self._send(
            found, "installation", payloads.installation_event(self.api_url, found, action, repositories=visible)
        )

    def _send(self, found: SimInstallation, event: str, payload: Json) -> None:
        context = payloads.event_context(self.api_url, None, found.account)
        self.deliveries.add(found.app, event, {**payload, **context}, installation=found)

    # -- repositories

    def create_repository(
        self, full_name: str, *, at: datetime, files: Edits, by: SimAccount | None = None
    ) -> SimRepository:
        """A public repository of an existing account; its first commit is by the owner unless `by` is given."""
        login, _, name = full_name.partition("/")
        owner = self.state.accounts[login]
        found = self._add_repository(owner, name, at=at)
        if files:
            who = (by or owner).signature
            (first,) = found.git.write([Draft("Initial commit\n", apply_edits({}, files), who, at, who, at)])
            found.git.set_ref("refs/heads/main", first.id)
        return found

    def _add_repository(self, owner: SimAccount, name: str, *, at: datetime) -> SimRepository:
        number = self.state.new_id()
        git = GitRepository.create(self.state.folder / f"{number}.git")
        found = SimRepository(number, name, owner, git, Differences(git), at)
        self.state.repositories[number] = found
        self.state.old_names.pop(found.full_name.lower(), None)
        return found

    def fork(self, parent: SimRepository, owner: SimAccount, *, at: datetime) -> SimRepository:
        """A fork under another account, with the current default branch."""
        found = self._add_repository(owner, parent.name, at=at)
        found.fork_of, found.private = parent, parent.private
        if parent.git.tip:
            found.git.adopt(parent.git, [parent.git.tip])
            found.git.set_ref("refs/heads/main", parent.git.tip)
        return found

    def rename(self, repo: SimRepository, name: str, *, by: SimAccount) -> None:
        """Rename a repository; the old name redirects until another repository takes it."""
        before = repo.name
        self.state.old_names[repo.full_name.lower()] = repo.id
        repo.name = name
        change = {"changes": {"repository": {"name": {"from": before}}}}
        self.send_event(repo, "repository", {"action": "renamed", **change}, sender=by)

    def rename_account(self, account: SimAccount, login: str) -> None:
        """Rename a user or an organisation; the names of its repositories follow without an event."""
        before = account.login
        for found in self.state.repositories.values():
            if found.owner is account:
                self.state.old_names[found.full_name.lower()] = found.id
        self.state.accounts[login] = self.state.accounts.pop(before)
        account.login = login
        payload = {"action": "renamed", "account": user(self.api_url, account), "target_type": account.type}
        payload["changes"] = {"login": {"from": before}}
        for installed in self.state.installations.values():
            if installed.account is account:
                number = {"id": installed.id, "node_id": f"MDI_{installed.id}"}
                self._send(installed, "installation_target", payload | {"installation": number})

    def change_visibility(self, repo: SimRepository, *, private: bool, by: SimAccount) -> None:
        repo.private = private
        self.send_event(repo, "repository", {"action": "privatized" if private else "publicized"}, sender=by)
        if not private:
            self.send_event(repo, "public", {}, sender=by)

    def label(self, repo: SimRepository, name: str, *, color: str = "ededed") -> SimLabel:
        """A label of a repository, created on first use."""
        if name not in repo.labels:
            repo.labels[name] = SimLabel(self.state.new_id(), name, color)
        return repo.labels[name]

    def send_event(self, repo: SimRepository, event: str, payload: Json, *, sender: SimAccount | None) -> None:
        """Queue one delivery for each App installed on the repository."""
        for found in self.state.installations_of(repo):
            if found.suspended_at is None:
                context = payloads.event_context(self.api_url, repo, sender)
                context["installation"] = {"id": found.id, "node_id": f"MDI_{found.id}"}
                self.deliveries.add(found.app, event, {**payload, **context}, installation=found)
