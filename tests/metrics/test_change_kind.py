import gzip
import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.metrics import kind_features, kind_model, kind_rules
from bot.metrics.change_kind import BY_RULE, KindEvidence, OwnKinds, Verdict, classify
from bot.metrics.kind_input import evidence_of
from tests.metrics.made_changes import read


def kind(title: str, **known: object) -> str:
    return classify(KindEvidence(title, **known)).kind  # type: ignore[arg-type]  # each test names real fields


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("feat: add a cache", "feature"),
        ("fix(parser)!: keep the last row", "bug_fix"),
        ("Docs: explain the cache", "docs"),
        ("bugfix: keep the last row", "bug_fix"),
        ("hotfix - keep the last row", "bug_fix"),
        ("deps: raise the parser", "upkeep"),
        ("tests: cover the parser", "test"),
        ("[Fix] keep the last row", "bug_fix"),
        ("[ABC-12] feat: add a cache", "feature"),
        ("ABC-12: fix: keep the last row", "bug_fix"),
        ("✨ add a cache", "feature"),
        ("⚡️ read rows once", "perf"),
        (":bug: keep the last row", "bug_fix"),
        ("♻️ refactor: split the parser", "refactor"),
        ("feat：缓存", "feature"),
        ("Bug fix: keep the last row", "bug_fix"),
        ("fix (parser): keep the last row", "bug_fix"),
        ("security: escape the name of a table", "bug_fix"),
        ("security: bump parser to 1.2.3", "upkeep"),
        ("travis: newer Python", "ci"),
        ("[doc] explain the cache", "docs"),
        ("✏️ a word too many", "docs"),
        ("🔖 1.2.3", "upkeep"),
        ("revert: feat: add a cache", "revert"),
        ('Revert "feat: add a cache"', "revert"),
        ('Reapply "feat: add a cache"', "feature"),
        ('Revert "Revert "fix: keep the last row""', "bug_fix"),
    ],
)
def test_the_kind_is_what_the_title_states(title: str, expected: str) -> None:
    verdict = classify(KindEvidence(title))
    assert (verdict.kind, verdict.certain) == (expected, True)


@pytest.mark.parametrize(
    "title",
    [
        "std::fix: odd",
        "Fix scripts/version: use tags",
        "fix docs: a link",
        "Fix parser: odd",
        "core: keep the last row",
        "Revert to the old parser",
        "fixture: x",
    ],
)
def test_text_that_only_looks_like_a_mark_states_nothing(title: str) -> None:
    assert kind_rules.title_kind(title) is None
    assert kind_rules.revert_kind(title, "") is None


def test_a_body_that_starts_with_git_s_revert_text_is_a_revert() -> None:
    body = "\nThis reverts commit 0123456789abcdef0123456789abcdef01234567.\n"
    assert classify(KindEvidence("feat: take the cache out", body)) == Verdict("revert", "revert marker in the message")


def test_a_revert_mentioned_further_down_does_not_count() -> None:
    body = "\none\ntwo\nthree\nfour\nThis reverts commit 0123456789abcdef.\n"
    assert kind("feat: add a cache", body=body) == "feature"


def test_a_squash_containing_a_revert_is_what_its_title_says() -> None:
    body = '* Add a step\n\n* Revert "Add it"\n\nThis reverts commit 0123456789abcdef.\n'
    assert kind("feat: add a cache", body=body) == "feature"


def test_a_label_says_the_kind_where_the_title_does_not() -> None:
    assert classify(KindEvidence("Cache", labels=("good first issue", "kind/bug"))) == Verdict(
        "bug_fix", "label kind/bug"
    )
    assert kind("feat: cache", labels=("bug",)) == "feature"


@pytest.mark.parametrize("label", ["bug", "Type: Bug", "C-bug", "bug :bug:", "🐛 Bug", "type/bug"])
def test_a_label_is_read_whatever_its_decoration(label: str) -> None:
    assert kind_rules.label_kind([label]) is not None


