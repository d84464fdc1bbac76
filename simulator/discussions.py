"""How are discussions queried, created, commented on and edited?

Only over GraphQL, as on GitHub. A requested field that is unknown here raises an error and never yields an empty value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from simulator.access import Caller, RefusedError
from simulator.query_language import Field, Fragment, Query, Selection, Variable
from simulator.state import Discussion, DiscussionComment, Json, SimRepository, State

LONGEST_BODY = 65_536
CATEGORIES = (("polls", False), ("q-a", True), ("general", False), ("announcements", False))
"""slug, and whether the category is for questions: the categories of every new repository"""
_WRITE = ("discussions:write",)
_ROOTS = {"createDiscussion", "addDiscussionComment", "updateDiscussionComment", "deleteDiscussionComment"}


class _MissingError(Exception):
    """No such node, or none that this caller may access."""


class _DiscussionQuery(Struct, frozen=True):
    state: State
    caller: Caller
    values: Mapping[str, Any]

    def may_write(self, repository: SimRepository) -> None:
        try:
            self.caller.demand(self.state, repository, _WRITE)
        except RefusedError as refused:
            raise _MissingError(refused.message) from None


def is_about_discussions(text: str) -> bool:
    """Whether a query is about discussions."""
    return "iscussion" in text


def answer(state: State, caller: Caller, query: Query, body: Json) -> Json:
    """`data`, or the errors as GitHub formats them; status 200 in both cases."""
    values = body.get("variables") or {}
    missing = [name for name, kind in query.variables.items() if kind.endswith("!") and values.get(name) is None]
    if missing:
        return {"errors": [{"message": f"Variable ${missing[0]} was provided invalid value"}]}
    asked = _DiscussionQuery(state, caller, values)
    try:
        return {"data": {one.key: _root(asked, one) for one in query.selections if isinstance(one, Field)}}
    except _MissingError as problem:
        return {"data": None, "errors": [{"type": "NOT_FOUND", "message": str(problem)}]}


def _root(asked: _DiscussionQuery, one: Field) -> Any:
    given = {name: _value(asked, value) for name, value in one.arguments.items()}
    if one.name in _ROOTS:
        return _select(asked, _MUTATIONS[one.name](asked, given["input"]), one.selections)
    if one.name == "repository":
        return _select(asked, _repository(asked, given), one.selections)
    if one.name == "node":
        return _select(asked, _discussion_shape(asked, _discussion(asked, given["id"])[1]), one.selections)
    raise _MissingError(one.name)


def _value(asked: _DiscussionQuery, value: Any) -> Any:
    if isinstance(value, Variable):
        return asked.values.get(value.name)
    return {name: _value(asked, part) for name, part in value.items()} if isinstance(value, dict) else value


def _select(asked: _DiscussionQuery, found: Any, selections: Sequence[Selection]) -> Any:
    """The selected parts of `found`; a callable receives the field's arguments."""
    if not selections or found is None:
        return found
    if isinstance(found, list):
        return [_select(asked, one, selections) for one in found]
    selected: Json = {}
    for one in selections:
        if isinstance(one, Fragment):
            selected |= _select(asked, found, one.selections)
            continue
        value = found[one.name]
        if callable(value):
            value = value({name: _value(asked, given) for name, given in one.arguments.items()})
        selected[one.key] = _select(asked, value, one.selections)
    return selected


# --- reads -----------------------------------------------------------------------------------------------------------


def _repository(asked: _DiscussionQuery, given: Json) -> Json:
    found = asked.state.repository(f"{given['owner']}/{given['name']}")
    if found is None or not asked.caller.sees(asked.state, found):
        raise _MissingError("Could not resolve to a Repository")
    rows = [{"id": f"DIC_{found.id}_{slug}", "slug": slug, "isAnswerable": asks} for slug, asks in CATEGORIES]
    return {
        "id": f"R_{found.id}",
        "hasDiscussionsEnabled": found.has_discussions,
        "discussionCategories": {"nodes": rows if found.has_discussions else []},
        "discussions": lambda args: _page([_discussion_shape(asked, one) for one in found.discussions], args),
    }


