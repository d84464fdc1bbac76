"""Titles of the forms that were once read wrongly: what they are, and whether that is certain."""

import pytest

from bot.landing.lines.diff import read_diff
from bot.landing.lines.split import ReadFile, read_files
from bot.metrics.change_kind import KindEvidence, classify
from bot.metrics.kind_certainty import CERTAIN, SIGNS, as_calibration, language_group, load
from bot.metrics.kind_input import evidence_of
from bot.metrics.kind_rules import merged_branch
from bot.metrics.kind_title import read_title

SOURCE = ["M|src/tide/table.c", "M|src/tide/table.h"]


def verdict_of(message: str, files: list[str] | None = None, **known: object) -> tuple[str, bool]:
    verdict = classify(evidence_of({"message": message, "files": SOURCE if files is None else files, **known}))
    return verdict.kind, verdict.certain


@pytest.mark.parametrize(
    "title",
    [
        "1.4.0",
        "v2.0.0-rc1",
        "Release 1.4",
        "release version 1.4.0",
        "Bump version to 1.4.0.dev1",
        "Version is now 1.4.94",
        "tide-core-0.3.7",
        "Prepare for the next release",
        "back to 2.0-dev",
        "[core] 1.4.0",
        "Merge branch 'main' into tides",
        "Merge pull request #12 from ada/fix-crash",
        "Merge remote-tracking branch 'origin/main'",
        "merge from upstream",
        "Merge in origin/main",
        "sync up with master",
        "Initial import",
        "Import history from svn",
        "Sync with upstream",
        "Update CHANGELOG.md for 1.4 release",
        "RELEASE-NOTES: synced",
        "Update dependencies",
        "Bump harbour/dock from 1.2.3 to 1.2.4",
        "Upgrade parser to 2.2.1",
        "go.mod: update tide to v0.19.3",
        "Update submodules",
        "Run black on everything",
        "apply clang-format",
        "PEP8ify",
        "Remove trailing whitespace",
        "Sort imports",
        "Remove unused imports",
        "Update copyright year",
    ],
)
def test_upkeep_is_neither_a_feature_nor_a_fix(title: str) -> None:
    assert verdict_of(title) == ("upkeep", True)


@pytest.mark.parametrize(
    "title",
    [
        "sync: add a lock that several readers share",
        "Merge adjacent cells when printing a table",
        "merge: allow three sources",
        "Fix import of tables without a header",
        "release: free the buffer twice guarded",
        "Format numbers with a thousands separator",
        "Strip trailing whitespace on completion",
        "Synchronize access to the tide table",
        "Import tables from CSV",
        "Version 2 of the tide protocol",
        "Update the tide table when the moon changes",
        "Bump allocator for short-lived rows",
        "Upgrade parser to v2; support YAML; various fixes",
        "Initial version of the tide server",
        "Sync to disk before the table is closed",
        "Merge with the user's own options",
        "Merge in options of the table",
        "history: keep the last table",
        "Code style of tables can be chosen",
    ],
)
def test_work_whose_words_only_look_like_upkeep_is_none(title: str) -> None:
    assert not read_title(title).upkeep


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("ref: move the reader", "refactor"),
        ("ref(tides): move the reader", "refactor"),
        ("[BugFix] keep the last row", "bug_fix"),
        ("BUG: keep the last row", "bug_fix"),
        ("ENH: read two tables at once", "feature"),
        ("MAINT: move the reader", "chore"),
        ("CLN: move the reader", "refactor"),
        ("REGR: keep the last row", "bug_fix"),
        ("[REF] tide: move the reader", "refactor"),
        ("refactor(chat): add a cache and fix its crash", "refactor"),
        ("chore: update vendors", "chore"),
        ("fix(deps): update tide to v2", "upkeep"),
        ("fix: bump tide from 1.2 to 1.3", "upkeep"),
        ("feat: 2.0.0", "upkeep"),
        ("feat(changelog): add a template", "feature"),
        ("deps: raise the parser", "upkeep"),
    ],
)
def test_a_project_s_own_types_are_stated(title: str, kind: str) -> None:
    verdict = classify(KindEvidence(title))
    assert (verdict.kind, verdict.certain, verdict.probability) == (kind, True, 1000)


@pytest.mark.parametrize(
    ("title", "verb"),
    [
        ("add: a cache", "add"),
        ("[IMP] tide: nicer table", "improve"),
        ("[ADD] tide: a cache", "add"),
        ("Fixes #12: Add a cache", "add"),
        ("Fixed #12 -- Added a cache.", "add"),
        ("gh-12: Add a cache", "add"),
        ("lib/tide: fix the table", "fix"),
        ("net/tide, dock: don't leak rows", "prevent"),
        ("Tide Server: Handle empty rows (#12)", "prevent"),
        ("STRLEN command implemented", "add"),
        ("A mistyped limit fixed", "fix"),
        ("Use readers in the table", "use"),
        ("issue #12: apply_rows accepts limits", "none"),
        ("printer: --only-rows works with --table", "none"),
        ("Tides and moons", "none"),
    ],
)
def test_a_title_is_read_by_its_verb(title: str, verb: str) -> None:
    assert read_title(title).verb == verb


