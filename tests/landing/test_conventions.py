import time

import pytest
from landing_facts import (
    ADA,
    BEN,
    EXPORT_BOT,
    MERGE_BOT,
    NAME,
    WEB_FLOW,
    a_commit,
    a_file,
    a_landing,
    a_merge,
    a_pull,
    recognised,
    sha,
)
from msgspec.structs import replace

from bot.landing.conventions.catalogue import CONVENTIONS, REVERT_FORMS, LandingSettings
from bot.landing.conventions.recognition import proved_pull_request, recognise
from bot.landing.lines.patch import read_patches
from bot.landing.message.parts import TRAILERS, LandingReading
from bot.landing.same_work.keys import patch_key
from bot.model.commit import FileChange, Signature

PICK = "0123456789abcdef0123456789abcdef01234567"
PULL = f"https://github.com/{NAME}/pull/12"


@pytest.mark.parametrize("spelling", ["Pull Request resolved", "Pull-Request-resolved", "Pull-Request"])
def test_a_resolved_trailer_in_its_three_spellings_proves_the_pull_request(spelling):
    known = recognised(f"Add a parser (#12)\n\nText.\n\n{spelling}: {PULL}\nApproved by: x", committer=MERGE_BOT)
    assert (known.how, known.pull_request, known.title) == ("pull request resolved", 12, "Add a parser")
    assert f"pr:{NAME}#12" in known.keys


def test_the_last_of_several_resolved_trailers_counts():
    message = f"Add\n\nghstack-source-id: {PICK}\nPull-Request-resolved: {PULL}\n\nPull Request resolved: {PULL}3"
    assert recognised(message).pull_request == 123


def test_a_resolved_trailer_of_another_repository_is_an_identity_and_no_proof():
    known = recognised("Add (#7)\n\nPull Request resolved: https://github.com/Other/Place/pull/7", committer=EXPORT_BOT)
    assert known.pull_request is None
    assert "pr:other/place#7" in known.keys


@pytest.mark.parametrize("committer", [ADA, EXPORT_BOT])
def test_a_number_only_in_a_subject_proves_nothing(committer):
    known = recognised("Add a parser (#12)", committer=committer)
    assert (known.how, known.pull_request, known.title) == ("push", None, "Add a parser (#12)")


def test_a_number_that_github_committed_is_the_squash_buttons():
    known = recognised("Add (#3) a parser (#7) (#12)", committer=WEB_FLOW)
    assert (known.how, known.pull_request, known.title) == ("squash button", 12, "Add (#3) a parser (#7)")


def test_a_merge_proves_its_number_and_gives_the_title():
    known = recognised("wip", merge_commit=a_merge("Merge pull request #12 from ben/topic\n\nAdd a parser"))
    assert (known.how, known.pull_request, known.title) == ("merge button", 12, "Add a parser")


def test_inside_a_merge_from_a_fork_a_squash_number_is_the_forks_own():
    theirs, ours = a_merge("Merge pull request #12 from ben/topic"), a_merge("Merge pull request #13 from acme/develop")
    assert recognised("Fix it (#3)", committer=WEB_FLOW, merge_commit=theirs).pull_request == 12
    assert recognised("Fix it (#3)", committer=WEB_FLOW, merge_commit=ours).pull_request == 3


def test_a_merge_of_a_branch_proves_nothing():
    known = recognised("Fix it", merge_commit=a_merge("Merge branch 'main' of example.org:x"))
    assert (known.how, known.pull_request) == ("merge", None)


@pytest.mark.parametrize(
    ("how", "author", "message"),
    [
        (
            "prow tide",
            Signature("k8s", "20407524+k8s-ci-robot@users.noreply.github.com"),
            "Merge pull request #12 from b/t\n\nT",
        ),
        (
            "merge queue",
            Signature("q", "118344674+github-merge-queue[bot]@users.noreply.github.com"),
            "Merge pull request #12 from b/t\n\nT",
        ),
        ("homu", Signature("bors", "bors@rust-lang.org"), "Auto merge of #12 - ben:topic, r=ada\n\nT\n\nText"),
        ("homu", Signature("bors", "bors@rust-lang.org"), "auto merge of #12 : ben/topic, r=ada\n\nT"),
        (
            "bors-ng",
            Signature("b", "26634292+bors[bot]@users.noreply.github.com"),
            "Merge #12\n\n12: T r=ada a=ben\n\nText",
        ),
        ("titled merge", ADA, "T (#12)"),
    ],
)
def test_merges_by_bots_and_queues_prove_number_and_title(how, author, message):
    known = recognised("one step", merge_commit=a_merge(message, author=author))
    assert (known.how, known.pull_request, known.title) == (how, 12, "T")


