from __future__ import annotations

import base64
import random
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from gidgethub import BadRequest
from hypothesis import given
from hypothesis import strategies as st

from bot.github import reads
from bot.github.client import BadAnswer, Client, QueryFailed
from bot.github.graphql import read_page
from bot.github.payloads.reading import PayloadError
from bot.model.commit import Commit, Repository, Signature
from bot.model.ids import CommitId, RepositoryId
from tests.github.conftest import Script, TestClock, ok, refused

HERE = Repository("octo/almanac", RepositoryId(7))
BASE = "/repositories/7"


def sha(number: int) -> CommitId:
    return CommitId(f"{number:040x}")


def user(number: int, *, kind: str = "User") -> dict[str, Any]:
    return {"id": number, "login": f"person-{number}", "type": kind}


def commit_json(number: int, *parents: int, author: Any = None, minutes: int | None = None) -> dict[str, Any]:
    date = f"2026-03-01T{(minutes or number) // 60 % 24:02}:{(minutes or number) % 60:02}:00Z"
    stated = {"name": "Ada Example", "email": "ada@example.org", "date": date}
    return {
        "sha": sha(number),
        "parents": [{"sha": sha(parent)} for parent in parents],
        "author": author,
        "committer": None,
        "commit": {"author": stated, "committer": stated, "message": f"commit {number}\n\nbody"},
    }


def file_json(name: str, additions: int, deletions: int, **more: Any) -> dict[str, Any]:
    row = {"filename": name, "status": "modified", "additions": additions, "deletions": deletions, "sha": "a" * 40}
    return row | {"patch": "@@ -1 +1 @@\n-a\n+b"} | more


def with_files(number: int, files: list[dict[str, Any]], stats: tuple[int, int] | None = None) -> dict[str, Any]:
    sums = stats or (sum(row["additions"] for row in files), sum(row["deletions"] for row in files))
    totals = {"additions": sums[0], "deletions": sums[1], "total": sum(sums)}
    return commit_json(number, number - 1) | {"stats": totals, "files": files}


def pull_json(**more: Any) -> dict[str, Any]:
    side = {"ref": "main", "sha": sha(1), "repo": {"id": 7, "full_name": "octo/almanac"}}
    return {
        "number": 3,
        "title": "Add a page",
        "body": None,
        "user": user(11),
        "base": side,
        "head": side | {"ref": "topic", "sha": sha(2), "repo": None},
        "merge_commit_sha": sha(9),
        "created_at": "2026-02-27T09:30:00Z",
        "merged_at": "2026-03-01T10:00:00Z",
        "closed_at": "2026-03-01T10:00:00Z",
        "labels": [{"name": "feature"}],
        "commits": 1,
        "review_comments": 0,
    } | more


PULL = f"{BASE}/pulls/3"
COMMITS = f"{PULL}/commits?per_page=100"


# --- commits ---------------------------------------------------------------------------------------------------------


async def test_a_commit_is_read_with_all_pages_of_its_files(script: Script, client: Client) -> None:
    first = with_files(5, [file_json("a.py", 2, 1)], stats=(5, 1))
    script.on(f"{BASE}/commits/{sha(5)}?per_page=300", ok(first, link=f'<{script.url}/p2>; rel="next"'))
    script.on("/p2", with_files(5, [file_json("b.py", 3, 0)], stats=(5, 1)))
    commit = await reads.read_commit(client, HERE, sha(5))
    assert [(file.path, file.additions, file.deletions) for file in commit.files] == [("a.py", 2, 1), ("b.py", 3, 0)]
    assert not commit.partial
    assert commit.parents == (sha(4),)
    assert commit.committed_at == datetime(2026, 3, 1, 0, 5, tzinfo=UTC)


async def test_rows_that_do_not_sum_are_read_in_smaller_pages(script: Script, client: Client) -> None:
    whole = [file_json("a.py", 2, 1), file_json("b.py", 3, 0)]
    silent = [file_json("a.py", 2, 1), file_json("b.py", 0, 0, patch=None)]
    script.on(f"{BASE}/commits/{sha(5)}?per_page=300", with_files(5, silent, stats=(5, 1)))
    script.on(f"{BASE}/commits/{sha(5)}?per_page=50", with_files(5, whole))
    commit = await reads.read_commit(client, HERE, sha(5))
    assert not commit.partial
    assert sum(file.additions for file in commit.files) == 5


