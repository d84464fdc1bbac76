from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from gidgethub.sansio import Event

import handlers
from bot.github.payloads import deliveries
from bot.github.posts import Ourselves
from bot.narrative.commands import commands_mark
from handlers import ROUTERS, Deferral, Handlers

PLACE = {"installation": {"id": 5}, "repository": {"id": 7, "default_branch": "main"}}
PERSON = {"id": 11, "login": "person-11", "type": "User"}
HERE = {"installation": 5, "repository": 7}
HEAD = "c" * 40


async def decided(event: str, payload: dict[str, Any]) -> Deferral:
    told = deliveries.read(json.dumps(payload).encode())
    return await Handlers(Ourselves(99, "almanac[bot]")).route(Event(told, event=event, delivery_id="1"))


async def jobs(event: str, **payload: Any) -> list[tuple[str, dict[str, Any]]]:
    return [
        (job.task, json.loads(job.ref)) for job in (await decided(event, PLACE | {"sender": PERSON} | payload)).jobs
    ]


def pull(state: str = "closed", **more: Any) -> dict[str, Any]:
    return {"pull_request": {"number": 3, "state": state} | more}


TOLD = HERE | {"delivery": "1"}
"""what the worker looks at first: the kept body"""
RECORD = [("record_pull_request", TOLD | {"number": 3})]
OBSERVE = [("observe_pull_request", TOLD)]


@pytest.mark.parametrize("merged", [True, False])
async def test_a_closed_pull_request_is_recorded_merged_or_not(*, merged: bool) -> None:
    assert await jobs("pull_request", action="closed", **pull(merged=merged)) == OBSERVE * merged + RECORD


async def test_a_closed_delivery_counts_although_its_payload_says_open() -> None:
    assert await jobs("pull_request", action="closed", **pull("open")) == RECORD


@pytest.mark.parametrize("action", ["labeled", "unlabeled", "edited"])
async def test_a_closed_pull_request_that_changes_is_recorded_again(action: str) -> None:
    assert await jobs("pull_request", action=action, **pull()) == RECORD
    assert await jobs("pull_request", action=action, **pull("open")) == []


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "assigned"])
async def test_an_open_pull_request_causes_no_job(action: str) -> None:
    assert await jobs("pull_request", action=action, **pull("open")) == []


@pytest.mark.parametrize("state", ["open", "closed"])
async def test_a_new_review_comment_is_observed_without_a_request(state: str) -> None:
    assert await jobs("pull_request_review_comment", action="created", **pull(state)) == OBSERVE
    assert await jobs("pull_request_review_comment", action="deleted", **pull(state)) == []


@pytest.mark.parametrize("action", ["submitted", "dismissed", "edited"])
@pytest.mark.parametrize("state", ["open", "closed"])
async def test_a_review_is_observed_whether_the_pull_request_is_open_or_closed(action: str, state: str) -> None:
    assert await jobs("pull_request_review", action=action, **pull(state)) == OBSERVE


def push(**more: Any) -> dict[str, Any]:
    return {"ref": "refs/heads/main", "before": "a" * 40, "after": "b" * 40} | more


async def test_a_push_to_the_default_branch_is_a_landing() -> None:
    assert await jobs("push", **push()) == [("record_landing", TOLD | {"before": "a" * 40, "after": "b" * 40})]


async def test_a_new_default_branch_has_no_commit_before() -> None:
    assert await jobs("push", **push(before="0" * 40)) == [("record_landing", TOLD | {"before": "", "after": "b" * 40})]


@pytest.mark.parametrize(
    "more", [{"ref": "refs/heads/topic"}, {"ref": "refs/tags/main"}, {"ref": "main"}, {"after": "0" * 40}]
)
async def test_other_pushes_land_nothing(more: dict[str, str]) -> None:
    assert await jobs("push", **push(**more)) == []


UPDATE, HISTORY = ("update_installation", {"installation": 5}), ("backfill_installation", {"installation": 5})


