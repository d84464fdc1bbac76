from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from bot.landing.lines.patch import read_patch

LINE = st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=("Cs",)), max_size=12)


def test_signs_are_taken_off_and_order_is_kept() -> None:
    lines = read_patch("@@ -1,3 +1,3 @@ def f\n keep\n-old\n+new\n+newer\n-\n")
    assert lines.added == ["new", "newer"]
    assert lines.removed == ["old", ""]
    assert lines.at_top


def test_content_that_looks_like_a_file_header_is_content() -> None:
    lines = read_patch("@@ -1,3 +1,3 @@\n context\n--- a/old\n-@@ -1 +1 @@\n+++ b/new\n+@@ -9,9 +9,9 @@")
    assert lines.removed == ["-- a/old", "@@ -1 +1 @@"]
    assert lines.added == ["++ b/new", "@@ -9,9 +9,9 @@"]


def test_no_newline_marks_are_not_lines() -> None:
    lines = read_patch("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a b\n\\ No newline at end of file")
    assert (lines.removed, lines.added) == (["a"], ["a b"])
    assert list(lines.replacements()) == [(0, 1, 0, 1)]


def test_form_feeds_and_lone_carriage_returns_do_not_end_a_line() -> None:
    assert read_patch("@@ -0,0 +1,2 @@\n+a\fb\rc\u2028d\x85e\n+f").added == ["a\fb\rc\u2028d\x85e", "f"]


def test_lines_after_the_last_hunk_are_not_counted() -> None:
    patch = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n-- \n2.40.0\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-d\n+e\n"
    lines = read_patch(patch)
    assert (lines.removed, lines.added) == (["b", "d"], ["c", "e"])


def test_a_blank_context_line_may_have_lost_its_blank() -> None:
    lines = read_patch("@@ -1,3 +1,3 @@\n\n-b\n+c\n d")
    assert (lines.removed, lines.added) == (["b"], ["c"])


def test_the_head_is_that_of_the_new_file_where_the_patch_begins_at_its_top() -> None:
    assert read_patch("@@ -1,2 +1,2 @@\n-#!/bin/sh\n+#!/usr/bin/perl\n x").head == ["#!/usr/bin/perl", "x"]
    assert read_patch("@@ -1,2 +0,0 @@\n-#!/bin/sh\n-x").head == ["#!/bin/sh", "x"]
    assert read_patch("@@ -7,2 +7,2 @@\n-#!/bin/sh\n+y\n x").head == []


@given(st.lists(st.tuples(st.sampled_from(" +-"), LINE), min_size=1, max_size=30))
def test_every_line_of_a_hunk_is_read_whatever_it_says(body: list[tuple[str, str]]) -> None:
    old = sum(sign != "+" for sign, _ in body)
    new = sum(sign != "-" for sign, _ in body)
    patch = f"@@ -1,{old} +1,{new} @@\n" + "\n".join(sign + text for sign, text in body)
    lines = read_patch(patch)
    assert lines.added == [text for sign, text in body if sign == "+"]
    assert lines.removed == [text for sign, text in body if sign == "-"]
    trailing = read_patch(patch + "\ndiff --git a/x b/x\n--- a/x\n+++ b/x")
    assert (trailing.added, trailing.removed) == (lines.added, lines.removed)


@given(st.lists(st.tuples(st.sampled_from(" +-"), LINE, st.integers(1, 40)), min_size=1, max_size=6))
def test_lines_that_git_counted_are_read_alike(blocks: list[tuple[str, str, int]]) -> None:
    body = [sign + text for sign, text, times in blocks for _ in range(times)]
    added, removed = (sum(line[0] == sign for line in body) for sign in "+-")
    head = f"@@ -4,{len(body) - added} +4,{len(body) - removed} @@"
    patch = "\n".join([head, *body, "\\ No newline at end of file"])
    plain, trusting = read_patch(patch), read_patch(patch, (added, removed))
    assert (trusting.added, trusting.removed, trusting.hunks) == (plain.added, plain.removed, plain.hunks)
    assert (len(plain.added), len(plain.removed)) == (added, removed)


def test_a_patch_that_differs_from_gits_counts_is_read_by_its_headers() -> None:
    patch = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n-- \n2.40.0"
    assert read_patch(patch, (7, 7)).removed == ["b"]


def test_words_of_a_patch_are_read_in_order_without_spaces() -> None:
    lines = read_patch("@@ -1,3 +1,3 @@\n-  a \n-\n+\tb\n c\n+d")
    assert lines.signed_texts() == (3, ["-a", "+b\0+d"])
    apart = read_patch("@@ -1,3 +1,3 @@\n+a\n b\n- c\n-\n+d ")
    assert apart.signed_texts() == (3, ["+a\0-c\0+d"])
    assert read_patch("@@ -0,0 +1,3 @@\n+ a\n+\n+b").signed_texts() == (2, ["+a\0+b"])
    assert read_patch("@@ -1 +0,0 @@\n-").signed_texts() == (0, [])


@given(st.text(max_size=300))
def test_no_text_is_refused(patch: str) -> None:
    lines = read_patch(patch)
    assert len(lines.added) + len(lines.removed) <= patch.count("\n") + 1


def test_long_hostile_patches_are_read_quickly() -> None:
    for body in ("-a\n" * 200_000, "+\n" * 200_000, "-a\n+a\n" * 100_000, "@@ \n" * 100_000):
        start = time.process_time()
        list(read_patch("@@ -1,9 +1,9 @@\n" + body).replacements())
        assert time.process_time() - start < 3