async def test_rows_that_never_sum_are_marked_partial(script: Script, client: Client) -> None:
    answer = with_files(5, [file_json("a.py", 2, 1)], stats=(50, 1))
    for size in (300, 50):
        script.on(f"{BASE}/commits/{sha(5)}?per_page={size}", answer)
    assert (await reads.read_commit(client, HERE, sha(5))).partial


async def test_a_dropped_page_is_marked_partial(script: Script, client: Client) -> None:
    """The Link header is missing although the totals say that there is more."""
    script.on("*", with_files(5, [file_json("a.py", 1, 0)], stats=(2, 0)))
    assert (await reads.read_commit(client, HERE, sha(5))).partial


async def test_a_commit_at_the_cap_of_files_is_partial(script: Script, client: Client) -> None:
    script.on("*", with_files(5, [file_json(f"{n}.py", 1, 0) for n in range(3000)]))
    commit = await reads.read_commit(client, HERE, sha(5))
    assert (len(commit.files), commit.partial) == (3000, True)
    assert len(script.seen) == 1, "smaller pages would not show more"


async def test_another_commit_than_asked_for_is_refused(script: Script, client: Client) -> None:
    script.on("*", with_files(6, []))
    with pytest.raises(BadAnswer):
        await reads.read_commit(client, HERE, sha(5))


async def test_a_commit_that_is_not_available_yet_is_awaited(
    script: Script, client: Client, time_passing: TestClock
) -> None:
    script.on("*", refused(404), with_files(5, []))
    assert (await reads.read_commit(client, HERE, sha(5))).id == sha(5)
    assert time_passing.slept == [1]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (file_json("a.png", 0, 0, patch=None), {"binary": True, "patch": None}),
        (file_json("a.png", 0, 0, patch=None, status="added"), {"binary": True}),
        (
            file_json("empty", 0, 0, patch=None, status="added", sha="e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
            {"binary": False},
        ),
        (file_json("big.sql", 900, 20, patch=None), {"binary": False, "patch": None}),
        (
            file_json("new.py", 0, 0, patch=None, status="renamed", previous_filename="old.py"),
            {"binary": False, "status": "renamed", "previous_path": "old.py"},
        ),
        (
            file_json("lib", 1, 1, patch=f"@@ -1 +1 @@\n-Subproject commit {sha(1)}\n+Subproject commit {sha(2)}"),
            {"submodule": True},
        ),
        (
            file_json("lib", 1, 0, patch=f"@@ -0,0 +1 @@\n+Subproject commit {sha(2)}", status="added"),
            {"submodule": True},
        ),
        (file_json("notes", 1, 0, patch="@@ -1 +1,2 @@\n a\n+Subproject commit of mine"), {"submodule": False}),
    ],
)
async def test_the_kind_of_a_file_is_read_from_its_row(
    script: Script, client: Client, row: dict[str, Any], expected: dict[str, Any]
) -> None:
    script.on("*", with_files(5, [row]))
    file = (await reads.read_commit(client, HERE, sha(5))).files[0]
    assert {name: getattr(file, name) for name in expected} == expected


async def test_an_author_is_credited_by_user_id(script: Script, client: Client) -> None:
    answer = with_files(5, []) | {"author": user(11), "committer": user(12, kind="Bot")}
    script.on("*", answer)
    commit = await reads.read_commit(client, HERE, sha(5))
    assert commit.author == Signature("Ada Example", "ada@example.org", 11, "person-11")  # type: ignore[arg-type]  # UserId
    assert commit.committer.bot


@pytest.mark.parametrize("nobody", [None, {}])
async def test_an_author_unknown_to_github_keeps_the_commits_name_and_email(
    script: Script, client: Client, nobody: Any
) -> None:
    script.on("*", with_files(5, []) | {"author": nobody})
    author = (await reads.read_commit(client, HERE, sha(5))).author
    assert author == Signature("Ada Example", "ada@example.org")


