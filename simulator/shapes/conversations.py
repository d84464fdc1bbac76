"""How does GitHub represent issues, pull requests, reviews, comments and labels in JSON?"""

from __future__ import annotations

from simulator.shapes.accounts import app, maybe_stamp, maybe_user, stamp, user
from simulator.shapes.repositories import repository
from simulator.state import (
    Comment,
    Issue,
    Json,
    Reaction,
    ReviewComment,
    SimLabel,
    SimPullRequest,
    SimRepository,
    SimReview,
)
from simulator.web_host import web

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
SHARED_WITH_ISSUE = (
    "number",
    "state",
    "title",
    "body",
    "user",
    "labels",
    "assignee",
    "assignees",
    "milestone",
    "locked",
    "active_lock_reason",
    "created_at",
    "updated_at",
    "closed_at",
    "author_association",
    "id",
)


def label(api: str, repo: SimRepository, found: SimLabel) -> Json:
    return {
        "id": found.id,
        "node_id": f"LA_{found.id}",
        "url": f"{api}/repos/{repo.full_name}/labels/{found.name}",
        "name": found.name,
        "color": found.color,
        "description": found.description,
        "default": False,
    }


def reaction(api: str, found: Reaction) -> Json:
    return {
        "id": found.id,
        "node_id": f"RE_{found.id}",
        "user": user(api, found.user),
        "content": found.content,
        "created_at": stamp(found.created_at),
    }


def association(repo: SimRepository, login: str | None) -> str:
    """How an author belongs to the repository, as REST and GraphQL name it."""
    if login == repo.owner.login:
        return "OWNER"
    return {"admin": "MEMBER", "write": "MEMBER", "maintain": "MEMBER"}.get(
        repo.permissions.get(login or "", ""), "NONE"
    )


def comment(api: str, repo: SimRepository, found: Comment) -> Json:
    url, page = (
        f"{api}/repos/{repo.full_name}/issues",
        f"{web()}/{repo.full_name}/issues/{found.issue.number}",
    )
    counts = {name: sum(entry.content == name for entry in found.reactions) for name in REACTIONS}
    return {
        "id": found.id,
        "node_id": f"IC_{found.id}",
        "url": f"{url}/comments/{found.id}",
        "html_url": f"{page}#issuecomment-{found.id}",
        "issue_url": f"{url}/{found.issue.number}",
        "body": found.body,
        "user": user(api, found.user),
        "created_at": stamp(found.created_at),
        "updated_at": stamp(found.updated_at),
        "author_association": association(repo, found.user.login),
        "performed_via_github_app": app(api, found.app) if found.app else None,
        "reactions": {"url": f"{url}/comments/{found.id}/reactions", "total_count": len(found.reactions), **counts},
    }


def issue(api: str, repo: SimRepository, found: Issue) -> Json:
    url, page = f"{api}/repos/{repo.full_name}/issues/{found.number}", f"{web()}/{repo.full_name}"
    shape: Json = {
        "id": found.id,
        "node_id": f"I_{found.id}",
        "url": url,
        "repository_url": f"{api}/repos/{repo.full_name}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{page}/issues/{found.number}",
        "number": found.number,
        "state": found.state,
        "state_reason": "completed" if found.closed_at else None,
        "title": found.title,
        "body": found.body,
        "user": maybe_user(api, found.user),
        "labels": [label(api, repo, entry) for entry in found.labels],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": len(found.comments),
        "closed_at": maybe_stamp(found.closed_at),
        "created_at": stamp(found.created_at),
        "updated_at": stamp(found.updated_at),
        "author_association": association(repo, found.user.login if found.user else None),
        "performed_via_github_app": app(api, found.app) if found.app else None,
    }
    if found.pull:
        pulls = f"{api}/repos/{repo.full_name}/pulls/{found.number}"
        pull_page = f"{page}/pull/{found.number}"
        shape["pull_request"] = {"url": pulls, "html_url": pull_page, "diff_url": f"{pull_page}.diff"}
        shape["pull_request"] |= {"patch_url": f"{pull_page}.patch", "merged_at": maybe_stamp(found.pull.merged_at)}
    return shape


