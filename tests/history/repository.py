"""A git repository for tests, written in a few lines: all names and dates are given, none comes from the machine."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

ADA = ("Ada Brook", "ada@example.org")
BEN = ("Ben Castor", "ben@example.org")
_ALONE = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tfsync = none\n"
"""a commit starts no background maintenance"""


@functools.cache
def _of_the_machine() -> dict[str, str]:
    """The environment of the machine without git's variables."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return plain | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


class Repository:
    """A working clone in a folder; `commit` writes files and returns the new commit id."""

    def __init__(self, folder: Path, remote: str = "https://github.com/acme/rocket.git") -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", "--template=")
        with (folder / ".git" / "config").open("a") as config:
            config.write(
                f'[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n{_ALONE}'
            )
        self.now = 1_735_732_800  # 2025-01-01 12:00 UTC

    def git(self, *arguments: str, author: tuple[str, str] = ADA, committer: tuple[str, str] | None = None) -> str:
        who = committer or author
        environment = _of_the_machine() | {
            "GIT_AUTHOR_NAME": author[0],
            "GIT_AUTHOR_EMAIL": author[1],
            "GIT_COMMITTER_NAME": who[0],
            "GIT_COMMITTER_EMAIL": who[1],
            "GIT_AUTHOR_DATE": f"{getattr(self, 'now', 0)} +0000",
            "GIT_COMMITTER_DATE": f"{getattr(self, 'now', 0)} +0000",
        }
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(
        self, message: str, files: dict[str, str | bytes | None], *, author: tuple[str, str] = ADA, days: int = 1
    ) -> str:
        self.now += days * 86_400
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, author=author)
        return self.tip()

    def merge(self, branch: str, message: str, *, days: int = 1) -> str:
        self.now += days * 86_400
        self.git("merge", "-q", "--no-ff", "-m", message, branch)
        return self.tip()

    def tip(self) -> str:
        """The commit that is checked out, read as git reads it: a commit moves a loose ref, or HEAD itself."""
        kept = self.folder / ".git"
        head = (kept / "HEAD").read_text().strip()
        return (kept / head.removeprefix("ref: ")).read_text().strip() if head.startswith("ref: ") else head
