"""Which requests are answered? The visible list; everything else is refused."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from simulator.calls import ApiResponse, Call
from simulator.routes import apps, checks, issues, pulls, registration, repositories


class Route(Struct, frozen=True):
    """A route; one of the permissions in `needs` suffices. Empty for requests that concern no repository."""

    method: str
    pattern: str
    answer: Callable[[Call], ApiResponse]
    needs: tuple[str, ...] = ()

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """The path's parameters, if this route answers it."""
        if method != self.method:
            return None
        found = re.fullmatch(_expression(self.pattern), path)
        return found.groupdict() if found else None


def _expression(pattern: str) -> str:
    """A pattern as a regular expression: `{name}` is one segment, `{name+}` one or more, `{number}` digits."""
    expression = pattern.replace(".", r"\.").replace("{number}", r"(?P<number>\d+)")
    return re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", re.sub(r"\{(\w+)\+\}", r"(?P<\1>.+)", expression))


REPO = "/repos/{owner}/{repo}"
META = ("metadata:read",)
CONTENTS = ("contents:read",)
PULLS = ("pull_requests:read",)
COMMENTS_READ = ("issues:read", "pull_requests:read")
COMMENTS_WRITE = ("issues:write", "pull_requests:write")
CHECK = ("checks:write",)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/meta", apps.meta),
    Route("GET", "/versions", apps.versions),
    Route("GET", "/rate_limit", apps.rate_limit),
    Route("GET", "/app", apps.get_app),
    Route("POST", "/app-manifests/{code}/conversions", registration.convert_manifest),
    Route("GET", "/app/hook/config", registration.hook_config),
    Route("GET", "/user", registration.get_authenticated_user),
    Route("GET", "/app/installations", apps.list_installations),
    Route("GET", "/app/installations/{number}", apps.get_installation),
    Route("POST", "/app/installations/{number}/access_tokens", apps.create_token),
    Route("GET", "/app/hook/deliveries", apps.list_deliveries),
    Route("GET", "/app/hook/deliveries/{number}", apps.get_delivery),
    Route("POST", "/app/hook/deliveries/{number}/attempts", apps.redeliver),
    Route("GET", "/installation/repositories", apps.list_repositories),
    Route("GET", "/users/{username}", apps.get_user),
    Route("GET", REPO, repositories.get_repository, META),
    Route("GET", REPO + "/branches", repositories.list_branches, CONTENTS),
    Route("GET", REPO + "/commits", repositories.list_commits, CONTENTS),
    Route("GET", REPO + "/commits/{ref}/pulls", repositories.list_pulls_of_commit, PULLS),
    Route("GET", REPO + "/commits/{ref+}/check-runs", checks.list_for_ref, ("checks:read",)),
    Route("GET", REPO + "/commits/{ref+}", repositories.get_commit, CONTENTS),
    Route("GET", REPO + "/compare/{base}...{head}", repositories.compare, CONTENTS),
    Route("GET", REPO + "/contents/{path+}", repositories.get_content, CONTENTS),
    Route("GET", REPO + "/collaborators", repositories.list_collaborators, META),
    Route("GET", REPO + "/collaborators/{username}/permission", repositories.get_permission, META),
    Route("GET", REPO + "/pulls", pulls.list_pulls, PULLS),
    Route("GET", REPO + "/pulls/{number}", pulls.get_pull, PULLS),
    Route("GET", REPO + "/pulls/{number}/files", pulls.list_files, PULLS),
    Route("GET", REPO + "/pulls/{number}/commits", pulls.list_commits, PULLS),
    Route("GET", REPO + "/pulls/{number}/reviews", pulls.list_reviews, PULLS),
    Route("GET", REPO + "/pulls/{number}/comments", pulls.list_review_comments, PULLS),
    Route("POST", REPO + "/check-runs", checks.create, CHECK),
    Route("GET", REPO + "/check-runs/{number}", checks.get, ("checks:read",)),
    Route("PATCH", REPO + "/check-runs/{number}", checks.update, CHECK),
    Route("PATCH", REPO + "/check-suites/preferences", checks.set_suite_preferences, CHECK),
    Route("GET", REPO + "/labels", issues.list_labels, COMMENTS_READ),
    Route("POST", REPO + "/labels", issues.create_label, COMMENTS_WRITE),
    Route("GET", REPO + "/issues", issues.list_issues, COMMENTS_READ),
    Route("POST", REPO + "/issues", issues.create_issue, ("issues:write",)),
    Route("GET", REPO + "/issues/{number}", issues.get_issue, COMMENTS_READ),
    Route("PATCH", REPO + "/issues/{number}", issues.update_issue, COMMENTS_WRITE),
    Route("POST", REPO + "/issues/{number}/labels", issues.add_labels, COMMENTS_WRITE),
    Route("GET", REPO + "/issues/{number}/comments", issues.list_comments, COMMENTS_READ),
    Route("POST", REPO + "/issues/{number}/comments", issues.create_comment, COMMENTS_WRITE),
    Route("GET", REPO + "/issues/comments/{number}", issues.get_comment, COMMENTS_READ),
    Route("PATCH", REPO + "/issues/comments/{number}", issues.update_comment, COMMENTS_WRITE),
    Route("DELETE", REPO + "/issues/comments/{number}", issues.delete_comment, COMMENTS_WRITE),
    Route("GET", REPO + "/issues/comments/{number}/reactions", issues.list_reactions, COMMENTS_READ),
    Route("POST", REPO + "/issues/comments/{number}/reactions", issues.create_reaction, COMMENTS_WRITE),
    Route("DELETE", REPO + "/issues/comments/{number}/reactions/{reaction}", issues.delete_reaction, COMMENTS_WRITE),
)


def find_route(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route that answers a request, with the parameters of its path."""
    for route in ROUTES:
        names = route.match(method, path)
        if names is not None:
            return route, names
    return None
