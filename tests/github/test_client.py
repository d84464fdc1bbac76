from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from gidgethub import BadRequest, GitHubBroken, GitHubException, RedirectionException
from hypothesis import given
from hypothesis import strategies as st

from bot.github.client import BadAnswer, Client, ForeignHost, Limited, QueryFailed, is_missing
from bot.github.limits import RequestPace
from bot.github.operations import (
    CHECK_RUNS,
    CREATE_CHECK_RUN,
    EDIT_COMMENT,
    PULL_REQUEST_COMMITS,
    REPOSITORY,
    Operation,
)
from bot.github.transport import Endpoint, believable
from bot.model.commit import Repository
from bot.model.ids import RepositoryId
from tests.github.conftest import MakeClient, Script, TestClock, Word, ok, refused

HERE = "repositories/7"
PATH = "/repositories/7"
POST_PATH = "/repositories/7/check-runs"


async def read(client: Client) -> dict[str, Any]:
    return await client.read(REPOSITORY, repository=HERE)


async def post(client: Client) -> Any:
    return await client.write(CREATE_CHECK_RUN, {"name": "x"}, repository=HERE)


# --- what is said ----------------------------------------------------------------------------------------------------


async def test_each_request_names_the_api_version_and_carries_the_token(script: Script, client: Client) -> None:
    script.on(PATH, {"id": 7})
    assert await read(client) == {"id": 7}
    headers = script.seen[0].headers
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["authorization"] == "Bearer first-token"
    assert headers["accept"] == "application/vnd.github+json"


async def test_an_enterprise_server_is_asked_below_its_base_path(script: Script, make_client: MakeClient) -> None:
    script.on("/api/v3/repositories/7", {"id": 7})
    script.on("/api/graphql", {"data": {"viewer": {"login": "octo"}}})
    client = make_client(base="/api/v3")
    assert await read(client) == {"id": 7}
    assert await client.query("{ viewer { login } }") == {"viewer": {"login": "octo"}}


def test_the_graphql_address_follows_the_base() -> None:
    assert Endpoint().graphql_url == "https://api.github.com/graphql"
    assert Endpoint("https://ghe.example/api/v3").graphql_url == "https://ghe.example/api/graphql"
    assert Endpoint("https://ghe.example/api/v3/").graphql_url == "https://ghe.example/api/graphql"


def test_a_repository_is_addressed_by_id_unless_the_host_needs_names(make_client: MakeClient) -> None:
    repository = Repository("octo/almanac", RepositoryId(7))
    assert make_client().repository_path(repository) == "repositories/7"
    assert make_client(by_name=True).repository_path(repository) == "repos/octo/almanac"
    assert make_client().repository_path(Repository("octo/almanac")) == "repos/octo/almanac"


# --- no token to another host ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_to_another_host_is_refused(
    script: Script, other: Script, client: Client, status: int
) -> None:
    script.on("*", refused(status, location=f"{other.url}/repositories/7"))
    with pytest.raises(ForeignHost):
        await read(client)
    with pytest.raises(ForeignHost):
        await post(client)
    assert other.seen == []


async def test_a_forged_next_page_is_refused(script: Script, other: Script, client: Client) -> None:
    link = f'<{other.url}/repositories/7/pulls/1/commits?page=2>; rel="next"'
    script.on("/repositories/7/pulls/1/commits?per_page=100", ok([{"id": 1}], link=link))
    with pytest.raises(ForeignHost):
        _ = [row async for row in client.items(PULL_REQUEST_COMMITS, repository=HERE, number=1)]
    assert other.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/x",
        "///evil.example/x",
        "http://evil.example:1/x",
        "ftp://127.0.0.1/x",
        "http://user:pass@127.0.0.1/x",
        "file:///etc/passwd",
        "mailto:someone@evil.example",
        "http://127.0.0.1:99999999/",
    ],
)
async def test_no_address_leads_away(script: Script, client: Client, url: str) -> None:
    with pytest.raises((ForeignHost, BadAnswer)):
        await client.getitem(url)
    assert script.seen == []


