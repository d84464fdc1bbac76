from __future__ import annotations

from typing import Any

import pytest
from gidgethub import BadRequest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.client import BadAnswer, Client
from bot.github.payloads import requests
from bot.github.posts import Button, CheckRun, Ourselves, Post, Publisher, marker
from bot.model.commit import Repository
from bot.model.ids import CommitId, RepositoryId
from tests.github.conftest import Script, ok, refused

HERE = Repository("octo/almanac", RepositoryId(7))
BASE = "/repositories/7"
US = Ourselves(99, "almanac[bot]")
HEAD = CommitId("a" * 40)
RUN = CheckRun("Almanac", HEAD, "landing:7:3:1", "1 feature", "What was counted")
RUNS = f"{BASE}/commits/{HEAD}/check-runs?filter=all&per_page=100&check_name=Almanac"
COMMENTS = f"{BASE}/issues/3/comments?per_page=100"
ISSUE = f"{BASE}/issues/3"
POST = Post(3, "merge:7:3", "Counted.")


def run_json(number: int, *, key: str = RUN.key, app: int = 99) -> dict[str, Any]:
    return {"id": number, "external_id": key, "app": {"id": app}, "conclusion": "neutral"}


def comment_json(number: int, body: str, *, app: int | None = 99, login: str = "almanac[bot]") -> dict[str, Any]:
    by = {"id": 1, "login": login, "type": "Bot" if login.endswith("]") else "User"}
    return {"id": number, "body": body, "user": by, "performed_via_github_app": {"id": app} if app else None}


ISSUE_JSON = {"number": 3, "body": "", "comments": 0}
OURS = f"{marker(POST.key)}\n{POST.body}"


def writes(script: Script) -> list[str]:
    return [path for path in script.paths() if not path.startswith("GET")]


# --- check runs ------------------------------------------------------------------------------------------------------


async def test_a_missing_check_run_is_created(script: Script, client: Client) -> None:
    script.on(RUNS, {"check_runs": [run_json(1, key="other"), run_json(2, app=5)]})
    script.on(f"{BASE}/check-runs", ok({"id": 4}, status=201))
    assert await Publisher(client, US).check_run(HERE, RUN) == 4
    sent = script.seen[-1].json
    assert (sent["head_sha"], sent["external_id"], sent["conclusion"]) == (HEAD, RUN.key, "neutral")


async def test_posting_a_check_run_twice_is_posting_it_once(script: Script, client: Client) -> None:
    script.on(RUNS, {"check_runs": []}, {"check_runs": [run_json(4)]})
    script.on(f"{BASE}/check-runs", ok({"id": 4}, status=201))
    script.on(f"{BASE}/check-runs/4", {"id": 4})
    publisher = Publisher(client, US)
    assert [await publisher.check_run(HERE, RUN) for _ in range(3)] == [4, 4, 4]
    assert writes(script) == [f"POST {BASE}/check-runs"] + [f"PATCH {BASE}/check-runs/4"] * 2


async def test_a_known_check_run_is_edited_without_a_search(script: Script, client: Client) -> None:
    script.on(f"{BASE}/check-runs/4", {"id": 4})
    assert await Publisher(client, US).check_run(HERE, RUN, known=4) == 4
    assert script.paths() == [f"PATCH {BASE}/check-runs/4"]


async def test_duplicate_check_runs_are_cleaned_up_and_the_newest_remains(script: Script, client: Client) -> None:
    script.on(RUNS, {"check_runs": [run_json(6), run_json(4)]})
    for number in (4, 6):
        script.on(f"{BASE}/check-runs/{number}", {"id": number})
    assert await Publisher(client, US).check_run(HERE, RUN) == 6
    old, new = (one.json for one in script.seen[1:])
    assert (old["conclusion"], old["external_id"]) == ("skipped", "")
    assert new["conclusion"] == "neutral"


