"""Which changelog entries and headings does a landing add, about which changes, and whom do they credit?"""

from __future__ import annotations

import pytest
from landing_facts import a_file

from bot.landing.changelogs.headings import added_headings
from bot.landing.changelogs.paths import changelog_file
from bot.landing.changelogs.reading import change_numbers, changelog_lines, credited_people
from bot.model.commit import FileChange
from bot.model.fact import ChangelogLine


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("CHANGES/123.feature.rst", "fragment"),
        ("newsfragments/12.bugfix", "fragment"),
        ("docs/changelog/7.bugfix.rst", "fragment"),
        ("news/+brief.doc.rst", "fragment"),
        ("changelog.d/20250101_reader.md", "fragment"),
        (".changeset/brave-cats-sing.md", "changeset"),
        ("CHANGELOG.md", "log"),
        ("docs/whatsnew/v2.1.rst", "log"),
        ("docs/releases/4.2.txt", "log"),
        ("packages/reader/CHANGELOG.md", "log"),
        ("README.md", None),
        ("newsfragments/README.md", None),
        ("CHANGES/template.rst", None),
        (".changeset/README.md", None),
        ("news/app.py", None),
        ("deps/lamp/CHANGELOG.md", None),
        ("src/changes.py", None),
        ("src/history/store.rs", None),
    ],
)
def test_a_path_states_whether_a_file_is_a_changelog(path: str, form: str | None) -> None:
    found = changelog_file(path)
    assert (found.form if found else None) == form


def test_a_fragment_is_read_with_its_number_and_type() -> None:
    file = FileChange("CHANGES/12.bugfix.rst", "added", 2, 0, "@@ -0,0 +1,2 @@\n+Kept the\n+socket -- by :user:`ada`.")
    assert changelog_lines([file], "acme/engine") == (
        ChangelogLine("Kept the socket -- by :user:`ada`.", (12,), "bugfix", ("ada",), "", "fragment"),
    )


def test_a_changeset_is_read_without_its_front_matter() -> None:
    patch = "@@ -0,0 +1,5 @@\n+---\n+'engine': minor\n+---\n+\n+Reads sockets"
    (line,) = changelog_lines([FileChange(".changeset/a-b.md", "added", 5, 0, patch)], "acme/engine")
    assert (line.text, line.form) == ("Reads sockets", "fragment")


def test_entries_are_read_with_their_headings_and_their_continuation() -> None:
    patch = (
        "@@ -1,2 +1,9 @@\n # Changelog\n+## 1.2.0 (2025-06-01)\n+\n+### Fixed\n"
        "+\n+- Kept the socket\n+  open ([#7](x))\n"
        "+- Read twice, see acme/other#9 and #8 (thanks @ben)\n - Older entry"
    )
    first, second = changelog_lines([FileChange("CHANGELOG.md", "modified", 7, 0, patch)], "acme/engine")
    assert first == ChangelogLine("Kept the socket open ([#7](x))", (7,), "fixed", (), "1.2.0")
    assert (second.numbers, second.people) == ((8,), ("ben",))


def test_headings_of_rst_are_read_too() -> None:
    added = ["2.0.1", "=====", "", "Bugs fixed", "----------", "", "* #3: Kept it. Patch by Ada Brook."]
    (line,) = changelog_lines([a_file("CHANGES.rst", added)], "acme/engine")
    assert (line.release, line.section, line.people) == ("2.0.1", "bugs fixed", ("Ada Brook",))


def test_an_entry_that_stood_there_before_is_not_new() -> None:
    moved = a_file("CHANGES.md", ["- Kept the socket open (#7)"], ("- Kept the socket open (#7)",))
    assert changelog_lines([moved], "acme/engine") == ()
    edited = a_file("CHANGES.md", ["- Kept the sockets open (#7)"], ("- Kept the socket open (#7)",))
    assert [line.form for line in changelog_lines([edited], "acme/engine")] == ["edited"]


def test_numbers_of_other_repositories_are_left_out() -> None:
    text = "See #1, acme/engine#2, other/one#3, https://github.com/acme/engine/pull/4, :issue:`5`, GH-6 and PR 7"
    assert sorted(change_numbers(text, "acme/engine")) == [1, 2, 4, 5, 6, 7]


def test_decorators_packages_and_reporters_are_not_credited() -> None:
    assert credited_people("Keep `@property` of @acme/reader, reported by Ben Castle") == ()
    assert credited_people("Read twice (#2) (Ada Brook)") == ("Ada Brook",)


def test_short_headings_of_the_documentation_are_kept() -> None:
    page = a_file("docs/io.md", ["# WebSocket", "text", "## How to read the very long heading", "## Connection Pool"])
    assert added_headings([page, a_file("CHANGES.md", ["## Fixed"])]) == ("WebSocket", "Connection Pool")
