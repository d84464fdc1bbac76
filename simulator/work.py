"""What do people and bots do? Pull requests, reviews, merges, pushes and reverts, delivered to Apps as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from simulator import merging, payloads
from simulator.administration import Administration
from simulator.git import Draft, Edits, GitSignature, apply_edits
from simulator.shapes.conversations import pull_commits
from simulator.state import (
    Comment,
    Discussion,
    DiscussionComment,
    Issue,
    ReviewComment,
    SimAccount,
    SimCheckRun,
    SimPullRequest,
    SimRepository,
    SimReview,
)
from simulator.web_host import web, web_flow

Button = Literal["merge", "squash", "rebase"]


class Step(Struct, frozen=True):
    """One commit to make."""

    message: str
    edits: Edits
    author: GitSignature | None = None
    """None: the author of the work"""
    at: datetime | None = None


class NewPullRequest(Struct, frozen=True):
    """The content of a new pull request."""

    title: str
    author: SimAccount
    steps: Sequence[Step]
    branch: str
    body: str = ""
    base: str = "main"
    labels: Sequence[str] = ()
    fork: SimRepository | None = None
    """where the branch lives, if not in the repository itself"""


class Activity(Administration):
    """A simulated GitHub with activity. The caller gives the times, so months can pass at once."""

    def commit(
        self, repo: SimRepository, branch: str, steps: Sequence[Step], *, by: SimAccount, at: datetime
    ) -> list[str]:
        """Commits on a branch (created from the default branch if new) without a delivery; returns the ids."""
        tip = repo.git.branches.get(branch) or repo.git.tip
        tree = repo.git.commits[tip].tree if tip else {}
        drafts: list[Draft] = []
        for step in steps:
            tree = apply_edits(tree, step.edits)
            author = step.author or by.signature
            parents = (tip,) if tip and not drafts else ()
            drafts.append(
                Draft(_end_line(step.message), tree, author, step.at or at, by.signature, step.at or at, parents)
            )
        written = [entry.id for entry in repo.git.write(drafts)]
        repo.git.set_ref(f"refs/heads/{branch}", written[-1])
        return written

    def push(
        self, repo: SimRepository, branch: str, steps: Sequence[Step], *, by: SimAccount, at: datetime
    ) -> list[str]:
        """Commits directly to a branch and delivers the push."""
        before = repo.git.branches.get(branch)
        written = self.commit(repo, branch, steps, by=by, at=at)
        self._send_push(repo, branch, before, by=by)
        return written

    def force_push(self, repo: SimRepository, branch: str, commit: str, *, by: SimAccount) -> None:
        """Move a branch to any known commit."""
        before = repo.git.branches.get(branch)
        repo.git.set_ref(f"refs/heads/{branch}", commit)
        for pull in repo.pulls:
            if pull.head_ref == branch and pull.head_repository is repo and not pull.issue.closed_at:
                pull.head = commit
                self._send_pull(repo, "synchronize", pull, by=by)
        self._send_push(repo, branch, before, by=by)

    def _send_push(self, repo: SimRepository, branch: str, before: str | None, *, by: SimAccount) -> None:
        after = repo.git.branches[branch]
        if before != after:
            payload = payloads.push(self.api_url, repo, (f"refs/heads/{branch}", before, after), sender=by)
            self.send_event(repo, "push", payload, sender=by)
            self._open_suites(repo, after, by=by)

    def _open_suites(self, repo: SimRepository, head: str, *, by: SimAccount) -> None:
        for found in self.state.installations_of(repo) if self.state.opens_suites else ():
            key = (found.app.id, head)
            if found.app.id in repo.no_suites_for or key in repo.suites or "checks" not in found.app.permissions:
                continue
            repo.suites[key] = self.state.new_id()
            payload = payloads.check_suite(self.api_url, repo, "requested", suite=(repo.suites[key], found.app, head))
            self.send_event(repo, "check_suite", payload, sender=by)

    def is_held_up(self, repo: SimRepository, head: str) -> bool:
        """Whether a tool that waits for all check suites of a commit would still wait."""
        done = {run.app.id for run in repo.checks.values() if run.fields["head_sha"] == head and _is_completed(run)}
        return any(app not in done for app, commit in repo.suites if commit == head)

    def _send_pull(self, repo: SimRepository, action: str, pull: SimPullRequest, *, by: SimAccount) -> None:
        self.send_event(repo, "pull_request", payloads.pull_request(self.api_url, repo, action, pull=pull), sender=by)

    # -- issues and comments

    def open_issue(self, repo: SimRepository, title: str, *, by: SimAccount, at: datetime, body: str = "") -> Issue:
        issue = self._new_issue(repo, title, body, by=by, at=at)
        self.send_event(repo, "issues", payloads.issues(self.api_url, repo, "opened", found=issue), sender=by)
        return issue

    def _new_issue(self, repo: SimRepository, title: str, body: str, *, by: SimAccount | None, at: datetime) -> Issue:
        number = repo.next_number
        repo.issues[number] = Issue(self.state.new_id(), number, title, body, by, at, at)
        return repo.issues[number]

    def comment(self, repo: SimRepository, issue: Issue, body: str, *, by: SimAccount, at: datetime) -> Comment:
        found = Comment(self.state.new_id(), issue, by, body, at, at)
        issue.comments.append(found)
        issue.updated_at = max(issue.updated_at, at)
        self.send_comment(repo, "created", found)
        return found

    def send_comment(self, repo: SimRepository, action: str, found: Comment) -> None:
        payload = payloads.issue_comment(self.api_url, repo, action, found=found)
        self.send_event(repo, "issue_comment", payload, sender=found.user)

    def comment_on_discussion(
        self, repo: SimRepository, below: Discussion | DiscussionComment, body: str, *, by: SimAccount, at: datetime
    ) -> DiscussionComment:
        """Write a comment below a discussion, or a reply below one of its comments."""
        above = below.id if isinstance(below, DiscussionComment) else None
        discussion = next(one for one in repo.discussions if below is one or below in one.comments)
        found = DiscussionComment(self.state.new_id(), by, body, at, reply_to=above)
        discussion.comments.append(found)
        payload = payloads.discussion_comment(self.api_url, repo, discussion, found=found)
        self.send_event(repo, "discussion_comment", payload, sender=by)
        return found

    # -- pull requests

    def open_pull(self, repo: SimRepository, work: NewPullRequest, *, at: datetime) -> SimPullRequest:
        """Commits the steps on a branch and opens a pull request from it."""
        home = work.fork or repo
        if work.branch not in home.git.branches and repo.git.branches.get(work.base):
            home.git.adopt(repo.git, [repo.git.branches[work.base]])
            home.git.set_ref(f"refs/heads/{work.branch}", repo.git.branches[work.base])
        head = self.commit(home, work.branch, work.steps, by=work.author, at=at)[-1]
        if home is not repo:
            repo.git.adopt(home.git, [head])
        issue = self._new_issue(repo, work.title, work.body, by=work.author, at=at)
        issue.labels = [self.label(repo, name) for name in work.labels]
        base = repo.git.branches[work.base]
        issue.pull = SimPullRequest(issue, work.base, work.branch, home, head, repo.git.merge_base(base, head) or base)
        repo.git.set_ref(f"refs/pull/{issue.number}/head", head)
        self._send_pull(repo, "opened", issue.pull, by=work.author)
        self._open_suites(repo, head, by=work.author)
        return issue.pull

    def review(
        self, repo: SimRepository, pull: SimPullRequest, review: tuple[str, str], *, by: SimAccount, at: datetime
    ) -> SimReview:
        """Submit a review; `review` is (state as GitHub names it, text)."""
        state, body = review
        found = SimReview(self.state.new_id(), by, state, body, at, pull.head)  # type: ignore[arg-type]  # a Literal
        pull.reviews.append(found)
        payload = payloads.pull_request_review(self.api_url, repo, pull, entry=found)
        self.send_event(repo, "pull_request_review", payload, sender=by)
        return found

    def remark(self, pull: SimPullRequest, review: SimReview, path: str, *, body: str) -> None:
        """Add a comment on a line to a review."""
        pull.review_comments.append(ReviewComment(self.state.new_id(), review, path, 1, body))

    def merge(
        self, repo: SimRepository, pull: SimPullRequest, how: Button, *, by: SimAccount, at: datetime
    ) -> list[str]:
        """Press a merge button; return the ids that landed. Raises merging.ConflictError."""
        before = repo.git.branches[pull.base_ref]
        drafts = self._button_drafts(repo, pull, how, by=by, at=at)
        landed = [entry.id for entry in repo.git.write(drafts)]
        repo.git.set_ref(f"refs/heads/{pull.base_ref}", landed[-1])
        pull.merged_at, pull.merged_by = at, by
        pull.merge_commit = pull.landed = landed[-1]
        self._close(repo, pull, by=by, at=at)
        self._send_push(repo, pull.base_ref, before, by=by)
        return landed

    def _button_drafts(
        self, repo: SimRepository, pull: SimPullRequest, how: Button, *, by: SimAccount, at: datetime
    ) -> list[Draft]:
        tip = repo.git.branches[pull.base_ref]
        author = (pull.issue.user or by).signature
        if how == "rebase":
            landing = merging.MergeDetails(by.signature, at, "", author)
            return merging.rebased_commits(repo.git, tip, pull_commits(repo, pull), landing=landing)
        if how == "squash":
            landing = merging.MergeDetails(web_flow(), at, _squash_message(repo, pull, author), author)
            return [merging.squash_commit(repo.git, tip, pull.head, landing=landing)]
        owner = (pull.head_repository or repo).owner.login
        message = f"Merge pull request #{pull.number} from {owner}/{pull.head_ref}\n\n{pull.issue.title}\n"
        landing = merging.MergeDetails(web_flow(), at, message, by.signature)
        return [merging.merge_commit(repo.git, tip, pull.head, landing=landing)]

    def land_by_bot(self, repo: SimRepository, pull: SimPullRequest, *, bot: SimAccount, at: datetime) -> str:
        """A merge bot squashes and pushes the work itself, then closes the pull request unmerged, as pytorch's does."""
        before = repo.git.branches[pull.base_ref]
        author = (pull.issue.user or bot).signature
        link = f"{web()}/{repo.full_name}/pull/{pull.number}"
        approvers = sorted({entry.user.login for entry in pull.reviews if entry.state == "APPROVED"})
        approved = ", ".join(f"{web()}/{login}" for login in approvers)
        message = f"{pull.issue.title} (#{pull.number})\n\n{pull.issue.body}\n\nPull Request resolved: {link}\n"
        message += f"Approved by: {approved}\n"
        landing = merging.MergeDetails(bot.signature, at, message, author)
        (landed,) = repo.git.write([merging.squash_commit(repo.git, before, pull.head, landing=landing)])
        repo.git.set_ref(f"refs/heads/{pull.base_ref}", landed.id)
        pull.landed = landed.id
        pull.issue.labels.append(self.label(repo, "Merged"))
        self._send_push(repo, pull.base_ref, before, by=bot)
        self._close(repo, pull, by=bot, at=at)
        return landed.id

    def close(self, repo: SimRepository, pull: SimPullRequest, *, by: SimAccount, at: datetime) -> None:
        """Close a pull request without landing it."""
        self._close(repo, pull, by=by, at=at)

    def _close(self, repo: SimRepository, pull: SimPullRequest, *, by: SimAccount, at: datetime) -> None:
        pull.issue.closed_at = pull.issue.updated_at = at
        self._send_pull(repo, "closed", pull, by=by)

    def revert(self, repo: SimRepository, pull: SimPullRequest, *, by: SimAccount, at: datetime) -> SimPullRequest:
        """Press the revert button: open, without merging it, a pull request that reverts a landed one."""
        tip, landed = repo.git.branches[pull.base_ref], pull.landed
        if landed is None:
            raise ValueError(f"#{pull.number} has not landed")
        title = f'Revert "{pull.issue.title}"'
        message = f"{title}\n\nThis reverts commit {landed}.\n"
        landing = merging.MergeDetails(web_flow(), at, message, by.signature)
        after = merging.reverting_draft(repo.git, tip, landed, landing=landing).tree
        now = repo.git.commits[tip].tree
        edits = {
            path: after.get(path) for path in sorted(now.keys() | after.keys()) if now.get(path) != after.get(path)
        }
        branch = f"revert-{pull.number}-{pull.head_ref}"
        work = NewPullRequest(title, by, [Step(message, edits)], branch, body=f"Reverts {repo.full_name}#{pull.number}")
        return self.open_pull(repo, work, at=at)


