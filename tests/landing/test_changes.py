import cProfile

import pytest
from landing_facts import ADA, BEN, EXPORT_BOT, MERGE_BOT, NAME, a_fact, a_merge, written
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.model.change import Change
from bot.model.commit import Repository
from bot.model.fact import Fact, Lines

FORK, MIRROR = "beta/rocket", "acme/engine"


def only(*facts: Fact, **repositories: Repository) -> Change:
    """The one change that is no revert."""
    (work,) = [change for change in fold(facts) if change.kind != "revert"]
    return work


def test_a_squash_is_one_change_named_by_its_pull_request():
    change = only(a_fact("Add a parser (#12)", at=100))
    assert (change.id, change.title, change.state, change.landed_at) == (f"{NAME}#12", "Add a parser", "landed", 100)
    assert change.url == f"https://github.com/{NAME}/pull/12"
    assert change.outcome


def test_a_push_is_named_by_its_commit():
    fact = a_fact("Add a parser (#12)", at=100, committer=ADA)
    change = only(fact)
    assert change.id == f"{NAME}@{fact.commit}"
    assert change.url == f"https://github.com/{NAME}/commit/{fact.commit}"


def test_the_commits_of_one_merge_are_one_change_and_those_of_a_branch_are_not():
    button, branch = a_merge("Merge pull request #12 from b/t\n\nAdd it", at=200), a_merge("Merge branch 'x'", at=200)
    one = [written(text, 200, 100, merge_commit=button, committer=ADA) for text in ("first", "second")]
    assert [len(change.counted) for change in fold(one)] == [2]
    assert len(fold([written(text, 200, 100, merge_commit=branch, committer=ADA) for text in ("first", "second")])) == 2


def test_a_synced_fork_adds_only_its_name():
    fact = a_fact("Add a parser (#12)", at=100)
    change = only(replace(fact, repository=FORK, landed_at=300, keys=(*fact.keys, f"pr:{FORK}#3")), fact)
    assert (change.repository, change.also_in, len(change.counted)) == (NAME, (FORK,), 1)


def test_a_forks_own_number_does_not_join_the_upstreams_of_the_same_number():
    upstream = a_fact("Add a parser (#12)", at=100, name="x")
    synced = replace(a_fact("Add a parser (#12)", at=100, name="x", repository=FORK), landed_at=300)
    own = a_fact("Only here (#12)", at=400, repository=FORK)
    assert [change.id for change in fold([own, synced, upstream])] == [f"{NAME}#12", f"{FORK}#12"]


def test_a_picked_copy_in_another_repository_counts_zero():
    fact = written("Add a parser (#12)", 200, 100, name="one")
    copy = written("Add a parser (#12)", 900, 100, name="two", repository=FORK, committer=BEN)
    change = only(copy, fact)
    assert [(commit.fact.repository, commit.counts) for commit in change.commits] == [(NAME, True), (FORK, False)]


def test_a_fork_flag_from_github_beats_an_earlier_landing():
    fact = a_fact("Add a parser (#12)", at=200, name="x")
    early = replace(fact, repository=FORK, landed_at=100)
    flags = {NAME: Repository(NAME), FORK: Repository(FORK, fork=True, parent=NAME)}
    (change,) = fold([early, fact], flags)
    assert (change.repository, change.landed_at) == (NAME, 200)


def test_a_slice_of_a_change_counts_as_a_commit_of_its_mirror_and_folds():
    trailer = f"Differential Revision: D12345\n\nPull Request resolved: https://github.com/{NAME}/pull/12"
    whole = a_fact(f"Add a parser (#12)\n\n{trailer}", at=100, committer=MERGE_BOT)
    text = f"Add a parser\n\nSummary:\nX-link: https://github.com/{NAME}/pull/12\n\nDifferential Revision: D12345"
    part = a_fact(text, at=50, repository=MIRROR, committer=EXPORT_BOT)
    change = only(part, whole)
    assert (change.id, change.also_in, change.landed_at) == (f"{NAME}#12", (MIRROR,), 100)
    assert [(c.fact.repository, c.lines) for c in change.counted] == [
        (MIRROR, Lines(mirrored=10)),
        (NAME, Lines(authored=10)),
    ]


def test_an_export_of_work_outside_the_record_is_a_commit_but_not_an_outcome():
    change = only(a_fact("Add it\n\nX-link: https://github.com/big/house/pull/9", at=1, repository=MIRROR))
    assert (len(change.counted), change.outcome, change.lines) == (1, False, Lines(mirrored=10))


def revert_of(fact: Fact, at: int, **more: str) -> Fact:
    return a_fact(f'Revert "{fact.title}"\n\nThis reverts commit {fact.commit}.', at=at, **more)