async def test_reading_does_not_change_cached_values(script: Script, client: Client) -> None:
    answer = with_files(5, [file_json("a.py", 1, 1)])
    script.on("*", ok(answer, etag='"one"'), refused(304))
    first = await reads.read_commit(client, HERE, sha(5))
    again = await reads.read_commit(client, HERE, sha(5))
    assert script.seen[-1].headers["if-none-match"] == '"one"'
    assert again == first


async def test_an_app_that_github_does_not_name_is_known_by_its_own_address(script: Script, client: Client) -> None:
    """GraphQL never names one and REST no deleted one: both ways of reading must make one record."""
    answer = with_files(5, [])
    answer["commit"]["author"] |= {"name": "rover[bot]", "email": "77+Rover[bot]@users.noreply.github.com"}
    script.on("*", answer)
    author = (await reads.read_commit(client, HERE, sha(5))).author
    assert (author.user_id, author.login, author.bot) == (77, "Rover[bot]", True)


@pytest.mark.parametrize("path", ["sha", "commit", "parents.0.sha", "commit.author", "commit.committer.date"])
@pytest.mark.parametrize("wrong", [None, 5, [], "x", {"a": 1}])
async def test_a_wrong_shape_is_reported_and_not_used(script: Script, client: Client, path: str, wrong: Any) -> None:
    answer: Any = with_files(5, [])
    *way, last = path.split(".")
    inner = answer
    for step in way:
        inner = inner[int(step)] if step.isdigit() else inner[step]
    inner[last] = wrong
    script.on("*", answer)
    if path == "commit.author" and wrong == {"a": 1}:
        assert (await reads.read_commit(client, HERE, sha(5))).author == Signature("", "")
        return
    with pytest.raises(PayloadError):
        await reads.read_commit(client, HERE, sha(5))


# --- pull requests ---------------------------------------------------------------------------------------------------


async def test_a_pull_request_is_read_with_one_request(script: Script, client: Client) -> None:
    script.on(PULL, pull_json(body="Closes a gap"))
    found = await reads.read_pull_request(client, HERE, 3)
    pull = found.pull_request
    assert (pull.number, pull.title, pull.body, pull.labels) == (3, "Add a page", "Closes a gap", ("feature",))
    assert pull.merge_commit == sha(9)
    assert pull.opened_at == datetime(2026, 2, 27, 9, 30, tzinfo=UTC)
    assert script.paths() == [f"GET {PULL}"]


async def test_the_commits_of_a_pull_request_are_read_separately(script: Script, client: Client) -> None:
    script.on(PULL, pull_json())
    script.on(COMMITS, [commit_json(2, 1, author=user(11))])
    found = await reads.read_pull_request(client, HERE, 3)
    commits = await reads.read_pull_request_commits(client, HERE, found)
    assert [commit.author.user_id for commit in commits] == [11]


async def test_a_deleted_account_is_credited_with_nothing(script: Script, client: Client) -> None:
    script.on(PULL, pull_json(user=None))
    assert (await reads.read_pull_request(client, HERE, 3)).pull_request.author is None


async def test_the_test_merge_of_an_open_pull_request_is_not_a_landing(script: Script, client: Client) -> None:
    script.on(PULL, pull_json(merged_at=None))
    assert (await reads.read_pull_request(client, HERE, 3)).pull_request.merge_commit is None


async def test_more_commits_than_are_listed_are_read_from_a_comparison(script: Script, client: Client) -> None:
    script.on(PULL, pull_json(commits=251))
    compared = [commit_json(number, number - 1) for number in range(2, 253)]
    path = f"{BASE}/compare/{sha(1)}...{sha(2)}?per_page=100"
    script.on(path, {"total_commits": 251, "commits": compared})
    found = await reads.read_pull_request(client, HERE, 3)
    assert len(await reads.read_pull_request_commits(client, HERE, found)) == 251