def test_title_or_author_decides_between_several_numbers_in_one_merge():
    merge_commit = a_merge(
        "Merge #12 #13\n\n12: Add a parser r=ada a=cleo\n\n13: Fix the loop r=ada a=bencastle\n\nText"
    )
    assert recognised("Add a parser", merge_commit=merge_commit).pull_request == 12
    assert recognised("a step", author=BEN, merge_commit=merge_commit).pull_request == 13
    assert recognised("a step", merge_commit=merge_commit).pull_request is None


def test_a_roll_up_names_the_pull_requests_it_merged():
    body = "Rollup of 2 pull requests\n\nSuccessful merges:\n\n - #12 (Add a parser)\n - #13 (Fix)\n"
    merge_commit = a_merge("Auto merge of #20 - ben:rollup-1, r=ben\n\n" + body)
    assert recognised("Add a parser", merge_commit=merge_commit).pull_request == 12
    assert recognised("a step", merge_commit=merge_commit).pull_request is None


def test_a_landing_bot_proves_the_number_at_a_subjects_end_and_config_can_name_one():
    lander = Signature("Lander", "lander@example.org")
    settings = LandingSettings(bots=("lander@example.org",), trailers=("Landed-PR",))
    assert recognised("Add (#12)", committer=lander).pull_request is None
    assert recognised("Add (#12)", committer=lander, settings=settings).pull_request == 12
    assert recognised("Add\n\nLanded-PR: 14", settings=settings).pull_request == 14
    assert recognised("Add (#12)", committer=MERGE_BOT).how == "landing bot"


@pytest.mark.parametrize(
    ("how", "footer", "number", "key"),
    [
        ("apache", "Reviewers: ada\nAuthor: ben\nCloses #12 from ben/topic", 12, f"pr:{NAME}#12"),
        ("apache", "Author: Ben <b@example.org>\n\nCloses #12 from ben/topic.", 12, f"pr:{NAME}#12"),
        ("push", "Closes #12", None, ""),
        ("gerrit import", f"Change-Id: I{PICK}\nGitHub-Pull-Request: {NAME}#12", 12, f"change-id:I{PICK}"),
        ("gerrit", f"Change-Id: I{PICK}\nReviewed-on: https://go.example/c/x/+/9", None, "review:go.example/c/x/+/9"),
        ("copybara", "PiperOrigin-RevId: 123456", None, "piper:123456"),
        ("copybara", f"COPYBARA_INTEGRATE_REVIEW={PULL} from ben:t {PICK}\nPiperOrigin-RevId: 1", 12, "piper:1"),
        ("phabricator", "Reviewed By: x\n\nDifferential Revision: D123456", None, "drev:D123456"),
        ("phabricator", "Differential Revision: [D12345](https://x.example/D12345/)", None, "drev:D12345"),
        ("shipit", f"fbshipit-source-id: {PICK}", None, "shipit:0123456789ab"),
        ("ghstack", f"ghstack-source-id: {PICK}", None, f"ghstack:{PICK}"),
        ("x-link", "Summary:\nX-link: https://github.com/big/house/pull/9\n\nText", None, "pr:big/house#9"),
        ("mail", "Link: https://lore.kernel.org/r/2025.1-2-a@example.org", None, "mail:2025.1-2-a@example.org"),
        ("push", "Link: https://example.org/report", None, ""),
        ("subversion", "git-svn-id: https://svn.example/trunk@12 13f79535-47bb", None, "svn:13f79535-47bb@12"),
        ("cherry-pick", f"(cherry picked from commit {PICK})", None, f"commit:{PICK}"),
        ("backport", f"**This is a backport of PR #9 as merged into main ({PICK}).**", None, f"pr:{NAME}#9"),
    ],
)
def test_footers_prove_what_their_tool_knows(how, footer, number, key):
    known = recognised("Add a parser\n\nText that explains.\n\n" + footer)
    assert (known.how, known.pull_request) == (how, number)
    assert not key or key in known.keys


