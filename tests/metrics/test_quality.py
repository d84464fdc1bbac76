"""Do the scores of changes, items and contributors follow their rules for any numbers?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.metrics.hotspots import History, Past
from bot.metrics.quality import QUALITIES, item_scores, known_since, rate, scores_of, with_live
from bot.metrics.scores import FORMULAS, LIVE_SIGNALS, NOTHING, KnownOutcome, ScoredWork, correctness, reason_text
from bot.model.profile import Score
from tests.metrics.quality_changes import DAY, NOON, a_change, a_fact, an_item

TROUBLE = {
    "maintainability": ("deep", "branches", "repeated", "wide", "suppressions", "todo", "big_files"),
    "architecture": ("imports", "functions", "private_imports", "test_imports"),
    "performance": ("nested_loops", "loops", "imports", "loop_calls", "loop_quadratic", "async_blocking"),
}
counts = st.integers(0, 400)
works = st.builds(
    lambda added, removed, rest, bits, files, modules, past, fix: ScoredWork(
        {"added": added, "removed": removed} | rest, bits, files, modules, fix, feature=float(files % 2), past=past
    ),
    st.integers(1, 5000),
    st.integers(0, 5000),
    st.fixed_dictionaries({name: counts for names in TROUBLE.values() for name in names}),
    st.floats(0, 6),
    st.integers(1, 60),
    st.integers(1, 30),
    st.builds(Past, st.integers(0, 40).map(float), st.integers(0, 90), counts, counts, st.integers(0, 100).map(float)),
    st.sampled_from([0.0, 0.1, 1.0]),
)
knowns = st.builds(
    KnownOutcome,
    st.sampled_from(["passed", "failed", "unknown"]),
    st.sampled_from([None, True, False]),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(0, 400)),
    st.booleans(),
    st.booleans(),
)


@given(works, st.sampled_from([(name, signal) for name, signals in TROUBLE.items() for signal in signals]), counts)
def test_more_of_any_signal_of_trouble_never_raises_a_score(work: ScoredWork, pair: tuple[str, str], more: int) -> None:
    name, signal = pair
    worse = replace(work, signals={**work.signals, signal: work[signal] + more})
    assert FORMULAS[name](worse).score <= FORMULAS[name](work).score + 1e-9


@given(works, st.integers(0, 5000), st.integers(0, 5000))
def test_more_lines_never_make_work_more_correct(work: ScoredWork, added: int, removed: int) -> None:
    worse = replace(
        work, signals={**work.signals, "added": work["added"] + added, "removed": work["removed"] + removed}
    )
    assert correctness(worse).score <= correctness(work).score + 1e-9


@given(works, st.integers(0, 30))
def test_more_fixes_of_its_files_never_make_work_more_correct(work: ScoredWork, fixes: int) -> None:
    """Each fix is a commit on the file too."""
    past = work.past
    worse = replace(past, fixes=past.fixes + fixes, visits=past.visits + fixes, lately=past.lately + fixes)
    assert correctness(replace(work, past=worse)).score <= correctness(work).score + 1e-9


def test_work_open_for_longer_is_safer_and_its_first_part_says_how_long() -> None:
    fact = a_fact({"added": 40})
    at_once, waited = (scores_of(a_change(replace(fact, authored_at=NOON - 3600 * hours))) for hours in (0, 48))
    assert at_once["correctness"].score < waited["correctness"].score
    assert "48 hours from writing to landing" in [row.signal for row in waited["correctness"].evidence]
    first, last = replace(fact, authored_at=NOON - 48 * 3600, commit="a" * 40), replace(fact, commit="b" * 40)
    reasons = [row.signal for row in scores_of(a_change(first, last))["correctness"].evidence]
    assert "48 hours from writing to landing" in reasons


def test_an_author_s_statement_of_a_feature_weighs_more_than_a_guess() -> None:
    told = ("feat: a gauge", "A gauge", "chore: a gauge")
    changes = [a_change(a_fact({"added": 40}, title=one, kind="feature")) for one in told[:2]]
    changes.append(a_change(a_fact({"added": 40}, title=told[2], kind="chore")))
    scores = [scores_of(change)["correctness"].score for change in changes]
    assert scores == sorted(scores)
    assert len(set(scores)) == 3


@given(works, st.floats(0, 3), st.integers(0, 20), st.integers(0, 20), st.integers(0, 500))
def test_more_spread_or_traffic_never_raises_architecture(
    work: ScoredWork, bits: float, files: int, modules: int, traffic: int
) -> None:
    worse = replace(
        work,
        entropy=work.entropy + bits,
        files=work.files + files,
        modules=work.modules + modules,
        past=replace(work.past, traffic=work.past.traffic + traffic),
    )
    assert FORMULAS["architecture"](worse).score <= FORMULAS["architecture"](work).score + 1e-9


@given(works, knowns)
def test_negative_signals_never_raise_correctness(work: ScoredWork, known: KnownOutcome) -> None:
    score = correctness(work, replace(known, checks="unknown", reverted=False, fixed=0)).score
    for worse in ({"checks": "failed"}, {"reverted": True}, {"fixed": 1}):
        told = replace(known, **{"checks": "unknown", "reverted": False, "fixed": 0, **worse})
        assert correctness(work, told).score <= score + 1e-9


@given(works)
def test_unknown_values_never_change_a_score(work: ScoredWork) -> None:
    plain = correctness(work)
    assert correctness(work, NOTHING) == plain
    assert correctness(work, KnownOutcome(checks="passed", approved=True, quiet_days=5)).score == plain.score


@given(works, knowns)
def test_scores_stay_within_bounds_and_their_reasons_sum_to_them(work: ScoredWork, known: KnownOutcome) -> None:
    ratings = [correctness(work, known), *(formula(work) for formula in FORMULAS.values())]
    for rating in ratings:
        assert 0 <= rating.score <= 100
        told = 100 + sum(points for _, points in rating.reasons)
        assert abs(max(0.0, min(100.0, told)) - rating.score) < 0.1


parts = st.lists(
    st.fixed_dictionaries(
        {"added": st.integers(1, 300), "removed": st.integers(0, 300)},
        optional={name: st.integers(1, 20) for name in ("branches", "loops", "imports", "functions", "deep", "todo")},
    ),
    min_size=1,
    max_size=6,
)


@given(parts, st.booleans())
def test_slicing_one_change_into_many_never_raises_it(slices: list[dict[str, int]], fix: bool) -> None:
    """One commit with all signals, against an item of one change a slice; every slice touches a file of its own."""
    title = "fix: the gauge" if fix else "Improve the gauge"
    paths = tuple(f"part{n}/gauge.py" for n in range(len(slices)))
    facts = [a_fact(one, title=title, at=NOON + 60 * n, paths=(paths[n],)) for n, one in enumerate(slices)]
    names = {name for one in slices for name in one}
    total = {name: sum(one.get(name, 0) for one in slices) for name in names}
    sizes = [one["added"] + one["removed"] for one in slices]
    from bot.metrics.signals import entropy

    total["entropy"] = int(1000 * entropy(sizes))
    whole = a_change(a_fact(total, title=title, paths=paths), name="acme/rocket#99")
    many = [a_change(fact, name=f"acme/rocket#{n}") for n, fact in enumerate(facts)]
    history = History.of(facts)
    sliced, _ = item_scores(an_item(*many), {change.id: change for change in many}, history)
    once = scores_of(whole, history)
    for name in QUALITIES:
        assert sliced[name].score <= once[name].score + 0.02


def test_work_without_source_lines_is_not_rated() -> None:
    change = a_change(a_fact({}))
    assert scores_of(change) == {name: Score() for name in QUALITIES}
    assert rate([an_item(change)], {change.id: change}).correctness == Score()


def test_each_reason_names_the_change_and_the_effects_sum_to_the_score() -> None:
    change = a_change(a_fact({"added": 120, "removed": 30, "loops": 4, "branches": 40, "functions": 2}))
    for score in scores_of(change).values():
        assert score.score is not None
        assert {row.change for row in score.evidence} == {change.id}
        assert 100 + sum(row.effect for row in score.evidence) == pytest.approx(score.score, abs=0.1)


def test_a_hot_file_and_a_fix_cost_correctness() -> None:
    cold = a_change(a_fact({"added": 50}))
    facts = [a_fact({"added": 5}, title="fix: it", at=NOON - n * DAY) for n in range(1, 9)]
    history = History.of(facts)
    hot = scores_of(cold, history)["correctness"].score
    fix = scores_of(a_change(a_fact({"added": 50}, title="fix: it")), history)["correctness"].score
    plain = scores_of(cold)["correctness"].score
    assert fix < hot < plain


def test_a_frozen_score_ignores_later_facts_and_a_live_one_does_not() -> None:
    change = a_change(a_fact({"added": 50}))
    later = KnownOutcome(fixed=1)
    assert scores_of(change, frozen=True, known=later) == scores_of(change)
    assert scores_of(change, known=later)["correctness"].score < scores_of(change)["correctness"].score
    failed = KnownOutcome(checks="failed")
    assert scores_of(change, frozen=True, known=failed)["correctness"].score < scores_of(change)["correctness"].score


def test_a_reverted_change_is_nine_in_ten_wrong_and_a_relanded_one_half() -> None:
    change = a_change(a_fact({"added": 50}))
    for state, score in (("reverted", 10.0), ("relanded", 50.0)):
        known = known_since(replace(change, state=state), History(), NOON + DAY)
        assert scores_of(change, known=known)["correctness"].score == score


def test_days_without_a_fix_raise_correctness_until_one_comes() -> None:
    change = a_change(a_fact({"added": 50}))
    history = History.of([a_fact({"added": 2}, title="fix: it", at=NOON + 40 * DAY)])
    assert known_since(change, History(), NOON + 10 * DAY).quiet_days == 10
    assert known_since(change, history, NOON + 400 * DAY).quiet_days == 40
    quiet = [scores_of(change, known=KnownOutcome(quiet_days=days))["correctness"].score for days in (0, 30, 90)]
    assert quiet == sorted(quiet)
    assert len(set(quiet)) == 3


def test_a_fix_within_thirty_days_that_names_the_pull_request_is_known() -> None:
    change = replace(a_change(a_fact({"added": 50})), pull_request=1)
    later = replace(a_fact({"added": 2}, title="fix: it", at=NOON + 9 * DAY), links=("issue:acme/rocket#1",))
    elsewhere = replace(later, links=("issue:acme/engine#1",))
    late = replace(later, landed_at=NOON + 40 * DAY)
    told = [known_since(change, History.of([one]), NOON + 99 * DAY).fixed for one in (later, elsewhere, late)]
    assert told == [1, 0, 0]
    assert known_since(change, History.of([later]), NOON + 8 * DAY).fixed == 0, "not before it landed"


def test_github_only_values_are_never_part_of_the_score() -> None:
    change = a_change(a_fact({"added": 50}))
    items, by_id = [an_item(change)], {change.id: change}
    plain = rate(items, by_id)
    failed = rate(items, by_id, known=lambda _: KnownOutcome(checks="failed", approved=False))
    both = with_live(plain, failed)
    assert both.correctness.score == plain.correctness.score
    assert both.correctness.live is not None
    assert both.correctness.live.score < plain.correctness.score
    assert {row.signal for row in both.correctness.live.evidence} == LIVE_SIGNALS
    passed = rate(items, by_id, known=lambda _: KnownOutcome(checks="passed", approved=True))
    assert with_live(plain, passed) == plain


@pytest.mark.parametrize(
    ("template", "numbers", "text"),
    [
        ("{} functions added", (1,), "1 function added"),
        ("{} functions added", (11,), "11 functions added"),
        ("{:.3g} fixes of a file, {} commits", (1.0, 1), "1 fix of a file, 1 commit"),
        ("{:.3g} fixes of a file, {} commits", (0.1, 21), "0.1 fixes of a file, 21 commits"),
        ("{} branches added", (1,), "1 branch added"),
        ("{} deeply indented lines beside loops", (1,), "1 deeply indented line beside loops"),
        ("{} source lines added, {} removed", (8, 1), "8 source lines added, 1 removed"),
        ("spread of {:.1f} bits over {} files", (1.0, 1), "spread of 1.0 bits over 1 file"),
    ],
)
def test_a_single_item_is_worded_in_the_singular(template: str, numbers: tuple[float, ...], text: str) -> None:
    assert reason_text((template, numbers)) == text


def test_deleting_code_is_not_punished() -> None:
    work = ScoredWork({"added": 0, "removed": 4000})
    assert correctness(work).score == correctness(ScoredWork({"added": 0, "removed": 1})).score


def test_scores_of_few_items_shrink_towards_the_middle() -> None:
    changes = {
        change.id: change
        for change in (
            a_change(a_fact({"added": 9, "branches": 9, "deep": 9}), name=f"acme/rocket#{n}") for n in range(40)
        )
    }
    items = [an_item(change) for change in changes.values()]
    one, all_of_them = rate(items[:1], changes).maintainability, rate(items, changes).maintainability
    single = scores_of(next(iter(changes.values())))["maintainability"].score
    assert (one.rated, all_of_them.rated) == (1, 40)
    assert single < all_of_them.score < one.score
    assert one.interval[1] - one.interval[0] > all_of_them.interval[1] - all_of_them.interval[0]


def test_a_big_item_weighs_more_than_a_small_one() -> None:
    small, big = (
        a_change(a_fact({"added": 1}), name="acme/rocket#1"),
        a_change(a_fact({"added": 3000}), name="acme/rocket#2"),
    )
    both = {small.id: small, big.id: big}
    scores = [scores_of(change)["correctness"].score for change in (small, big)]
    mean = rate([an_item(small)] * 20 + [an_item(big)] * 20, both).correctness.score
    assert mean < sum(scores) / 2


def test_a_missing_change_and_a_revert_leave_an_item_unchanged() -> None:
    change = a_change(a_fact({"added": 50}))
    revert = replace(a_change(a_fact({"added": 50}), name="acme/rocket#2"), kind="revert")
    item = an_item(change, revert)
    assert item_scores(item, {change.id: change, revert.id: revert})[0] == scores_of(change)
    assert rate([an_item(revert)], {revert.id: revert}).correctness == Score()
