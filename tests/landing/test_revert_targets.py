import pytest
from landing_facts import ADA, BEN, NAME, a_commit, a_landing, a_merge, recognised, sha, written
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.landing.conventions.recognition import recognise
from bot.landing.message.parts import LandingSettings
from bot.landing.reverts.targets import issue_at_start
from bot.model.commit import Signature

SVN = "git-svn-id: https://svn.example/trunk@1380990 13f79535-47bb"


def reverts(message: str) -> set[str]:
    return set(recognised(message).reverts)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Automated rollback of changelist 212483372", {"piper:212483372"}),
        ("Partial rollback of cl/522685544.", {"part:piper:522685544"}),
        ("Rolled back changelist 212483372", {"piper:212483372"}),
        ("Backed out changeset ac568531e56b", {"commit:ac568531e56b", "shipit:ac568531e56b"}),
        ("Revert PR: 1322", {f"pr:{NAME}#1322"}),
        ("Revert pull request 1322", {f"pr:{NAME}#1322"}),
        (f"Reverting r1380931 since it fails\n\n{SVN}", {"svn:13f79535-47bb@1380931"}),
        (f"Revert 1380931: a close\n\n{SVN}", {"svn:13f79535-47bb@1380931"}),
        (f"Reverting previous commit and going back to revision 1380920\n\n{SVN}", {f"commit:{sha('parent')}"}),
        ("Revert last commit", {f"commit:{sha('parent')}"}),
        ("Revert ABC-12", {f"title:{NAME}:abc-12"}),
        ("reverted: ABC-12. it fails on both", {f"title:{NAME}:abc-12"}),
        ("Reverting previous commit for ABC-12 because of its message", {f"title:{NAME}:abc-12"}),
        ("revert: Take the timer out (#380) (#425)", {f"pr:{NAME}#380", f"title:{NAME}:take the timer out"}),
        ('Revert "Limit the linter." (55aec8e)', {f"title:{NAME}:limit the linter."}),
        ('Revert "Add a parser (#12)" -- it broke the build', {f"pr:{NAME}#12", f"title:{NAME}:add a parser"}),
        ("Revert UTF-8 names", set()),
        ("Revert r1380931 since it fails", set()),
        ("Revert the port to 12345", set()),
        ("Revert unnecessary changes", set()),
    ],
)
def test_a_revert_in_plain_words_names_its_target(message, expected):
    assert reverts(message) == expected


def test_a_number_after_a_revert_prefix_is_the_target_if_the_merge_has_another():
    merge_commit = a_merge("revert(lint): Take it out (#16) (#21)")
    known = recognised("revert(lint): Take it out (#16)", merge_commit=merge_commit)
    assert known.pull_request == 21
    assert f"pr:{NAME}#16" in known.reverts
    again = recognised("revert(lint): Take it out (#21)", merge_commit=merge_commit)
    assert f"pr:{NAME}#21" not in again.reverts


@pytest.mark.parametrize(
    ("title", "issue"),
    [("ABC-12: Add", "ABC-12"), ("[ABC-12] Add", "ABC-12"), ("ABC-12", "ABC-12"), ("ABC-12-b", None), ("abc-12", None),
     ("SHA-256 for all", None), ("Add ABC-12", None), ("A-1", None)],
)  # fmt: skip
def test_an_issue_is_read_at_the_start_of_a_title(title, issue):
    assert issue_at_start(title) == issue


def test_a_revert_by_issue_reverts_the_last_work_on_it():
    facts = [
        written("ABC-12: Add a parser", 1000, 1000, author=ADA),
        written("ABC-13: Add a loop", 2000, 2000, author=BEN),
        written("Add a map; patched by Ben; ABC-14", 2500, 2500, author=BEN),
        written("Revert ABC-12", 3000, 3000, author=BEN),
        written("Reverting ABC-14 since it is slow", 3500, 3500, author=BEN),
    ]
    states = {change.title: change.state for change in fold(facts)}
    assert states["ABC-12: Add a parser"] == "reverted"
    assert states["ABC-13: Add a loop"] == "landed"
    assert states["Add a map; patched by Ben; ABC-14"] == "reverted"


EARLY = 1_550_000_000  # 2019-02-12


@pytest.mark.parametrize(
    ("at", "authored", "committer", "number"),
    [
        (EARLY, EARLY, BEN, 12),
        (EARLY, EARLY - 1, BEN, None),
        (EARLY, EARLY, ADA, None),
        (EARLY, EARLY, Signature("Exports", "facebook-github-bot@users.noreply.github.com"), None),
        (1_600_000_000, 1_600_000_000, BEN, None),
        (1_400_000_000, 1_400_000_000, BEN, None),
    ],
)
def test_the_early_squash_button_is_recognised_by_its_timestamp(at, authored, committer, number):
    commit = a_commit("Add a parser (#12)", at=at, committer=committer)
    authored_at = a_commit("", at=authored).authored_at
    known = recognise(a_landing(replace(commit, authored_at=authored_at)))
    assert known.pull_request == number
    assert known.how == ("early squash button" if number else "push")


def test_the_shape_of_the_history_tells_which_of_several_pull_requests_it_was():
    batch = a_merge("Merge #12 #13\n\n12: Add a parser r=ada a=cleo\n\n13: Fix the loop r=ada a=bencastle\n\nText")
    landing = replace(a_landing(a_commit("Add a parser"), merge_commit=batch), brought_by=13)
    assert (recognise(landing).pull_request, recognise(landing).title) == (13, "Fix the loop")
    roll_up = a_merge(
        "Auto merge of #20 - ben:rollup, r=ben\n\nRollup of 2 pull requests\n\n - #12 (Add it)\n - #13 (Fix)"
    )
    landing = replace(a_landing(a_commit("a step"), merge_commit=roll_up), brought_by=12)
    assert (recognise(landing).pull_request, recognise(landing).title) == (12, "Add it")


def test_a_pull_request_that_pushes_exported_changes_is_not_their_identity():
    message = "Fix the loop\n\nPiperOrigin-RevId: 123456"
    pushed = a_merge("Merge pull request #12 from ben/push_up\n\nPush up to 123460")
    known = recognised(message, merge_commit=pushed)
    assert (known.how, known.pull_request, known.title) == ("copybara", None, "Fix the loop")
    own = a_merge("Merge pull request #12 from bot:test_123456\n\nFix the loop")
    assert recognised(message, merge_commit=own).pull_request == 12


def test_a_trailer_is_not_the_title_of_a_merge():
    merge_commit = a_merge("Merge pull request #12 from ben/topic\n\nPiperOrigin-RevId: 289479774")
    assert recognised("Fix the loop", merge_commit=merge_commit).title == "Fix the loop"


def test_a_configured_trailer_needs_no_colon_before_a_number():
    settings = LandingSettings(trailers=("Closes",))
    assert recognised("Add a parser\n\nText.\n\nCloses #12", settings=settings).pull_request == 12
    assert recognised("Add a parser\n\nCloses nothing", settings=settings).pull_request is None
    assert recognised("Add a parser\n\nCloses #12").pull_request is None