async def test_a_missing_page_of_commits_does_not_shrink_a_pull_request(script: Script, client: Client) -> None:
    script.on(PULL, pull_json(commits=2))
    script.on(COMMITS, [commit_json(2, 1)])
    found = await reads.read_pull_request(client, HERE, 3)
    with pytest.raises(BadAnswer):
        await reads.read_pull_request_commits(client, HERE, found)


async def test_another_repository_under_an_old_name_is_not_read(script: Script, client: Client) -> None:
    other = {"ref": "main", "sha": sha(1), "repo": {"id": 8}}
    script.on(PULL, pull_json(base=other))
    with pytest.raises(BadAnswer):
        await reads.read_pull_request(client, HERE, 3)


# --- landings --------------------------------------------------------------------------------------------------------


def compare_path(before: int, after: int) -> str:
    return f"{BASE}/compare/{sha(before)}...{sha(after)}?per_page=100"


async def landed(script: Script, client: Client, rows: list[dict[str, Any]], after: int) -> list[tuple[int, int]]:
    script.on(compare_path(1, after), {"total_commits": len(rows), "commits": rows})
    found = await reads.read_landed(client, HERE, before=sha(1), after=sha(after))
    return [(int(one.commit.id, 16), int(one.merge_commit.id, 16)) for one in found]


async def test_a_pushed_commit_is_its_own_merge_commit(script: Script, client: Client) -> None:
    assert await landed(script, client, [commit_json(2, 1), commit_json(3, 2)], 3) == [(2, 2), (3, 3)]


async def test_a_merge_brings_the_commits_of_its_branch(script: Script, client: Client) -> None:
    rows = [commit_json(2, 1), commit_json(3, 2), commit_json(4, 1), commit_json(5, 4, 3), commit_json(6, 5)]
    assert await landed(script, client, rows, 6) == [(4, 4), (2, 5), (3, 5), (6, 6)]


async def test_pages_of_a_comparison_are_followed(script: Script, client: Client) -> None:
    first = {"total_commits": 2, "commits": [commit_json(2, 1)]}
    script.on(compare_path(1, 3), ok(first, link=f'<{script.url}/p2>; rel="next"'))
    script.on("/p2", {"total_commits": 2, "commits": [commit_json(3, 2)]})
    found = await reads.read_landed(client, HERE, before=sha(1), after=sha(3))
    assert [one.commit.id for one in found] == [sha(2), sha(3)]


async def test_a_dropped_page_of_a_comparison_does_not_shrink_a_landing(script: Script, client: Client) -> None:
    script.on(compare_path(1, 3), {"total_commits": 2, "commits": [commit_json(3, 2)]})
    with pytest.raises(BadAnswer):
        await reads.read_landed(client, HERE, before=sha(1), after=sha(3))


async def test_a_branch_that_was_reset_lands_nothing(script: Script, client: Client) -> None:
    assert await landed(script, client, [], 3) == []


async def test_a_push_of_a_whole_history_is_left_to_a_backfill(script: Script, client: Client) -> None:
    script.on(compare_path(1, 3), {"total_commits": 5001, "commits": []})
    with pytest.raises(reads.TooMuchHistory):
        await reads.read_landed(client, HERE, before=sha(1), after=sha(3))


async def test_a_new_branch_is_listed(script: Script, client: Client) -> None:
    script.on(f"{BASE}/commits?sha={sha(2)}&per_page=100", [commit_json(2, 1), commit_json(1)])
    found = await reads.read_landed(client, HERE, before=None, after=sha(2))
    assert [one.commit.id for one in found] == [sha(1), sha(2)]


async def test_a_commit_that_is_its_own_parent_causes_no_endless_loop(script: Script, client: Client) -> None:
    assert len(await landed(script, client, [commit_json(2, 3), commit_json(3, 2)], 3)) == 2


async def test_a_merged_pull_request_gives_the_commits_it_brought(script: Script, client: Client) -> None:
    script.on(PULL, pull_json())
    script.on(compare_path(1, 9), {"total_commits": 1, "commits": [commit_json(9, 1)]})
    (one,) = await reads.read_landed_from(client, HERE, await reads.read_pull_request(client, HERE, 3))
    assert one.commit.id == one.merge_commit.id == sha(9)