def test_a_revert_removes_the_change_and_the_lines_of_both_commits():
    fact = a_fact("Add a parser (#12)", at=100)
    back = revert_of(fact, 200)
    change, revert = fold([back, fact])
    assert (change.state, change.outcome, change.reverted_by) == ("reverted", False, revert.id)
    assert (revert.kind, revert.outcome) == ("revert", False)
    assert change.lines == revert.lines == Lines(reverted=10)


def test_the_same_number_again_is_delivered_by_the_re_land():
    fact = a_fact("Add a parser (#12)", at=100)
    again = a_fact("Add a parser (#12)", at=300)
    change = only(again, revert_of(fact, 200), fact)
    assert (change.state, change.landed_at, change.reverted_by) == ("relanded", 300, None)
    assert [commit.lines for commit in change.counted] == [Lines(reverted=10), Lines(authored=10)]


@pytest.mark.parametrize("text", ['Reapply "Add a parser"', "[reland] Add a parser (#20)", "Add a parser (#21)"])
def test_a_re_land_under_another_number_is_the_same_change(text):
    fact = a_fact("Add a parser (#12)", at=100)
    change = only(a_fact(text, at=300), revert_of(fact, 200), fact)
    assert (change.id, change.title, change.state, change.landed_at) == (f"{NAME}#12", "Add a parser", "relanded", 300)


def test_the_revert_of_a_revert_of_a_revert_is_a_revert():
    facts = [a_fact("Add a parser (#12)", at=100)]
    states = []
    for at in range(200, 700, 100):
        facts.append(revert_of(facts[-1], at))
        states.append(only(*facts).state)
    assert states == ["reverted", "relanded", "reverted", "relanded", "reverted"]


def test_another_person_with_the_same_title_is_another_change():
    fact = a_fact("Add a parser (#12)", at=100)
    other = written("Add a parser (#13)", 300, 300, author=BEN)
    assert [c.state for c in fold([fact, revert_of(fact, 200), other])] == ["reverted", "landed", "landed"]


def test_a_partial_revert_is_reported_and_the_change_still_counts():
    fact = a_fact("Add a parser (#12)", at=100)
    back = a_fact(f'Partially revert "Add a parser"\n\nThis reverts commit {fact.commit}.', at=200)
    change, revert = fold([fact, back])
    assert (change.state, change.partly_reverted_by, revert.lines.code) == ("landed", (revert.id,), 10)


def test_a_revert_without_revert_wording_says_why_it_is_one():
    fact = a_fact("Add a parser (#12)", at=100)
    back = replace(a_fact("Rolling back #12 for now", at=200), kind="chore", why="“now”", certain=False)
    _, revert = fold([fact, back])
    assert (revert.kind, revert.why, revert.certain) == ("revert", "names what it reverts", True)


def test_work_that_only_sounds_like_a_revert_keeps_its_lines():
    work = a_fact("Rollback: keep the last twenty rows", at=200)
    (change,) = fold([replace(work, kind="feature")])
    assert (change.kind, change.lines.code) == ("feature", 10)
    earlier = a_fact("Keep the last twenty rows", at=100)
    states = [(change.kind, change.state) for change in fold([replace(earlier, kind="feature"), work])]
    assert states == [("feature", "reverted"), ("revert", "landed")]


def test_work_that_also_reverts_a_part_is_not_a_revert():
    fact = a_fact("Add a parser (#12)", at=100)
    other = a_fact(f"Remove slow tests (#13)\n\nThis reverts parts of commit {fact.commit}.", at=200)
    change, work = fold([fact, replace(other, kind="test")])
    assert (change.state, change.partly_reverted_by) == ("landed", (work.id,))
    assert (work.kind, work.outcome, work.lines.code) == ("test", True, 10)


def test_a_change_is_partly_reverted_until_its_last_commit_is():
    button = a_merge("Merge pull request #12 from b/t\n\nAdd it", at=200)
    one, two = (written(text, 200, 100, merge_commit=button, committer=ADA) for text in ("first step", "second step"))
    change = only(one, two, revert_of(one, 300))
    assert (change.state, change.lines) == ("landed", Lines(authored=10, reverted=10))
    assert len(change.partly_reverted_by) == 1
    assert only(one, two, revert_of(one, 300), revert_of(two, 400)).state == "reverted"


def test_a_revert_of_a_merge_reverts_all_its_commits():
    button = a_merge("Merge pull request #12 from b/t\n\nAdd it", at=200)
    facts = [written(text, 200, 100, merge_commit=button, committer=ADA) for text in ("first step", "second step")]
    back = f'Revert "Merge pull request #12 from b/t"\n\nThis reverts commit {button.id}, reversing\nchanges made to x.'
    assert only(*facts, a_fact(back, at=300)).state == "reverted"


