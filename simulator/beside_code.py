"""How do people triage issues and publish releases, with deliveries to the Apps?"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from simulator import payloads
from simulator.setting import Setting
from simulator.shapes.accounts import stamp, user
from simulator.state import Account, Issue, Json, Release, Repository


def sort_issue(
    github: Setting, repo: Repository, issue: Issue, action: str, *, by: Account, at: datetime, **more: Any
) -> None:
    """Apply a triage `action`, named as in deliveries (`labeled`, `closed` etc.); `more` extends the payload."""
    issue.updated_at = at
    if action == "closed":
        issue.closed_at = at
    payload = payloads.issues(github.api_url, repo, action, found=issue) | more
    github.tell(repo, "issues", payload, sender=by)


def label_issue(github: Setting, repo: Repository, issue: Issue, name: str, *, by: Account, at: datetime) -> None:
    issue.labels.append(github.label(repo, name))
    label = {"id": issue.labels[-1].id, "name": name}
    sort_issue(github, repo, issue, "labeled", by=by, at=at, label=label)


def publish_release(
    github: Setting,
    repo: Repository,
    tag: str,
    *,
    by: Account,
    at: datetime,
    author: Account | None = None,
    prerelease: bool = False,
) -> Release:
    """Publish a release, which GitHub delivers as two events; `author` is who drafted it, if somebody else did."""
    found = Release(github.state.new_id(), tag, author or by, at, prerelease)
    repo.releases.append(found)
    for action in ("published", "prereleased" if prerelease else "released"):
        tell_release(github, repo, found, action, by=by)
    return found


def promote_release(github: Setting, repo: Repository, found: Release, *, by: Account) -> None:
    """Turn a prerelease into a release."""
    found.prerelease = False
    tell_release(github, repo, found, "released", by=by)


def delete_release(github: Setting, repo: Repository, found: Release, *, by: Account) -> None:
    repo.releases.remove(found)
    tell_release(github, repo, found, "deleted", by=by)


def tell_release(github: Setting, repo: Repository, found: Release, action: str, *, by: Account) -> None:
    payload = {"action": action, "release": release(github.api_url, repo, found)}
    github.tell(repo, "release", payload, sender=by)


def release(api: str, repo: Repository, found: Release) -> Json:
    here = f"{api}/repos/{repo.full_name}/releases"
    return {
        "url": f"{here}/{found.id}",
        "assets_url": f"{here}/{found.id}/assets",
        "upload_url": f"{here}/{found.id}/assets{{?name,label}}",
        "html_url": f"https://github.com/{repo.full_name}/releases/tag/{found.tag}",
        "id": found.id,
        "node_id": f"RE_{found.id}",
        "tag_name": found.tag,
        "target_commitish": repo.git.default_branch,
        "name": found.tag,
        "draft": False,
        "author": user(api, found.author),
        "prerelease": found.prerelease,
        "created_at": stamp(found.published_at),
        "published_at": stamp(found.published_at),
        "assets": [],
        "tarball_url": f"{api}/repos/{repo.full_name}/tarball/{found.tag}",
        "zipball_url": f"{api}/repos/{repo.full_name}/zipball/{found.tag}",
        "body": "",
    }
