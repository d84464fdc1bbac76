"""How does a repository's history get onto this machine? As a full, private, bare clone without a credential in it.

It is a full clone because patches are read: with `--filter=blob:none` git would fetch a pack for every commit.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from bot.configuration.route import DIRECT, NetworkRoute
from bot.history.clone import NO_MAILMAP, Clone, open_clone
from bot.history.git import GitError, git, git_stream
from bot.history.log import commits
from bot.history.walk import CommitArrival, arrivals
from bot.model.commit import Commit, Repository
from bot.model.ids import CommitId, RepositoryId

_PRIVATE = 0o700
_STALE_FILES = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*")
"""files of a killed git: locks that would stop the next one, and partial packs, possibly as large as the repository"""
_HOURS = 2 * 3600
_NO_BRANCH = 2
"""git's exit code if there is no branch (git-ls-remote(1), --exit-code)"""


class FetchError(GitError):
    """The history could not be fetched; the text is git's own line, without any credential."""


class Clones(Struct, frozen=True):
    """The folder of the clones while their history is read, and the web address of their GitHub server."""

    folder: Path
    web: str
    route: NetworkRoute = DIRECT

    def of(self, repository: Repository) -> FetchedClone:
        """The clone of a repository, whether it exists or not; named by id, so that a rename changes nothing."""
        return FetchedClone(self.folder / f"{repository.id}.git", repository, self.web, self.route)

    def existing_clones(self) -> dict[RepositoryId, FetchedClone]:
        """Every existing clone, by the id of its repository."""
        ids = [RepositoryId(int(path.stem)) for path in self.folder.glob("*.git") if path.stem.isdecimal()]
        return {number: self.of(Repository("", number)) for number in ids}


class FetchedClone(Struct, frozen=True):
    """One repository's clone, and the files derived from it, which are stored in the same folder."""

    path: Path
    repository: Repository
    web: str
    route: NetworkRoute = DIRECT

    async def refresh(self, token: str) -> CommitId | None:
        """Fetch the default branch; returns its newest commit, None if the repository is empty.

        Raises FetchError, GitError and OSError. On cancellation no git is left running.
        """
        await asyncio.to_thread(self._prepare)
        branch = self.repository.default_branch
        url = f"{self.web}/{self.repository.full_name}.git"
        spec = f"+refs/heads/{branch}:refs/heads/{branch}"
        arguments = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", url, spec)
        credentials = _git_environment(url, token, self.route)
        status, stderr = await _run(self.path, arguments, credentials)
        if status:
            if "couldn't find remote ref" in stderr and await self._is_empty(url, credentials):
                return None
            raise FetchError(_one_line(stderr))
        return CommitId(git(self.path, "rev-parse", "--verify", f"refs/heads/{branch}^{{commit}}").strip())

    async def _is_empty(self, url: str, credentials: Mapping[str, str]) -> bool:
        """Whether there is no branch at all; a default branch may be renamed just before it is fetched."""
        status, _ = await _run(self.path, ("ls-remote", "--quiet", "--exit-code", "--heads", url), credentials)
        return status == _NO_BRANCH

    def _prepare(self) -> None:
        self.path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        self.path.mkdir(mode=_PRIVATE, exist_ok=True)
        self.path.chmod(_PRIVATE)
        for left in (found for pattern in _STALE_FILES for found in self.path.glob(pattern)):
            left.unlink(missing_ok=True)
        # Each time: a first run that was killed may have left an incomplete repository, which git does not recognise.
        git(self.path, "init", "--quiet", "--bare")
        git(self.path, "symbolic-ref", "HEAD", f"refs/heads/{self.repository.default_branch}")

    def holds(self, head: CommitId) -> bool:
        """Whether the clone exists and contains that commit."""
        return (self.path / "HEAD").exists() and bool(
            git(self.path, "rev-parse", "--verify", "--quiet", f"{head}^{{commit}}", check=False).strip()
        )

    def at(self, head: CommitId) -> Clone:
        """The clone with `head` as its newest commit; like GitHub, it uses no mailmap."""
        return replace(open_clone(self.path), repository=self.repository, head=head, mailmap=NO_MAILMAP)

    def remove(self) -> None:
        """Delete the clone and everything stored with it."""
        shutil.rmtree(self.path, ignore_errors=True)

    # --- addresses ---------------------------------------------------------------------------------------------------

    def addresses(self, head: CommitId) -> dict[str, tuple[CommitId, int]]:
        """Every address of an author or committer, with one commit that has it as author (0) or committer (1)."""
        found: dict[str, tuple[CommitId, int]] = {}
        with git_stream(self.path, "log", "--format=%H%x00%ae%x00%ce", head, "--") as stream:
            for line in stream:
                sha, author, committer = line.decode("utf-8", "replace").rstrip("\n").split("\0", 2)
                found.setdefault(author, (CommitId(sha), 0))
                found.setdefault(committer, (CommitId(sha), 1))
        return found

    def known_accounts(self) -> dict[str, list[object] | None]:
        """The accounts looked up so far, by address: (user id, login, bot); None if GitHub knows no account."""
        file = self.path / "accounts.json"
        found: dict[str, list[object] | None] = json.loads(file.read_text()) if file.exists() else {}
        return found

    def save_accounts(self, accounts: Mapping[str, object]) -> None:
        _write(self.path / "accounts.json", [json.dumps(accounts, ensure_ascii=True)])

    # --- the plan ----------------------------------------------------------------------------------------------------

    def plan(self, head: CommitId, now: datetime) -> int:
        """Write the list of landings, oldest first, so that it can be read in steps; returns the number of commits.

        No commit landed after `now`.
        """
        rows = list(self._rows(head, now))[::-1]
        _write(self._plan_of(head), rows)
        return len(rows)

    def _plan_of(self, head: CommitId) -> Path:
        return self.path / f"plan-{head}.txt"

    def _rows(self, head: CommitId, now: datetime) -> Iterator[str]:
        for one in arrivals(self.at(head), now=int(now.timestamp())):
            number = "-" if one.brought_by is None else one.brought_by
            clamped = " clamped" if one.clamped else ""
            yield f"{one.commit} {one.landed_at} {one.merge_commit or '-'} {number}{clamped}"

    def is_planned(self, head: CommitId) -> bool:
        return self._plan_of(head).exists()

    def plan_lines(self, head: CommitId, start: int, size: int) -> list[CommitArrival]:
        """Some lines of the plan."""
        with self._plan_of(head).open() as file:
            return [_read_plan_line(line.split()) for line in islice(file, start, start + size)]

    def mainline(self, head: CommitId) -> list[CommitId]:
        """The first-parent line without its merges, newest first: the commits from buttons and pushes."""
        text = git(self.path, "rev-list", "--first-parent", "--no-merges", head)
        return [CommitId(line) for line in text.split()]

    def messages(self, wanted: Sequence[CommitId]) -> dict[CommitId, Commit]:
        """These commits without their files."""
        return (
            {
                one.id: one
                for one in commits(self.path, wanted, patches=False, mailmap=NO_MAILMAP, host=self.repository.host)
            }
            if wanted
            else {}
        )


