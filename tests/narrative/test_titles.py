"""Are titles reduced to what they say about the work, with identifiers unchanged?"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.narrative.clauses import clause_of, name_of, truncate
from bot.narrative.joining import join_clauses, stack_clauses
from bot.narrative.revert_sentences import reverted_title
from bot.narrative.tenses import base_of, is_verb, past_tense
from bot.narrative.titles import read_title

CLEANED = [
    ("feat(api)!: add <b>bold</b> [link](https://x.example/z) (#12)", "add bold link"),
    ("[2/n] ABC-123: Fix :bug: `foo`", "Fix foo"),
    ("Fix decoding of UTF-8", "Fix decoding of UTF-8"),
    ("Add SHA-256 sums (ABC-12)", "Add SHA-256 sums"),
    ("Improve parser, closes #1 and #2", "Improve parser"),
    ("[PR #13180/ee53d655 backport][3.14] drop every copy (#13204)", "drop every copy"),
    ("📝 Add a change note", "Add a change note"),
    ("Fix x [skip ci]", "Fix x"),
    ("Use Vec<T> in `parse`", "Use Vec<T> in parse"),
    ("Move on. Closes things", "Move on"),
    ("Fix #123: Crash on start", "Crash on start"),
    ("Fix failing test in 92848c06", "Fix failing test"),
    ("--port argument for the package", "--port argument for the package"),
    ("Disallow names that resolve to ..", "Disallow names that resolve to .."),
    ("cli: add -. as a short option", "add -. as a short option"),
    ("- Fix the lamp", "Fix the lamp"),
    ("Fix regression from commit 9284ec06", "Fix regression"),
    ("Undo most of #12", "Undo most"),
    ("Fix formatting issues (#12)", "Fix formatting issues"),
    ("Typo fixes (#12) (#13)", "Typo fixes"),
    ("Fix lamp issue #12", "Fix lamp"),
    ("Fix lamp, closes (#12)", "Fix lamp"),
    ("Gesetz zur Nr. 17 vom 3. März. Zweiter Satz", "Gesetz zur Nr. 17 vom 3. März"),
    ("灯台のログを修正；", "灯台のログを修正"),
    ("Add `Lamp.__repr__` and `__slots__`", "Add Lamp.__repr__ and __slots__"),
    ("all: turn the lamps", "turn the lamps"),
    ("{lamp,mast}_keeper: turn the lamps", "turn the lamps"),
    ("Add support for e.g. lamps", "Add support for e.g. lamps"),
    ("Fix the lamp after https://git.example/quay/pull/12", "Fix the lamp"),
    ("Fix the lamp (see https://git.example/z)", "Fix the lamp"),
    ("Use https://www.git.example/z as base", "Use git.example/z as base"),
    ("Replace http://a.example by https://a.example", ""),
    ("Restore the order before #12.", "Restore the order"),
    ("Export it (and revert #12)", "Export it"),
]


@pytest.mark.parametrize(("title", "body"), CLEANED)
def test_a_title_is_freed_of_prefixes_references_and_markup(title: str, body: str) -> None:
    assert read_title(title).body == body


def test_tags_and_scopes_are_separated_and_workflow_tags_dropped() -> None:
    assert read_title("[MTIA ATen Backend][WIP] Add keys").scopes == ("MTIA ATen Backend",)
    assert read_title("fix(connector): keep it").scopes == ("connector",)
    assert read_title("ignore/types: add gn").scopes == ("ignore/types",)
    assert read_title("New endpoint: /-/databases").scopes == ()


CLAUSES = [
    ("Add a flag", "added a flag"),
    ("Adds a flag", "added a flag"),
    ("Added a flag", "added a flag"),
    ("Adding a flag", "added a flag"),
    ("Drop and rebuild the index", "dropped and rebuilt the index"),
    ("Rewrite the parser and remove the old one", "rewrote the parser and removed the old one"),
    ("Allow users to add and remove rows", "allowed users to add and remove rows"),
    ("Correctly escape output of ?_trace", "correctly escaped output of ?_trace"),
    ("Fix for stale cache", "fixed stale cache"),
    ("New request.cookies property", "added request.cookies property"),
    ("Release notes for 0.63", "“Release notes for 0.63”"),
    ("Support for JSON", "“Support for JSON”"),
    ("Support JSON", "supported JSON"),
    ("Test is no longer order dependent", "“Test is no longer order dependent”"),
    ("Don't include _memory", "“Don't include _memory”"),
    ("Switch to ruff", "switched to ruff"),
    ("fix: memory leak in the dev server", "fixed memory leak in the dev server"),
    ("ci: drop custom images", "dropped custom images in CI"),
    ("docs: fix typo in the guide", "fixed typo in the guide"),
    ("Set up binary builds", "set up binary builds"),
    ("Drop 3.8, update the guide", "dropped 3.8, updated the guide"),
    ("Add rmdir, and sleep commands", "added rmdir, and sleep commands"),
    ("correct null handling and expose corr", "corrected null handling and exposed corr"),
    ("fix: Walk flattened archives", "“Walk flattened archives”"),
    ("fix: Path resolution on Windows", "fixed Path resolution on Windows"),
    ("enh: support casting", "supported casting"),
    ("fix: observe what the pump says", "observed what the pump says"),
    ("fix: change completions to the new name", "“change completions to the new name”"),
    ("Bootstrap the harbour", "bootstrapped the harbour"),
    ("build dependencies should only come from the backend", "“build dependencies should only come from the backend”"),
    ("feat(build): build files are now async", "“build files are now async”"),
    ("Check if the string is a prefix", "checked if the string is a prefix"),
    ("Rename it to icons and add a style", "renamed it to icons and added a style"),
    ("Use variadics and fix build tags", "used variadics and fixed build tags"),
    ("Add a test and fix for the valve", "added a test and fix for the valve"),
    ("Allow plugins to load, parse and save", "allowed plugins to load, parse and save"),
    ("Add a port, remove the node group, add a pier", "added a port, removed the node group, added a pier"),
    ("Add A and B, and remove calls to C", "added A and B, and removed calls to C"),
    ("Adds a pier and removes the quay", "added a pier and removed the quay"),
    ("Adding a pier and removing the quay", "added a pier and removed the quay"),
    ("Support reading and writing of charts", "supported reading and writing of charts"),
    ("Install + unskip lamps", "installed and unskipped lamps"),
    ("make tests faster + resubmit charts", "made tests faster + resubmitted charts"),
    ("fix: stale charts, simplify the parser", "fixed stale charts, simplified the parser"),
    ("fix: race between drop and create", "fixed race between drop and create"),
    ("fix: revert to the old chart", "reverted to the old chart"),
    ("fix: if no lamp burns, wait", "“if no lamp burns, wait”"),
    ("fix: unlink the lamps", "unlinked the lamps"),
    ("fix: account for the mast", "“account for the mast”"),
    ("fix: proper lamps", "“proper lamps”"),
    ("fix: better lamps and more charts", "“better lamps and more charts”"),
    ("clean up the quay, add a pier", "cleaned up the quay, added a pier"),
    ("docs: document how to moor", "documented how to moor"),
    ("clean up of the quay", "“clean up of the quay”"),
    ("refactor of lamp printing", "“refactor of lamp printing”"),
    ("Following ABC-1, make charts uniform", "“Following ABC-1, make charts uniform”"),
    ("Link fixed", "“Link fixed”"),
    ("Running with --fast is broken", "“Running with --fast is broken”"),
    ("Version 0.2.1", "“Version 0.2.1”"),
    ("Review comments", "“Review comments”"),
    ("GET /lamps returns 404", "“GET /lamps returns 404”"),
    ("Support für Umlaute", "“Support für Umlaute”"),
    ("standardise les noms", "“standardise les noms”"),
    ("fix(quay): evita que la luz se apague en el muelle", "“evita que la luz se apague en el muelle”"),
    ("fix: ランプの色を直す", "“ランプの色を直す”"),
    ("deprecated な型を更新", "“deprecated な型を更新”"),
    ("Update 灯台 chart files", "updated 灯台 chart files"),
    ("'Add the lamp'", "“Add the lamp”"),
]


@pytest.mark.parametrize(("title", "clause"), CLAUSES)
def test_a_title_becomes_a_clause_in_the_past_or_stays_quoted(title: str, clause: str) -> None:
    found = clause_of(title)
    assert found is not None
    assert found.text == clause


@pytest.mark.parametrize(
    "title", ["Fix tests I just broke", "Thanks @mira for the hint", "Beautiful new page", "🎉", ""]
)
def test_a_title_that_may_not_be_quoted_gives_no_clause(title: str) -> None:
    assert clause_of(title) is None


def test_identifiers_keep_their_case_and_spelling() -> None:
    found = clause_of("Use getValue() in HTTPServer._run for fp16")
    assert found is not None
    assert found.text == "used getValue() in HTTPServer._run for fp16"


def test_irregular_and_doubled_verbs_have_their_past() -> None:
    assert [past_tense(base) for base in ("drop", "build", "apply", "use", "set", "write", "bump")] == [
        "dropped", "built", "applied", "used", "set", "wrote", "bumped",
    ]  # fmt: skip
    assert base_of("dropping") == "drop"
    assert not is_verb("addOn", "x")


def test_a_stack_is_described_as_one() -> None:
    titles = ["Add dispatch keys for ge.out", "Add dispatch keys for le.out", "Add dispatch key for div.out"]
    found = stack_clauses([clause for title in titles if (clause := clause_of(title))])
    assert found is not None
    assert found.text == "added dispatch keys for ge.out, le.out and div.out"


def test_a_particle_stays_with_its_verb_where_objects_are_joined() -> None:
    clauses = [clause_of("Tidy up the parser tests"), clause_of("Tidy up field names")]
    assert join_clauses([clause for clause in clauses if clause]) == "tidied up the parser tests and field names"


def test_objects_with_a_common_prefix_state_it_once() -> None:
    titles = ("Fix fuzzy entries and charts of 3.3", "Fix fuzzy entries and charts of 2.6")
    clauses = [clause for title in titles if (clause := clause_of(title))]
    assert join_clauses(clauses) == "fixed fuzzy entries and charts of 3.3 and 2.6"


def test_a_cut_text_leaves_no_bracket_open() -> None:
    text = "Abstract the representation of a row in the harbour's chart (as a value, an object array or whatever comes)"
    assert truncate(text + " for now") == "Abstract the representation of a row in the harbour's chart…"


REVERTED = [
    ('Revert "Add a lamp" (#12)', "Add a lamp"),
    ('Revert "Revert "Add a lamp""', 'Revert "Add a lamp"'),
    ('Revert "Add a lamp" since it doesn\'t burn', "Add a lamp"),
    ("Revert \"Don't add 'a lamp'\"", "Don't add 'a lamp'"),
    ("quay: Revert 'quay: keep 'a lamp' burning", "quay: keep 'a lamp' burning"),
    ("- Undo most of the lamp", "most of the lamp"),
    ("Fix revert of a lamp", "Fix revert of a lamp"),
]


@pytest.mark.parametrize(("title", "reverted"), REVERTED)
def test_a_revert_names_its_target(title: str, reverted: str) -> None:
    assert reverted_title(title) == reverted


@pytest.mark.parametrize("title", ["commit 2ca4d16", "acme/api#4", "Changes (#4)"])
def test_text_that_names_no_work_is_not_a_name(title: str) -> None:
    assert name_of(title) is None


def test_different_changes_are_not_a_stack() -> None:
    titles = ["Add a flag", "Remove the cache", "Fix a crash"]
    assert stack_clauses([clause for title in titles if (clause := clause_of(title))]) is None


@given(st.text(max_size=300))
def test_any_text_is_read_without_error_and_capped(title: str) -> None:
    found = clause_of(title)
    if found is not None:
        assert len(found.rest) <= 400
        assert "\n" not in found.text
    assert len(truncate(title)) <= 90


def test_hostile_titles_take_no_time() -> None:
    for piece in ("[", "(", "a/", "#1 ", "**", "<!--", "fix ", "A-1,", ":x", "[x](", "“", ". ", "and add "):
        start = time.perf_counter()
        clause_of(piece * (65536 // len(piece)))
        assert time.perf_counter() - start < 0.5


def test_a_shared_scope_comes_first_with_a_comma_only_without_a_subject() -> None:
    clauses = [clause for title in ("core: add a pier", "core: drop a quay") if (clause := clause_of(title))]
    assert join_clauses(clauses) == "in core, added a pier and dropped a quay"
    assert join_clauses(clauses, subject=True) == "in core added a pier and dropped a quay"
