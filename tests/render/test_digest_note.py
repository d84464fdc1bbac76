"""Does a digest read as a plain changelog, stay below GitHub's cap, and make nothing of what strangers wrote?"""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from bot.model.ids import ChangeId, Month
from bot.model.profile import Sentence
from bot.narrative.digest import ContributorRow, DigestGroup, DigestLine, MonthDigest
from bot.narrative.entry import Entry
from bot.render.notes.digest import DigestFrame, NamedLink, digest_note
from tests.render.hostile import OWN

UTC = DigestFrame("UTC")
COMPARED = "https://github.com/acme/app/compare/aaaaaaa...bbbbbbb"


def line(number: int, quoted: str = "Added a retry to the client", **more: str) -> DigestLine:
    link = f"https://github.com/acme/app/pull/{number}"
    name = ChangeId(f"acme/app#{number}")
    entry = Entry(quoted, "Feature", "title", name, None, link, number, (), None, Month("2031-04"))
    return DigestLine(entry, ("Ada Example",), **more)


def month(**more: object) -> MonthDigest:
    rows = (ContributorRow("Ada Example", 3, 2, 1, 4), ContributorRow("Bo Example", 1, 0, 0, 0))
    plain = MonthDigest(
        Month("2031-04"),
        commits=4,
        changes=9,
        features=2,
        fixes=1,
        groups=(
            DigestGroup("Highlights", (line(1),)),
            DigestGroup("Client", (line(2, "Closed the socket on errors"),)),
        ),
        folded=(line(3, "Explained the retry"),),
        rest=("1 documentation change",),
        more=1,
        reverts=(Sentence("“Cache the table” (#9) was reverted the same month.", (ChangeId("acme/app#9"),), "course"),),
        contributors=rows,
    )
    return replace(plain, **more)


def test_a_month_reads_as_a_plain_changelog() -> None:
    address = "https://redirect.github.com/acme/app"
    released = NamedLink("3.12.0", "https://github.com/acme/app/releases")
    text = digest_note(month(), DigestFrame("UTC", comparison=COMPARED, releases=(released,)))
    counts = f"4 commits by 2 contributors: 2 features, 1 bug fix ([compare]({address}/compare/aaaaaaa...bbbbbbb))"
    assert text.splitlines()[:9] == [
        "## April 2031",
        "",
        f"{counts}. Released: [3.12.0]({address}/releases).",
        "",
        "### Highlights",
        "",
        f"- Feature: Added a retry to the client ([#1]({address}/pull/1), Ada Example)",
        "",
        "### Client",
    ]
    assert "<details><summary>1 more change: 1 documentation change</summary>" in text
    assert "| Ada Example | 3 | 2 | 1 | 4 |\n| Bo Example | 1 | 0 | 0 | 0 |" in text
    assert text.rstrip().endswith("To leave, comment `/almanac opt-out`.")


def test_each_pull_request_is_linked_once() -> None:
    links = re.findall(r"pull/(\d+)\)", digest_note(month(), UTC))
    assert links == ["1", "2", "3"]


def test_a_quiet_month_is_two_lines() -> None:
    quiet = month(
        changes=1, groups=(DigestGroup("", (line(1),)),), folded=(), rest=(), more=0, reverts=(), contributors=()
    )
    lines = [found for found in digest_note(quiet, UTC).splitlines() if found]
    assert len(lines) == 2
    assert lines[0].startswith("**April 2031:** 4 commits by 0 contributors")


def test_an_entry_of_an_organisation_names_its_repository() -> None:
    text = digest_note(month(groups=(DigestGroup("", (line(1, repository="app"),)),)), DigestFrame("UTC", "acme"))
    assert text.startswith("## April 2031, acme\n")
    assert "([app#1](https://redirect.github.com/acme/app/pull/1), Ada Example)" in text


@pytest.mark.parametrize("people", [40, 400, 5_000])
def test_the_text_stays_below_the_cap_and_covers_every_commit(people: int) -> None:
    rows = tuple(ContributorRow(f"Person {at:04} {'x' * 60}", 3, 1, 0, 0) for at in range(people))
    folded = tuple(line(at, f"Entry {at} {'x' * 90}") for at in range(10, 10 + people))
    text = digest_note(month(contributors=rows, folded=folded, commits=3 * people), UTC)
    assert len(text.encode("utf-16-le")) // 2 <= 65_000
    assert f"{3 * people:,} commits by {people:,} contributors" in text
    shown = text.count("| Person")
    assert shown == people or f"{people - shown:,} more contributors: {3 * (people - shown):,} commits" in text


@pytest.mark.parametrize("text", OWN)
def test_an_untrusted_name_quotation_or_dispute_is_inert(text: str) -> None:
    rows = (ContributorRow(text, 1, 0, 0, 0),)
    groups = (DigestGroup(text, (replace(line(1, text), authors=(text,)),)),)
    made = digest_note(month(groups=groups, contributors=rows), DigestFrame("UTC", text, disputes=(text,)))
    assert not re.search(r"@[A-Za-z0-9]", made)
    assert "<script" not in made
    assert made.count("](http") == 2
    assert made.count("</details>") == 2


def test_the_only_contributor_is_named_once() -> None:
    alone = month(contributors=(ContributorRow("Ada Example", 4, 2, 1, 0),))
    text = digest_note(alone, UTC)
    assert "4 commits by Ada Example: 2 features, 1 bug fix" in text
    assert text.count("Ada Example") == 2, "in the first line and in the table"


def test_one_author_of_all_folded_entries_is_named_once() -> None:
    folded = tuple(line(number, f"Explained part {number}") for number in range(10, 14))
    text = digest_note(month(folded=folded), UTC)
    assert "<summary>1 more change, those listed all by Ada Example: 1 documentation change</summary>" in text
    assert "Explained part 10 ([#10](https://redirect.github.com/acme/app/pull/10))" in text


def test_the_first_line_says_what_else_was_done_where_that_is_most() -> None:
    text = digest_note(month(others=("18 documentation changes", "4 other changes")), UTC)
    assert "2 features, 1 bug fix, 18 documentation changes, 4 other changes" in text
