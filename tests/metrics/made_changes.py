"""Facts, changes and read files for tests of kinds, items and quality."""

from __future__ import annotations

from bot.landing.lines.split import ReadFile
from bot.model.change import Change, CountedCommit
from bot.model.commit import FileChange, Signature
from bot.model.fact import Fact, Lines
from bot.model.ids import ChangeId, CommitId, Kind

NOON = 1_700_000_000
ADA = Signature("Ada Brook", "ada@example.org")


def a_fact(
    *,
    authored: int = 3,
    title: str = "Improve the gauge",
    at: int = NOON,
    paths: tuple[str, ...] = ("gauge.py",),
    kind: Kind = "refactor",
) -> Fact:
    name = CommitId(f"{abs(at) % 10**9:040d}")
    lines = Lines(authored=authored)
    return Fact("acme/rocket", name, at, at, ADA, ADA, title, "push", name, lines=lines, kind=kind, paths=paths)


def a_change(*facts: Fact, name: str = "acme/rocket#1") -> Change:
    first = facts[0]
    commits = tuple(CountedCommit(fact, True, fact.lines) for fact in facts)
    return Change(ChangeId(name), "acme/rocket", first.title, first.kind, "", True, "landed", first.landed_at, commits)


def read(path: str, added: list[str], removed: list[str] | None = None, *, part: str = "authored") -> ReadFile:
    language = {"py": "Python", "go": "Go", "ts": "TypeScript", "rs": "Rust"}[path.rsplit(".", 1)[1]]
    gone = removed or []
    change = FileChange(path, "modified", len(added), len(gone), "@@")
    return ReadFile(change, part, language, added, gone)
