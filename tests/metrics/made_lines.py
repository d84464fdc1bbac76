"""Small histories of invented work, measured, folded and attributed as a clone's are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.metrics.line_fates import LineLoss, LineRecord, OwnCommit, own_commits
from bot.metrics.measure import Measure, measure
from bot.metrics.quality import Tile, read_tile, share_kept
from bot.metrics.replaced_lines import Fates, HashedCommit, StandingLines
from bot.model.change import Change
from bot.model.commit import Commit, FileChange, Landing, Repository, Signature
from bot.model.fact import Fact
from bot.model.ids import CommitId

ADA = Signature("Ada Brook", "ada@example.org")
BEA = Signature("Bea Lind", "bea@example.org")
APP = Repository("acme/rocket")
START = datetime(2024, 1, 1, 12, tzinfo=UTC)
END = int((START + timedelta(days=900)).timestamp())


class Work(Struct, frozen=True):
    """What one commit does: (path, added lines, removed lines) of each file, landed `day` days after the start."""

    day: float
    files: Sequence[tuple[str, Sequence[str], Sequence[str]]]
    title: str = "Improve the wheel"
    author: Signature = ADA
    written: float | None = None
    """days after the start; the landing's if None"""


def code(name: str, count: int) -> list[str]:
    """Lines of source that occur nowhere else."""
    return [f"    {name}_{number} = turn({name}_{number}, wheel)" for number in range(count)]


def _landing(work: Work, number: int) -> Landing:
    at = START + timedelta(days=work.day)
    written = at if work.written is None else START + timedelta(days=work.written)
    files = tuple(
        FileChange(
            path,
            "modified",
            len(added),
            len(removed),
            "\n".join(
                [
                    f"@@ -1,{len(removed)} +1,{len(added)} @@",
                    *("-" + one for one in removed),
                    *("+" + one for one in added),
                ]
            ),
        )
        for path, added, removed in work.files
    )
    name = CommitId(hashlib.sha256(f"{number}".encode()).hexdigest()[:40])
    commit = Commit(name, (), work.author, work.author, written, at, work.title, files)
    return Landing(APP, commit, commit, at)


def facts_of(works: Sequence[Work]) -> list[Fact]:
    return [measure(_landing(work, number), Measure(imports=True)) for number, work in enumerate(works)]


def lines_of(facts: Sequence[Fact]) -> LineRecord:
    """Attributed in one go."""
    ordered = sorted(facts, key=lambda one: (one.landed_at, one.commit))
    fates = Fates()
    commits = [HashedCommit(number, one.landed_at, one.line_hashes) for number, one in enumerate(ordered)]
    StandingLines().land_all(commits, fates)
    keys = [(one.repository, one.commit) for one in ordered]
    return LineRecord(
        {keys[number]: lines for number, lines in fates.added.items()},
        [LineLoss(keys[one.owner], keys[one.by], one.replaced, one.dropped) for one in fates.losses()],
    )


def changes_of(works: Sequence[Work]) -> tuple[tuple[Change, ...], LineRecord]:
    facts = facts_of(works)
    return fold([replace(one, line_hashes=b"") for one in facts]), lines_of(facts)


def commits_of(works: Sequence[Work]) -> list[OwnCommit]:
    return own_commits(*changes_of(works), ZoneInfo("UTC"))


def share(tile: Tile, works: Sequence[Work], author: Signature = ADA) -> float:
    """The person's share of lines kept, whether it would be rated or not."""
    own = [one for one in commits_of(works) if one.author == f"e:{author.email}"]
    return share_kept(read_tile(tile, own, END))