def test_a_forks_own_revert_leaves_the_change_as_it_is():
    fact = a_fact("Add a parser (#12)", at=100)
    copy = replace(fact, repository=FORK, landed_at=150)
    assert only(fact, copy, revert_of(fact, 200, repository=FORK)).state == "landed"


def test_a_revert_from_an_unrelated_repository_by_differential_revision_counts():
    fact = a_fact("Add a parser (#12)\n\nDifferential Revision: D12345", at=100)
    back = a_fact("Revert D12345: Add a parser\n\nOriginal Phabricator Diff: D12345", at=200, repository=MIRROR)
    assert only(fact, back).state == "reverted"


def test_a_revert_with_an_unknown_target_is_a_revert():
    (change,) = fold([a_fact('Revert "Something else"', at=1)])
    assert (change.kind, change.lines) == ("revert", Lines(reverted=10))


def test_a_backport_on_the_same_branch_adds_a_commit_but_no_change():
    fact = a_fact("Add a parser (#12)", at=100)
    pick = a_fact(f"Add a parser for 3.x (#15)\n\n(cherry picked from commit {fact.commit})", at=200)
    change = only(pick, fact)
    assert (change.id, change.landed_at, len(change.counted)) == (f"{NAME}#12", 100, 2)


def test_a_clock_that_runs_late_does_not_hide_a_revert_by_commit():
    fact = a_fact("Add a parser (#12)", at=300)
    assert only(fact, revert_of(fact, 200)).state == "reverted"


def test_reverts_that_name_each_other_have_no_effect_and_end():
    one, two = a_fact("Revert 1111111", at=1), a_fact("Revert 2222222", at=2)
    circle = [replace(one, reverts=(f"commit:{two.commit}",)), replace(two, reverts=(f"commit:{one.commit}",))]
    assert {change.kind for change in fold(circle)} <= {"revert", "feature"}


def test_more_reverts_of_reverts_than_calls_can_be_nested_are_followed():
    facts = [a_fact("Add a parser (#12)", at=100)]
    for at in range(200, 1400):
        facts.append(
            replace(
                facts[0],
                commit=f"{at:040x}",
                keys=(),
                landed_at=at,
                merge_commit=f"{at:040x}",
                reverts=(f"commit:{facts[-1].commit}",),
            )
        )
    assert only(*facts).state == "relanded"


def test_a_renamed_repository_keeps_one_record():
    old, new = a_fact("Add a parser (#12)", at=100, repository="acme/missile"), a_fact("Fix it (#13)", at=200)
    again = replace(old, repository=NAME)
    back = a_fact(f'Revert "Add a parser"\n\nReverts {NAME}#12', at=300)
    changes = fold([old, new, again, back], {"acme/missile": Repository(NAME), NAME: Repository(NAME)})
    assert [(change.id, change.state) for change in changes[:2]] == [
        (f"{NAME}#12", "reverted"),
        (f"{NAME}#13", "landed"),
    ]


def test_the_fuller_account_of_a_commit_wins_in_any_order():
    push = a_fact("Add a parser", at=100, committer=ADA)
    told = replace(push, pull_request=12, keys=(*push.keys, f"pr:{NAME}#12"))
    assert fold([push, told]) == fold([told, push, push])
    assert only(push, told).id == f"{NAME}#12"


def test_the_work_of_folding_grows_with_the_facts_and_not_with_their_square():
    def calls(count: int) -> int:
        facts = [a_fact(f"Change number {n} (#{n})", at=n) for n in range(1, count)]
        profiler = cProfile.Profile()
        assert len(profiler.runcall(fold, facts)) == count - 1
        return sum(entry.callcount for entry in profiler.getstats())

    assert calls(2000) < 5 * calls(500)


def test_no_commit_overrules_the_prefix_of_its_pull_request():
    button = a_merge("Merge pull request #12 from b/t\n\nrefactor(chat): move the reader", at=200)
    stated, other = [written(text, 200, 100, merge_commit=button, committer=ADA) for text in ("first", "second")]
    stated = replace(stated, kind="refactor")
    change = only(
        stated, replace(other, title="fix: rows", pull_request=None, kind="bug_fix", lines=Lines(authored=900))
    )
    assert (change.title, change.kind, change.certain) == ("refactor(chat): move the reader", "refactor", True)


def test_a_certain_fix_leads_a_larger_guess():
    button = a_merge("Merge pull request #12 from b/t\n\nBetter rows", at=200)
    facts = [written(text, 200, 100, merge_commit=button, committer=ADA) for text in ("first", "second")]
    sure = replace(facts[0], kind="bug_fix", certain=True, probability=930)
    guess = replace(facts[1], kind="feature", certain=False, probability=480, lines=Lines(authored=900))
    assert only(sure, guess).kind == "bug_fix"