def test_a_merge_request_of_gitlab_is_an_identity():
    known = recognised(
        "step", merge_commit=a_merge("Merge branch 't' into 'main'\n\nT\n\nSee merge request g/n!12", committer=ADA)
    )
    assert (known.how, "mr:g/n!12" in known.keys) == ("gitlab", True)


@pytest.mark.parametrize(
    "subject", ["Fix (backport #9)", "Backport PR #9 on branch 3.x (Fix)", "[PR #9/0123abcd backport][3.x] Fix"]
)
def test_backport_bots_name_the_pull_request_they_bring_again(subject):
    assert f"pr:{NAME}#9" in recognised(subject).keys


def test_a_roll_up_does_not_take_the_identity_of_any_pull_request_it_contains():
    picks = f"(cherry picked from commit {PICK})\n\n* more\n\n(cherry picked from commit {PICK[::-1]})"
    message = f"Sync\n\nDifferential Revision: D11111\n\nDifferential Revision: D22222\n\n{picks}"
    assert not any(key.startswith("drev:") for key in recognised(message).keys)
    assert f"commit:{PICK}" not in recognised(message).keys


def test_an_answer_from_github_overrides_every_message():
    landing = a_landing(a_commit("Fix (#12)", committer=WEB_FLOW), pull=a_pull(44, "Fix the parser"))
    known = recognise(landing)
    assert (known.how, known.pull_request, known.title) == ("squash button", 44, "Fix the parser")
    assert recognise(a_landing(a_commit("Fix"), pull=a_pull(44, "Fix"))).how == "pull request"


def stated_reverts(message, **more):
    known = recognised(message, **more)
    return set(known.reverts), set(known.relands)


