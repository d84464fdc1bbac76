"""By which convention did a commit land, and what does that prove about its pull request and identity?

One table, `CONVENTIONS`, in order of precedence. To add one, write its reader next to similar ones, and add an entry
here with an example and an address where the form can be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from bot.landing.conventions import footers, merge_commits
from bot.landing.message.parts import DEFAULT, NO_FINDING, LandingReading, LandingSettings, MessageFinding
from bot.landing.reverts.statements import REVERT_FORMS

__all__ = ["CONVENTIONS", "DEFAULT", "NESTED", "REVERT_FORMS", "Convention", "LandingSettings"]


class Convention(Struct, frozen=True):
    """One way in which work lands: what it proves, what it looks like, where it can be seen."""

    name: str
    proves: str
    example: str
    evidence: str
    read: Callable[[LandingReading], MessageFinding | None]
    looks_at: Literal["anything", "trailers", "merge", "number", "answer", "settings"] = "anything"
    """it is skipped unless the landing has this: one of `TRAILERS` in `bot.landing.message.parts`, a merge commit
    that brought it, a number at the end of the subject, GitHub's answer, or configured trailers"""
    words: tuple[str, ...] = ()
    """the message, or for "merge" the merge commit's message, must contain one of these, in lower case"""


def _github_answer(reading: LandingReading) -> MessageFinding | None:
    pull = reading.landing.pull_request
    return MessageFinding(pull.number, title=pull.title or None) if pull is not None else None


def _direct_push(reading: LandingReading) -> MessageFinding | None:
    return None if reading.merged else NO_FINDING


NESTED = "nested merge"
"""the convention that looks at the merges between a commit and the merge commit that brought it"""
_PULL = "pull request"
_WORK = "identity of the work"
_GH = "https://docs.github.com/en/"
_MERGING = _GH + "pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/"

