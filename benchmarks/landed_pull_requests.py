"""How many of a project's landed pull requests are found, and how many of those found did not land?

    python -m benchmarks.landed_pull_requests [--sample N] [--seed TEXT] CLONE...

The ground truth is the pull requests' own heads, `refs/pull/N/head`, which a mirror clone has and the recognition never
reads. A pull request has landed if the default branch reaches its head (merge button, merge of a queue or bot), or if
its complete diff from the merge base equals, as a patch, one commit of the default branch (squash, pushed by a bot), or
if each of its commits does (rebase). A landing after manual conflict resolution is not detected: the figure is a share
of those whose landing can be proved. Name a mirror without a remote by hand: owner/name=FOLDER.
"""

from __future__ import annotations

import argparse
import random
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from benchmarks.landing_survey import survey
from bot.history.clone import open_clone


class Git(Struct, frozen=True):
    """One clone, queried with the git program."""

    folder: Path

    def ask(self, *arguments: str, given: bytes | None = None) -> str:
        """git's output; empty if it fails."""
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments], input=given, capture_output=True, check=False
        )
        return done.stdout.decode("utf-8", "replace")

    def patch_ids(self, *arguments: str) -> dict[str, str]:
        """Patch id -> commit, for the commits of a log."""
        log = subprocess.Popen(
            ["git", "-C", str(self.folder), "log", "-p", "--no-merges", *arguments], stdout=subprocess.PIPE
        )
        result = subprocess.run(["git", "patch-id", "--stable"], stdin=log.stdout, capture_output=True, check=True)
        return dict(line.split() for line in result.stdout.decode().splitlines())

    def patch_of(self, base: str, head: str) -> str | None:
        """The patch id of a complete diff, or None if it is empty."""
        diff = subprocess.run(
            ["git", "-C", str(self.folder), "diff-tree", "-p", base, head], capture_output=True, check=False
        )
        fields = self.ask("patch-id", "--stable", given=diff.stdout).split()
        return fields[0] if fields else None

    def heads(self) -> dict[int, str]:
        """Pull request number -> head commit."""
        rows = self.ask("for-each-ref", "--format=%(refname) %(objectname)", "refs/pull/*/head").splitlines()
        return {int(name.split("/")[2]): commit for name, commit in map(str.split, rows)}


class Truth(Struct, frozen=True):
    """Which of the sampled pull requests provably landed."""

    sampled: int
    reached: frozenset[int]
    as_patch: frozenset[int]

    @property
    def landed_numbers(self) -> frozenset[int]:
        return self.reached | self.as_patch


def _is_rebased(git: Git, base: str, head: str, known: Iterable[str]) -> bool:
    patches = git.patch_ids(f"{base}..{head}")
    return bool(patches) and patches.keys() <= set(known)


def truth(git: Git, default: str, numbers: dict[int, str]) -> Truth:
    """Check each pull request of `numbers`, first by reachability of its head, then by patch."""
    reached, patched = set(), set()
    commits = set(git.ask("rev-list", default).split())
    patches = git.patch_ids(default)
    for number, head in numbers.items():
        if head in commits:
            reached.add(number)
            continue
        base = git.ask("merge-base", default, head).strip()
        if base and (git.patch_of(base, head) in patches or _is_rebased(git, base, head, patches)):
            patched.add(number)
    return Truth(len(numbers), frozenset(reached), frozenset(patched))


def rows(clones: Iterable[str], sample: int, seed: str) -> Iterator[tuple[str, Truth, frozenset[int]]]:
    """(project, truth, the landed numbers that were found) of each clone."""
    for given in clones:
        found = survey(given)
        git = Git(Path(given.rpartition("=")[2]))
        heads = git.heads()
        chosen = random.Random(seed).sample(sorted(heads), min(sample, len(heads)))
        known = truth(git, open_clone(str(git.folder)).head, {number: heads[number] for number in chosen})
        pulls = {known.pull_request for _, known in found.seen}
        yield found.name, known, known.landed_numbers & pulls


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("clones", nargs="+", metavar="CLONE")
    reader.add_argument("--sample", type=int, default=400)
    reader.add_argument("--seed", default="pulls")
    options = reader.parse_args()
    print("| project | sampled | landed by reachability | landed by patch | found |")
    print("|---|---|---|---|---|")
    for name, known, found in rows(options.clones, options.sample, options.seed):
        share = len(found) / max(1, len(known.landed_numbers))
        print(
            f"| {name} | {known.sampled} | {len(known.reached)} | {len(known.as_patch)}"
            f" | {len(found)} of {len(known.landed_numbers)}, {share:.1%} |",
            flush=True,
        )
        print("- not found:", *sorted(known.landed_numbers - found)[:20])


if __name__ == "__main__":
    main()
