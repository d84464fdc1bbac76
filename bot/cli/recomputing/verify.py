"""Does a published profile agree with the clones? Recompute it as of its date, and name each field that differs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from msgspec import Struct, to_builtins

from bot.cli.recomputing.contributor import PublishedScope, find_contributor
from bot.cli.recomputing.grades import PublishedGrades, published_grades
from bot.cli.recomputing.offline import record_of
from bot.cli.recomputing.unverifiable import (
    contributor_lines,
    correction_lines,
    is_live,
    live_lines,
    published_corrections,
)
from bot.configuration.errors import UnusableInputError
from bot.configuration.signing import is_signed
from bot.history.record import CloneRecord
from bot.landing.months import parse_month
from bot.metrics.line_fates import own_commits
from bot.metrics.registry import METHOD_VERSION
from bot.model.change import Change
from bot.model.commit import Person, Signature
from bot.model.fact import Fact
from bot.model.ids import Month
from bot.render.anonymity import PERSONAL, WITHHELD, Identity
from bot.render.plain_text import plain_text

_KEYS = {
    "months": "month",
    "changes": "id",
    "repositories": "full_name",
    "activity": "date",
    "languages": "name",
    "technical": "name",
    "tools": "name",
}
"""list -> the key that identifies its rows"""
_NOT_COMPARED = ("schema", "generated_at", "contributor")
"""the person and the time are given, not recomputed"""
_UNNAMED = re.compile(rf"{re.escape(WITHHELD)}|(?<=with |.and )(?:\d+|[a-z]+) others?(?=[,)])")
"""what stands in a published text for people who may not be named there"""
_ABSENT: Any = object()
Naming = Literal["named", "anonymous"]


class Difference(Struct, frozen=True):
    """One field that differs; a row that only one side has is one difference."""

    field: str
    published: str
    recomputed: str

    def __str__(self) -> str:
        return f"{self.field}: published {self.published}, recomputed {self.recomputed}"


class Verification(Struct, frozen=True):
    """The differences, and what the clones can neither confirm nor refute and only the publisher states."""

    differences: tuple[Difference, ...]
    stated: tuple[str, ...]

    def as_object(self) -> dict[str, Any]:
        """For programs."""
        return {"same": not self.differences, "differences": to_builtins(self.differences), "stated": list(self.stated)}


def examine(paths: Sequence[str], text: str, *, keys: str | None = None, name: str | None = None) -> Verification:
    """Compare a profile's JSON text (or a snapshot's) with the clones, after applying the corrections it states.

    `keys` is the JSON of `/.well-known/almanac-key.json`; with it a snapshot's signature is checked too. Raises
    UnusableInputError for a text that is no profile, for a repository without a clone, and for unreadable clones.
    """
    published, found = _open_envelope(text, keys)
    _check_method(published)
    with record_of(paths, name=name) as record:
        recomputed, graded, corrected = _recompute(record, published)
    stated = (*corrected, *live_lines(published), *graded.lines)
    return Verification((*found, *_differences(published, recomputed, "")), stated)


def examine_file(
    paths: Sequence[str], profile: Path, *, keys: Path | None = None, name: str | None = None
) -> Verification:
    """`examine`, reading from files."""
    return examine(paths, _text(profile), keys=_text(keys) if keys else None, name=name)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise UnusableInputError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def verify(paths: Sequence[str], text: str, *, keys: str | None = None) -> list[Difference]:
    """The differences; empty if profile and clones agree."""
    return list(examine(paths, text, keys=keys).differences)


# --- reading what was published --------------------------------------------------------------------------------------


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableInputError("the profile is not JSON; download it again from its .json address") from None
    if not isinstance(found, dict):
        raise UnusableInputError("the profile is not a JSON object; download it again from its .json address")
    return found


def _open_envelope(text: str, keys: str | None) -> tuple[dict[str, Any], list[Difference]]:
    """The profile, and any problem with its signature."""
    found = _object(text)
    wrong: list[Difference] = []
    if found.get("schema") == "almanac.snapshot/1":
        sealed = str(found.get("profile", ""))
        if keys is not None and not _is_sealed(found, sealed, _object(keys)):
            wrong.append(Difference("signature", "one that does not match", "none of the keys made it"))
        found = _object(sealed)
    elif keys is not None:
        raise UnusableInputError("the file is not a snapshot and has no signature; leave out --keys")
    _check_shape(found)
    return found, wrong


def _is_sealed(envelope: Mapping[str, Any], text: str, keys: Mapping[str, Any]) -> bool:
    rows = keys.get("keys")
    known = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    signature = str(envelope.get("signature", ""))
    fitting = [row for row in known if row.get("id") == envelope.get("key")]
    return any(is_signed(text, signature, str(row.get("public_key", ""))) for row in fitting)


def _check_shape(published: Mapping[str, Any]) -> None:
    if published.get("schema") != "almanac.profile/1":
        raise UnusableInputError("the file is not an almanac.profile/1; download the profile from its .json address")
    for name, kind in (("method", dict), ("contributor", dict), ("changes", list), ("repositories", list)):
        if not isinstance(published.get(name), kind):
            raise UnusableInputError(f"the profile has no {name}; download it again from its .json address")


def _check_method(published: Mapping[str, Any]) -> None:
    """Numbers of another method differ by definition, so nothing is compared."""
    version = published["method"].get("version")
    if version != METHOD_VERSION:
        raise UnusableInputError(
            f"the profile was made by method version {plain_text(json.dumps(version))}, and this program computes "
            f"version {METHOD_VERSION}; verify it with the release of Almanac that made it, or download it again"
        )


# --- recomputing -----------------------------------------------------------------------------------------------------


def _recompute(record: CloneRecord, published: Mapping[str, Any]) -> tuple[dict[str, Any], PublishedGrades, list[str]]:
    """The recomputed profile, and what it uses from the published one: grades, and in words names and corrections."""
    from bot.landing.changes import fold
    from bot.landing.corrections import apply_corrections
    from bot.narrative.profile import ProfileContext, ProfileScope, build
    from bot.render.anonymity import apply_naming
    from bot.render.text.json import profile_object

    try:
        now = datetime.fromisoformat(published["generated_at"])
        zone = ZoneInfo(published["method"]["timezone"])
        since, until = (_month(published["method"].get(name)) for name in ("since", "until"))
        names = _repositories(published)
    except (KeyError, TypeError, ValueError, OSError):
        raise UnusableInputError("the profile's date, time zone or repositories cannot be read") from None
    _check_clones(record, names, published)
    persons = find_contributor(record, published, PublishedScope(names, zone, int(now.timestamp()), since, until))
    facts = _facts(record, persons, names, until=int(now.timestamp()))
    published_contributor = published["contributor"]
    person = Person(
        persons[0].key, str(published_contributor.get("display", "")), (), published_contributor.get("login")
    )
    naming: Naming = "anonymous" if published_contributor.get("naming") == "anonymous" else "named"
    keys = record.keys_of(persons)
    scope = ProfileScope(person=person, keys=keys, zone=zone, now=now, since=since, until=until, naming=naming)
    changes = fold(facts, record.repositories)
    if not any(commit.counts for change in changes for commit in change.commits):
        raise UnusableInputError("the clones contain nothing by this contributor from before the profile's date")
    by_id = published_corrections(published, changes, _own_repositories(changes, persons))
    changes = apply_corrections(changes, [one for one, _ in by_id.values()])
    everybody: Sequence[Change] = fold(_facts_until(record, int(now.timestamp())), record.repositories)
    graded = published_grades(published, changes, keys)
    changes, by_name = graded.changes, {change.id: change for change in graded.changes}
    everybody = [by_name.get(change.id, change) for change in everybody]
    texts = record.texts_about(changes, until=int(now.timestamp()))
    context = ProfileContext(
        own_commits(everybody, record.line_record(), zone),
        everybody=True,
        texts=texts,
        totals=record.theme_totals(texts, until=int(now.timestamp())),
        partial=_partial_repositories(published, _own_repositories(changes, persons)) | record.without_start,
        shallow=bool(record.without_start),
    )
    profile = apply_naming(build(changes, scope, context), changes, scope)
    stated = [*contributor_lines(published_contributor, persons), *correction_lines(by_id)]
    return profile_object(profile), graded, stated


def _month(stated: Any) -> Month | None:
    """The stated month; raises ValueError if it is invalid."""
    if stated is None:
        return None
    parse_month(str(stated))
    return Month(stated)


def _own_repositories(changes: Sequence[Change], persons: Sequence[Person]) -> frozenset[str]:
    """The repositories in these persons' own accounts."""
    own = _identity(persons)
    return frozenset(change.repository for change in changes if own.owns(change.repository))


