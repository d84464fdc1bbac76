"""What is sent to GitHub? The bodies of write requests, within its limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from bot.model.ids import CommitId

LONGEST_COMMENT = 65_536
LONGEST_CHECK_TEXT = 65_535
_LONGEST_TITLE = 255
_CUT = "\n\n(cut here: GitHub does not accept longer text)"


class Button(Struct, frozen=True):
    """A button on a check run: label up to 20 characters, description 40, identifier 20."""

    label: str
    description: str
    identifier: str


class CheckRun(Struct, frozen=True):
    """A completed check run on a commit. `key` is our id for it: posting the same key again edits it."""

    name: str
    head: CommitId
    key: str
    title: str
    summary: str
    text: str = ""
    conclusion: Literal["neutral", "success", "failure", "skipped"] = "neutral"
    details_url: str | None = None
    buttons: tuple[Button, ...] = ()


def token(repositories: Sequence[int], permissions: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The token to request; empty parts request everything that was granted."""
    if len(repositories) > 500:
        raise ValueError("a token names at most 500 repositories")
    body: dict[str, Any] = {"repository_ids": list(repositories)} if repositories else {}
    granted = dict(permissions)
    return body | ({"permissions": granted} if granted else {})


def create_check_run(run: CheckRun) -> dict[str, Any]:
    return {"head_sha": run.head} | edit_check_run(run)


def edit_check_run(run: CheckRun) -> dict[str, Any]:
    """Complete new content; GitHub keeps fields that a PATCH omits, so all are sent."""
    output = {"title": cut(run.title, _LONGEST_TITLE, mark="…"), "summary": cut(run.summary, LONGEST_CHECK_TEXT)}
    if run.text:
        output["text"] = cut(run.text, LONGEST_CHECK_TEXT)
    body: dict[str, Any] = {
        "name": run.name,
        "external_id": run.key,
        "status": "completed",
        "conclusion": run.conclusion,
        "output": output,
        "actions": [_button(button) for button in run.buttons[:3]],
    }
    return body | ({"details_url": run.details_url} if run.details_url else {})


def no_automatic_suites(app: int) -> dict[str, Any]:
    """From now on GitHub opens a check suite for this App only together with a check run."""
    return {"auto_trigger_checks": [{"app_id": app, "setting": False}]}


def supersede_check_run() -> dict[str, Any]:
    """A check run cannot be deleted: a duplicate is marked as skipped, and we no longer find it as ours."""
    return {
        "external_id": "",
        "status": "completed",
        "conclusion": "skipped",
        "output": {"title": "Superseded", "summary": "A newer check run with this name replaces it."},
        "actions": [],
    }


def comment(body: str) -> Mapping[str, str]:
    return {"body": body}


def issue(title: str, body: str) -> Mapping[str, str]:
    return {"title": cut(title, _LONGEST_TITLE, mark="…"), "body": cut(body, LONGEST_COMMENT)}


def cut(text: str, longest: int, *, mark: str = _CUT) -> str:
    """The text cut to `longest` UTF-16 units (the strictest reading of "characters"), with a mark if it was cut."""
    if len(text) * 2 <= longest or _units(text) <= longest:
        return text
    kept = text.encode("utf-16-le", "surrogatepass")[: 2 * (longest - _units(mark))].decode("utf-16-le", "ignore")
    return kept + mark


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _button(button: Button) -> dict[str, str]:
    return {
        "label": cut(button.label, 20, mark=""),
        "description": cut(button.description, 40, mark=""),
        "identifier": cut(button.identifier, 20, mark=""),
    }
