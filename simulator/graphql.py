"""How are GraphQL queries answered? Checked against GitHub's schema, then resolved from the same state as REST."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from simulator import discussions
from simulator.access import Caller, RefusedError
from simulator.git import GitCommit, GitSignature
from simulator.query_language import Enum, Field, Fragment, Query, QueryError, Selection, Variable, parse
from simulator.query_schema import base_type, check, schema
from simulator.shapes.accounts import maybe_stamp, stamp
from simulator.shapes.conversations import association, pull_commits
from simulator.state import Json, SimAccount, SimPullRequest, SimRepository, State

LIMIT = 5000
"""points an hour"""
_PULLS = "pull_requests:read"
_CONTENTS = "contents:read"


class _Typed(Struct, frozen=True):
    """A value with its concrete type, used where the schema names an interface."""

    type: str
    thing: Any


class _Connection(Struct, frozen=True):
    """Part of a list. Cursors are positions in it, so they remain valid while the list grows at its end."""

    things: Sequence[Any]
    total: int
    end: int


@dataclass(slots=True)
class QueryContext:
    """One query being answered."""

    state: State
    caller: Caller
    query: Query
    variables: Mapping[str, Any]
    used: int
    reset: int
    cost: int = 1


def answer(state: State, caller: Caller, body: Json, *, used: int, reset: int) -> tuple[Json, int]:
    """(the answer, its cost in points). `used` points of the hour are spent; it ends at `reset` (epoch seconds)."""
    if caller.token is None:
        raise RefusedError(401, "This endpoint requires you to be authenticated.")
    try:
        query = parse(str(body.get("query", "")))
        check(query, schema())
    except QueryError as problem:
        return {"errors": [{"type": "undefinedField", "message": str(problem)}]}, 0
    if discussions.is_about_discussions(str(body.get("query", ""))):
        return discussions.answer(state, caller, query, body), 1
    asked = QueryContext(state, caller, query, body.get("variables") or {}, used, reset)
    asked.cost = max(1, _connections(asked, query.selections, "Query", 1) // 100)
    if used + asked.cost > LIMIT:
        error = {"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation."}
        return {"errors": [error]}, 0
    errors: list[Json] = []
    data = _resolve_all(asked, query.selections, _Typed("Query", None), errors=errors)
    return {"data": data} | ({"errors": errors} if errors else {}), asked.cost


def _connections(asked: QueryContext, selections: Sequence[Selection], on: str, times: int) -> int:
    """The number of requests GitHub counts: one for each connection, times the nodes it is nested in."""
    total = 0
    for one in selections:
        if isinstance(one, Fragment):
            total += _connections(asked, one.selections, one.on, times)
        elif one.selections:
            type_ = base_type(schema()[on]["fields"][one.name]["type"])
            first = _value(asked, one.arguments.get("first")) if type_.endswith("Connection") else None
            total += times if type_.endswith("Connection") else 0
            total += _connections(asked, one.selections, type_, times * (first or 1))
    return total


def _resolve_all(asked: QueryContext, selections: Sequence[Selection], about: _Typed, *, errors: list[Json]) -> Json:
    found: Json = {}
    for one in selections:
        if isinstance(one, Fragment):
            if one.on == about.type:
                found |= _resolve_all(asked, one.selections, about, errors=errors)
        elif one.name == "__typename":
            found[one.key] = about.type
        else:
            found[one.key] = _resolve(asked, one, about, errors=errors)
    return found


def _resolve(asked: QueryContext, one: Field, about: _Typed, *, errors: list[Json]) -> Any:
    arguments = {name: _value(asked, value) for name, value in one.arguments.items()}
    found = RESOLVERS[about.type, one.name](asked, about.thing, arguments)
    if found is None and about.type == "Query":
        message = f"Could not resolve to a Repository with the name '{arguments.get('owner')}/{arguments.get('name')}'."
        errors.append({"type": "NOT_FOUND", "path": [one.key], "message": message})
    return _select(asked, one, _type_of(about.type, one.name), found, errors)


def _type_of(about: str, name: str) -> str:
    """The type of a field; the subset may list the field only for an interface of `about`."""
    kinds = (about, *(kind for kind, given in schema().items() if about in given.get("possible", ())))
    fields = (schema()[kind].get("fields", {}).get(name) for kind in kinds)
    return base_type(next(field for field in fields if field)["type"])


def _select(asked: QueryContext, one: Field, type_: str, found: Any, errors: list[Json]) -> Any:
    if found is None or not one.selections:
        return found
    if isinstance(found, list):
        return [_select(asked, one, type_, part, errors) for part in found]
    typed = found if isinstance(found, _Typed) else _Typed(type_, found)
    return _resolve_all(asked, one.selections, typed, errors=errors)


def _value(asked: QueryContext, value: Any) -> Any:
    if isinstance(value, Variable):
        return asked.variables.get(value.name)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, list):
        return [_value(asked, part) for part in value]
    return {name: _value(asked, part) for name, part in value.items()} if isinstance(value, dict) else value


# --- resolvers -------------------------------------------------------------------------------------------------------


def _connection(things: Sequence[Any], arguments: Json) -> _Connection:
    first = arguments.get("first") or 0
    if not 0 <= first <= 100:
        raise RefusedError(400, "Requesting more than 100 records on a connection is not possible.")
    start = int(arguments.get("after") or 0)
    part = things[start : start + first]
    return _Connection(part, len(things), start + len(part))


def _page_info(connection: _Connection) -> Json:
    return {"hasNextPage": connection.end < connection.total, "endCursor": str(connection.end) or None}


def _repository(asked: QueryContext, _: Any, arguments: Json) -> SimRepository | None:
    full_name = f"{arguments['owner']}/{arguments['name']}"
    found = asked.state.repository(full_name)
    if found is None:
        found = asked.state.repositories.get(asked.state.old_names.get(full_name.lower(), 0))
    return found if found and asked.caller.sees(asked.state, found) else None


def _pulls(asked: QueryContext, repo: SimRepository, arguments: Json) -> _Connection:
    asked.caller.demand(asked.state, repo, (_PULLS,))
    wanted = set(arguments.get("states") or ("OPEN", "CLOSED", "MERGED"))
    found = [pull for pull in repo.pulls if _state(pull) in wanted]
    order = arguments.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    moments: dict[str, Callable[[SimPullRequest], datetime]] = {
        "CREATED_AT": lambda pull: pull.issue.created_at,
        "UPDATED_AT": lambda pull: pull.issue.updated_at,
    }
    moment = moments[order["field"]]
    found.sort(key=lambda pull: (moment(pull), pull.number), reverse=order["direction"] == "DESC")
    return _connection(found, arguments)


def _issues(asked: QueryContext, repo: SimRepository, arguments: Json) -> _Connection:
    asked.caller.demand(asked.state, repo, ("issues:read",))
    found = [issue for issue in repo.issues.values() if issue.pull is None]
    found.sort(key=lambda issue: issue.number, reverse=arguments["orderBy"]["direction"] == "DESC")
    return _connection(found, arguments)


def _releases(asked: QueryContext, repo: SimRepository, arguments: Json) -> _Connection:
    asked.caller.demand(asked.state, repo, (_CONTENTS,))
    found = sorted(repo.releases, key=lambda one: (one.published_at, one.id), reverse=True)
    return _connection(found, arguments)


def _state(pull: SimPullRequest) -> str:
    if pull.merged_at:
        return "MERGED"
    return "CLOSED" if pull.issue.closed_at else "OPEN"


def _object(asked: QueryContext, repo: SimRepository, arguments: Json) -> _Typed | None:
    asked.caller.demand(asked.state, repo, (_CONTENTS,))
    found = repo.git.commits.get(arguments["oid"])
    return _Typed("Commit", (repo, found)) if found else None


def _head(_: QueryContext, repo: SimRepository, __: Json) -> SimRepository | None:
    return repo if repo.git.tip else None


def _target(_: QueryContext, repo: SimRepository, __: Json) -> _Typed:
    return _Typed("Commit", (repo, repo.git.commits[repo.git.tip or ""]))


def _actor(account: SimAccount | None) -> _Typed | None:
    return _Typed(account.type, account) if account else None


def _login(_: QueryContext, account: SimAccount, __: Json) -> str:
    """GraphQL returns a bot's login without the `[bot]` suffix that REST adds."""
    return account.login.removesuffix("[bot]")


