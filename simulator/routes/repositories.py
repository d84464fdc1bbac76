"""How are requests about a repository answered: its settings, commits, comparisons, contents, permissions?"""

from __future__ import annotations

import hashlib
from datetime import datetime

from simulator.access import RefusedError
from simulator.calls import ApiResponse, Call, list_page, page_of
from simulator.git import GitCommit
from simulator.shapes.accounts import user
from simulator.shapes.conversations import pull, pull_commits
from simulator.shapes.repositories import commit, content, file, full_repository, stats
from simulator.state import Json, SimAccount
from simulator.web_host import web

FILES_OF_A_COMMIT = 3000
FILES_OF_A_COMPARISON = 300
ROLES = ("read", "triage", "write", "maintain", "admin")
"""each with the rights of those before it"""


def get_repository(call: Call) -> ApiResponse:
    return ApiResponse(full_repository(call.api, call.repo))


def _commit(call: Call, name: str) -> GitCommit:
    found = call.repo.git.resolve(name)
    if found is None:
        raise RefusedError(422, f"No commit found for SHA: {name}")
    return found


def _shape(call: Call, id_: str) -> Json:
    return commit(call.api, call.state, (call.repo, call.repo.git.commits[id_]))


def list_branches(call: Call) -> ApiResponse:
    commits_url = f"{call.api}/repos/{call.repo.full_name}/commits"
    branches = sorted(call.repo.git.branches.items())
    return list_page(
        call,
        branches,
        lambda found: {
            "name": found[0],
            "commit": {"sha": found[1], "url": f"{commits_url}/{found[1]}"},
            "protected": False,
        },
    )


def list_commits(call: Call) -> ApiResponse:
    """Newest first from `sha` (branch or id), filtered by `path`, `author`, `since` and `until`."""
    start = call.query.get("sha") or call.repo.git.default_branch
    if call.repo.git.tip is None:
        raise RefusedError(409, "Git Repository is empty.")
    found = call.repo.git.resolve(start)
    if found is None:
        raise RefusedError(404, "Not Found")
    ids = [id_ for id_ in call.repo.git.history(found.id) if _matches_query(call, id_)]
    return list_page(call, ids, lambda id_: _shape(call, id_))


def _matches_query(call: Call, id_: str) -> bool:
    draft = call.repo.git.commits[id_].draft
    since, until, author, path = (call.query.get(name) for name in ("since", "until", "author", "path"))
    if since and draft.committed_at < datetime.fromisoformat(since):
        return False
    if until and draft.committed_at > datetime.fromisoformat(until):
        return False
    account = call.state.account_of(draft.author.email)
    if author and author not in {draft.author.email, account.login if account else None}:
        return False
    return not path or any(
        entry.path == path or entry.path.startswith(path + "/") for entry in call.repo.differences.of_commit(id_)
    )


def get_commit(call: Call) -> ApiResponse:
    """One commit with 300 files per page, at most 3,000."""
    found = _commit(call, call.names["ref"])
    files = call.repo.differences.of_commit(found.id)
    part, headers = page_of(call, files[:FILES_OF_A_COMMIT], default=300, most=300)
    rows = [file(call.api, call.repo, (entry, found.id)) for entry in part]
    return ApiResponse({**_shape(call, found.id), "stats": stats(files), "files": rows}, headers=headers)


def list_pulls_of_commit(call: Call) -> ApiResponse:
    found = _commit(call, call.names["ref"])
    open_too = [entry for entry in call.repo.pulls if found.id in {entry.merge_commit, *pull_commits(call.repo, entry)}]
    return list_page(call, open_too, lambda entry: pull(call.api, call.repo, entry))


def compare(call: Call) -> ApiResponse:
    """A three-dot comparison: from the merge base. At most 300 files, on the first page only."""
    git = call.repo.git
    base, head = (_commit(call, call.names[side].rpartition(":")[2]) for side in ("base", "head"))
    fork_point = git.merge_base(base.id, head.id)
    if fork_point is None:
        raise RefusedError(404, "No common ancestor between the two commits.")
    ahead = git.history(head.id, without=git.reachable(base.id))[::-1]
    behind = len(git.history(base.id, without=git.reachable(head.id)))
    part, headers = page_of(call, ahead, default=250, most=250)
    files = call.repo.differences.between(fork_point, head.id)[:FILES_OF_A_COMPARISON]
    url = f"{call.api}{call.path}"
    page = f"{web()}/{call.repo.full_name}/compare/{base.id}...{head.id}"
    links = {"permalink_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch"}
    status = {(False, False): "identical", (True, False): "ahead", (False, True): "behind", (True, True): "diverged"}
    shape = {
        "url": url,
        "html_url": page,
        **links,
        "base_commit": _shape(call, base.id),
        "merge_base_commit": _shape(call, fork_point),
        "status": status[(bool(ahead), behind > 0)],
        "ahead_by": len(ahead),
        "behind_by": behind,
        "total_commits": len(ahead),
        "commits": [_shape(call, id_) for id_ in part],
    }
    if call.query.get("page", "1") == "1":
        shape["files"] = [file(call.api, call.repo, (entry, head.id)) for entry in files]
    return ApiResponse(shape, headers=headers)


def get_content(call: Call) -> ApiResponse:
    """One file at `ref` (default: the default branch). Directories are not served."""
    found = call.repo.git.resolve(call.query.get("ref") or call.repo.git.default_branch)
    entry = found.tree.get(call.names["path"]) if found else None
    if entry is None:
        raise RefusedError(404, "Not Found")
    blob = hashlib.sha1(b"blob %d\0" % len(entry.content) + entry.content, usedforsecurity=False).hexdigest()
    return ApiResponse(content(call.api, call.repo, (call.names["path"], blob, entry.content)))


def list_collaborators(call: Call) -> ApiResponse:
    """Everybody with access, by id: those with a permission, and the account that owns the repository."""
    roles = {login: role for login, role in call.repo.permissions.items() if login in call.state.accounts}
    if call.repo.owner.type == "User":
        roles[call.repo.owner.login] = "admin"
    rows = sorted(((call.state.accounts[login], role) for login, role in roles.items()), key=lambda row: row[0].id)
    return list_page(call, rows, lambda row: _collaborator(call, *row))


def _collaborator(call: Call, account: SimAccount, role: str) -> Json:
    held = ROLES.index(role)
    rights = {right: held >= level for level, right in enumerate(("pull", "triage", "push", "maintain", "admin"))}
    return {**user(call.api, account), "permissions": rights, "role_name": role}


def get_permission(call: Call) -> ApiResponse:
    account = call.state.accounts.get(call.names["username"])
    if account is None:
        raise RefusedError(404, "Not Found")
    role = "admin" if account is call.repo.owner else call.repo.permissions.get(account.login, "read")
    held = {"maintain": "write", "triage": "read"}.get(role, role)
    collaborator = {**user(call.api, account), "role_name": role}
    return ApiResponse({"permission": held, "role_name": role, "user": collaborator})
