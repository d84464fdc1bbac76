"""What does a published profile say of its grades and parts of squashes, which only GitHub's answers give?

Nothing else rests on the publisher's word: every number follows from the stated grade and own lines of each change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from bot.configuration.errors import UnusableInputError
from bot.landing.identity.credit import credits_of, person_key
from bot.metrics.totals import own_credits
from bot.model.change import Change, CountedCommit, Judgement
from bot.model.commit import Share
from bot.model.fact import Evidence
from bot.model.ids import Grade, PersonKey
from bot.render.anonymity import PERSONAL
from bot.render.plain_text import plain_text


class PublishedGrades(Struct, frozen=True):
    """The clones' changes with the published grades and parts, and what they rest on, in words."""

    changes: tuple[Change, ...]
    lines: tuple[str, ...]


def published_grades(
    published: Mapping[str, Any], changes: Sequence[Change], keys: Collection[PersonKey]
) -> PublishedGrades:
    """The changes graded as published. A profile made from clones states no more than clones show, so it adds nothing.

    What a profile from GitHub leaves out of these changes is only claimed there: a clone can neither confirm nor
    refute it, so each is named. Raises UnusableInputError for a grade that does not exist.
    """
    rows = {str(row.get("id")): row for row in published["changes"] if row.get("grade")}
    if not {row["grade"] for row in rows.values()} <= {*get_args(Grade)}:
        raise UnusableInputError("the profile has a grade that does not exist; download it again")
    own = {str(key): part for key, part in own_credits(changes, keys).items()}
    if all(key not in own or row["grade"] == own[key].grade for key, row in rows.items()):
        return PublishedGrades(tuple(changes), ())
    if any(str(row.get("repository", "")).startswith(PERSONAL) for row in published["changes"]):
        return PublishedGrades(tuple(changes), tuple(_grade_lines(rows)))
    graded = [_graded(change, rows.get(change.id, {}), keys) for change in changes]
    parts = [rows[change.id] for change in changes if change.parts_unknown and change.id in rows]
    left_out = [f"changes[{plain_text(key)}] is left out as only claimed" for key in own if key not in rows]
    return PublishedGrades(tuple(graded), (*_grade_lines(rows), *_part_lines(parts), *left_out))


def _grade_lines(rows: Mapping[str, Any]) -> Iterator[str]:
    for name, row in sorted(rows.items()):
        yield f"changes[{plain_text(name)}].grade is {row['grade']}"


def _part_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The own lines in squashes of several people, whose parts no clone shows."""
    for row in rows:
        if not row.get("parts_unknown"):
            yield f"changes[{plain_text(str(row['id']))}].own_lines is {plain_text(str(row.get('own_lines')))}"


def _graded(change: Change, row: Mapping[str, Any], keys: Collection[PersonKey]) -> Change:
    grade: Grade | None = row.get("grade")
    authored = any(person_key(commit.fact.author) in keys for commit in change.counted)
    commits = [_judged(commit, grade, keys, authored=authored) for commit in change.commits]
    if row and not row.get("parts_unknown"):
        commits = _divided(commits, row.get("own_lines"), keys)
    return replace(change, commits=tuple(commits))


def _judged(
    commit: CountedCommit, grade: Grade | None, keys: Collection[PersonKey], *, authored: bool
) -> CountedCommit:
    """With the grade that the change is published with; a mere trailer beside own work proves nothing more."""
    author = person_key(commit.fact.author)
    kept: Grade | None = "attributed" if grade == "proved" else grade
    of_trailer: Grade | None = "claimed" if authored and kept and author not in keys else kept
    named = {author: kept} | {key: of_trailer for one in commit.fact.co_authors if (key := person_key(one)) != author}
    judgements = (Judgement(key, one, "as published") for key, one in named.items() if key in keys)
    return replace(commit, judgements=tuple(judgements))


def _divided(commits: list[CountedCommit], stated: object, keys: Collection[PersonKey]) -> list[CountedCommit]:
    """The commits with the stated own lines in the one that several people wrote, if they can be."""
    own = [one for one in commits if one.counts and any(part.person in keys for part in credits_of(one))]
    several = [one for one in own if one.fact.co_authors]
    known = sum(one.lines.total for one in own if not one.fact.co_authors)
    rest = stated - known if isinstance(stated, int) else -1
    if len(several) != 1 or not 0 <= rest <= several[0].lines.total:
        return commits
    divided = _with_part(several[0], rest, keys)
    return [divided if one is several[0] else one for one in commits]


def _with_part(commit: CountedCommit, lines: int, keys: Collection[PersonKey]) -> CountedCommit:
    fact = commit.fact
    people = sorted((fact.author, *fact.co_authors), key=lambda sig: person_key(sig) not in keys)
    shares = (Share(people[0], 1, lines), Share(people[1], 1, commit.lines.total - lines))
    return replace(commit, fact=replace(fact, evidence=Evidence(shares=shares)))