def _user(asked: QueryContext, person: GitSignature, __: Json) -> SimAccount | None:
    """The User behind a commit's address; bots and organisations do not count."""
    found = asked.state.account_of(person.email)
    return found if found and found.type == "User" else None


def _commit_of(thing: tuple[SimRepository, GitCommit]) -> GitCommit:
    return thing[1]


def _of_pull(asked: QueryContext, pull: SimPullRequest) -> SimRepository:
    return next(found for found in asked.state.repositories.values() if found.issues.get(pull.number) is pull.issue)


def _association(asked: QueryContext, pull: SimPullRequest, _: Json) -> str:
    return association(_of_pull(asked, pull), pull.issue.user.login if pull.issue.user else None)


def _pull(asked: QueryContext, repo: SimRepository, arguments: Json) -> SimPullRequest | None:
    asked.caller.demand(asked.state, repo, (_PULLS,))
    found = repo.issues.get(int(arguments["number"]))
    return found.pull if found else None


def _collaborators(asked: QueryContext, repo: SimRepository, arguments: Json) -> _Connection:
    people = [asked.state.accounts[login] for login in sorted(repo.permissions) if login in asked.state.accounts]
    return _connection([(one, repo.permissions[one.login]) for one in people], arguments)


def _changed(_: QueryContext, thing: tuple[SimRepository, GitCommit]) -> tuple[int, int]:
    """(additions, deletions) of a commit against its first parent."""
    repo, found = thing
    files = repo.differences.between(found.parents[0] if found.parents else None, found.id)
    return sum(one.additions for one in files), sum(one.deletions for one in files)