def _partial_repositories(published: Mapping[str, Any], own: frozenset[str]) -> frozenset[str]:
    """The repositories for which the publisher had only a part of the history."""
    names = {str(row["full_name"]) for row in published["repositories"] if row.get("whole_history") is False}
    return frozenset(names | (own if any(name.startswith(PERSONAL) for name in names) else set()))


def _repositories(published: Mapping[str, Any]) -> frozenset[str]:
    names = {str(row["full_name"]) for row in published["repositories"]}
    return frozenset(names | {str(row["repository"]) for row in published["changes"]})


def _check_clones(record: CloneRecord, names: frozenset[str], published: Mapping[str, Any]) -> None:
    given = {clone.repository.full_name for clone in record.clones}
    listed = {str(row["full_name"]) for row in published["repositories"]}
    missing = sorted(name for name in listed - given if not name.startswith(PERSONAL))
    if missing:
        raise UnusableInputError(f"no clone of {', '.join(missing)} was given, but the profile includes work there")


def _facts(record: CloneRecord, persons: Sequence[Person], names: frozenset[str], *, until: int) -> list[Fact]:
    """The facts of these persons' work that the profile could know: in its repositories, up to its date."""
    found = (commit.fact for change in record.changes_of(persons) for commit in change.commits)
    own = _identity(persons)
    masked = any(name.startswith(PERSONAL) for name in names)
    return [
        fact
        for fact in found
        if fact.landed_at <= until and (fact.repository in names or (masked and own.owns(fact.repository)))
    ]


