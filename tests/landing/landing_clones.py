"""A minimal reader of facts from a clone, for tests."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from bot.landing.conventions.recognition import recognise
from bot.landing.identity.credit import co_authors
from bot.model.commit import Commit, FileChange, Landing, Repository, Signature
from bot.model.fact import Fact, Lines
from bot.model.ids import CommitId

_FORMAT = "%x02%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x03"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def full_name(folder: Path) -> str:
    return git(folder, "config", "remote.origin.url").strip().removesuffix(".git").split("github.com/")[-1]


def read_commits(folder: Path, tip: str = "HEAD") -> dict[str, Commit]:
    commits = {}
    for block in git(folder, "log", "-p", "-U1", "-M", "--no-color", f"--format={_FORMAT}", tip).split("\x02")[1:]:
        head, _, patches = block.partition("\x03")
        sha, parents, name, email, authored, c_name, c_email, committed, message = head.split("\x00")
        commits[sha] = Commit(
            CommitId(sha),
            tuple(CommitId(parent) for parent in parents.split()),
            Signature(name, email),
            Signature(c_name, c_email),
            datetime.fromtimestamp(int(authored), UTC),
            datetime.fromtimestamp(int(committed), UTC),
            message,
            _files(patches),
        )
    return commits


def _files(patches: str) -> tuple[FileChange, ...]:
    files = []
    for part in ("\n" + patches).split("\ndiff --git ")[1:]:
        path = part.split("\n", 1)[0].rpartition(" b/")[2]
        at = part.find("\n@@")
        patch = part[at + 1 :] if at >= 0 else ""
        signs = [line[:1] for line in patch.split("\n")]
        files.append(FileChange(path, "modified", signs.count("+"), signs.count("-"), patch))
    return tuple(files)


def landings(folder: Path, tip: str = "HEAD") -> list[Landing]:
    """Every non-merge commit the tip reaches, with the first-parent commit that brought it."""
    commits = read_commits(folder, tip)
    repository, found, seen = Repository(full_name(folder)), [], set()
    for merge_commit in reversed(git(folder, "rev-list", "--first-parent", tip).split()):
        stack, brought = [merge_commit], []
        while stack:
            sha = stack.pop()
            if sha not in seen:
                seen.add(sha)
                brought.append(sha)
                stack += commits[sha].parents
        work = (commits[sha] for sha in brought if len(commits[sha].parents) < 2)
        found += [
            Landing(repository, commit, commits[merge_commit], commits[merge_commit].committed_at) for commit in work
        ]
    return found


def as_fact(landing: Landing) -> Fact:
    """The landing with every changed line counted as authored."""
    commit, known = landing.commit, recognise(landing)
    return Fact(
        repository=landing.repository.full_name,
        commit=commit.id,
        landed_at=int(landing.landed_at.timestamp()),
        authored_at=int(commit.authored_at.timestamp()),
        author=commit.author,
        committer=commit.committer,
        title=known.title,
        how=known.how,
        merge_commit=landing.merge_commit.id,
        pull_request=known.pull_request,
        co_authors=co_authors(commit.message, commit.author),
        keys=known.keys,
        reverts=known.reverts,
        relands=known.relands,
        lines=Lines(authored=sum(file.additions + file.deletions for file in commit.files)),
        kind="revert" if known.reverts else "feature",
    )
