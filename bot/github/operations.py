"""Which operations of GitHub's API does Almanac use, and which permission does each need?

The manifest test keeps `app.yml` equal to this list. `{+repository}` is `repositories/<id>`, so that a rename changes
nothing; GitHub answers there as at `repos/<owner>/<name>`, and its own redirects for renamed repositories point there.
A host that does not support this uses names (`Endpoint.by_name`).
https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Level = Literal["read", "write"]


class Operation(Struct, frozen=True):
    """One call: its method, its address template and the permissions it needs (none: it acts as the App)."""

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    permissions: tuple[str, ...] = ()
    level: Level = "read"
    items: str | None = None
    """the key of the list in a paginated answer"""


_DISCUSSION = ("issues", "pull_requests")
"""the documentation says that either suffices for a comment on a pull request; not confirmed for each by itself"""

APP = Operation("GET", "app")
CONVERT_MANIFEST = Operation("POST", "app-manifests/{code}/conversions")
VERSIONS = Operation("GET", "versions")
HOOK_CONFIG = Operation("GET", "app/hook/config")
NEWEST_DELIVERIES = Operation("GET", "app/hook/deliveries?per_page=5", items="")
DELIVERIES = Operation("GET", "app/hook/deliveries?per_page=100&status={status}", items="")
DELIVERY = Operation("GET", "app/hook/deliveries/{delivery}")
INSTALLATIONS = Operation("GET", "app/installations?per_page=100", items="")
INSTALLATION = Operation("GET", "app/installations/{installation}")
CREATE_TOKEN = Operation("POST", "app/installations/{installation}/access_tokens")
INSTALLATION_REPOSITORIES = Operation(
    "GET", "installation/repositories?per_page=100", ("metadata",), items="repositories"
)
REPOSITORY = Operation("GET", "{+repository}", ("metadata",))
COLLABORATORS = Operation("GET", "{+repository}/collaborators?per_page=100", ("metadata",), items="")
"""everybody with access, by whatever way; GitHub asks an App for no more than to read metadata"""
PERMISSION = Operation("GET", "{+repository}/collaborators/{login}/permission", ("metadata",))
CONTENT = Operation("GET", "{+repository}/contents{/segments*}{?ref}", ("contents",))
COMMIT = Operation("GET", "{+repository}/commits/{commit}?per_page={size}", ("contents",), items="files")
COMMITS = Operation("GET", "{+repository}/commits?sha={commit}&per_page=100", ("contents",), items="")
COMPARE = Operation("GET", "{+repository}/compare/{before}...{after}?per_page=100", ("contents",), items="commits")
COMPARISON = Operation("GET", "{+repository}/compare/{before}...{after}", ("contents",), items="commits")
"""only its first page: up to 250 commits, more than a page of a list can hold"""
CLOSED_PULL_REQUESTS = Operation(
    "GET",
    "{+repository}/pulls?state=closed&sort=updated&direction=desc&per_page=100",
    ("pull_requests",),
    items="",
)
PULL_REQUEST = Operation("GET", "{+repository}/pulls/{number}", ("pull_requests",))
PULL_REQUEST_COMMITS = Operation(
    "GET", "{+repository}/pulls/{number}/commits?per_page=100", ("pull_requests",), items=""
)
CHECK_RUNS = Operation(
    "GET",
    "{+repository}/commits/{commit}/check-runs?filter={filter}&per_page=100{&check_name}",
    ("checks",),
    items="check_runs",
)
CREATE_CHECK_RUN = Operation("POST", "{+repository}/check-runs", ("checks",), "write")
EDIT_CHECK_RUN = Operation("PATCH", "{+repository}/check-runs/{check_run}", ("checks",), "write")
SET_SUITE_PREFERENCES = Operation("PATCH", "{+repository}/check-suites/preferences", ("checks",), "write")
COMMENT = Operation("GET", "{+repository}/issues/comments/{comment}", _DISCUSSION)
COMMENTS = Operation("GET", "{+repository}/issues/{number}/comments?per_page=100", _DISCUSSION, items="")
CREATE_REACTION = Operation("POST", "{+repository}/issues/comments/{comment}/reactions", _DISCUSSION, "write")
CREATE_COMMENT = Operation("POST", "{+repository}/issues/{number}/comments", _DISCUSSION, "write")
EDIT_COMMENT = Operation("PATCH", "{+repository}/issues/comments/{comment}", _DISCUSSION, "write")
DELETE_COMMENT = Operation("DELETE", "{+repository}/issues/comments/{comment}", _DISCUSSION, "write")

ISSUES = Operation("GET", "{+repository}/issues?creator={creator}&state=all&per_page=100", ("issues",), items="")
ISSUE = Operation("GET", "{+repository}/issues/{number}", _DISCUSSION)
CREATE_ISSUE = Operation("POST", "{+repository}/issues", ("issues",), "write")
DISCUSSIONS = Operation("POST", "graphql", ("discussions",), "write")
"""everything that is written in discussions; used only if a repository's settings ask for a digest there"""
READ_DISCUSSIONS = Operation("POST", "graphql", ("discussions",))

READING = (
    REPOSITORY,
    COLLABORATORS,
    PERMISSION,
    CONTENT,
    COMMIT,
    COMMITS,
    COMPARE,
    COMPARISON,
    CLOSED_PULL_REQUESTS,
    PULL_REQUEST,
    PULL_REQUEST_COMMITS,
    CHECK_RUNS,
    COMMENT,
    ISSUE,
)
POSTING_CHECKS = (CHECK_RUNS, CREATE_CHECK_RUN, EDIT_CHECK_RUN, SET_SUITE_PREFERENCES)
POSTING_COMMENTS = (COMMENTS, CREATE_COMMENT, EDIT_COMMENT, DELETE_COMMENT, CREATE_REACTION)
POSTING_DIGESTS = (ISSUES, CREATE_ISSUE, *POSTING_COMMENTS)
OPERATIONS: tuple[Operation, ...] = (
    APP,
    CONVERT_MANIFEST,
    VERSIONS,
    HOOK_CONFIG,
    NEWEST_DELIVERIES,
    DELIVERIES,
    DELIVERY,
    INSTALLATIONS,
    INSTALLATION,
    CREATE_TOKEN,
    INSTALLATION_REPOSITORIES,
    *READING,
    *POSTING_CHECKS[1:],
    *POSTING_COMMENTS,
    *POSTING_DIGESTS[:2],
    DISCUSSIONS,
    READ_DISCUSSIONS,
)


def required_permissions(*operations: Operation) -> dict[str, Level]:
    """The minimal permissions that cover some operations: the scope of a token for them."""
    levels: dict[str, Level] = {}
    for operation in operations:
        for permission in operation.permissions:
            levels[permission] = "write" if "write" in (operation.level, levels.get(permission)) else "read"
    return dict(sorted(levels.items()))