def _page(rows: Sequence[Json], given: Json) -> Json:
    start, size = int(given.get("after") or 0), given["first"]
    end = start + size
    return {
        "totalCount": len(rows),
        "nodes": list(rows[start:end]),
        "pageInfo": {"hasNextPage": end < len(rows), "endCursor": str(end)},
    }


def _discussion_shape(asked: _DiscussionQuery, one: Discussion) -> Json:
    def comments(given: Json) -> Json:
        return _page([_comment_shape(asked, comment) for comment in one.comments], given)

    return {"id": one.id, "body": one.body, "viewerDidAuthor": _is_own(asked, one), "comments": comments}


def _comment_shape(asked: _DiscussionQuery, one: DiscussionComment) -> Json:
    return {"id": one.id, "body": one.body, "viewerDidAuthor": _is_own(asked, one)}


def _is_own(asked: _DiscussionQuery, one: Discussion | DiscussionComment) -> bool:
    return one.app is asked.caller.acting_app


def _discussion(asked: _DiscussionQuery, node: str) -> tuple[SimRepository, Discussion]:
    for repository in asked.state.repositories.values():
        for one in repository.discussions:
            if one.id == node and asked.caller.sees(asked.state, repository):
                return repository, one
    raise _MissingError(f"Could not resolve to a node with the global id of '{node}'")


def _own_comment(asked: _DiscussionQuery, node: str) -> tuple[Discussion, DiscussionComment]:
    for repository in asked.state.repositories.values():
        for discussion in repository.discussions:
            for one in discussion.comments:
                if one.id == node and _is_own(asked, one):
                    asked.may_write(repository)
                    return discussion, one
    raise _MissingError(f"Could not resolve to a node with the global id of '{node}'")


# --- writes ----------------------------------------------------------------------------------------------------------


def _body(given: Json) -> str:
    text: str = given["body"]
    if not text or len(text) > LONGEST_BODY:
        raise _MissingError("Body is too long")
    return text


def _create(asked: _DiscussionQuery, given: Json) -> Json:
    number = int(str(given["repositoryId"]).removeprefix("R_"))
    repository = asked.state.repositories[number]
    asked.may_write(repository)
    known = {f"DIC_{number}_{slug}": slug for slug, _ in CATEGORIES}
    if not repository.has_discussions or given["categoryId"] not in known:
        raise _MissingError("Could not resolve to a node for the category")
    slug = known[given["categoryId"]]
    one = Discussion(f"D_{asked.state.new_id()}", asked.caller.acting_app, slug, given["title"], _body(given))
    repository.discussions.append(one)
    return {"discussion": _discussion_shape(asked, one)}


def _add(asked: _DiscussionQuery, given: Json) -> Json:
    repository, discussion = _discussion(asked, given["discussionId"])
    asked.may_write(repository)
    one = DiscussionComment(f"DC_{asked.state.new_id()}", asked.caller.acting_app, _body(given))
    discussion.comments.append(one)
    return {"comment": _comment_shape(asked, one)}


def _update(asked: _DiscussionQuery, given: Json) -> Json:
    _, one = _own_comment(asked, given["commentId"])
    one.revisions.append(one.body)
    one.body = _body(given)
    return {"comment": _comment_shape(asked, one)}


def _delete(asked: _DiscussionQuery, given: Json) -> Json:
    discussion, one = _own_comment(asked, given["id"])
    discussion.comments.remove(one)
    return {"comment": _comment_shape(asked, one)}


_MUTATIONS: Mapping[str, Callable[[_DiscussionQuery, Json], Json]] = {
    "createDiscussion": _create,
    "addDiscussionComment": _add,
    "updateDiscussionComment": _update,
    "deleteDiscussionComment": _delete,
}
