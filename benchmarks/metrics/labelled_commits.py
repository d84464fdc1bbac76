"""Which commits did their authors label with a conventional prefix, and what else do they contain?"""

from __future__ import annotations

import csv
import gzip
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from bot.landing.lines.diff import read_diff
from bot.landing.lines.split import ReadFile, read_files
from bot.metrics.kind_input import evidence_of
from bot.model.ids import Kind

KIND_OF: dict[str, Kind] = {
    "feat": "feature", "feature": "feature", "fix": "bug_fix", "bugfix": "bug_fix", "docs": "docs", "doc": "docs",
    "test": "test", "tests": "test", "refactor": "refactor", "perf": "perf", "style": "style", "build": "build",
    "ci": "ci", "chore": "chore",
    "enh": "feature", "bug": "bug_fix", "tst": "test", "maint": "chore", "mnt": "chore", "sty": "style", "bld": "build",
}  # fmt: skip
"""prefixes of https://www.conventionalcommits.org, and those of numpy and related projects"""
RESERVED = (
    "aio-libs/aiohttp clap-rs/clap deepset-ai/haystack denoland/deno electron/electron Flagsmith/flagsmith grafana/k6 "
    "hashicorp/vault ibis-project/ibis jlowin/fastmcp mitmproxy/mitmproxy nuxt/nuxt ory/hydra PRQL/prql saltstack/salt "
    "scrapy/scrapy vuejs/core zellij-org/zellij"
)
"""projects reserved for evaluation: rows of these are always left out"""
MOST_COMMITS = 800
_PREFIX = re.compile(rf"^({'|'.join(KIND_OF)})(\([^)]{{0,80}}\))?!?: *(.+)$", re.IGNORECASE)
_LONGEST_DIFF = 60_000
_BATCH = 100


class Labelled(Struct, frozen=True):
    """One commit with its label; `prefix` is what its author wrote before the title."""

    kind: Kind
    prefix: str
    title: str
    body: str
    files: tuple[ReadFile, ...]


def of_table(path: Path) -> dict[str, list[Labelled]]:
    """The rows of `change_kind_train.csv.gz` by project: titles and paths, without bodies and patches."""
    found: dict[str, list[Labelled]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            known = found.setdefault(row["repo"], [])
            if row["repo"] in RESERVED.split() or len(known) >= MOST_COMMITS:
                continue
            evidence = evidence_of({"message": row["subject_masked"], "files": row["files"]})
            prefix = f"{row['label']}({row['scope']}): " if row["scope"] else f"{row['label']}: "
            known.append(Labelled(KIND_OF[row["label"]], prefix, evidence.title, "", tuple(evidence.files)))
    return {repo: rows for repo, rows in found.items() if rows}


def of_clone(path: Path, most: int = MOST_COMMITS) -> list[Labelled]:
    """At most `most` labelled commits of a clone, drawn evenly over its history, with one in seven of bots' commits."""
    log = git(path, "log", "--no-merges", "--format=%H%x00%an%x00%s", "-n", "12000")
    wanted: dict[str, re.Match[str]] = {}
    for line in log.split("\n"):
        commit, _, rest = line.partition("\0")
        author, _, subject = rest.partition("\0")
        match = _PREFIX.match(subject)
        bot = any(word in author.lower() for word in ("[bot]", "renovate", "dependabot"))
        if match and not (bot and random.Random(commit).random() > 0.15):
            wanted[commit] = match
    chosen = sorted(wanted)
    random.Random(7).shuffle(chosen)
    return [
        row for at in range(0, min(most, len(chosen)), _BATCH) for row in _batch(path, chosen[at : at + _BATCH], wanted)
    ]


def _batch(path: Path, commits: list[str], wanted: dict[str, re.Match[str]]) -> Iterator[Labelled]:
    form = "--format=%x01%x01%H%x02%B%x02"
    args = ("log", "--no-walk=unsorted", "--stdin", "-p", "-M", "-U1", "--root", form)
    for part in git(path, *args, stdin="\n".join(commits)).split("\1\1")[1:]:
        commit, message, diff = (*part.split("\2", 2), "", "")[:3]
        if commit not in wanted:
            continue
        prefix = wanted[commit]
        files = read_files(read_diff(diff.lstrip("\n")[:_LONGEST_DIFF].encode()))
        body = message.partition("\n")[2][:4000]
        title = prefix[3]
        yield Labelled(KIND_OF[prefix[1].lower()], prefix[0][: len(prefix[0]) - len(title)], title, body, files)


def git(path: Path, *args: str, stdin: str = "") -> str:
    """git's output; it ends early, and omits a commit, if a partial clone lacks the commit's files."""
    done = subprocess.run(
        ("git", "-C", str(path), *args), input=stdin.encode(), capture_output=True, timeout=300, check=False
    )
    return done.stdout.decode("utf-8", "replace")


def name_of(path: Path) -> str:
    """owner/name of a clone: from its folder, or the parent folder, named `owner+name`; otherwise the folder's name."""
    for part in (path.name, path.parent.name):
        if "+" in part:
            return part.replace("+", "/", 1)
    return path.name