def _merge_commit(_: QueryContext, pull: SimPullRequest, __: Json) -> tuple[Any, GitCommit] | None:
    repo = pull.head_repository
    return (repo, _OnlyId(pull.merge_commit)) if pull.merge_commit else None  # type: ignore[return-value]  # only its id is read


class _OnlyId(Struct, frozen=True):
    """A commit whose id is the only field requested."""

    id: str | None


def _own_commits(asked: QueryContext, pull: SimPullRequest, arguments: Json) -> _Connection:
    repo = _of_pull(asked, pull)
    ids = pull_commits(repo, pull)[:250]
    return _connection([(repo, repo.git.commits[id_]) for id_ in ids], arguments)


RESOLVERS: Mapping[tuple[str, str], Callable[[QueryContext, Any, Json], Any]] = {
    ("Query", "rateLimit"): lambda asked, _, __: asked,
    ("Query", "repository"): _repository,
    ("RateLimit", "cost"): lambda asked, _, __: asked.cost,
    ("RateLimit", "limit"): lambda asked, _, __: LIMIT,
    ("RateLimit", "remaining"): lambda asked, _, __: LIMIT - asked.used - asked.cost,
    ("RateLimit", "resetAt"): lambda asked, _, __: stamp(datetime.fromtimestamp(asked.reset, UTC)),
    ("Repository", "databaseId"): lambda _, repo, __: repo.id,
    ("Repository", "nameWithOwner"): lambda _, repo, __: repo.full_name,
    ("Repository", "isPrivate"): lambda _, repo, __: repo.private,
    ("Repository", "visibility"): lambda _, repo, __: "PRIVATE" if repo.private else "PUBLIC",
    ("Repository", "defaultBranchRef"): _head,
    ("Repository", "pullRequests"): _pulls,
    ("Repository", "object"): _object,
    ("Ref", "name"): lambda _, repo, __: repo.git.default_branch,
    ("Ref", "target"): _target,
    ("Commit", "oid"): lambda _, thing, __: _commit_of(thing).id,
    ("Commit", "message"): lambda _, thing, __: _commit_of(thing).draft.message.removesuffix("\n"),
    ("Commit", "author"): lambda _, thing, __: _commit_of(thing).draft.author,
    ("Commit", "committer"): lambda _, thing, __: _commit_of(thing).draft.committer,
    ("GitActor", "name"): lambda _, person, __: person.name,
    ("GitActor", "email"): lambda _, person, __: person.email,
    ("GitActor", "user"): _user,
    ("Commit", "additions"): lambda asked, thing, _: _changed(asked, thing)[0],
    ("Commit", "deletions"): lambda asked, thing, _: _changed(asked, thing)[1],
    ("Commit", "parents"): lambda _, thing, arguments: _connection(_commit_of(thing).parents, arguments),
    ("Repository", "pullRequest"): _pull,
    ("Repository", "collaborators"): _collaborators,
    ("RepositoryCollaboratorConnection", "totalCount"): lambda _, connection, __: connection.total,
    ("RepositoryCollaboratorConnection", "edges"): lambda _, connection, __: list(connection.things),
    ("RepositoryCollaboratorEdge", "permission"): lambda _, edge, __: edge[1].upper(),
    ("RepositoryCollaboratorEdge", "node"): lambda _, edge, __: edge[0],
    ("PullRequest", "authorAssociation"): _association,
    ("PullRequest", "number"): lambda _, pull, __: pull.number,
    ("PullRequest", "title"): lambda _, pull, __: pull.issue.title,
    ("PullRequest", "body"): lambda _, pull, __: pull.issue.body,
    ("PullRequest", "createdAt"): lambda _, pull, __: stamp(pull.issue.created_at),
    ("PullRequest", "mergedAt"): lambda _, pull, __: maybe_stamp(pull.merged_at),
    ("PullRequest", "closedAt"): lambda _, pull, __: maybe_stamp(pull.issue.closed_at),
    ("PullRequest", "updatedAt"): lambda _, pull, __: stamp(pull.issue.updated_at),
    ("PullRequest", "baseRefName"): lambda _, pull, __: pull.base_ref,
    ("PullRequest", "headRefName"): lambda _, pull, __: pull.head_ref,
    ("PullRequest", "headRefOid"): lambda _, pull, __: pull.head,
    ("PullRequest", "mergeCommit"): _merge_commit,
    ("PullRequest", "author"): lambda _, pull, __: _actor(pull.issue.user),
    ("PullRequest", "mergedBy"): lambda _, pull, __: _actor(pull.merged_by),
    ("PullRequest", "reviews"): lambda _, pull, arguments: _connection(pull.reviews, arguments),
    ("PullRequestReview", "fullDatabaseId"): lambda _, found, __: str(found.id),
    ("PullRequestReview", "state"): lambda _, found, __: found.state,
    ("PullRequestReview", "submittedAt"): lambda _, found, __: stamp(found.submitted_at),
    ("PullRequestReview", "author"): lambda _, found, __: _actor(found.user),
    ("Repository", "releases"): _releases,
    ("Repository", "issues"): _issues,
    ("Issue", "number"): lambda _, issue, __: issue.number,
    ("Issue", "body"): lambda _, issue, __: issue.body,
    ("Issue", "viewerDidAuthor"): lambda asked, issue, __: issue.app is asked.caller.acting_app,
    ("Release", "databaseId"): lambda _, found, __: found.id,
    ("Release", "tagName"): lambda _, found, __: found.tag,
    ("Release", "isDraft"): lambda _, __, ___: False,
    ("Release", "isPrerelease"): lambda _, found, __: found.prerelease,
    ("Release", "publishedAt"): lambda _, found, __: stamp(found.published_at),
    ("Release", "author"): lambda _, found, __: found.author if found.author.type == "User" else None,
    ("PullRequest", "labels"): lambda _, pull, arguments: _connection(pull.issue.labels, arguments),
    ("PullRequest", "commits"): _own_commits,
    ("PullRequestCommit", "commit"): lambda _, thing, __: thing,
    ("Label", "name"): lambda _, label, __: label.name,
    ("PageInfo", "hasNextPage"): lambda _, info, __: info["hasNextPage"],
    ("PageInfo", "endCursor"): lambda _, info, __: info["endCursor"],
    **{(type_, "login"): _login for type_ in ("User", "Bot", "Organization", "Mannequin")},
    **{(type_, "databaseId"): lambda _, one, __: one.id for type_ in ("User", "Bot", "Organization", "Mannequin")},
    **{
        (f"{type_}Connection", name): reader
        for type_ in ("PullRequest", "PullRequestCommit", "PullRequestReview", "Label", "Release", "Commit", "Issue")
        for name, reader in (
            ("totalCount", lambda _, connection, __: connection.total),
            ("pageInfo", lambda _, connection, __: _page_info(connection)),
            ("nodes", lambda _, connection, __: list(connection.things)),
        )
    },
}