@pytest.mark.parametrize("action", ["suspend", "unsuspend", "new_permissions_accepted"])
async def test_a_changed_installation_is_read_again(action: str) -> None:
    assert await jobs("installation", action=action) == [UPDATE]


async def test_a_reported_deletion_is_passed_on_as_the_first_of_two_witnesses() -> None:
    assert await jobs("installation", action="deleted") == [
        ("update_installation", {"installation": 5, "action": "deleted"})
    ]


async def test_a_renamed_account_causes_a_new_reading_of_its_installation() -> None:
    assert await jobs("installation_target", action="renamed") == [UPDATE]


async def test_removed_repositories_cause_a_new_listing() -> None:
    assert await jobs("installation_repositories", action="removed") == [UPDATE]


@pytest.mark.parametrize(("event", "action"), [("installation", "created"), ("installation_repositories", "added")])
async def test_the_history_of_repositories_that_come_is_read(event: str, action: str) -> None:
    assert await jobs(event, action=action) == [HISTORY, UPDATE]


@pytest.mark.parametrize(
    "action", ["renamed", "transferred", "privatized", "publicized", "deleted", "unarchived", "edited"]
)
async def test_a_changed_repository_is_read_again(action: str) -> None:
    assert await jobs("repository", action=action) == [("update_repository", HERE | {"action": action})]


async def test_a_starred_or_archived_repository_is_not_read_again() -> None:
    assert await jobs("repository", action="archived") == []


async def test_a_repository_made_public_is_read_again() -> None:
    assert await jobs("public") == [("update_repository", HERE | {"action": "publicized"})]


def comment(body: str, **more: Any) -> dict[str, Any]:
    return {"action": "created", "issue": {"number": 3}, "comment": {"id": 21, "body": body} | more}


@pytest.mark.parametrize("body", ["/almanac me", "/almanac", "Thanks!\r\n/almanac why 3\n"])
async def test_a_command_is_answered(body: str) -> None:
    asked = {"number": 3, "comment": 21, "said": commands_mark(body)}
    assert await jobs("issue_comment", **comment(body)) == [("answer_command", HERE | asked)]


@pytest.mark.parametrize("body", ["", "see /almanac me", "> /almanac me", " /almanac me", "/almanacs", "/Almanac me"])
async def test_a_quoted_or_mentioned_command_is_ignored(body: str) -> None:
    assert await jobs("issue_comment", **comment(body)) == []


async def test_bots_ghosts_and_edits_give_no_command() -> None:
    asked = comment("/almanac me")
    assert await jobs("issue_comment", **asked | {"sender": PERSON | {"type": "Bot"}}) == []
    assert await jobs("issue_comment", **asked | {"sender": None}) == []
    assert await jobs("issue_comment", **asked | {"action": "edited"}) == []


async def test_the_apps_own_comment_is_never_a_command() -> None:
    asked = comment("/almanac me", performed_via_github_app={"id": 99})
    assert await jobs("issue_comment", **asked) == []
    other = comment("/almanac me", performed_via_github_app={"id": 98})
    assert len(await jobs("issue_comment", **other)) == 1


def check(**more: Any) -> dict[str, Any]:
    return {"check_run": {"id": 31, "head_sha": HEAD, "app": {"id": 99}}} | more


async def test_a_check_run_asked_for_again_is_refreshed() -> None:
    asked = HERE | {"commit": HEAD, "again": 1}
    assert await jobs("check_run", action="rerequested", **check()) == [("refresh_check", asked)]


async def test_a_pressed_button_is_answered_with_who_pressed_it() -> None:
    pressed = check(requested_action={"identifier": "recount"})
    expected = HERE | {"check_run": 31, "identifier": "recount", "user": 11, "login": "person-11"}
    assert await jobs("check_run", action="requested_action", **pressed) == [("answer_button", expected)]
    assert await jobs("check_run", action="requested_action", **pressed, sender=None) == []


@pytest.mark.parametrize(("action", "again"), [("completed", {}), ("rerequested", {"again": 1})])
async def test_completed_checks_refresh_our_check_run(action: str, again: dict[str, int]) -> None:
    suite = {"id": 41, "head_sha": HEAD, "app": {"id": 1}}
    expected = [("refresh_check", HERE | {"commit": HEAD} | again)]
    assert await jobs("check_suite", action=action, check_suite=suite) == expected