TITLE = f"title:{NAME}:add a parser"
COMMITS = {f"commit:{PICK}", "commit:0123abc"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (f'Revert "Add a parser"\n\nThis reverts commit {PICK}.', {f"commit:{PICK}", TITLE}),
        (
            f"Use the old one\n\nThis reverts commit {PICK}, reversing\nchanges made to {PICK[::-1]}.",
            {f"commit:{PICK}"},
        ),
        (f"Back to before\n\nThis reverts commit\n{PICK}.", {f"commit:{PICK}"}),
        (f'Revert "Add a parser" (#13)\n\nReverts {NAME}#12', {f"pr:{NAME}#12", TITLE}),
        ('Revert "Add a parser (#12)" (#13)', {f"pr:{NAME}#12", TITLE}),
        ('Revert "Add a parser"\n\nReverts other/place#4', {"pr:other/place#4", TITLE}),
        (
            f'Revert "Add a parser (#12)"\n\nReverted {PULL} on behalf of https://github.com/x due to y',
            {f"pr:{NAME}#12", TITLE},
        ),
        ("Revert D12345: Add a parser\n\nDifferential Revision:\nD12345", {"drev:D12345", TITLE}),
        ("Revert D12345", {"drev:D12345"}),
        (
            f'Back out "Add a parser"\n\nOriginal commit changeset: {PICK[:12]}\n\nOriginal Phabricator Diff: D12345',
            {f"shipit:{PICK[:12]}", "drev:D12345", TITLE},
        ),
        ("revert: Add a parser", {TITLE}),
        ("Revert 0123abc", {"commit:0123abc"}),
        ("Revert #12", {f"pr:{NAME}#12"}),
        ('Revert "Merge pull request #12 from ben/topic"', {f"pr:{NAME}#12"}),
        ('fix(api): Revert "Add a parser"', {TITLE}),
        (f'Partially revert "Add a parser"\n\nThis reverts commit {PICK}.', {f"part:commit:{PICK}", f"part:{TITLE}"}),
        (f'Revert "Add a parser"\n\nThis partially reverts commit {PICK}.', {f"part:commit:{PICK}", f"part:{TITLE}"}),
        (
            f"test: Remove tests\n\nThis reverts parts of commit {PICK}, reversing\nchanges made to x.",
            {f"part:commit:{PICK}"},
        ),
        ("fix: revert #12", {f"pr:{NAME}#12"}),
        (f"Rollback https://github.com/{NAME}/commit/{PICK}", {f"commit:{PICK}"}),
        ("Rollback: Add a parser of dates", {f"title:{NAME}:add a parser of dates"}),
        ("Rollback: Add a parser", set()),
        ("Revert Add a parser of dates\n\nPiperOrigin-RevId: 123", {f"title:{NAME}:add a parser of dates"}),
        ("Revert Add a parser of dates", set()),
        ("fix(api): partially revert 0123abc", {"part:commit:0123abc"}),
        ('Revert "Add a part of it"', {TITLE.replace("a parser", "a part of it")}),
        (f"Remove it\n\nThis reverts commits:\n\n{PICK}\n - 0123abc a title\n\nToo slow.", COMMITS),
        (f"Remove it\n\nThis reverts commit\nhttps://github.com/{NAME}/commit/{PICK}.", {f"commit:{PICK}"}),
        (f"Remove it\n\nThis reverts commit {PICK} for the exception, which is no part of it.", {f"commit:{PICK}"}),
        (f"Remove it\n\nThis reverts commit {PICK}, but for the test.", {f"part:commit:{PICK}"}),
        (f"Remove it\n\nThis reverts the a/b.c part of commit {PICK}.", {f"part:commit:{PICK}"}),
        ("Revert the licence to what it was", set()),
        ("fix: revert to what it was", set()),
        ("Reverting is possible now", set()),
        (f'Big work (#9)\n\n* Add x\n\n* Revert "Add x"\n\nThis reverts commit {PICK}.', set()),
    ],
)
def test_a_revert_names_its_target(message, expected):
    assert stated_reverts(message)[0] == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ('Revert "Revert "Add a parser""', {TITLE}),
        ('Reapply "Add a parser"', {TITLE}),
        ("[reland] Add a parser (#14)", {TITLE}),
        ("Reland: Add a parser", {TITLE}),
        ("Add a parser again\n\nReland of #12", {f"pr:{NAME}#12"}),
        (f"Add a parser again\n\nRelands {PULL} with a fix", {f"pr:{NAME}#12"}),
        ("[Reland] Add a parser (#12) (#14)", {TITLE}),
        ("Add landing pages", set()),
    ],
)
def test_a_re_land_names_what_it_lands_again(message, expected):
    assert stated_reverts(message)[1] == expected


def test_the_revert_buttons_branch_names_the_number():
    merge_commit = a_merge('Merge pull request #13 from acme/revert-12-topic\n\nRevert "Add a parser"')
    assert f"pr:{NAME}#12" in stated_reverts('Revert "Add a parser"', merge_commit=merge_commit)[0]


def test_a_pull_request_that_says_it_reverts_makes_its_commits_reverts():
    landing = a_landing(a_commit("back to before"), pull=a_pull(13, 'Revert "Add a parser"', f"Reverts {NAME}#12"))
    assert set(recognise(landing).reverts) == {f"pr:{NAME}#12", TITLE}


def test_the_target_of_a_revert_is_not_its_own_identity():
    known = recognised(
        "Revert D12345: Add a parser\n\nDifferential Revision:\nD12345\n\nOriginal Phabricator Diff: D12345"
    )
    assert not set(known.keys) & set(known.reverts)


def test_a_patch_is_known_again_wherever_its_lines_moved_to():
    lines = ["one", "two", "three", "four"]
    here, there = a_file("a.py", lines), a_file("a.py", ["  " + line for line in lines])

    def key(title: str, file: FileChange) -> str | None:
        return patch_key(NAME, ADA.email, title, [file], read_patches([file]))

    assert key("Add it (#1)", here) == key("add it", there) != key("Add more", here)
    assert key("Add it", here) != key("Add it", a_file("b.py", lines))
    assert key("Add it", a_file("a.py", lines[:3])) is None


def test_each_convention_documents_what_it_proves_with_an_example():
    names = [entry.name for entry in CONVENTIONS]
    assert len(names) == len(set(names))
    assert all(entry.proves and entry.example and entry.evidence for entry in CONVENTIONS)
    assert all(form.example and form.evidence for form in REVERT_FORMS)