def _facts_until(record: CloneRecord, until: int) -> list[Fact]:
    """All facts of the clones up to a moment."""
    found = (commit.fact for change in record.all_changes() for commit in change.commits)
    return [fact for fact in found if fact.landed_at <= until]


def _identity(persons: Sequence[Person]) -> Identity:
    return Identity.of(sig for person in persons for sig in _signatures(person))


def _signatures(person: Person) -> Iterator[Signature]:
    yield from (Signature(person.name, email, person.user_id, person.login) for email in person.emails or ("",))


# --- comparing -------------------------------------------------------------------------------------------------------


def _differences(published: Any, recomputed: Any, field: str) -> Iterator[Difference]:
    if isinstance(published, dict) and isinstance(recomputed, dict):
        if published.get("writer") == "llm":
            return  # a language model's text: checked when it was written, and different each time
        for name in dict.fromkeys((*recomputed, *published)):
            if is_live(field, name) or (name == "project" and published.get(name) is None):
                continue  # reported as stated by the publisher
            if field == "quality" and name == "architecture" and not _states(published.get(name)):
                continue  # a server sees no graph of imports
            if field or name not in _NOT_COMPARED:
                inner = f"{field}.{name}" if field else name
                yield from _differences(published.get(name, _ABSENT), recomputed.get(name, _ABSENT), inner)
    elif isinstance(published, list) and isinstance(recomputed, list):
        yield from _rows(published, recomputed, field)
    elif not _same(published, recomputed):
        yield Difference(field, _value_text(published), _value_text(recomputed))


def _states(score: Any) -> bool:
    """Whether a published score says anything."""
    return not isinstance(score, dict) or any(score.values())


def _same(published: Any, recomputed: Any) -> bool:
    """Whether they are equal and of the same type: 1 is not True, and a missing value is not null.

    Where the publisher does not name somebody else, any name of the clones fits.
    """
    if isinstance(published, str) and isinstance(recomputed, str) and published != recomputed:
        parts = _UNNAMED.split(published)
        return len(parts) > 1 and re.fullmatch(".+".join(map(re.escape, parts)), recomputed) is not None
    return bool(published == recomputed) and isinstance(published, bool) == isinstance(recomputed, bool)


def _rows(published: list[Any], recomputed: list[Any], field: str) -> Iterator[Difference]:
    """Differences of rows matched by key, else by index; the order is reported if nothing else differs."""
    key = _KEYS.get(field.rpartition(".")[2])
    if key is None or not all(isinstance(row, dict) and key in row for row in (*published, *recomputed)):
        for at in range(max(len(published), len(recomputed))):
            one, other = (rows[at] if at < len(rows) else _ABSENT for rows in (published, recomputed))
            yield from _differences(one, other, f"{field}[{at + 1}]")
        return
    ours, theirs = ({str(row[key]): row for row in rows} for rows in (published, recomputed))
    for name in dict.fromkeys((*theirs, *ours)):
        yield from _differences(ours.get(name, _ABSENT), theirs.get(name, _ABSENT), f"{field}[{name}]")
    if len(ours) != len(published):
        yield Difference(field, "a row twice", "each once")
    if set(ours) == set(theirs) and list(ours) != list(theirs):
        yield Difference(f"{field}, order", ", ".join(list(ours)[:5]), ", ".join(list(theirs)[:5]))


def _value_text(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"