async def test_the_same_host_on_another_port_or_scheme_is_another_host(
    script: Script, other: Script, client: Client
) -> None:
    for location in (other.url, script.url.replace("http:", "https:"), script.url.replace("127.0.0.1", "localhost")):
        script.on(PATH, refused(302, location=location))
        with pytest.raises(ForeignHost):
            await read(client)
    assert other.seen == []


async def test_an_address_that_names_its_user_is_refused(script: Script, client: Client) -> None:
    script.on(PATH, refused(302, location=script.url.replace("http://", "http://x:y@")))
    with pytest.raises(ForeignHost):
        await read(client)


async def test_graphql_goes_to_the_configured_endpoint_only(script: Script, other: Script, client: Client) -> None:
    with pytest.raises(ForeignHost):
        await client.graphql("{ viewer { login } }", endpoint=f"{other.url}/graphql")
    assert other.seen == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_keeps_the_method_and_the_body(script: Script, client: Client, status: int) -> None:
    script.on(POST_PATH, refused(status, location="/repositories/9/check-runs"))
    script.on("/repositories/9/check-runs", ok({"id": 1}, status=201))
    assert await post(client) == {"id": 1}
    assert script.paths() == [f"POST {POST_PATH}", "POST /repositories/9/check-runs"]
    assert script.seen[1].json == {"name": "x"}


async def test_a_redirect_loop_ends_in_an_error(script: Script, client: Client) -> None:
    script.on("*", refused(301, location=PATH))
    with pytest.raises(BadAnswer):
        await post(client)
    assert len(script.seen) == 4


async def test_a_redirect_that_leads_nowhere_is_an_error(script: Script, client: Client) -> None:
    script.on(PATH, refused(301))
    with pytest.raises(RedirectionException):
        await read(client)


# --- tokens ----------------------------------------------------------------------------------------------------------


async def test_a_refused_token_is_replaced_once(script: Script, client: Client, word: Word) -> None:
    word.words = ["old", "new", "newer"]
    script.on(PATH, refused(401), {"id": 7})
    assert await read(client) == {"id": 7}
    assert [one.headers["authorization"] for one in script.seen] == ["Bearer old", "Bearer new"]


async def test_a_second_refusal_is_final(script: Script, client: Client, word: Word) -> None:
    word.words = ["old", "new", "newer"]
    script.on(PATH, refused(401))
    with pytest.raises(BadRequest) as told:
        await read(client)
    assert told.value.status_code == 401
    assert len(script.seen) == 2


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [403, 429])
async def test_a_short_limit_is_waited_out(
    script: Script, client: Client, time_passing: TestClock, status: int
) -> None:
    script.on(PATH, refused(status, retry_after="20"), {"id": 7})
    assert await read(client) == {"id": 7}
    assert time_passing.slept == [20]


async def test_a_refused_write_is_sent_again_after_the_limit(script: Script, client: Client) -> None:
    script.on(POST_PATH, refused(429, retry_after="20"), ok({"id": 1}, status=201))
    assert await post(client) == {"id": 1}


async def test_no_request_starts_inside_a_long_limit(script: Script, client: Client, time_passing: TestClock) -> None:
    script.on(PATH, refused(403, retry_after="600"), {"id": 7})
    with pytest.raises(Limited) as told:
        await read(client)
    assert told.value.wait == 600
    for _ in range(5):
        with pytest.raises(Limited):
            await read(client)
    assert len(script.seen) == 1
    time_passing.now += 600
    assert await read(client) == {"id": 7}


async def test_another_installation_is_not_blocked(script: Script, make_client: MakeClient) -> None:
    script.on(PATH, refused(403, retry_after="600"), {"id": 7})
    with pytest.raises(Limited):
        await read(make_client())
    assert await read(make_client()) == {"id": 7}


async def test_an_endless_limit_ends(script: Script, client: Client, time_passing: TestClock) -> None:
    script.on(PATH, refused(429, retry_after="5"))
    with pytest.raises(Limited):
        await read(client)
    assert len(script.seen) == 4