@pytest.mark.parametrize(
    "text",
    ['Revert "' * 9000, "[" * 65_000, "Revert " + "[a] " * 16_000, "Reverts #" * 8000,
     "x\n\n" + "This reverts commit " * 4000,
     "x\n\n" + "(cherry picked from commit \n" * 3000, "revert(" + "a" * 65_000,
     "Reland " * 9000, "x (#" + "9" * 65_000 + ")"],
)  # fmt: skip
def test_hostile_messages_are_read_quickly(text):
    begin = time.process_time()
    recognised(text, committer=WEB_FLOW, merge_commit=a_merge(text))
    assert time.process_time() - begin < 0.5


def test_a_skipped_convention_would_not_have_matched():
    messages = [entry.example for entry in CONVENTIONS] + [form.example for form in REVERT_FORMS]
    messages += [f"Add a parser (#12)\n\nText.\n\n{message}" for message in messages]
    asked = 0
    for message in messages:
        for merge_commit in (None, a_merge(f"Merge pull request #5 from ben/topic\n\n{message}"), a_merge(message)):
            reading = LandingReading.of(a_landing(a_commit(message), merge_commit=merge_commit))
            found = recognise(reading.landing)
            answers = [entry for entry in CONVENTIONS if entry.read(reading) is not None]
            assert found.how == answers[0].name, message
            assert found.pull_request == proved_pull_request(reading.landing), message
            asked += sum(entry.looks_at != "anything" or bool(entry.words) for entry in answers)
    assert asked > 50


def test_an_empty_message_is_a_push():
    known = recognise(a_landing(a_commit("", name="nothing")))
    assert (known.how, known.title) == ("push", "")
    assert f"commit:{sha('nothing')}" in known.keys


@pytest.mark.parametrize(
    ("merge_commit", "number"),
    [
        ("Merge branch 'stable'", 7),
        ("Merge pull request #12 from acme/develop\n\nRelease 2", 7),
        ("Merge branch 'main' of github.com:acme/rocket", 7),
        ("Merge pull request #12 from ben/topic\n\nAdd a parser", 12),
        ("Merge branch 'topic' of https://github.com/ben/rocket", None),
    ],
)
def test_a_merge_within_a_merged_branch_proves_its_number_unless_the_branch_is_a_forks(merge_commit, number):
    landing = replace(a_landing(a_commit("a step"), merge_commit=a_merge(merge_commit)), brought_by=7)
    assert recognise(landing).pull_request == number


@pytest.mark.parametrize(
    ("message", "merge_commit", "number"),
    [
        ("Add a parser (#3)", "Merge branch 'other'", None),
        ("Add a parser (#3)", "Merge pull request #12 from acme/import\n\nImport it", 12),
        ("Add a parser", "Merge branch 'other'", None),
    ],
)
def test_imported_history_keeps_the_numbers_of_its_origin(message, merge_commit, number):
    landing = replace(
        a_landing(a_commit(message, committer=WEB_FLOW), merge_commit=a_merge(merge_commit)), brought_by=0
    )
    assert recognise(landing).pull_request == number


def test_a_revert_in_imported_history_is_matched_by_title_only():
    commit = a_commit('Revert "Add a parser (#12)"')
    landing = replace(a_landing(commit, merge_commit=a_merge("Merge branch 'other'")), brought_by=0)
    assert recognise(landing).reverts == (TITLE,)


class _Asked(dict):
    """Trailers that remember which keys were asked for."""

    def __init__(self):
        super().__init__()
        self.keys_asked = set()

    def get(self, key, default=None):
        self.keys_asked.add(key)
        return default

    def __contains__(self, key):
        self.keys_asked.add(key)
        return False


def test_no_reader_of_trailers_asks_for_a_key_that_does_not_make_it_worth_asking():
    asked = _Asked()
    reading = LandingReading.of(a_landing(a_commit("Add a parser\n\nReviewed-by: A")))._replace(trailers=asked)
    for entry in CONVENTIONS:
        if entry.looks_at == "trailers":
            entry.read(reading)
    assert asked.keys_asked
    assert asked.keys_asked <= TRAILERS
