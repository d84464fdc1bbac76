"""Facts, changes and items for tests of the quality scores."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from bot.landing.lines.split import ReadFile
from bot.model.change import Change, CountedCommit, Item
from bot.model.commit import FileChange, Signature
from bot.model.fact import Fact, Lines
from bot.model.ids import ChangeId, CommitId, Kind

DAY = 86_400
NOON = 1_700_000_000
ADA = Signature("Ada Brook", "ada@example.org")


def a_fact(
    signals: Mapping[str, int],
    *,
    title: str = "Improve the gauge",
    at: int = NOON,
    paths: tuple[str, ...] = ("gauge.py",),
    kind: Kind = "refactor",
) -> Fact:
    name = CommitId(f"{abs(at) % 10**9:040d}")
    lines = Lines(authored=signals.get("added", 0) + signals.get("removed", 0))
    fact = Fact("acme/rocket", name, at, at, ADA, ADA, title, "push", name, lines=lines, kind=kind)
    return replace(fact, signals=dict(signals), paths=paths)


def a_change(*facts: Fact, name: str = "acme/rocket#1") -> Change:
    first = facts[0]
    commits = tuple(CountedCommit(fact, True, fact.lines) for fact in facts)
    return Change(ChangeId(name), "acme/rocket", first.title, first.kind, "", True, "landed", first.landed_at, commits)


def an_item(*changes: Change) -> Item:
    return Item("other", changes[0].title, "landed", tuple(change.id for change in changes))


def read(path: str, added: list[str], removed: list[str] | None = None, *, part: str = "authored") -> ReadFile:
    language = {"py": "Python", "go": "Go", "ts": "TypeScript", "rs": "Rust"}[path.rsplit(".", 1)[1]]
    gone = removed or []
    change = FileChange(path, "modified", len(added), len(gone), "@@")
    return ReadFile(change, part, language, added, gone)
