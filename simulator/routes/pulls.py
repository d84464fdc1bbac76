"""How are requests about pull requests answered?"""

from __future__ import annotations

from simulator.calls import ApiResponse, Call, list_page, page_of
from simulator.shapes.conversations import full_pull, pull, pull_commits, review, review_comment
from simulator.shapes.repositories import commit, file
from simulator.state import SimPullRequest

FILES_OF_A_PULL = 3000
COMMITS_OF_A_PULL = 250


def list_pulls(call: Call) -> ApiResponse:
    """Filtered by `state`, `head`, `base`; `sort` is created or updated, newest first by default."""
    wanted = call.query.get("state", "open")
    found = [entry for entry in call.repo.pulls if wanted == "all" or entry.issue.state == wanted]
    if base := call.query.get("base"):
        found = [entry for entry in found if entry.base_ref == base]
    if head := call.query.get("head"):
        found = [entry for entry in found if _label(entry) == head]
    by_update = call.query.get("sort") == "updated"
    rising = call.query.get("direction", "desc") == "asc"
    found.sort(key=lambda entry: (entry.issue.updated_at if by_update else entry.issue.created_at, entry.number))
    return list_page(call, found if rising else found[::-1], lambda entry: pull(call.api, call.repo, entry))


def _label(entry: SimPullRequest) -> str:
    owner = entry.head_repository.owner.login if entry.head_repository else "unknown"
    return f"{owner}:{entry.head_ref}"


def get_pull(call: Call) -> ApiResponse:
    return ApiResponse(full_pull(call.api, call.repo, call.pull))


def list_files(call: Call) -> ApiResponse:
    """At most 3,000 files."""
    files = call.repo.differences.between(call.pull.base, call.pull.head)[:FILES_OF_A_PULL]
    part, headers = page_of(call, files)
    return ApiResponse([file(call.api, call.repo, (entry, call.pull.head)) for entry in part], headers=headers)


def list_commits(call: Call) -> ApiResponse:
    """Oldest first, at most 250."""
    git = call.repo.git
    ids = pull_commits(call.repo, call.pull)[:COMMITS_OF_A_PULL]
    return list_page(call, ids, lambda id_: commit(call.api, call.state, (call.repo, git.commits[id_])))


def list_reviews(call: Call) -> ApiResponse:
    return list_page(call, call.pull.reviews, lambda entry: review(call.api, call.repo, (call.pull, entry)))


def list_review_comments(call: Call) -> ApiResponse:
    return list_page(
        call, call.pull.review_comments, lambda entry: review_comment(call.api, call.repo, (call.pull, entry))
    )
