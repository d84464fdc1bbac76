"""How are discussions queried, created, commented on and edited?

Only over GraphQL, as on GitHub. A requested field that is unknown here raises an error and never yields an empty value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from simulator.access import Caller, RefusedError
from simulator.query_language import Field, Fragment, Query, Selection, Variable
from simulator.shapes.accounts import stamp
from simulator.state import Discussion, DiscussionComment, Json, SimRepository, State

LONGEST_BODY = 65_536
CATEGORIES = (("polls", False), ("q-a", True), ("general", False), ("announcements", False))
"""slug, and whether the category is for questions: the categories of every new repository"""
_WRITE = ("discussions:write",)
_REACTIONS = {"THUMBS_UP", "THUMBS_DOWN", "LAUGH", "HOORAY", "CONFUSED", "HEART", "ROCKET", "EYES"}


class _MissingError(Exception):
    """No such node, or none that this caller may access."""


class _ForbiddenError(Exception):
    """The caller may not do this."""


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
    return "iscussion" in text or "addReaction" in text


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
    except _ForbiddenError as problem:
        return {"data": None, "errors": [{"type": "FORBIDDEN", "message": str(problem)}]}


def _root(asked: _DiscussionQuery, one: Field) -> Any:
    given = {name: _value(asked, value) for name, value in one.arguments.items()}
    if one.name in _MUTATIONS:
        return _select(asked, _MUTATIONS[one.name](asked, given["input"]), one.selections)
    if one.name == "repository":
        return _select(asked, _repository(asked, given), one.selections)
    if one.name == "node":
        return _select(asked, _node(asked, given["id"]), one.selections)
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
            if found["__typename"] != one.on:
                continue
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
        "__typename": "Repository",
        "id": f"R_{found.id}",
        "databaseId": found.id,
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
        return _page([_comment_shape(asked, one, comment) for comment in one.comments if not comment.reply_to], given)

    return {
        "__typename": "Discussion",
        "id": one.id,
        "number": one.number,
        "body": one.body,
        "locked": one.locked,
        "viewerDidAuthor": _is_own(asked, one),
        "repository": _home(asked, one),
        "comments": comments,
    }


def _home(asked: _DiscussionQuery, one: Discussion) -> Json:
    home = next(found for found in asked.state.repositories.values() if one in found.discussions)
    return {"__typename": "Repository", "databaseId": home.id}


def _comment_shape(asked: _DiscussionQuery, above: Discussion, one: DiscussionComment) -> Json:
    def replies(given: Json) -> Json:
        return _page([_comment_shape(asked, above, each) for each in above.comments if each.reply_to == one.id], given)

    author = {"__typename": one.user.type, "login": one.user.login.removesuffix("[bot]"), "databaseId": one.user.id}
    return {
        "__typename": "DiscussionComment",
        "id": one.id,
        "databaseId": one.number,
        "body": one.body,
        "createdAt": stamp(one.created_at),
        "viewerDidAuthor": _is_own(asked, one),
        "author": author,
        "replyTo": {"id": one.reply_to} if one.reply_to else None,
        "discussion": lambda _: _discussion_shape(asked, above),
        "replies": replies,
    }


def _node(asked: _DiscussionQuery, node: str) -> Json:
    if node.startswith("DC_"):
        _, discussion, one = _comment(asked, node)
        return _comment_shape(asked, discussion, one)
    return _discussion_shape(asked, _discussion(asked, node)[1])


def _is_own(asked: _DiscussionQuery, one: Discussion | DiscussionComment) -> bool:
    return one.app is asked.caller.acting_app


def _discussion(asked: _DiscussionQuery, node: str) -> tuple[SimRepository, Discussion]:
    for repository in asked.state.repositories.values():
        for one in repository.discussions:
            if one.id == node and asked.caller.sees(asked.state, repository):
                return repository, one
    raise _MissingError(f"Could not resolve to a node with the global id of '{node}'")


def _comment(asked: _DiscussionQuery, node: str) -> tuple[SimRepository, Discussion, DiscussionComment]:
    for repository in asked.state.repositories.values():
        for discussion in repository.discussions:
            for one in discussion.comments:
                if one.id == node and asked.caller.sees(asked.state, repository):
                    return repository, discussion, one
    raise _MissingError(f"Could not resolve to a node with the global id of '{node}'")


def _own_comment(asked: _DiscussionQuery, node: str) -> tuple[Discussion, DiscussionComment]:
    repository, discussion, one = _comment(asked, node)
    if not _is_own(asked, one):
        raise _MissingError(f"Could not resolve to a node with the global id of '{node}'")
    asked.may_write(repository)
    return discussion, one


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
    if slug == "announcements" and repository.announces_for_maintainers:
        raise _ForbiddenError("Only maintainers can create discussions in this category")
    body, app = _body(given), asked.caller.acting_app
    one = Discussion(f"D_{asked.state.new_id()}", app, slug, given["title"], body, repository.next_number)
    repository.discussions.append(one)
    return {"discussion": _discussion_shape(asked, one)}


def _add(asked: _DiscussionQuery, given: Json) -> Json:
    repository, discussion = _discussion(asked, given["discussionId"])
    asked.may_write(repository)
    if discussion.locked:
        raise _ForbiddenError("The discussion is locked")
    above = given.get("replyToId")
    if above and _comment(asked, above)[2].reply_to:
        raise _MissingError("Parent comment is already in a thread, cannot reply to it")
    app = asked.caller.acting_app
    body, now = _body(given), asked.state.clock()
    one = DiscussionComment(asked.state.new_id(), app.account, body, now, app=app, reply_to=above)
    discussion.comments.append(one)
    return {"comment": _comment_shape(asked, discussion, one)}


def _react(asked: _DiscussionQuery, given: Json) -> Json:
    repository, discussion, one = _comment(asked, given["subjectId"])
    asked.may_write(repository)
    if discussion.locked:
        raise _ForbiddenError("The discussion is locked")
    if given["content"] not in _REACTIONS:
        raise _MissingError("no such reaction")
    if given["content"] not in one.reactions:
        one.reactions.append(given["content"])
    return {"reaction": {"__typename": "Reaction", "id": f"REA_{one.number}_{given['content']}"}}


def _update(asked: _DiscussionQuery, given: Json) -> Json:
    discussion, one = _own_comment(asked, given["commentId"])
    one.revisions.append(one.body)
    one.body = _body(given)
    return {"comment": _comment_shape(asked, discussion, one)}


def _delete(asked: _DiscussionQuery, given: Json) -> Json:
    discussion, one = _own_comment(asked, given["id"])
    discussion.comments.remove(one)
    return {"comment": _comment_shape(asked, discussion, one)}


_MUTATIONS: Mapping[str, Callable[[_DiscussionQuery, Json], Json]] = {
    "createDiscussion": _create,
    "addDiscussionComment": _add,
    "updateDiscussionComment": _update,
    "deleteDiscussionComment": _delete,
    "addReaction": _react,
}