def test_labels_that_disagree_say_nothing_and_a_purpose_comes_before_an_object() -> None:
    assert kind_rules.label_kind(("bug", "enhancement")) is None
    assert kind_rules.label_kind(("documentation", "bug")) == ("bug_fix", "label bug")


def test_the_issue_s_type_and_the_branch_come_after_the_labels() -> None:
    assert kind("Cache", issue_types=("Bug",)) == "bug_fix"
    assert kind("Cache", branch="someone/feat/cache") == "feature"
    assert kind("Cache", issue_types=("Bug",), branch="feat/cache") == "bug_fix"
    assert kind_rules.branch_kind("fix-the-cache") is None


def test_a_repository_may_say_what_its_own_labels_scopes_and_tags_mean() -> None:
    own = OwnKinds(labels={"a: speed": "perf"}, scopes={"deps": "build", "web": "feature"})
    assert classify(KindEvidence("Cache", labels=("A: speed",)), own).kind == "perf"
    assert classify(KindEvidence("chore(deps): raise the parser"), own) == Verdict("build", "scope deps")
    assert classify(KindEvidence("[web] a page"), own).kind == "feature"


def test_a_change_of_only_documentation_is_docs_whatever_its_title() -> None:
    evidence = evidence_of({"message": "Fix the broken example", "files": ["M|docs/guide.md", "A|docs/other.rst"]})
    assert classify(evidence) == Verdict("docs", "only documentation changed", probability=BY_RULE)


def test_a_fix_that_touches_tests_stays_a_fix() -> None:
    evidence = evidence_of(
        {"message": "Fix crash on empty input", "files": ["M|src/parser.py", "M|tests/test_parser.py"]}
    )
    verdict = classify(evidence)
    assert verdict.kind == "bug_fix"
    assert verdict.certain
    assert "crash" in verdict.why


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"message": "Add support for YAML output", "files": ["M|src/output.py", "A|src/yaml.py"]}, "feature"),
        ({"message": "Typo in the parser's docs", "files": ["M|docs/parser.md", "M|README.md"]}, "docs"),
        ({"message": "Add tests for the parser", "files": ["A|tests/test_parser.py"]}, "test"),
        ({"message": "Extract the reader into its own module", "files": ["M|src/a.py", "A|src/reader.py"]}, "refactor"),
    ],
)
def test_the_model_separates_clear_cases(row: dict[str, object], expected: str) -> None:
    assert classify(evidence_of(row)).kind == expected


def test_the_content_of_lines_affects_the_guess() -> None:
    head = "diff --git a/src/table.py b/src/table.py\n--- a/src/table.py\n+++ b/src/table.py\n"
    new = "".join(f"+def read_{number}(rows):\n+    return rows\n" for number in range(14))
    much = evidence_of({"message": "x", "diff": f"{head}@@ -1,1 +1,29 @@\n x = 1\n{new}"})
    little = evidence_of(
        {"message": "x", "diff": f"{head}@@ -1,1 +1,1 @@\n-x = rows[1]\n+x = rows[0] if rows else None\n"}
    )
    more, less = (classify(KindEvidence("Support rows", files=one.files)) for one in (much, little))
    assert more.kind == "feature"
    assert more.probability > less.probability or less.kind != "feature"


def test_a_guess_below_one_half_is_not_certain_and_says_which_words_it_read() -> None:
    verdict = classify(KindEvidence("Things"))
    assert not verdict.certain
    assert verdict.why


def test_the_weights_of_a_feature_survive_being_one_number() -> None:
    weights = (5, -700, 0, 32_000, -32_000, 1, 2, 3, 4, 5)
    model = kind_model.Model({"words": kind_model.Learnt(["a"], weights)}, 0, {}, (1.0,) * 8)
    scores = model.score({"words": ["a"]})
    assert model.choose(scores, scores.purposes) == "test"
    assert scores.odds[kind_model.KINDS_LEARNT.index("test")] == pytest.approx(1.0)