def _end(api: str, end: tuple[SimRepository | None, SimRepository], at: tuple[str, str]) -> Json:
    """The head or base of a pull request: `end` is (its repository or None, the base's), `at` (branch, commit)."""
    repo, base = end
    owner = (repo or base).owner
    ref, sha = at
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(api, owner),
        "repo": repository(api, repo) if repo else None,
    }


def pull(api: str, repo: SimRepository, found: SimPullRequest) -> Json:
    """A pull request as lists contain it."""
    url = f"{api}/repos/{repo.full_name}/pulls/{found.number}"
    base = issue(api, repo, found.issue)
    page = f"{web()}/{repo.full_name}/pull/{found.number}"
    links = {
        "self": url,
        "html": page,
        "issue": base["url"],
        "comments": f"{base['url']}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{api}/repos/{repo.full_name}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{api}/repos/{repo.full_name}/statuses/{found.head}",
    }
    return {
        **{name: base[name] for name in SHARED_WITH_ISSUE},
        "node_id": f"PR_{found.issue.id}",
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": base["url"],
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": links["statuses"],
        "merged_at": maybe_stamp(found.merged_at),
        "merge_commit_sha": found.merge_commit,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _end(api, (found.head_repository, repo), (found.head_ref, found.head)),
        "base": _end(api, (repo, repo), (found.base_ref, found.base)),
        "_links": {name: {"href": target} for name, target in links.items()},
        "auto_merge": None,
        "draft": False,
    }


def full_pull(api: str, repo: SimRepository, found: SimPullRequest) -> Json:
    """A pull request requested directly, with its counts."""
    files = repo.differences.between(found.base, found.head)
    commits = pull_commits(repo, found)
    return {
        **pull(api, repo, found),
        "merged": found.merged_at is not None,
        "mergeable": None if found.issue.closed_at else True,
        "rebaseable": None,
        "mergeable_state": "unknown" if found.issue.closed_at else "clean",
        "merged_by": maybe_user(api, found.merged_by),
        "comments": len(found.issue.comments),
        "review_comments": len(found.review_comments),
        "maintainer_can_modify": False,
        "commits": len(commits),
        "additions": sum(entry.additions for entry in files),
        "deletions": sum(entry.deletions for entry in files),
        "changed_files": len(files),
    }


def pull_commits(repo: SimRepository, found: SimPullRequest) -> list[str]:
    """Ids of a pull request's own commits, oldest first."""
    return repo.git.history(found.head, without=repo.git.reachable(found.base))[::-1]


def review(api: str, repo: SimRepository, found: tuple[SimPullRequest, SimReview]) -> Json:
    request, entry = found
    pull_url = f"{api}/repos/{repo.full_name}/pulls/{request.number}"
    page = f"{web()}/{repo.full_name}/pull/{request.number}#pullrequestreview-{entry.id}"
    return {
        "id": entry.id,
        "node_id": f"PRR_{entry.id}",
        "user": user(api, entry.user),
        "body": entry.body,
        "state": entry.state,
        "html_url": page,
        "pull_request_url": pull_url,
        "_links": {"html": {"href": page}, "pull_request": {"href": pull_url}},
        "submitted_at": stamp(entry.submitted_at),
        "commit_id": entry.commit,
        "author_association": association(repo, entry.user.login),
    }


def review_comment(api: str, repo: SimRepository, found: tuple[SimPullRequest, ReviewComment]) -> Json:
    request, entry = found
    pull_url = f"{api}/repos/{repo.full_name}/pulls/{request.number}"
    link = f"{api}/repos/{repo.full_name}/pulls/comments/{entry.id}"
    page = f"{web()}/{repo.full_name}/pull/{request.number}#discussion_r{entry.id}"
    when = stamp(entry.review.submitted_at)
    return {
        "id": entry.id,
        "node_id": f"PRRC_{entry.id}",
        "pull_request_review_id": entry.review.id,
        "url": link,
        "html_url": page,
        "pull_request_url": pull_url,
        "_links": {"self": {"href": link}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "diff_hunk": "@@ -1 +1 @@",
        "path": entry.path,
        "position": entry.line,
        "original_position": entry.line,
        "line": entry.line,
        "commit_id": entry.review.commit,
        "original_commit_id": entry.review.commit,
        "user": user(api, entry.review.user),
        "body": entry.body,
        "created_at": when,
        "updated_at": when,
        "author_association": association(repo, entry.review.user.login),
    }
