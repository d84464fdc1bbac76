"""Does the kind of an item follow from its members, and does work outside the code count as neither feature nor fix?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.metrics.items import counted_kind, group, item_kind
from bot.model.change import Change
from bot.model.ids import Kind, State
from tests.metrics.quality_changes import a_change, a_fact


def change(title: str, kind: Kind, *paths: str, name: str = "1", state: State = "landed") -> Change:
    fact = a_fact({"added": 3}, title=title, kind=kind, paths=paths)
    return replace(a_change(fact, name=f"acme/rocket#{name}"), state=state)


@pytest.mark.parametrize(
    ("title", "paths", "expected"),
    [
        ("fix: a stuck gauge", ("gauge.py",), "bug_fix"),
        ("fix: a stuck gauge", ("gauge.py", "docs/gauge.md"), "bug_fix"),
        ("fix: a stuck gauge", (), "bug_fix"),
        ("fix: a missing dependency", ("pyproject.toml",), "bug_fix"),
        ("fix: a broken link", ("README.md",), "other"),
        ("fix: a flaky test", ("tests/test_gauge.py",), "other"),
        ("fix: the release job", (".github/workflows/release.yml",), "other"),
        ("fix: the demo's colours", ("examples/demo.rs",), "other"),
        ("fix(readme): a link", ("README.md", "logo.py"), "other"),
        ("fix(deps): raise the parser", ("pyproject.toml",), "other"),
        ("fix: a page that stays empty", ("rocket/templates/page.html",), "bug_fix"),
    ],
)
def test_a_fix_counts_if_it_reaches_users(title: str, paths: tuple[str, ...], expected: str) -> None:
    assert counted_kind(change(title, "bug_fix", *paths)) == expected


def test_a_feature_outweighs_a_fix_and_a_fix_other_work() -> None:
    fix, feature = change("a", "bug_fix", "a.py"), change("b", "feature", "a.py")
    tests = change("c", "test", "tests/test_a.py")
    assert item_kind([fix, tests]) == "bug_fix"
    assert item_kind([fix, feature, tests]) == "feature"
    assert item_kind([tests]) == "other"


def test_reverted_members_are_ignored_unless_all_are_reverted() -> None:
    gone = change("a", "feature", "a.py", state="reverted")
    assert item_kind([gone, change("b", "bug_fix", "a.py")]) == "bug_fix"
    assert item_kind([gone]) == "feature"


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
