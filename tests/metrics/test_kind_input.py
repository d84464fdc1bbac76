import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.landing.lines.diff import read_diff
from bot.metrics.change_kind import classify
from bot.metrics.kind_input import evidence_of

DIFF = """commit 0123
Author: Ada Example <ada@example.org>

diff --git a/src/old.py b/src/new.py
similarity index 90%
rename from src/old.py
rename to src/new.py
--- a/src/old.py
+++ b/src/new.py
@@ -1,2 +1,2 @@
 same
-gone
+come
diff --git a/docs/guide.md b/docs/guide.md
new file mode 100644
--- /dev/null
+++ b/docs/guide.md
@@ -0,0 +1 @@
+words
"""


def _files(row: dict[str, object]) -> list[tuple[str, str, int, int]]:
    return [
        (file.change.path, file.change.status, file.change.additions, file.change.deletions)
        for file in evidence_of({"message": "x"} | row).files
    ]


def test_the_first_line_that_is_not_blank_is_the_title_and_the_rest_the_body() -> None:
    evidence = evidence_of({"message": "\n\nfix: a\r\n\nWhy.\n"})
    assert (evidence.title, evidence.body.strip()) == ("fix: a", "Why.")


def test_a_file_may_be_a_path_a_status_with_a_path_or_an_object() -> None:
    files = ["a.py", "A|b.py", "R100|c.py|d.py", {"path": "e.py", "status": "deleted", "additions": 0, "deletions": 7}]
    assert _files({"files": files}) == [
        ("a.py", "modified", 0, 0),
        ("b.py", "added", 0, 0),
        ("d.py", "renamed", 0, 0),
        ("e.py", "removed", 0, 7),
    ]


def test_files_may_be_one_text_joined_by_semicolons_and_empty_entries_are_nothing() -> None:
    assert _files({"files": "M|a.py;A|b/c.md;;M|"}) == [("a.py", "modified", 0, 0), ("b/c.md", "added", 0, 0)]


def test_a_diff_gives_names_statuses_and_lines() -> None:
    assert _files({"diff": DIFF}) == [("src/new.py", "renamed", 1, 1), ("docs/guide.md", "added", 1, 0)]


def test_a_diff_without_git_s_headers_is_read_too() -> None:
    plain = "--- a/x.py\t2026-01-01\n+++ b/x.py\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n"
    plain += "--- /dev/null\n+++ b/y.py\n@@ -0,0 +1 @@\n+c\n"
    assert _files({"diff": plain}) == [("x.py", "modified", 1, 1), ("y.py", "added", 1, 0)]


def test_the_diff_of_a_file_overrides_the_list() -> None:
    rows = _files({"files": ["M|docs/guide.md", "M|other.py"], "diff": DIFF})
    assert ("docs/guide.md", "added", 1, 0) in rows
    assert ("other.py", "modified", 0, 0) in rows
    assert len(rows) == 3


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([], "a row is an object"),
        ({}, '"message" is missing'),
        ({"message": 3}, '"message" is not a text'),
        ({"message": "x", "files": 3}, '"files" is neither'),
        ({"message": "x", "files": [3]}, 'an entry of "files" is neither'),
        ({"message": "x", "files": [{}]}, 'an entry of "files" has no "path"'),
        ({"message": "x", "files": [{"path": "a", "additions": "many"}]}, '"additions" of a file'),
        ({"message": "x", "diff": ["a"]}, '"diff" is not a text'),
        ({"message": "x", "labels": "bug"}, '"labels" is not a list of texts'),
    ],
)
def test_a_bad_row_is_refused_in_one_sentence(row: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        evidence_of(row)


@given(st.text(), st.text())
def test_any_text_as_message_and_diff_gets_a_kind_that_can_be_written_as_json(message: str, diff: str) -> None:
    verdict = classify(evidence_of({"message": message, "diff": "diff --git a/x b/x\n" + diff}))
    assert json.dumps({"kind": verdict.kind, "why": verdict.why}, ensure_ascii=False).encode()


def test_a_text_without_any_file_is_not_a_diff() -> None:
    assert read_diff(b"nothing here") == ()
