"""Which lines do the notes of a month's releases have, and about whose changes?"""

from __future__ import annotations

from msgspec.structs import replace

from bot.landing.identity.addresses import person_key
from bot.landing.months import month_start
from bot.model.change import Change
from bot.model.commit import Person, Signature
from bot.model.fact import ChangelogLine
from bot.model.ids import CommitId, Month
from bot.narrative.digest import DigestedMonth, MonthDigest, month_digest
from bot.narrative.release_notes import MadeRelease, ReleaseNotes, release_sections, release_spans, version_of
from bot.narrative.repository_month import contributor_months
from bot.narrative.title_quotes import quotes_of
from tests.narrative.worlds import MIRA, UTC_ZONE, change

ENGINE = "acme/engine"
MAY = Month("2025-05")
START = month_start(MAY, UTC_ZONE)
DAY = 86_400
BEN = Signature("Ben Castle", "ben@example.org")
NAMES = {person_key(MIRA): "Mira Kessler", person_key(BEN): "Ben Castle"}
MADE = (MadeRelease(ENGINE, "1.0", START - 60 * DAY), MadeRelease(ENGINE, "1.1", START + 20 * DAY))


def _landed(
    title: str, number: int, day: int, author: Signature = MIRA, lines: tuple[ChangelogLine, ...] = ()
) -> Change:
    """A pull request that landed so many days after the month began."""
    made = change(title, number=number)
    (commit,) = made.commits
    at = START + day * DAY
    fact = replace(
        commit.fact,
        pull_request=number,
        landed_at=at,
        authored_at=at,
        author=author,
        changelog=lines,
        paths=("a/b.py",),
    )
    return replace(made, landed_at=at, pull_request=number, commits=(replace(commit, fact=fact),))


def _line(text: str, *numbers: int, release: str = "") -> ChangelogLine:
    return ChangelogLine(text, numbers, "added", (), release)


def _said(
    *changes: Change, made: tuple[MadeRelease, ...] = MADE, contained: dict[CommitId, str] | None = None
) -> list[tuple[str, int | None]]:
    notes = ReleaseNotes(release_spans(made, MAY, UTC_ZONE), changes, NAMES, contained or {})
    sections = release_sections(notes, NAMES, UTC_ZONE)
    return sorted((one.entry.quoted, one.entry.number) for section in sections for one in section.entries)


def _digest(*changes: Change) -> MonthDigest:
    scope = DigestedMonth(frozenset((ENGINE,)), MAY, UTC_ZONE)
    people = [(Person(person_key(MIRA), "Mira Kessler", (), None, None, False), frozenset((person_key(MIRA),)))]
    contributors = contributor_months(changes, people, (scope.repositories, MAY, UTC_ZONE))
    notes = ReleaseNotes(release_spans(MADE, MAY, UTC_ZONE), changes, NAMES)
    landed = [one for one in changes if one.landed_at >= START]
    quotes = quotes_of(landed, {person_key(MIRA)}, UTC_ZONE)
    return month_digest(scope, changes, contributors, quotes=quotes, notes=notes)


def test_lines_without_a_release_belong_to_the_release_after_them() -> None:
    before = _landed("Draw the doors", 1, -70, lines=(_line("Added doors to the house", 1),))
    inside = _landed("Draw the windows", 2, -9, BEN, (_line("Added windows to the house", 2),))
    after = _landed("Draw the roof", 3, 22, lines=(_line("Added a roof to the house", 3),))
    assert _said(before, inside, after) == [("Added windows to the house", 2)]


def test_a_section_that_the_release_writes_is_about_the_pull_requests_it_names() -> None:
    work = _landed("Draw the windows", 2, 3, BEN)
    notes = (_line("Added windows to the house", 2, release="1.1"), _line("Keys turn in every lock", release="1.1"))
    release = _landed("Release 1.1", 4, 20, lines=notes)
    assert _said(work, release) == [("Added windows to the house", 2), ("Keys turn in every lock", None)]


def test_a_release_of_an_older_line_has_its_own_heading_only() -> None:
    inside = _landed("Draw the windows", 2, 3, BEN, (_line("Added windows to the house", 2),))
    fixed = _landed("Close the doors", 5, 4, lines=(_line("Doors are closed at night", 5, release="0.9.7"),))
    older = (*MADE[:1], MadeRelease(ENGINE, "0.9.7", START + 9 * DAY))
    assert _said(inside, fixed, made=older) == [("Doors are closed at night", 5)]


def test_tags_say_which_release_contains_a_commit_that_landed_after_it() -> None:
    merged = _landed("Draw the windows", 2, 22, BEN, (_line("Added windows to the house", 2),))
    assert _said(merged) == []
    assert _said(merged, contained={merged.commits[0].fact.commit: "1.1"}) == [("Added windows to the house", 2)]


def test_the_work_of_who_may_not_be_shown_is_left_out() -> None:
    hidden = Signature("Cleo Hidden", "cleo@example.org")
    assert _said(_landed("Draw the windows", 2, 3, hidden, (_line("Added windows to the house", 2),))) == []


def test_reverted_work_is_no_part_of_the_notes() -> None:
    work = _landed("Draw the windows", 2, 3, BEN, (_line("Added windows to the house", 2),))
    assert _said(replace(work, state="reverted")) == []


def test_the_digest_puts_the_notes_first_with_their_authors_and_links_each_change_once() -> None:
    earlier = _landed("Draw the windows", 2, -9, BEN, (_line("Added windows to the house", 2),))
    own = _landed("Draw the doors", 3, 3, MIRA, (_line("Added doors to the house", 3),))
    other = _landed("Paint the walls of the house", 4, 5, MIRA)
    found = _digest(earlier, own, other)
    first, second = found.groups
    assert first.name == "Released in 1.1"
    assert {(one.entry.number, one.authors) for one in first.lines} == {(2, ("Ben Castle",)), (3, ("Mira Kessler",))}
    assert (second.name, [one.entry.number for one in second.lines]) == ("Highlights", [4])
    assert found.folded == ()


def test_twelve_entries_are_unfolded_however_long_the_notes_are() -> None:
    many = [
        _landed(f"Draw part {at} of the house", at, 3, MIRA, (_line(f"Added part {at} to the house", at),))
        for at in range(10, 40)
    ]
    found = _digest(*many)
    assert sum(len(group.lines) for group in found.groups) == 12
    numbers = [one.entry.number for one in (*(line for group in found.groups for line in group.lines), *found.folded)]
    assert len(numbers) == len(set(numbers)) == 30


def test_versions_are_those_of_the_repositorys_own_full_releases() -> None:
    tags = ("v1.2.0", "1.2", "release-1.2", "engine@2.0.1", "engine-v2.0", "kit@1.2.0", "v1.2.0-rc1", "nightly")
    assert [version_of(tag, ENGINE) for tag in tags] == ["1.2.0", "1.2", "1.2", "2.0.1", "2.0", "", "", ""]
