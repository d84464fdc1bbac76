"""How do people triage issues and publish releases, with deliveries to the Apps?"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from simulator import payloads
from simulator.administration import Administration
from simulator.shapes.accounts import stamp, user
from simulator.state import Issue, Json, SimAccount, SimRelease, SimRepository
from simulator.web_host import web


def triage_issue(
    github: Administration, repo: SimRepository, issue: Issue, action: str, *, by: SimAccount, at: datetime, **more: Any
) -> None:
    """Apply a triage `action`, named as in deliveries (`labeled`, `closed` etc.); `more` extends the payload."""
    issue.updated_at = at
    if action == "closed":
        issue.closed_at = at
    payload = payloads.issues(github.api_url, repo, action, found=issue) | more
    github.send_event(repo, "issues", payload, sender=by)


def label_issue(
    github: Administration, repo: SimRepository, issue: Issue, name: str, *, by: SimAccount, at: datetime
) -> None:
    issue.labels.append(github.label(repo, name))
    label = {"id": issue.labels[-1].id, "name": name}
    triage_issue(github, repo, issue, "labeled", by=by, at=at, label=label)


def publish_release(
    github: Administration,
    repo: SimRepository,
    tag: str,
    *,
    by: SimAccount,
    at: datetime,
    author: SimAccount | None = None,
    prerelease: bool = False,
) -> SimRelease:
    """Publish a release, which GitHub delivers as two events; `author` is who drafted it, if somebody else did."""
    found = SimRelease(github.state.new_id(), tag, author or by, at, prerelease)
    repo.releases.append(found)
    for action in ("published", "prereleased" if prerelease else "released"):
        send_release(github, repo, found, action, by=by)
    return found


def promote_release(github: Administration, repo: SimRepository, found: SimRelease, *, by: SimAccount) -> None:
    """Turn a prerelease into a release."""
    found.prerelease = False
    send_release(github, repo, found, "released", by=by)


def delete_release(github: Administration, repo: SimRepository, found: SimRelease, *, by: SimAccount) -> None:
    repo.releases.remove(found)
    send_release(github, repo, found, "deleted", by=by)


def send_release(
    github: Administration, repo: SimRepository, found: SimRelease, action: str, *, by: SimAccount
) -> None:
    payload = {"action": action, "release": release(github.api_url, repo, found)}
    github.send_event(repo, "release", payload, sender=by)


def release(api: str, repo: SimRepository, found: SimRelease) -> Json:
    releases_url = f"{api}/repos/{repo.full_name}/releases"
    return {
        "url": f"{releases_url}/{found.id}",
        "assets_url": f"{releases_url}/{found.id}/assets",
        "upload_url": f"{releases_url}/{found.id}/assets{{?name,label}}",
        "html_url": f"{web()}/{repo.full_name}/releases/tag/{found.tag}",
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
