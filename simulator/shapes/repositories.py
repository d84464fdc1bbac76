"""How does GitHub represent repositories, commits, files and comparisons in JSON?"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from simulator import web_host
from simulator.differences import FileDifference
from simulator.git import GitCommit, GitSignature
from simulator.shapes.accounts import maybe_user, stamp, user
from simulator.state import Json, SimRepository, State
from simulator.web_host import web

URL_TEMPLATES = [
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "git_commits",
    "git_refs",
    "git_tags",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "statuses",
    "trees",
]
PLAIN_URLS = [
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "hooks",
    "languages",
    "merges",
    "stargazers",
    "subscribers",
    "subscription",
    "tags",
    "teams",
]


def repository(api: str, found: SimRepository) -> Json:
    url, page = f"{api}/repos/{found.full_name}", f"{web()}/{found.full_name}"
    links = {f"{name}_url": f"{url}/{name}{{/name}}" for name in URL_TEMPLATES}
    links |= {f"{name}_url": f"{url}/{name}" for name in PLAIN_URLS}
    flags = dict.fromkeys(("archived", "disabled", "has_pages", "web_commit_signoff_required"), False)
    return {
        "id": found.id,
        "node_id": f"R_{found.id}",
        "name": found.name,
        "full_name": found.full_name,
        "owner": user(api, found.owner),
        "private": found.private,
        "has_discussions": found.has_discussions,
        "visibility": "internal" if found.internal else "private" if found.private else "public",
        "html_url": page,
        "description": found.description,
        "fork": found.fork_of is not None,
        "url": url,
        **links,
        "git_url": f"git://{web_host.HOST}/{found.full_name}.git",
        "ssh_url": f"git@{web_host.HOST}:{found.full_name}.git",
        "clone_url": f"{api.removesuffix('/api/v3')}/{found.full_name}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": found.language,
        "license": None,
        "topics": found.topics,
        "default_branch": found.git.default_branch,
        **dict.fromkeys(("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "size"), 0),
        "open_issues": _open_issue_count(found),
        "open_issues_count": _open_issue_count(found),
        **dict.fromkeys(("has_issues", "has_projects", "has_wiki", "has_downloads", "allow_forking"), True),
        **flags,
        "is_template": False,
        "pushed_at": stamp(found.created_at),
        "created_at": stamp(found.created_at),
        "updated_at": stamp(found.created_at),
    }


def _open_issue_count(found: SimRepository) -> int:
    return sum(issue.state == "open" for issue in found.issues.values())


def full_repository(api: str, found: SimRepository) -> Json:
    """A repository requested directly: with counts and, for a fork, its parent."""
    counts = {"network_count": 0, "subscribers_count": 0}
    family = {}
    if found.fork_of:
        family = {"parent": repository(api, found.fork_of), "source": repository(api, found.fork_of)}
    return {**repository(api, found), **counts, **family}


def _git_person(person: GitSignature, when: str) -> Json:
    return {"name": person.name, "email": person.email, "date": when}


def commit(api: str, state: State, found: tuple[SimRepository, GitCommit]) -> Json:
    """One commit as lists contain it."""
    repo, entry = found
    repository_url, draft = f"{api}/repos/{repo.full_name}", entry.draft
    page = f"{web()}/{repo.full_name}/commit"
    return {
        "sha": entry.id,
        "node_id": f"C_{entry.id}",
        "commit": {
            "author": _git_person(draft.author, stamp(draft.authored_at)),
            "committer": _git_person(draft.committer, stamp(draft.committed_at)),
            "message": draft.message.removesuffix("\n"),
            "tree": {"sha": entry.tree_id, "url": f"{repository_url}/git/trees/{entry.tree_id}"},
            "url": f"{repository_url}/git/commits/{entry.id}",
            "comment_count": 0,
            "verification": {"verified": False, "reason": "unsigned", "payload": None, "signature": None}
            | {"verified_at": None},
        },
        "url": f"{repository_url}/commits/{entry.id}",
        "html_url": f"{page}/{entry.id}",
        "comments_url": f"{repository_url}/commits/{entry.id}/comments",
        "author": maybe_user(api, state.account_of(draft.author.email)),
        "committer": maybe_user(api, state.account_of(draft.committer.email)),
        "parents": [
            {"sha": id_, "url": f"{repository_url}/commits/{id_}", "html_url": f"{page}/{id_}"} for id_ in entry.parents
        ],
    }


def file(api: str, repo: SimRepository, found: tuple[FileDifference, str]) -> Json:
    """One changed file; `found` is (file, commit id)."""
    entry, at = found
    page = f"{web()}/{repo.full_name}"
    shape: Json = {
        "sha": entry.blob,
        "filename": entry.path,
        "status": entry.status,
        "additions": entry.additions,
        "deletions": entry.deletions,
        "changes": entry.additions + entry.deletions,
        "blob_url": f"{page}/blob/{at}/{entry.path}",
        "raw_url": f"{page}/raw/{at}/{entry.path}",
        "contents_url": f"{api}/repos/{repo.full_name}/contents/{entry.path}?ref={at}",
    }
    if entry.patch is not None:
        shape["patch"] = entry.patch
    if entry.previous_path is not None:
        shape["previous_filename"] = entry.previous_path
    return shape


def stats(files: Sequence[FileDifference]) -> Json:
    added, deleted = sum(entry.additions for entry in files), sum(entry.deletions for entry in files)
    return {"additions": added, "deletions": deleted, "total": added + deleted}


def content(api: str, repo: SimRepository, found: tuple[str, str, bytes]) -> Json:
    """One file's content; `found` is (path, blob id, bytes)."""
    path, blob, raw = found
    url, page = (
        f"{api}/repos/{repo.full_name}",
        f"{web()}/{repo.full_name}/blob/{repo.git.default_branch}/{path}",
    )
    git_url = f"{url}/git/blobs/{blob}"
    return {
        "type": "file",
        "encoding": "base64",
        "size": len(raw),
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "content": base64.encodebytes(raw).decode(),
        "sha": blob,
        "url": f"{url}/contents/{path}",
        "git_url": git_url,
        "html_url": page,
        "download_url": page.replace("/blob/", "/raw/"),
        "_links": {"git": git_url, "self": f"{url}/contents/{path}", "html": page},
    }
