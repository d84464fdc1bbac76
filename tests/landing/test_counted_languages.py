"""Are a commit's languages those that github.com would count?"""

from __future__ import annotations

import pytest

from bot.landing.lines import linguist
from bot.landing.lines.split import languages, read_files
from bot.model.commit import FileChange


def added(path: str, *lines: str) -> FileChange:
    patch = f"@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(f"+{line}" for line in lines)
    return FileChange(path, "added", len(lines), 0, patch)


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("src/gauge.py", "x = 1", "Python"),
        ("src/Gauge.tsx", "export const x = 1", "TypeScript"),
        ("tests/test_gauge.py", "x = 1", "Python"),
        ("eslint.config.js", "export default []", "JavaScript"),
        ("Dockerfile", "FROM scratch", "Dockerfile"),
        ("site/page.html", "<p>", "HTML"),
        ("schema.sql", "SELECT 1", None),
        ("rocket.yaml", "a: 1", None),
        ("README.md", "Hi", None),
        ("docs/conf.py", "x = 1", None),
        ("tests/fixtures/input.js", "x", None),
        ("testdata/input.go", "package x", None),
        ("test/__snapshots__/gauge.js", "x", None),
        ("newsfragments/123.feature", "Gauges burn.", None),
        ("changes/123.feature", "Gauges burn.", None),
        ("rocket/topfiles/123.feature", "Gauges burn.", None),
        ("changelog.d/+gauge.feature.2", "Gauges burn.", None),
        ("features/burn.feature", "Feature: burn", "Gherkin"),
        ("load/stages.ctl", "LOAD DATA", None),
        ("vendor/gauge/a.go", "package a", None),
        ("translations/app_de.ts", "<message>", None),
        ("src/translations/index.ts", "export const de = 1", "TypeScript"),
        ("src/i18n/de.ts", "export default {}", "TypeScript"),
    ],
)
def test_programming_and_markup_of_the_project_count(path: str, line: str, expected: str | None) -> None:
    assert languages(read_files([added(path, line)])) == ({expected: 1} if expected else {})


def test_qt_translations_are_xml_in_any_hunk() -> None:
    hunk = "@@ -40,0 +41,3 @@\n+    <message>\n+        <source>Burn</source>\n+    </message>"
    assert languages(read_files([FileChange("client/app.ts", "modified", 3, 0, hunk)])) == {}


def test_a_header_has_the_language_of_the_files_beside_it() -> None:
    header = FileChange("a.h", "modified", 2, 1)
    assert languages(read_files([header, added("a.cpp", "x")])) == {"C++": 4}
    assert languages(read_files([header, added("a.c", "x")])) == {"C": 4}
    assert languages(read_files([header, added("a.c", "x"), added("b.cpp", "x")])) == {"C": 4, "C++": 1}


def test_a_language_counts_under_its_group() -> None:
    assert linguist.counted_language("TSX") == "TypeScript"
    assert linguist.counted_language("Python") == "Python"
    assert linguist.counted_language("JSON") == ""