async def test_the_text_of_a_check_run_stays_below_the_cap(script: Script, client: Client) -> None:
    script.on(RUNS, {"check_runs": []})
    script.on(f"{BASE}/check-runs", ok({"id": 4}, status=201))
    button = Button("l" * 30, "d" * 50, "i" * 30)
    long = CheckRun("Almanac", HEAD, RUN.key, "t" * 999, "é" * 70_000, "😀" * 70_000, buttons=(button,) * 5)
    await Publisher(client, US).check_run(HERE, long)
    sent = script.seen[-1].json
    assert len(sent["output"]["summary"]) == 65_535
    assert len(sent["output"]["text"].encode("utf-16-le")) // 2 <= 65_535
    assert len(sent["output"]["title"]) == 255
    assert [{name: len(text) for name, text in one.items()} for one in sent["actions"]] == [
        {"label": 20, "description": 40, "identifier": 20}
    ] * 3


# --- comments --------------------------------------------------------------------------------------------------------


async def test_posting_a_comment_twice_is_posting_it_once(script: Script, client: Client) -> None:
    create = f"{BASE}/issues/3/comments"
    script.on(ISSUE, ISSUE_JSON)
    script.on(COMMENTS, [comment_json(1, "hello", app=None, login="person")], [comment_json(4, OURS)])
    script.on(create, ok({"id": 4}, status=201))
    publisher = Publisher(client, US)
    assert [await publisher.comment(HERE, POST) for _ in range(3)] == [4, 4, 4]
    assert writes(script) == [f"POST {create}"], "an equal body is not written again"
    assert next(one for one in script.seen if one.method == "POST").json == {"body": OURS}


async def test_a_changed_comment_is_edited_in_place(script: Script, client: Client) -> None:
    script.on(ISSUE, ISSUE_JSON)
    script.on(COMMENTS, [comment_json(4, f"{marker(POST.key)}\nold")])
    script.on(f"{BASE}/issues/comments/4", {"id": 4})
    assert await Publisher(client, US).comment(HERE, POST) == 4
    assert writes(script) == [f"PATCH {BASE}/issues/comments/4"]


async def test_duplicate_comments_are_deleted_and_the_oldest_remains(script: Script, client: Client) -> None:
    script.on(ISSUE, ISSUE_JSON)
    script.on(COMMENTS, [comment_json(9, OURS), comment_json(4, OURS), comment_json(6, OURS, app=None)])
    for number in (6, 9):
        script.on(f"{BASE}/issues/comments/{number}", ok(None, status=204))
    assert await Publisher(client, US).comment(HERE, POST) == 4
    assert writes(script) == [f"DELETE {BASE}/issues/comments/{number}" for number in (6, 9)]


@pytest.mark.parametrize(
    "copied",
    [
        comment_json(4, OURS, app=None, login="person"),
        comment_json(4, OURS, app=5),
        comment_json(4, OURS, app=5, login="other[bot]"),
        comment_json(4, f"> {OURS}"),
        comment_json(4, f"quoting\n{OURS}"),
        comment_json(4, f"{marker('merge:7:33')}\nx"),
        {"id": 4, "body": None, "user": None},
    ],
)
async def test_comments_of_others_are_never_changed(script: Script, client: Client, copied: dict[str, Any]) -> None:
    script.on(ISSUE, ISSUE_JSON)
    script.on(COMMENTS, [copied])
    script.on(f"{BASE}/issues/3/comments", ok({"id": 5}, status=201))
    assert await Publisher(client, US).comment(HERE, POST) == 5
    assert writes(script) == [f"POST {BASE}/issues/3/comments"]


async def test_a_deleted_known_comment_is_found_or_created_again(script: Script, client: Client) -> None:
    script.on(f"{BASE}/issues/comments/4", refused(404))
    script.on(ISSUE, ISSUE_JSON)
    script.on(COMMENTS, [])
    script.on(f"{BASE}/issues/3/comments", ok({"id": 5}, status=201))
    assert await Publisher(client, US).comment(HERE, POST, known=4) == 5


async def test_a_comment_that_github_rejects_is_reported_and_not_retried(script: Script, client: Client) -> None:
    script.on(ISSUE, ISSUE_JSON)
    script.on(COMMENTS, [])
    script.on(f"{BASE}/issues/3/comments", refused(422, "body is too long"))
    with pytest.raises(BadRequest):
        await Publisher(client, US).comment(HERE, POST)
    assert len(writes(script)) == 1