async def test_secondary_limits_grow_from_one_job_to_the_next(
    script: Script, client: Client, time_passing: TestClock
) -> None:
    script.on(PATH, refused(403, "You have exceeded a secondary rate limit"))
    with pytest.raises(Limited) as first:
        await read(client)
    time_passing.now += 1000
    with pytest.raises(Limited) as second:
        await read(client)
    assert (first.value.wait, second.value.wait) == (120, 240)


async def test_a_response_that_used_up_the_limit_pauses_the_next_request(
    script: Script, client: Client, time_passing: TestClock
) -> None:
    reset = str(int(1_700_000_000 + time_passing.now) + 50)
    used_up = ok({"id": 7}, x_ratelimit_remaining="0", x_ratelimit_reset=reset, x_ratelimit_limit="5000", date="")
    script.on(PATH, used_up, {"id": 8})
    assert await read(client) == {"id": 7}
    assert time_passing.slept == []
    assert await read(client) == {"id": 8}
    assert time_passing.slept == [51]


@pytest.mark.parametrize("value", ["abc", "", "1e400", "99999999999999999999", "-1"])
async def test_non_numeric_rate_headers_do_no_harm(script: Script, client: Client, value: str) -> None:
    named: Any = {"x_ratelimit_remaining": value, "x_ratelimit_reset": value, "x_ratelimit_limit": value}
    script.on(PATH, ok({"id": 7}, **named))
    assert await read(client) == {"id": 7}


