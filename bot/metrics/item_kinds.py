"""Is an item a feature, a bug fix or other work, given the kinds of its members and the files they touch?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bot.landing.lines import linguist
from bot.landing.lines.paths import NO_RULES, own_part
from bot.metrics.kind_features import file_category
from bot.metrics.links import scope_of
from bot.model.change import Change
from bot.model.ids import ItemKind

_SUPPORTING = frozenset({"docs", "tests", "ci", "bench", "log", "meta"})
"""places where features and fixes do not affect users"""
_EXAMPLE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|playgrounds?)/", re.IGNORECASE)
_SUPPORTING_SCOPES = frozenset(
    ("readme", "docs", "doc", "changelog", "examples", "example", "tests", "test", "ci", "deps", "deps-dev", "bench")
)


def item_kind(members: Sequence[Change]) -> ItemKind:
    """A feature if any member is one, else a bug fix if any is; reverted members do not count unless all are."""
    unreverted = [member for member in members if member.state != "reverted"] or members
    kinds = {counted_kind(member) for member in unreverted}
    return "feature" if "feature" in kinds else "bug_fix" if "bug_fix" in kinds else "other"


def counted_kind(change: Change) -> ItemKind:
    """The kind that a change counts as: a fix of only the README, or a feature of the tests, is other work."""
    if change.kind not in ("feature", "bug_fix") or _is_supporting(change):
        return "other"
    return "feature" if change.kind == "feature" else "bug_fix"


def _is_supporting(change: Change) -> bool:
    """Whether its scope, or each file it is known to touch, is documentation, tests, examples or similar."""
    if scope_of(change.title) in _SUPPORTING_SCOPES:
        return True
    paths = [path for commit in change.commits for path in commit.fact.paths]
    return bool(paths) and all(map(_is_supporting_file, paths))


@lru_cache(maxsize=2048)
def _is_supporting_file(path: str) -> bool:
    if _EXAMPLE.search(path):
        return True
    return file_category(path, own_part(path, linguist.language(path), NO_RULES)) in _SUPPORTING