def _read_plan_line(line: list[str]) -> CommitArrival:
    sha, landed_at, merge_commit, brought_by, *clamped = line
    number = None if brought_by == "-" else int(brought_by)
    merge = None if merge_commit == "-" else CommitId(merge_commit)
    return CommitArrival(CommitId(sha), int(landed_at), merge, number, bool(clamped))


def _write(file: Path, lines: list[str]) -> None:
    """Write the file atomically."""
    scratch = file.with_suffix(".new")
    scratch.write_text("\n".join(lines) + "\n" if lines else "")
    os.replace(scratch, file)


def _git_environment(url: str, token: str, route: NetworkRoute) -> dict[str, str]:
    """The token, for this host only, passed in the environment: everybody on the machine can read a command line.

    Redirects are refused, so the token cannot reach another host.
    """
    parts = urlsplit(url)
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    settings = {
        f"http.{parts.scheme}://{parts.netloc}/.extraHeader": f"Authorization: Basic {basic}",
        "http.followRedirects": "false",
        "credential.helper": "",
        "core.hooksPath": os.devnull,
        "gc.auto": "0",
        **route.git_settings(),
    }
    found = {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_ALLOW_PROTOCOL": "http:https", "GIT_TERMINAL_PROMPT": "0"}
    for number, (key, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C", "GIT_ASKPASS": ""}


async def _run(folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit status of one git command, and its stderr."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *("-C", str(folder), *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=inherited | dict(environment),
            start_new_session=True,
        )
    except FileNotFoundError:
        raise FetchError("the git program is not installed") from None
    try:
        async with asyncio.timeout(_HOURS):
            _, stderr = await process.communicate()
    except TimeoutError:
        raise FetchError("fetching the history took more than two hours") from None
    finally:
        if process.returncode is None:
            # Including its children: a fetch is several processes.
            os.killpg(process.pid, signal.SIGTERM)
            await process.wait()
    return process.returncode or 0, stderr.decode("utf-8", "replace")


def _one_line(stderr: str) -> str:
    lines = [line.removeprefix("fatal: ") for line in stderr.splitlines() if line.strip()]
    return (lines[-1] if lines else "git failed without saying why")[:300]