def _end_line(message: str) -> str:
    return message if message.endswith("\n") else message + "\n"


def _squash_message(repo: SimRepository, pull: SimPullRequest, author: GitSignature) -> str:
    """GitHub's default: title, the body of a single commit or the list of several, co-authors as trailers."""
    drafts = [repo.git.commits[id_].draft for id_ in pull_commits(repo, pull)]
    title = f"{pull.issue.title} (#{pull.number})"
    bodies = [entry.message.partition("\n")[2].strip() for entry in drafts]
    if len(drafts) == 1:
        return f"{title}\n\n{bodies[0]}\n" if bodies[0] else f"{title}\n"
    lines = "\n\n".join("* " + entry.message.strip() for entry in drafts)
    others = [f"{entry.author.name} <{entry.author.email}>" for entry in drafts if entry.author != author]
    for body in bodies:
        credited = (line.partition(": ") for line in body.split("\n"))
        others += [value for word, _, value in credited if word.lower() == "co-authored-by"]
    trailers = "\n".join(f"Co-authored-by: {other}" for other in dict.fromkeys(others))
    return f"{title}\n\n{lines}\n" + (f"\n---------\n\n{trailers}\n" if trailers else "")


def _is_completed(run: SimCheckRun) -> bool:
    return bool(run.fields.get("conclusion"))
