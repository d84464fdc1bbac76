"""Does the kind of an item follow from its members, and does work outside the code count as neither feature nor fix?"""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

from bot.metrics.items import counted_kind, group, item_kind
from bot.metrics.registry import numbers_of
from bot.metrics.work import Work
from bot.model.change import Change
from bot.model.ids import Kind, State
from tests.metrics.made_changes import a_change, a_fact


def change(title: str, kind: Kind, *paths: str, name: str = "1", state: State = "landed") -> Change:
    fact = a_fact(title=title, kind=kind, paths=paths)
    return replace(a_change(fact, name=f"acme/rocket#{name}"), state=state)


GUESSED = 900
"""a probability in thousandths, of a kind that nobody stated"""


@pytest.mark.parametrize(
    ("title", "paths", "expected"),
    [
        ("Fix a stuck gauge", ("gauge.py",), "bug_fix"),
        ("Fix a stuck gauge", ("gauge.py", "docs/gauge.md"), "bug_fix"),
        ("Fix a stuck gauge", (), "bug_fix"),
        ("Fix a missing dependency", ("pyproject.toml",), "bug_fix"),
        ("Fix a broken link", ("README.md",), "other"),
        ("Fix a flaky test", ("tests/test_gauge.py",), "other"),
        ("Fix the release job", (".github/workflows/release.yml",), "other"),
        ("Fix the demo's colours", ("examples/demo.rs",), "other"),
        ("[tests] Fix the gauge", ("logo.py",), "other"),
        ("Fix a page that stays empty", ("rocket/templates/page.html",), "bug_fix"),
    ],
)
def test_a_fix_that_nobody_stated_counts_if_it_reaches_users(title: str, paths: tuple[str, ...], expected: str) -> None:
    assert counted_kind(replace(change(title, "bug_fix", *paths), probability=GUESSED)) == expected


@pytest.mark.parametrize("path", ["README.md", "tests/test_gauge.py", ".github/workflows/release.yml", "gauge.py"])
def test_a_stated_fix_counts_as_one_whatever_it_touches(path: str) -> None:
    assert counted_kind(change("fix: the gauge", "bug_fix", path)) == "bug_fix"
    assert counted_kind(change("feat(docs): a search", "feature", path)) == "feature"


def test_a_feature_outweighs_a_fix_and_a_fix_other_work() -> None:
    fix, feature = change("a", "bug_fix", "a.py"), change("b", "feature", "a.py")
    tests = change("c", "test", "tests/test_a.py")
    assert item_kind([fix, tests]) == ("bug_fix", True)
    assert item_kind([fix, feature, tests]) == ("feature", True)
    assert item_kind([tests]) == ("other", True)


def test_reverted_members_are_ignored_unless_all_are_reverted() -> None:
    gone = change("a", "feature", "a.py", state="reverted")
    assert item_kind([gone, change("b", "bug_fix", "a.py")]) == ("bug_fix", True)
    assert item_kind([gone]) == ("feature", True)


def test_the_title_of_an_item_is_that_of_a_member_that_counts() -> None:
    link = change("fix: the link of the gauge, see #9", "bug_fix", "README.md", name="1")
    gauge = change("fix: the gauge sticks, see #9", "bug_fix", "gauge.py", name="2")
    fact = replace(gauge.commits[0].fact, links=("issue:acme/rocket#9",))
    both = [
        replace(one, commits=(replace(one.commits[0], fact=replace(one.commits[0].fact, links=fact.links)),))
        for one in (link, gauge)
    ]
    (item,) = group(both)
    assert (item.kind, item.title) == ("bug_fix", "fix: the gauge sticks, see #9")


def test_an_item_is_certain_if_the_change_that_gives_its_kind_is() -> None:
    fix, feature = change("a", "bug_fix", "a.py"), change("b", "feature", "a.py")
    maybe_feature, maybe_fix = replace(feature, certain=False), replace(fix, certain=False)
    chore = change("c", "chore", "a.py")
    assert item_kind([fix, maybe_feature]) == ("bug_fix", True)
    assert item_kind([maybe_fix, maybe_feature, chore]) == ("feature", False)
    assert item_kind([chore, maybe_fix]) == ("bug_fix", False)
    assert item_kind([replace(chore, certain=False)]) == ("other", False)
    assert item_kind([replace(change("d", "bug_fix", "tests/test_a.py"), certain=False, probability=GUESSED)]) == (
        "other",
        True,
    )


def test_what_is_not_certain_counts_as_nothing_else() -> None:
    sure = [change(f"fix {at}", "bug_fix", f"{at}.py", name=str(at)) for at in range(9)]
    unsure = [replace(change(f"may fix {at}", "bug_fix", f"{at}.py", name=str(at)), certain=False) for at in (20, 21)]
    numbers = numbers_of(Work((), group([*sure, *unsure])))
    counted = {key: numbers[key] for key in ("features", "bugs", "other", "unclear", "feature_share")}
    assert counted == {"features": 0, "bugs": 9, "other": 0, "unclear": 2, "feature_share": None}


def test_a_share_is_shown_from_ten_certain_features_and_fixes_on() -> None:
    fixes = [change(f"fix {at}", "bug_fix", f"{at}.py", name=str(at)) for at in range(9)]
    feature = change("add it", "feature", "b.py", name="30")
    assert numbers_of(Work((), group([*fixes, feature])))["feature_share"] == Fraction(1, 10)