async def test_a_long_comment_is_cut_and_found_again(script: Script, client: Client) -> None:
    script.on(ISSUE, ISSUE_JSON)
    script.on(COMMENTS, [])
    script.on(f"{BASE}/issues/3/comments", ok({"id": 5}, status=201))
    await Publisher(client, US).comment(HERE, Post(3, POST.key, "x" * 70_000))
    body = script.seen[-1].json["body"]
    assert len(body) == 65_536
    assert body.startswith(marker(POST.key))
    assert body.endswith("longer text)")


@pytest.mark.parametrize("key", ["", "a-->b", "a--b", "a b", "ä", "a\n", "-a", "x" * 201])
def test_a_key_cannot_end_its_own_marker(key: str) -> None:
    with pytest.raises(ValueError, match="a key is"):
        marker(key)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40), st.integers(20, 60))
def test_a_cut_text_stays_within_its_limit_and_breaks_no_character(text: str, longest: int) -> None:
    shown = requests.cut(text, longest, mark="…")
    assert len(shown.encode("utf-16-le")) // 2 <= longest
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


def test_a_token_names_at_most_500_repositories() -> None:
    with pytest.raises(ValueError, match="500"):
        requests.token(range(501), ())


# --- lists that lie --------------------------------------------------------------------------------------------------


async def test_a_list_of_check_runs_shorter_than_its_total_creates_nothing(script: Script, client: Client) -> None:
    script.on(RUNS, {"total_count": 1, "check_runs": []})
    with pytest.raises(BadAnswer):
        await Publisher(client, US).check_run(HERE, RUN)
    assert writes(script) == []


async def test_a_list_of_comments_shorter_than_the_issue_says_creates_nothing(script: Script, client: Client) -> None:
    script.on(ISSUE, ISSUE_JSON | {"comments": 2})
    script.on(COMMENTS, [comment_json(4, "hello", app=None, login="person")])
    with pytest.raises(BadAnswer):
        await Publisher(client, US).comment(HERE, POST)
    assert writes(script) == []


async def test_a_repeated_row_is_one_comment(script: Script, client: Client) -> None:
    script.on(ISSUE, ISSUE_JSON | {"comments": 1})
    script.on(COMMENTS, [comment_json(4, OURS), comment_json(4, OURS)])
    assert await Publisher(client, US).comment(HERE, POST) == 4
    assert writes(script) == [], "nothing is deleted as a duplicate of itself"


def listed(*rows: dict[str, Any], of: int, repository: int = 7) -> dict[str, Any]:
    issues = {"totalCount": of, "nodes": rows, "pageInfo": {"hasNextPage": False, "endCursor": None}}
    return {"data": {"repository": {"databaseId": repository, "issues": issues}}}


CREATED = f"{BASE}/issues?creator=almanac%5Bbot%5D&state=all&per_page=100"
DIGESTS = {"number": 12, "body": f"{marker('digests:7')}\ntext", "viewerDidAuthor": True}


async def test_our_issue_is_found_where_the_list_by_creator_leaves_it_out(script: Script, client: Client) -> None:
    copied = DIGESTS | {"number": 13, "viewerDidAuthor": False}
    script.on(CREATED, [])
    script.on("/graphql", listed(copied, DIGESTS, of=2))
    assert await Publisher(client, US).issue(HERE, "Title", key="digests:7", body="text") == 12
    assert writes(script) == ["POST /graphql"], "a question, which changes nothing"


@pytest.mark.parametrize(
    "answer",
    [
        listed(of=1),
        listed(DIGESTS | {"number": 3, "body": ""}, DIGESTS | {"number": 3, "body": ""}, of=2),
        listed(of=0, repository=8),
    ],
)
async def test_an_issue_is_opened_only_if_the_list_without_it_is_complete(
    script: Script, client: Client, answer: dict[str, Any]
) -> None:
    script.on(CREATED, [])
    script.on("/graphql", answer)
    script.on(f"{BASE}/issues", ok(DIGESTS, status=201))
    with pytest.raises(BadAnswer):
        await Publisher(client, US).issue(HERE, "Title", key="digests:7", body="text")
    assert f"POST {BASE}/issues" not in writes(script)
    script.on("/graphql", listed(of=0))
    assert await Publisher(client, US).issue(HERE, "Title", key="digests:7", body="text") == 12