GRAPH_LIMITS: dict[str, Any] = {
    "by one name": {"type": "RATE_LIMITED", "message": "x"},
    "by the other": {"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": "x"},
    "in words alone": {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."},
}


@pytest.mark.parametrize("limit", GRAPH_LIMITS)
async def test_a_graphql_limit_arrives_as_200_and_is_waited_out(
    script: Script, client: Client, time_passing: TestClock, limit: str
) -> None:
    script.on("/graphql", ok({"data": None, "errors": [GRAPH_LIMITS[limit]]}), {"data": {"a": 1}})
    assert await client.query("{ a }") == {"a": 1}
    assert time_passing.slept == [60]


async def test_a_lasting_graphql_limit_is_reported_like_any_other(
    script: Script, client: Client, time_passing: TestClock
) -> None:
    script.on("/graphql", ok({"errors": [GRAPH_LIMITS["by one name"]]}, retry_after="600"))
    with pytest.raises(Limited) as told:
        await client.query("{ a }")
    assert (told.value.wait, len(script.seen)) == (600, 1)


async def test_a_partial_graphql_answer_keeps_its_data(script: Script, client: Client) -> None:
    script.on("/graphql", {"data": {"a": 1, "b": None}, "errors": [{"message": "no b"}]})
    with pytest.raises(QueryFailed) as told:
        await client.query("{ a b }", first=5)
    assert told.value.data == {"a": 1, "b": None}
    assert script.seen[0].json["variables"] == {"first": 5}


# --- failures --------------------------------------------------------------------------------------------------------


async def cut_connection(request: web.Request) -> web.StreamResponse:
    """Ends in the middle of a body; a connection that drops before any answer aiohttp tries again by itself."""
    response = web.StreamResponse(headers={"content-type": "application/json", "content-length": "100"})
    await response.prepare(request)
    await response.write(b'{"id":')
    assert request.transport is not None
    request.transport.abort()
    return response


BROKEN: dict[str, Any] = {
    "a 500": refused(500),
    "a 502 in HTML": web.Response(status=502, text="<html>bad gateway</html>", content_type="text/html"),
    "a 502 in HTML labelled JSON": web.Response(status=502, body=b"<html>", content_type="application/json"),
    "a 520": web.Response(status=520, text="?"),
    "cut JSON": web.Response(body=b'{"id": ', content_type="application/json"),
    "HTML instead of JSON": web.Response(text="<html>login</html>", content_type="text/html"),
    "no UTF-8": web.Response(body=b'{"id": "\xff"}', content_type="application/json"),
    "an unknown charset": web.Response(body=b"{}", headers={"content-type": "application/json; charset=klingon"}),
    "deep nesting": web.Response(body=b"[" * 100_000, content_type="application/json"),
    "nothing": web.Response(body=b""),
    "a dropped connection": cut_connection,
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_broken_response_is_requested_again(
    script: Script, client: Client, time_passing: TestClock, fault: str
) -> None:
    script.on(PATH, BROKEN[fault], BROKEN[fault], {"id": 7})
    assert await read(client) == {"id": 7}
    assert time_passing.slept == [0.75, 1.5]


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_lasting_fault_is_reported_after_a_few_tries(script: Script, client: Client, fault: str) -> None:
    script.on(PATH, BROKEN[fault])
    with pytest.raises((GitHubException, aiohttp.ClientError)):
        await read(client)
    assert len(script.seen) == 4


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_post_is_not_repeated_after_a_broken_response(script: Script, client: Client, fault: str) -> None:
    script.on(POST_PATH, BROKEN[fault])
    with pytest.raises((GitHubException, aiohttp.ClientError)):
        await post(client)
    assert len(script.seen) == 1


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_mutation_is_not_repeated_after_a_broken_response(script: Script, client: Client, fault: str) -> None:
    script.on("/graphql", BROKEN[fault])
    with pytest.raises((GitHubException, aiohttp.ClientError)):
        await client.mutate("mutation { a }")
    assert len(script.seen) == 1


async def test_mutations_are_paced_like_writes_and_queries_are_not(
    script: Script, client: Client, time_passing: TestClock
) -> None:
    script.on("/graphql", {"data": {"a": 1}})
    for _ in range(2):
        await client.query("{ a }")
        await client.mutate("mutation { a }")
    assert time_passing.slept == [1.0]
    assert {one.method for one in script.seen} == {"POST"}


async def test_a_post_is_retried_if_no_connection_was_made(make_client: MakeClient, time_passing: TestClock) -> None:
    client = make_client(url="http://127.0.0.1:1")
    with pytest.raises(OSError, match="Cannot connect"):
        await post(client)
    assert [wait for wait in time_passing.slept if wait >= 0.5] == [0.75, 1.5, 3.0], "the others keep writes apart"


@pytest.mark.parametrize(
    "body",
    [
        b'{"message": "Validation Failed", "errors": [{"code": "custom", "message": "too long"}]}',
        b'{"errors": [1, 2]}',
        b'{"errors": {"a": 1}}',
        b"[]",
        b"",
        b"<html>",
        b'{"message": null}',
    ],
)
async def test_a_422_is_never_sent_again(script: Script, client: Client, body: bytes) -> None:
    script.on("*", web.Response(status=422, body=body, content_type="application/json"))
    with pytest.raises(BadRequest):
        await post(client)
    with pytest.raises(BadRequest):
        await client.write(EDIT_COMMENT, {"body": "x"}, repository=HERE, comment=1)
    assert len(script.seen) == 2


@pytest.mark.parametrize("status", [400, 404, 406, 409, 410, 451, 499])
async def test_a_refusal_is_final_at_once(script: Script, client: Client, status: int) -> None:
    script.on(PATH, web.Response(status=status, text="<html>", content_type="text/html"))
    with pytest.raises(BadRequest) as told:
        await read(client)
    assert len(script.seen) == 1
    assert is_missing(told.value) == (status in (404, 410))


async def test_a_late_read_gives_a_404_a_few_chances(script: Script, client: Client, time_passing: TestClock) -> None:
    script.on(PATH, refused(404), refused(404), {"id": 7})
    assert await client.read_late(REPOSITORY, repository=HERE) == {"id": 7}
    assert time_passing.slept == [1, 2]
    script.on(PATH, refused(404))
    with pytest.raises(BadRequest):
        await client.read_late(REPOSITORY, repository=HERE)
    assert len(script.seen) == 7


async def test_a_response_above_the_cap_is_dropped(script: Script, make_client: MakeClient) -> None:
    script.on(PATH, {"text": "x" * 5000})
    with pytest.raises(BadAnswer):
        await read(make_client(largest=4096, cacheable=100))


async def test_a_slow_response_is_given_up(script: Script, make_client: MakeClient) -> None:
    held = asyncio.Event()

    async def slow(_request: web.Request) -> web.Response:
        await held.wait()
        return web.Response()

    script.on(PATH, slow)
    with pytest.raises(TimeoutError):
        await read(make_client(pace=RequestPace(attempts=1), seconds=0.05))
    held.set()


# --- lists and cache -------------------------------------------------------------------------------------------------


async def test_every_page_of_a_list_is_followed(script: Script, client: Client) -> None:
    first = "/repositories/7/commits/abc/check-runs?filter=all&per_page=100"
    script.on(first, ok({"total_count": 2, "check_runs": [{"id": 1}]}, link=f'<{script.url}/p2>; rel="next"'))
    script.on("/p2", {"total_count": 2, "check_runs": [{"id": 2}]})
    rows = [row["id"] async for row in client.items(CHECK_RUNS, repository=HERE, commit="abc", filter="all")]
    assert rows == [1, 2]


async def test_an_endless_list_is_given_up(script: Script, client: Client) -> None:
    script.on("*", ok([{"id": 1}], link=f'<{script.url}/again>; rel="next"'))
    with pytest.raises(BadAnswer):
        _ = [row async for row in client.items(PULL_REQUEST_COMMITS, repository=HERE, number=1)]
    assert len(script.seen) == 200


@pytest.mark.parametrize("answer", [{"a": 1}, {"check_runs": {"a": 1}}, {"check_runs": ["text"]}])
async def test_a_list_under_another_key_is_an_error_and_not_its_keys(
    script: Script, client: Client, answer: Any
) -> None:
    script.on("*", answer)
    with pytest.raises(BadAnswer):
        _ = [row async for row in client.items(CHECK_RUNS, repository=HERE, commit="abc", filter="all")]


async def test_an_unchanged_response_is_not_sent_twice(script: Script, client: Client) -> None:
    script.on(PATH, ok({"id": 7}, etag='"one"'), web.Response(status=304, headers={"etag": '"one"'}))
    assert await read(client) == {"id": 7}
    assert await read(client) == {"id": 7}
    assert script.seen[1].headers["if-none-match"] == '"one"'


async def test_two_installations_never_share_an_answer(script: Script, make_client: MakeClient) -> None:
    script.on(PATH, ok({"id": 7}, etag='"one"'), ok({"id": 8}, etag='"one"'))
    assert await read(make_client()) == {"id": 7}
    assert await read(make_client()) == {"id": 8}
    assert "if-none-match" not in script.seen[1].headers


async def test_a_large_response_is_not_cached(script: Script, make_client: MakeClient) -> None:
    client = make_client(cacheable=100)
    script.on(PATH, ok({"text": "x" * 200}, etag='"one"'))
    await read(client)
    await read(client)
    assert "if-none-match" not in script.seen[1].headers


async def test_the_response_cache_is_bounded(script: Script, client: Client) -> None:
    script.on("*", ok({"id": 1}, etag='"one"'))
    for number in (*range(200), *reversed(range(200))):
        await client.read(Operation("GET", "things/{number}"), number=number)
    known = ["if-none-match" in one.headers for one in script.seen]
    assert known == [False] * 200 + [True] * 128 + [False] * 72


async def test_requests_are_counted(script: Script, client: Client) -> None:
    script.on(PATH, refused(301, location="/repositories/8"))
    script.on("/repositories/8", {"id": 8})
    await read(client)
    assert client.traffic.requests == 2


@given(
    status=st.integers(100, 999),
    body=st.binary(max_size=60)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["message", "errors", "field", "code"]), inner, max_size=3)
        ),
    ).map(lambda value: json.dumps(value).encode()),
    headers=st.dictionaries(
        st.sampled_from(["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "content-type", "link"]),
        st.text(max_size=12) | st.just("application/json"),
    ),
)
def test_gidgethub_can_parse_every_error_answer(status: int, body: bytes, headers: dict[str, str]) -> None:
    from gidgethub import HTTPException, sansio

    known, kept, shown = believable(status, headers, body, cacheable=1000)
    if known >= 300 and known != 304:
        with pytest.raises(HTTPException) as told:
            sansio.decipher_response(known, kept, shown)
        if status >= 500:
            assert isinstance(told.value, GitHubBroken)
