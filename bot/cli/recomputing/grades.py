"""What does a published profile say of its grades and parts of squashes, which only GitHub's answers give?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.identity.credit import change_credits, credited_keys
from bot.model.change import Change, Judgement
from bot.model.ids import Grade, PersonKey
from bot.render.anonymity import PERSONAL
from bot.render.plain_text import plain_text

_OF_PARTS = re.compile(r"(^|\.)(lines|lines_of_code|languages|skills|technical|summary|narrative)\b")
"""fields that depend on who wrote which lines of a squash"""


class PublishedGrades(Struct, frozen=True):
    """The clones' changes with the published grades, and what they rest on, in words."""

    changes: tuple[Change, ...]
    lines: tuple[str, ...]
    several: bool
    """whether several people wrote one of the commits, so that a clone cannot tell their parts"""

    def hides_parts(self, field: str) -> bool:
        """Whether a difference of this field may come from a part that no clone shows."""
        return self.several and _OF_PARTS.search(field) is not None


def published_grades(
    published: Mapping[str, Any], changes: Sequence[Change], keys: Collection[PersonKey]
) -> PublishedGrades:
    """The changes graded as published. A profile made from clones states no more than clones show, so it adds nothing.

    What a profile from GitHub leaves out of these changes is only claimed there: a clone can neither confirm nor
    refute it, so each is named.
    """
    grades = {str(row.get("id")): row["grade"] for row in published["changes"] if row.get("grade")}
    from_github = "proved" in grades.values()
    if not from_github:
        return PublishedGrades(tuple(changes), (), several=False)
    masked = any(str(row.get("repository", "")).startswith(PERSONAL) for row in published["changes"])
    graded = [change if masked else _graded(change, grades, keys) for change in changes]
    several = any(one.fact.co_authors for change in graded for one in change.counted)
    return PublishedGrades(tuple(graded), tuple(_lines(grades, [] if masked else changes, keys)), several)


def _graded(change: Change, grades: Mapping[str, Any], keys: Collection[PersonKey]) -> Change:
    grade = grades.get(change.id)
    kept: Grade | None = "claimed" if grade == "claimed" else "attributed" if grade else None
    commits = tuple(
        replace(
            commit,
            judgements=tuple(Judgement(key, kept, "as published") for key in credited_keys(commit.fact) if key in keys),
        )
        for commit in change.commits
    )
    return replace(change, commits=commits)


def _lines(grades: Mapping[str, Any], changes: Sequence[Change], keys: Collection[PersonKey]) -> Iterator[str]:
    for name, grade in sorted(grades.items()):
        yield f"changes[{plain_text(name)}].grade is {plain_text(str(grade))}"
    for change in changes:
        if change.id not in grades and any(one.person in keys for _, parts in change_credits(change) for one in parts):
            yield f"changes[{plain_text(change.id)}] is left out as only claimed"
