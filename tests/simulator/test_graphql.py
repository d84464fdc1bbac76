"""Are our queries valid in GitHub's schema, and does the simulator refuse unknown ones?"""

from __future__ import annotations

import pytest

from bot.github import discussions
from bot.github.graphql import PARTS_QUERY, glance_query, pulls_query
from bot.github.posts import NEWEST_ISSUES
from simulator.query_language import QueryError, parse
from simulator.query_schema import check, schema

OURS = {
    "a page with accounts": pulls_query(3),
    "accounts alone": pulls_query(2, pulls=False),
    "glances": glance_query(2),
    "parts": PARTS_QUERY,
    "issues": NEWEST_ISSUES,
    **{f"discussions {number}": text for number, text in enumerate(discussions.QUERIES)},
}


@pytest.mark.parametrize("name", sorted(OURS))
def test_our_queries_are_allowed_by_githubs_schema(name: str) -> None:
    check(parse(OURS[name]), schema())


@pytest.mark.parametrize(
    "text",
    [
        "{ viewer { login } }",
        "query { viewer { login } }",
        "query { rateLimit { cost { more } } }",
        "query { rateLimit }",
        'query { repository(owner: "a") { databaseId } }',
        'query { repository(owner: "a", name: "b", nickname: "c") { databaseId } }',
        'query { repository(owner: "a", name: "b") { pullRequests(first: 1, states: [OLD]) { totalCount } } }',
        'query { repository(owner: "a", name: "b") { pullRequests { nodes { number } } } }',
        'query($n: Int) { repository(owner: $n, name: "b") { databaseId } }',
        'query { repository(owner: "a", name: "b") { ... on Gist { name } } }',
        'query { repository(owner: "a", name: "b") { databaseId }',
        'query { deleteDiscussionComment(input: {id: "a"}) { comment { id } } }',
        "mutation { deleteDiscussionComment(input: {}) { comment { id } } }",
        'mutation { deleteDiscussionComment(input: {id: "a", text: "b"}) { comment { id } } }',
        'mutation { deleteDiscussionComment(input: {id: "a"}) { comment { ids } } }',
        "mutation($c: Int!) { deleteDiscussionComment(input: {id: $c}) { comment { id } } }",
        'mutation { deleteRepository(input: {id: "a"}) { clientMutationId } }',
    ],
)
def test_queries_outside_githubs_schema_are_refused(text: str) -> None:
    with pytest.raises(QueryError):
        check(parse(text), schema())