@pytest.mark.parametrize("app", [None, {"id": None}])
async def test_a_suite_of_an_unknown_app_is_nobodys(app: object) -> None:
    suite = {"id": 5, "head_sha": HEAD, "app": app}
    assert await jobs("check_suite", action="requested", check_suite=suite) == [
        ("close_check_suite", HERE | {"commit": HEAD, "app": 0})
    ]


async def test_a_check_suite_that_github_opened_is_closed() -> None:
    suite = {"id": 41, "head_sha": HEAD, "app": {"id": 99}}
    expected = [("close_check_suite", HERE | {"commit": HEAD, "app": 99})]
    assert await jobs("check_suite", action="requested", check_suite=suite) == expected


async def test_a_revoked_authorization_is_ended() -> None:
    assert await jobs("github_app_authorization", action="revoked") == [("end_authorization", {"user": 11})]


@pytest.mark.parametrize(
    ("events", "word"), [(["push"], "lacks"), (["push", "pull_request"], "reaches"), (["*"], "reaches")]
)
async def test_a_ping_reports_events_that_the_webhook_will_not_send(events: list[str], word: str) -> None:
    deferral = await decided("ping", {"hook": {"events": events}})
    assert deferral.jobs == ()
    assert word in deferral.notes[0]


@pytest.mark.parametrize("event", sorted(set(ROUTERS) - {"github_app_authorization", "ping"}))
async def test_a_hook_without_an_installation_causes_no_job(event: str) -> None:
    payload = pull() | push() | check() | comment("/almanac") | {"repository": PLACE["repository"], "sender": PERSON}
    payload["check_suite"] = payload["check_run"]
    actions = ["closed", "submitted", "created", "completed", "rerequested", "requested_action", "added", "renamed"]
    for action in actions:
        assert (await decided(event, payload | {"action": action})).jobs == ()


async def test_jobs_of_one_repository_run_one_after_the_other() -> None:
    landing = await decided("push", PLACE | push())
    record = await decided("pull_request", PLACE | pull() | {"action": "closed"})
    assert {job.serial_key for job in (*landing.jobs, *record.jobs)} == {"repository:7"}


async def test_observations_do_not_delay_landings() -> None:
    merged = await decided("pull_request", PLACE | pull(merged=True) | {"action": "closed"})
    assert [job.serial_key for job in merged.jobs] == ["observe:7", "repository:7"]


def test_the_same_job_asked_for_twice_is_one_and_order_does_not_matter() -> None:
    one, other = Deferral(), Deferral()
    for deferral, order in ((one, (1, 2, 1)), (other, (2, 1, 2))):
        for number in order:
            deferral.defer("record_pull_request", serial="x", number=number)
    assert one.jobs == other.jobs
    assert [job.ref for job in one.jobs] == ['{"number":1}', '{"number":2}']
    assert len(one.jobs) == 2


# --- the list --------------------------------------------------------------------------------------------------------

FOLDER = Path(handlers.__file__).parent
FILES = sorted(path for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "deferral"))


def test_each_event_has_its_file_and_each_file_its_line() -> None:
    assert [path.stem for path in FILES] == sorted(ROUTERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_router_answers_the_event_its_file_is_named_after(path: Path) -> None:
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.AsyncFunctionDef)]
    registered = [call for function in functions for call in function.decorator_list if isinstance(call, ast.Call)]
    assert registered
    assert {ast.unparse(call.func) for call in registered} == {"router.register"}
    assert {ast.literal_eval(call.args[0]) for call in registered} == {path.stem}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_handlers_only_decide_in_few_lines(path: Path) -> None:
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.AsyncFunctionDef)]
    for function in functions:
        assert function.name.startswith(f"on_{path.stem}")
        assert (function.end_lineno or 0) - function.lineno < 20
        assert not [node for node in ast.walk(function) if isinstance(node, ast.Await)], "a handler waits for nothing"
