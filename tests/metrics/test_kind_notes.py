"""Does the release note of a change state its kind?"""

from __future__ import annotations

import time

import pytest

from bot.landing.lines.split import ReadFile
from bot.metrics.change_kind import KindEvidence, classify
from bot.metrics.kind_notes import is_note, noted_kind
from bot.model.commit import FileChange
from bot.model.ids import FileStatus

SOURCE = ReadFile(FileChange("rocket/gauge.py", "modified", 3, 1, "@@"), "authored", "Python", ["x = 1"], [])


def note(path: str, *added: str, status: FileStatus = "added", head: str = "@@ -0,0 +1,9 @@\n") -> ReadFile:
    patch = head + "\n".join("+" + line for line in added)
    return ReadFile(FileChange(path, status, len(added), 0, patch), "docs", None, list(added), [])


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (note("changelog/123.bugfix.rst", "The gauge no longer sticks."), "bug_fix"),
        (note("newsfragments/+gauge.feature.md", "A gauge."), "feature"),
        (note("news/7.doc.2.rst", "The gauge is explained."), "docs"),
        (note("changelog/fix_a_stuck_gauge_2020.md", "* Fix a stuck gauge."), "bug_fix"),
        (note("changelogs/fragments/7-gauge.yml", "---", "minor_changes:", "  - a gauge"), "feature"),
        (note(".chloggen/gauge.yaml", "# one of bug_fix, enhancement", "change_type: bug_fix"), "bug_fix"),
        (note(".changelog/7.txt", "```release-note:improvement", "a gauge", "```"), "feature"),
        (note("changelog.d/7.misc", "Types."), None),
        (note("news/7.removal.rst", "The old gauge is gone."), None),
        (note("news/7.bugfix.rst", "A word is spelt right.", status="modified"), None),
    ],
)
def test_a_separate_release_note_states_the_kind(file: ReadFile, expected: str | None) -> None:
    found = noted_kind([SOURCE, file])
    assert (found and found[0]) == expected


def changelog(*lines: str) -> ReadFile:
    added = [line[1:] for line in lines if line.startswith("+")]
    change = FileChange("CHANGELOG.md", "modified", len(added), 0, "\n".join(["@@ -3,6 +3,7 @@", *lines]))
    return ReadFile(change, "docs", "Markdown", added, [])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((" ### Added", " - a lamp", "+- a gauge"), "feature"),
        ((" ### Added", " - a lamp", " ### Fixed", "+- a stuck gauge"), "bug_fix"),
        (("+* [BUGFIX] Gauge: no longer sticks. #7",), "bug_fix"),
        (("+Bug fixes:", "+* a stuck gauge"), "bug_fix"),
        ((" ### Added", "+- a gauge", " ### Fixed", "+- a lamp"), None),
        (("+## [1.2.0]", "+### Fixed", "+- a stuck gauge"), None),
        ((" - a lamp", "+- a gauge"), None),
        ((" ### Fixed", "@@ -90,2 +91,3 @@", "+- a gauge"), None),
    ],
)
def test_a_line_of_the_changelog_says_the_kind_of_its_section(lines: tuple[str, ...], expected: str | None) -> None:
    found = noted_kind([SOURCE, changelog(*lines)])
    assert (found and found[0]) == expected


def test_notes_that_disagree_or_come_without_source_say_nothing() -> None:
    fix, feature = note("news/1.bugfix.rst", "a"), note("news/2.feature.rst", "b")
    assert noted_kind([SOURCE, fix, feature]) is None
    assert noted_kind([fix]) is None


def test_a_prefix_and_a_label_come_before_a_note_and_a_note_before_a_guess() -> None:
    files = (SOURCE, note("changelog/123.bugfix.rst", "The gauge no longer sticks."))
    assert classify(KindEvidence("Add a gauge", files=files)).kind == "bug_fix"
    assert classify(KindEvidence("Add a gauge", files=files)).why == "release note 123.bugfix.rst"
    assert classify(KindEvidence("feat: a gauge", files=files)).kind == "feature"
    assert classify(KindEvidence("A gauge", files=files, labels=("enhancement",))).kind == "feature"


@pytest.mark.parametrize("path", ["src/news.py", "docs/changelog.py", "changes.py", "lib/changelog/"])
def test_other_files_are_not_release_notes(path: str) -> None:
    assert not is_note(path)


def test_a_hostile_changelog_is_read_quickly() -> None:
    started = time.process_time()
    for line in ("+" + "#" * 65_536, "+" + "- [" * 20_000, "+#  " + "a" * 65_536, "+" + "A" + "a " * 30_000):
        noted_kind([SOURCE, changelog(line)])
    assert time.process_time() - started < 0.5