@given(st.lists(st.integers(-(2**40), 2**40), min_size=10, max_size=10))
def test_numbers_of_all_kinds_survive_being_one_number_and_being_scaled(values: list[int]) -> None:
    assert kind_model.from_lanes(kind_model.lanes(values)) == tuple(values)
    assert kind_model.from_lanes(7 * kind_model.lanes(values)) == tuple(7 * value for value in values)


def test_the_first_word_of_a_body_that_closes_an_issue_is_read() -> None:
    assert kind_features.body_words("A prefix #1 first, it Closes: #2 and fixes #3")[0] == "o:clo #"
    assert "o:fix #" not in kind_features.body_words("A prefix #1, a fixture #2 and no fix")


def test_lines_that_show_something_to_the_outside_are_counted_with_or_without_a_dot() -> None:
    lines = ['parser.add_argument("-x")', '    add_argument("-y")', 'readd_argument("-z")', 'add_arguments("-v")']
    assert "+exp:3" in kind_features.patch([read("cli.py", lines)])


def test_words_on_only_one_side_of_a_patch_are_added_or_removed() -> None:
    features = kind_features.patch([read("a.py", ["if Kept !== Came or is a:"], ["if kept == went_by:"])])
    assert {word for word in features if word[1:3] == "w:"} == {"+w:!==", "+w:came", "-w:==", "-w:went"}


@given(st.lists(st.tuples(*[st.integers(-3000, 3000)] * 10), min_size=1, max_size=40))
def test_scores_are_the_sums_of_the_weights_whatever_the_order(rows: list[tuple[int, ...]]) -> None:
    features = [f"w{n}" for n in range(len(rows))]
    learnt = kind_model.Learnt(features, [weight for row in rows for weight in row])
    model = kind_model.Model({"words": learnt}, 0, {}, (1.0,) * 8)
    one, other = model.score({"words": features}), model.score({"words": features[::-1]})
    assert one.odds == other.odds
    kind = model.choose(one, one.purposes)
    assert one.reasons(kind) == other.reasons(kind)
    scores = [sum(column) / len(rows) ** 0.5 for column in zip(*rows, strict=True)]
    lane = kind_model.KINDS_LEARNT.index(kind)
    assert lane < 2 or scores[lane] == max(scores[2:])


def test_every_learned_feature_can_be_described_and_the_file_is_small() -> None:
    packed = (files("bot.metrics") / "kind_model.json.gz").read_bytes()
    record = json.loads(gzip.decompress(packed))
    assert len(packed) < 1_000_000
    assert tuple(record["kinds"]) == kind_model.KINDS_LEARNT
    for group, features in record["features"].items():
        assert all(kind_model.feature_text(group, feature).strip() for feature in features)


@given(st.lists(st.integers(-(2**15), 2**15 - 1)))
def test_weights_are_read_as_they_were_packed(weights: list[int]) -> None:
    record = {"features": dict.fromkeys(kind_model.GROUPS, ()), "weights": dict.fromkeys(kind_model.GROUPS, "")}
    shape = {"shifts": {}, "bias": [0] * 10, "favour": [0] * 8}
    features = [str(number) for number in range(len(weights))]
    record["features"]["words"] = features
    record["weights"]["words"] = kind_model.pack_weights([weight for one in weights for weight in [one] * 10])
    model = kind_model.as_model(record | shape)
    assert [model.learnt["words"][feature][1][9] for feature in features] == weights


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_words_get_the_same_kind_twice(title: str, body: str) -> None:
    assert classify(KindEvidence(title, body)) == classify(KindEvidence(title, body))


@pytest.mark.parametrize(
    "hostile", ["(" * 65536, "[" * 65536, "a-" * 32768, ":a" * 32768, "Revert " * 9000, "* feat(" * 9000]
)
def test_hostile_texts_are_read_to_the_end(hostile: str) -> None:
    assert classify(KindEvidence(hostile, hostile)).kind