@pytest.mark.parametrize("more", [{"merged_at": None}, {"base": {"ref": "old", "sha": sha(1), "repo": {"id": 7}}}])
async def test_a_pull_request_that_did_not_land_on_the_default_branch_brought_nothing(
    script: Script, client: Client, more: dict[str, Any]
) -> None:
    script.on(PULL, pull_json(**more))
    assert await reads.read_landed_from(client, HERE, await reads.read_pull_request(client, HERE, 3)) == ()


PLAIN = Signature("Ada Example", "ada@example.org")


def history(seed: int, size: int) -> list[Commit]:
    """A random history: each commit has one or two earlier parents."""
    chance, start = random.Random(seed), datetime(2026, 1, 1, tzinfo=UTC)
    commits: list[Commit] = []
    for number in range(1, size + 1):
        parents = chance.sample(range(1, number), min(number - 1, chance.choice((1, 1, 2)))) if number > 1 else []
        when = start + timedelta(minutes=number)
        ids = tuple(sha(parent) for parent in parents)
        commits.append(Commit(sha(number), ids, PLAIN, PLAIN, when, when, "x"))
    return commits


def reached(commits: dict[CommitId, Commit], tip: CommitId) -> set[CommitId]:
    stack, seen = [tip], set[CommitId]()
    while stack:
        commit = stack.pop()
        if commit not in seen:
            seen.add(commit)
            stack.extend(commits[commit].parents)
    return seen


@given(seed=st.integers(0, 10**6), size=st.integers(2, 25))
def test_merge_commits_of_a_push_are_those_a_clone_shows(seed: int, size: int) -> None:
    """For a tip and any commit of its first-parent line as the old tip, compared with the full history."""
    all_commits = history(seed, size)
    known = {commit.id: commit for commit in all_commits}
    tip = all_commits[-1].id
    whole = {one.commit.id: one.merge_commit.id for one in reads.landed_commits(all_commits, tip)}
    assert set(whole) == {commit for commit in reached(known, tip) if len(known[commit].parents) < 2}
    line = [tip]
    while known[line[-1]].parents:
        line.append(known[line[-1]].parents[0])
    for before in line[1:]:
        new = reached(known, tip) - reached(known, before)
        shuffled = random.Random(seed).sample(sorted(new), len(new))
        pushed = reads.landed_commits([known[commit] for commit in shuffled], tip)
        assert {one.commit.id: one.merge_commit.id for one in pushed} == {
            commit: merge_commit for commit, merge_commit in whole.items() if commit in new
        }


# --- the rest --------------------------------------------------------------------------------------------------------


def content(text: bytes, **more: Any) -> dict[str, Any]:
    return {"type": "file", "encoding": "base64", "content": base64.encodebytes(text).decode()} | more


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (content("größer\n".encode()), "größer\n"),
        (content(b"\xff\xfe"), None),
        (content(b"", encoding="none"), None),
        (content(b"x", type="submodule"), None),
        ([content(b"x")], None),
    ],
)
async def test_a_file_is_read_only_if_it_is_text(
    script: Script, client: Client, answer: Any, expected: str | None
) -> None:
    script.on(f"{BASE}/contents/.github/almanac.yml", answer)
    assert await reads.read_file(client, HERE, ".github/almanac.yml") == expected


async def test_a_missing_file_reads_as_none(script: Script, client: Client) -> None:
    assert await reads.read_file(client, HERE, ".mailmap", ref="main") is None
    assert script.paths() == [f"GET {BASE}/contents/.mailmap?ref=main"]


async def test_a_strange_file_name_stays_one_path(script: Script, client: Client) -> None:
    await reads.read_file(client, HERE, "a b/c?d#e%2f/{x}")
    assert script.paths() == [f"GET {BASE}/contents/a%20b/c%3Fd%23e%252f/%7Bx%7D"]


