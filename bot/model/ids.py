"""Which ids and closed sets of values do all packages share?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NewType, get_args

UserId = NewType("UserId", int)
RepositoryId = NewType("RepositoryId", int)
InstallationId = NewType("InstallationId", int)
CommitId = NewType("CommitId", str)
ChangeId = NewType("ChangeId", str)
"""`owner/name#123` if a pull request of that repository is proved, else `owner/name@<full commit id>`."""
PersonKey = NewType("PersonKey", str)
"""`u:<user id>` if GitHub or a noreply address proves it, else `e:<lower-case e-mail>` (claimed)."""
Month = NewType("Month", str)
"""`YYYY-MM`: the calendar month of landing in the configured time zone."""
Kind = Literal[
    "feature", "bug_fix", "refactor", "docs", "test", "build", "ci", "perf", "style", "chore", "revert", "upkeep"
]
STATED = 1000
"""the probability, in thousandths, of a kind that somebody stated"""
ItemKind = Literal["feature", "bug_fix", "other"]
State = Literal["landed", "reverted", "relanded"]
Grade = Literal["proved", "attributed", "claimed"]
"""how surely work is a person's: GitHub proves it, GitHub resolves it in a trusted landing, or only a text says so"""
FileStatus = Literal["added", "modified", "removed", "renamed", "copied", "changed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NO_COUNTS: Mapping[str, int] = MappingProxyType({})


def no_counts() -> Mapping[str, int]:
    return NO_COUNTS