@pytest.mark.parametrize(
    "title",
    [
        "Fixes #12",
        "fix typo: tied -> tide",
        "fix docs: name of the table",
        "Closes #12: rows",
        "Fix typo in a comment",
        "Fix tests",
        "Fix compiler warning",
        "fix CI on Windows",
        "Rename the reader",
        "Use a table of readers",
        "Remove the workaround for a bug of the system library",
        "Avoid a copy of each row",
        "Refactor the reader to avoid crashes in tests",
        "Move rows",
        "Rows",
    ],
)
def test_words_alone_make_no_certain_fix(title: str) -> None:
    assert verdict_of(title) != ("bug_fix", True)


@pytest.mark.parametrize(
    ("message", "files"),
    [
        ("Fix crash of the benchmark", ["M|benchmarks/tides.c"]),
        ("Fix leak in the release script", ["M|scripts/release.py"]),
        ("Add an option to the test runner", ["M|tests/run.c"]),
        ("Add a new command", ["M|.github/workflows/build.yml"]),
        ("Add support for tables in the example", ["M|examples/table.c"]),
    ],
)
def test_work_outside_the_product_is_no_certain_feature_or_fix(message: str, files: list[str]) -> None:
    kind, certain = verdict_of(message, files)
    assert kind not in ("feature", "bug_fix") or not certain


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Fix crash on an empty table", "bug_fix"),
        ("tide: fix wrong height when the moon is full", "bug_fix"),
        ("Don't leak the table when reading fails", "bug_fix"),
        ("Add --moon option to print the phase", "feature"),
        ("Add support for tables of two harbours", "feature"),
        ("tide: support moons in the tide command", "feature"),
    ],
)
def test_plain_words_of_a_feature_or_a_fix_are_certain(message: str, kind: str) -> None:
    assert verdict_of(message) == (kind, True)


def test_only_white_space_is_upkeep() -> None:
    head = "diff --git a/src/a.c b/src/a.c\n--- a/src/a.c\n+++ b/src/a.c\n"
    diff = f"{head}@@ -1,1 +1,1 @@\n-if(a){{ b(); }}\n+if (a) {{ b(); }}\n"
    assert verdict_of("Make the reader nicer", [], diff=diff)[0] == "upkeep"
    other = diff.replace("if (a) { b(); }", "if (a) { c(); }")
    assert verdict_of("Make the reader nicer", [], diff=other)[0] != "upkeep"


def test_only_the_changelog_or_lock_files_is_upkeep() -> None:
    assert verdict_of("Mention the moon", ["M|CHANGELOG.md"]) == ("upkeep", True)
    assert verdict_of("Newer tides", ["M|Cargo.lock"]) == ("upkeep", True)


def test_the_pull_request_speaks_before_its_commits() -> None:
    files: tuple[ReadFile, ...] = read_files(read_diff(b""))
    known = KindEvidence("Better chat", files=files, labels=("enhancement",), subject="fix: a row")
    assert classify(known).kind == "feature"
    assert classify(known._replace(labels=(), branch="docs/chat")).kind == "docs"
    assert classify(known._replace(labels=())).kind == "bug_fix"
    assert classify(known._replace(title="refactor(chat): tidy up")).kind == "refactor"


def test_no_label_or_branch_makes_upkeep_a_feature_or_a_fix() -> None:
    assert classify(KindEvidence("Release 1.4.0", labels=("enhancement",))).kind == "upkeep"
    assert classify(KindEvidence("Merge branch 'main'", branch="fix/rows")).kind == "upkeep"


@pytest.mark.parametrize(
    ("message", "branch"),
    [
        ("Merge pull request #12 from ada/fix/rows\n\nKeep rows", "fix/rows"),
        ("Merge branch 'feat/moon' into main", "feat/moon"),
        ("Add rows", ""),
    ],
)
def test_a_merge_commit_names_the_branch(message: str, branch: str) -> None:
    assert merged_branch(message) == branch


def test_probabilities_are_thousandths_and_certain_ones_are_high() -> None:
    for title in ("Add a --moon option", "Fix crash on empty rows", "Rows", "Rename the reader", "Improve rows"):
        verdict = classify(KindEvidence(title))
        assert 0 < verdict.probability < 1000
        assert not verdict.certain or verdict.probability >= 1000 * CERTAIN


def test_the_weights_of_every_sign_are_in_the_package() -> None:
    weights = load()
    assert len(weights.feature) == len(weights.bug_fix) == len(SIGNS)
    record = {name: {**dict.fromkeys(SIGNS, 0), "bias": 0} for name in ("feature", "bug_fix")}
    assert as_calibration(record).bias == (0, 0)


def test_a_c_function_that_no_public_header_holds_is_no_certain_feature() -> None:
    title = "tide: add tide_table_reset() and use it"
    inside = verdict_of(title, SOURCE)
    public = verdict_of(title, [*SOURCE, "M|include/tide.h"])
    assert inside == ("feature", False)
    assert public == ("feature", True)
    assert classify(evidence_of({"message": title, "files": SOURCE})).why.endswith(
        ", but the function it names is in no public header or document"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/table.c", "C"),
        ("src/table.hpp", "C"),
        ("lib/table.ts", "JavaScript"),
        ("table.pyx", "Python"),
        ("table.rb", ""),
        ("tests/test_table.py", ""),
        ("configure.ac", ""),
        ("Gruntfile.js", ""),
        ("man/tide.1", ""),
    ],
)
def test_a_change_belongs_to_the_language_of_its_product(path: str, expected: str) -> None:
    assert language_group(evidence_of({"message": "x", "files": [path]}).files) == expected