async def test_a_forbidden_file_is_an_error_and_not_absent(script: Script, client: Client) -> None:
    script.on("*", refused(403))
    with pytest.raises(BadRequest):
        await reads.read_file(client, HERE, ".mailmap")


async def test_the_repositories_of_an_installation_are_all_listed(script: Script, client: Client) -> None:
    row = {"full_name": "octo/b", "private": True, "fork": True, "default_branch": "trunk"}
    first = {"total_count": 2, "repositories": [row | {"id": 9}]}
    script.on("/installation/repositories?per_page=100", ok(first, link=f'<{script.url}/p2>; rel="next"'))
    script.on("/p2", {"total_count": 2, "repositories": [{"id": 7, "full_name": "octo/a", "private": False}]})
    assert await reads.read_installation_repositories(client) == (
        Repository("octo/a", RepositoryId(7)),
        Repository("octo/b", RepositoryId(9), private=True, fork=True, default_branch="trunk"),
    )


async def test_a_missing_page_of_repositories_hides_none(script: Script, client: Client) -> None:
    row = {"id": 9, "full_name": "octo/b", "private": True}
    script.on("/installation/repositories?per_page=100", {"total_count": 2, "repositories": [row]})
    with pytest.raises(BadAnswer, match="1 of 2 repositories"):
        await reads.read_installation_repositories(client)


async def test_an_internal_repository_is_not_public(script: Script, client: Client) -> None:
    script.on(BASE, {"id": 7, "full_name": "octo/a", "private": False, "visibility": "internal"})
    assert (await reads.read_repository(client, RepositoryId(7))).private


@pytest.mark.parametrize(("suspended", "expected"), [(None, False), ("2026-01-01T00:00:00Z", True)])
async def test_an_installation_is_reported_in_its_current_state(
    script: Script, client: Client, suspended: str | None, *, expected: bool
) -> None:
    account = {"id": 4, "login": "octo", "type": "Organization"}
    script.on("/app/installations/5", {"id": 5, "account": account, "suspended_at": suspended})
    found = await reads.read_installation(client, 5)  # type: ignore[arg-type]  # InstallationId
    assert found is not None
    assert (found.account, found.organisation, found.suspended) == ("octo", True, expected)
    assert await reads.read_installation(client, 6) is None  # type: ignore[arg-type]  # InstallationId


async def test_a_comment_is_read_with_the_app_that_wrote_it(script: Script, client: Client) -> None:
    answer = {"id": 1, "user": user(5), "body": "hi \ud800", "issue_url": "https://x/issues/12"}
    script.on("*", answer | {"performed_via_github_app": {"id": 99}})
    found = await reads.read_comment(client, HERE, 1)
    assert (found.app, found.number, found.body) == (99, 12, "hi \ufffd")


async def test_a_permission_is_read_as_a_word(script: Script, client: Client) -> None:
    script.on(f"{BASE}/collaborators/person-5/permission", {"permission": "write"})
    assert await reads.read_permission(client, HERE, "person-5") == "write"


async def test_the_app_reports_its_slug(script: Script, client: Client) -> None:
    script.on("/app", {"id": 99, "slug": "almanac"})
    found = await reads.read_app(client)
    assert (found.id, found.slug) == (99, "almanac")


class _Refusing:
    """Answers as GitHub does to whoever may not list collaborators, or may read no pull requests."""

    def __init__(self, pulls: object) -> None:
        self.data = {"repository": {"databaseId": 7, "collaborators": None, "pullRequests": pulls}}

    async def query(self, _: str, **__: object) -> object:
        raise QueryFailed([{"type": "FORBIDDEN", "message": "Must have push access"}], self.data)


async def test_a_page_of_history_is_read_without_collaborators_where_they_may_not_be_listed() -> None:
    repository = Repository("acme/app", RepositoryId(7))
    empty = {"totalCount": 0, "pageInfo": {"hasNextPage": False, "endCursor": None}, "nodes": []}
    page = await read_page(cast("Client", _Refusing(empty)), repository, after=None)
    assert page.pulls.pulls == ()
    with pytest.raises(QueryFailed):
        await read_page(cast("Client", _Refusing(None)), repository, after=None)