CONVENTIONS: tuple[Convention, ...] = (
    Convention(
        "configured trailer",
        _PULL,
        "Landed-PR: 12",
        "the repository's own configuration",
        footers.configured_trailer,
        "settings",
    ),
    Convention(
        "pull request resolved",
        _PULL,
        "Pull Request resolved: https://github.com/owner/name/pull/12",
        "https://github.com/ezyang/ghstack (also `Pull-Request-resolved:` and `Pull-Request:`)",
        footers.resolved_pull,
        "trailers",
    ),
    Convention(
        "gerrit import",
        _PULL,
        "GitHub-Pull-Request: owner/name#12",
        "https://github.com/golang/oauth2",
        footers.gerrit_pull,
        "trailers",
    ),
    Convention(
        "apache",
        _PULL,
        "Closes #12 from user/branch",
        "https://github.com/apache/zookeeper",
        footers.closed_pull,
        words=("close #", "closes #"),
    ),
    Convention(
        "copybara",
        f"{_PULL}, {_WORK}",
        "PiperOrigin-RevId: 123456789",
        "https://github.com/google/gvisor, https://github.com/abseil/abseil-py",
        footers.copybara,
        words=("origin-revid", "copybara_integrate_review="),
    ),
    Convention(
        "landing bot", _PULL, "Title (#12), committed by the bot", "https://bors.tech", merge_commits.landing_bot_commit
    ),
    Convention(
        "squash button",
        _PULL,
        "Title (#12), committed by GitHub",
        _MERGING + "about-pull-request-merges",
        merge_commits.squash_button,
        "number",
    ),
    Convention(
        "early squash button",
        _PULL,
        "Title (#12), committed by who pressed it, in the second it was authored, before March 2020",
        "https://github.com/starship/starship, https://github.com/eslint/eslint",
        merge_commits.early_squash_button,
        "number",
    ),
    Convention(
        NESTED,
        _PULL,
        "Merge pull request #12 from user/branch, within a branch that was merged later",
        "https://github.com/pallets/flask",
        merge_commits.nested_merge,
        "merge",
    ),
    Convention(
        "prow tide",
        _PULL,
        "Merge pull request #12 from user/branch",
        "https://docs.prow.k8s.io",
        merge_commits.prow_tide,
        "merge",
        ("merge pull request #",),
    ),
    Convention(
        "merge queue",
        _PULL,
        "Merge pull request #12 from user/branch",
        _MERGING + "merging-a-pull-request-with-a-merge-queue",
        merge_commits.merge_queue,
        "merge",
        ("merge pull request #", "(#"),
    ),
    Convention(
        "merge button",
        _PULL,
        "Merge pull request #12 from user/branch",
        _MERGING + "merging-a-pull-request",
        merge_commits.merge_button,
        "merge",
        ("merge pull request #",),
    ),
    Convention(
        "homu",
        _PULL,
        "Auto merge of #12 - user:branch, r=reviewer",
        "https://github.com/rust-lang/libc",
        merge_commits.homu,
        "merge",
        ("auto merge of #",),
    ),
    Convention(
        "bors-ng", _PULL, "Merge #12 #13", "https://github.com/crossbeam-rs/crossbeam", merge_commits.bors_ng, "merge"
    ),
    Convention(
        "titled merge",
        _PULL,
        "Title (#12), a merge commit by GitHub",
        "https://github.com/rust-lang/cargo",
        merge_commits.titled_merge,
        "merge",
        ("(#",),
    ),
    Convention(
        "x-link",
        _WORK,
        "X-link: https://github.com/owner/other/pull/12",
        "https://github.com/pytorch/benchmark",
        footers.x_link,
        "trailers",
    ),
    Convention(
        "phabricator",
        _WORK,
        "Differential Revision: D1234567",
        "https://github.com/facebook/watchman",
        footers.phabricator,
        "trailers",
    ),
    Convention(
        "shipit",
        _WORK,
        "fbshipit-source-id: 0123456789ab…",
        "https://github.com/facebook/watchman",
        footers.ship_it,
        "trailers",
    ),
    Convention(
        "gerrit",
        _WORK,
        "Change-Id: I0123456789abcdef0123456789abcdef01234567",
        "https://github.com/golang/oauth2",
        footers.gerrit,
        "trailers",
    ),
    Convention(
        "ghstack", _WORK, "ghstack-source-id: 0123…", "https://github.com/ezyang/ghstack", footers.ghstack, "trailers"
    ),
    Convention(
        "mail",
        _WORK,
        "Link: https://lore.kernel.org/r/20250101.1@example.org",
        "https://docs.kernel.org/process/maintainer-tip.html",
        footers.mailed_patch,
        "trailers",
    ),
    Convention(
        "subversion",
        _WORK,
        "git-svn-id: https://svn.example.org/trunk@12 <id>",
        "https://github.com/apache/zookeeper",
        footers.subversion,
        "trailers",
    ),
    Convention(
        "gitlab",
        _WORK,
        "See merge request group/name!12",
        "https://docs.gitlab.com",
        merge_commits.gitlab,
        "merge",
        ("see merge request ",),
    ),
    Convention(
        "backport",
        _WORK,
        "Title (backport #12) · [3.12] Title (#12) (#15)",
        "https://docs.mergify.com, https://github.com/sanitizers/patchback-github-app",
        footers.backport,
        words=("backport", "["),
    ),
    Convention(
        "cherry-pick",
        _WORK,
        "(cherry picked from commit 0123…)",
        "https://git-scm.com/docs/git-cherry-pick",
        footers.cherry_pick,
        words=("(cherry picked from commit ",),
    ),
    Convention(
        "pull request",
        _PULL,
        "GitHub's own answer (rebase button and whatever leaves no trace)",
        _GH + "rest/commits/commits",
        _github_answer,
        "answer",
    ),
    Convention(
        "merge",
        "nothing",
        "Merge branch 'feature'",
        "https://git-scm.com/docs/git-merge",
        merge_commits.plain_merge,
        "merge",
    ),
    Convention(
        "push", "nothing", "a commit on the default branch itself", "https://git-scm.com/docs/git-push", _direct_push
    ),
)
