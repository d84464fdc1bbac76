"""Is a text quoted word for word, without markup, references, credits and prefix, and with the right tag?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.narrative.cleaning import LONGEST, Cleaned, clean

GOLDEN: dict[str, tuple[str, str | None]] = {
    "fix(router): closed the socket (#12)": ("Closed the socket", "Fix"),
    "Fix: Compile-error on nested subcommands": ("Compile-error on nested subcommands", "Fix"),
    "[Bugfix] Glitchy resizes in the window": ("Glitchy resizes in the window", "Fix"),
    "feat(cli)!: accept several files": ("Accept several files", "Feature"),
    ":sparkles: Add a dark theme": ("Add a dark theme", "Feature"),
    "♻️ Split the parser from the reader": ("Split the parser from the reader", "Refactoring"),
    "Fixed #36 -- Made `Form` accept files.": ("Made Form accept files", "Fix"),
    "chore: drop the old shim": ("chore: drop the old shim", None),
    "net/http: keep idle connections": ("net/http: keep idle connections", None),
    "feat(router): hash mode": ("router: hash mode", "Feature"),
    "[MTIA ATen Backend] Migrate tanh (#123)": ("[MTIA ATen Backend] Migrate tanh", None),
    "Read faster with a Cython implementation -- by :user:`ada`.": ("Read faster with a Cython implementation", None),
    "Initial support for :pep:`695`. Patch by Ada Brook.": ("Initial support for PEP 695", None),
    "`#7253 <https://example.org/7253>`_: When using ``fixture`` alone, it is kept.": (
        "When using fixture alone, it is kept",
        None,
    ),
    "Drop `proxies` parameter from the API. (Pull #485)": ("Drop proxies parameter from the API", None),
    "✨ Add a flag. PR [#12](https://example.org/12) by [@ada](https://example.org/ada).": ("Add a flag", "Feature"),
    "[`abc1234`](https://example.org/c) Fix: read `x` twice (fixes #1) (#2) (Ada Brook)": ("Read x twice", "Fix"),
    "Add iOS support by @ada in https://example.org/pull/3": ("Add iOS support", None),
    "[3.12] gh-1234: Fix the reader (GH-555)": ("Fix the reader", None),
    "[PR #12/abcdef backport][3.11] Fix reading of headers": ("Fix reading of headers", None),
    "Add `foo_bar` via __init__ and a_b_c": ("Add foo_bar via __init__ and a_b_c", None),
    'Say "no" to the reader': ("Say 'no' to the reader", None),
    "Accept e.g. a path. And say so": ("Accept e.g. a path", None),
    "expose fs::File::from_std()": ("Expose fs::File::from_std()", None),
    "iOS: read the clipboard": ("iOS: read the clipboard", None),
    "foo_bar is kept": ("foo_bar is kept", None),
    "Wrote a fix for github issue #28.": ("Wrote a fix", None),
    "fix!(types): keep the type of chains": ("Keep the type of chains", "Fix"),
    "Let ``a.s()` and ``b.define()`` accept it": ("Let a.s() and b.define() accept it", None),
    "Update the reader [skip ci]": ("Update the reader", None),
    "sync: add a guard ([#5474])": ("sync: add a guard", None),
    "{func}`run` accepts a {py:class}`~acme.Engine`": ("Run accepts a Engine", None),
    "Fix #5022 keep the socket open": ("Keep the socket open", "Fix"),
    "Resolve #6791 engine search --envs": ("Engine search --envs", None),
    "Show peers on the page https://example.org/pull/644": ("Show peers on the page", None),
    "dns: support a lookup; (#5339) (2701911)": ("dns: support a lookup", None),
    "Remove the check (#2679) (see (#2646) for discussion)": ("Remove the check", None),
    "Keep the defaults (addendum #4262)": ("Keep the defaults", None),
    "Update the assets after #3420 (#3440)": ("Update the assets", None),
    "Keep *force_colors* and **pad_event_to** apart": ("Keep force_colors and pad_event_to apart", None),
    "Rename _this one_, _not_this and *args": ("Rename this one, _not_this and *args", None),
    "Take *.py, *.txt and **kwargs": ("Take *.py, *.txt and **kwargs", None),
    "*: read the clocks of all peers": ("Read the clocks of all peers", None),
    "Add 'Collections' ([#2199]({{ site.repository }}/issues/2199))": ("Add 'Collections'", None),
    "Print the literal ``{0}`` in place of a name": ("Print the literal {0} in place of a name", None),
    "Add the change-nth action ```sh engine --bind x": ("Add the change-nth action", None),
    "Use :func:`~acme.engine.run` and :class:`Engine <acme.Engine>`": ("Use run and Engine", None),
}


@pytest.mark.parametrize(("raw", "expected"), GOLDEN.items())
def test_a_text_is_cleaned_by_the_stated_rules(raw: str, expected: tuple[str, str | None]) -> None:
    assert clean(raw)[:2] == expected


def test_a_long_text_is_cut_at_a_word() -> None:
    text = clean("Keep " + "the connection " * 20).text
    assert text.endswith(("connection…", "the…"))
    assert len(text) <= LONGEST + 1


def test_a_long_text_is_cut_where_a_clause_ends_if_one_does() -> None:
    text = clean("Redesign the menu that completes slash commands — " + "the popup is replaced " * 6).text
    assert text == "Redesign the menu that completes slash commands…"


def test_what_closes_a_number_may_name_a_fault_and_needs_a_tag() -> None:
    assert clean("Closes #7: crash on an empty file").needs_tag
    assert not clean("fix: closes #7: crash on an empty file").needs_tag
    assert not clean("Crash on an empty file (closes #7)").needs_tag


def test_a_prefix_without_a_tag_stays() -> None:
    assert clean("style: broken colours in the list") == Cleaned("style: broken colours in the list")


_WORDS = st.lists(st.from_regex(r"[A-Za-z]{2,9}", fullmatch=True), min_size=1, max_size=30).map(" ".join)
_LEADS = st.sampled_from(["", "fix: ", "[Docs] ", "#12: ", "feat(x): ", "- ", "Fixes #1: ", "✨ "])
_TAILS = st.sampled_from(["", " (#12)", ", closes #3", " by @ada", ". Thanks to Ada Brook.", " [skip ci]", " (#1, #2)"])


@given(_LEADS, _WORDS, _TAILS)
def test_the_words_of_a_quotation_stand_in_the_text_in_their_order(lead: str, body: str, tail: str) -> None:
    raw = lead + body + tail
    quoted = clean(raw).text.removesuffix("…")
    assert re.sub(r"\W+", " ", quoted).strip().lower() in re.sub(r"\W+", " ", raw).lower()


@given(st.text(max_size=300))
def test_any_text_is_cleaned_once_and_for_all_within_the_limit(raw: str) -> None:
    text = clean(raw).text
    assert len(text) <= LONGEST + 1
    assert not set('"\n') & set(text)
