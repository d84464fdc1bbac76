"""What do the steps of action.yml do that is more than one command? History, digest and README, by name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

TITLE = "Monthly digest"
_ISSUE_MARK = "<!-- almanac:digest -->"
_START, _END = "<!-- almanac:start -->", "<!-- almanac:end -->"
_MOST_PAGES = 20
_BODY = f"{_ISSUE_MARK}\nEach month's digest is a comment below. Whoever subscribes here gets one mail a month."
_TRUSTED = ("OWNER", "MEMBER", "COLLABORATOR")
"""whose issue or comment with our marker is taken for ours, besides a bot's: anybody can write a marker"""


def _stop(text: str) -> NoReturn:
    print(f"::error::{text}")
    raise SystemExit(2)


# --- history ---------------------------------------------------------------------------------------------------------


def fetch_history() -> None:
    """Fetch the whole default branch if the checkout is shallow, as that of actions/checkout is by default."""
    folder = os.environ["ALMANAC_PATH"]
    if _git(folder, "rev-parse", "--is-shallow-repository").stdout.strip() != "true":
        return
    branch = _default_branch()
    refs = [f"+refs/heads/{branch}:refs/remotes/origin/{branch}"] if branch else []
    fetched = _git(folder, "fetch", "--quiet", "--unshallow", "--tags", "origin", *refs)
    if fetched.returncode:
        why = (fetched.stderr.strip().splitlines() or ["no reason given"])[-1]
        _stop(f"the history is incomplete and cannot be fetched ({why}); add to actions/checkout: fetch-depth: 0")
    print(f"fetched the history of {branch or 'the branch'}")


def _git(folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)


def _default_branch() -> str:
    event = Path(os.environ.get("GITHUB_EVENT_PATH", ""))
    if event.is_file():
        return str(json.loads(event.read_text("utf-8")).get("repository", {}).get("default_branch", ""))
    return ""


# --- digest ----------------------------------------------------------------------------------------------------------


def post_digest() -> None:
    """Write the digest of a month to the job's summary, or as a comment of one long-lived issue."""
    found = _digest_file()
    if found is None:
        print("no digest: nothing landed in a closed month")
        return
    text = found.read_text("utf-8")
    mode = os.environ["ALMANAC_DIGEST"]
    if mode == "summary":
        with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as summary:
            summary.write(text + "\n")
    elif mode == "issue":
        _comment(found.stem, text)
    else:
        _stop(f"digest: {mode} is none of summary, issue, off")


def _digest_file() -> Path | None:
    """The file of the month that was asked for, or of the last closed month that has one."""
    name = os.environ.get("GITHUB_REPOSITORY", "").lower()
    site, asked = Path(os.environ["ALMANAC_OUTPUT"]), os.environ.get("ALMANAC_MONTH", "")
    known = json.loads((site / "site.json").read_text("utf-8"))["repositories"]
    pages = [one["page"] for one in known if one["name"].lower() == name] or [one["page"] for one in known[:1]]
    files = sorted((site / pages[0]).parent.glob("digests/*.md")) if pages else []
    if asked:
        files = [file for file in files if file.stem == asked]
        if not files:
            _stop(f"month: nothing landed in {asked}; write a month with work as YYYY-MM, or leave it out")
    closed = [file for file in files if asked or file.stem < f"{datetime.now(UTC):%Y-%m}"]
    return closed[-1] if closed else None


def _comment(month: str, text: str) -> None:
    """Create or edit the month's comment; only a comment whose text differs is edited."""
    mark = f"<!-- almanac:digest {month} -->"
    base = f"repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    issue = _first(f"{base}?state=open", _ISSUE_MARK)
    number = (issue or _ask("POST", base, {"title": TITLE, "body": _BODY}))["number"]
    comment = _first(f"{base}/{number}/comments?", mark)
    body = f"{mark}\n{text}"
    if comment is None:
        _ask("POST", f"{base}/{number}/comments", {"body": body})
    elif comment["body"] != body:
        _ask("PATCH", f"{base}/comments/{comment['id']}", {"body": body})


def _first(path: str, mark: str) -> Any:
    """The first issue or comment of ours that begins with the mark; None if there is none."""
    for page in range(1, _MOST_PAGES + 1):
        rows = _ask("GET", f"{path}&per_page=100&page={page}".replace("?&", "?"))
        found = next((one for one in rows if _is_ours(one, mark)), None)
        if found is not None or len(rows) < 100:
            return found
    return None


def _is_ours(one: Mapping[str, Any], mark: str) -> bool:
    by_bot = (one.get("user") or {}).get("type") == "Bot"
    return (one.get("body") or "").startswith(mark) and (by_bot or one.get("author_association") in _TRUSTED)


def _ask(method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    address = f"{os.environ['GITHUB_API_URL'].rstrip('/')}/{path}"
    headers = {"Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"}
    headers |= {"User-Agent": "almanac", "Content-Type": "application/json"}
    content = json.dumps(body).encode() if body is not None else None
    request = Request(address, data=content, headers=headers, method=method)  # noqa: S310 (the address is the runner's)
    try:
        with urlopen(request, timeout=30) as answer:  # noqa: S310 (the address is the runner's)
            return json.load(answer)
    except HTTPError as error:
        need = " (give the job issues: write)" if error.code in (403, 404) else ""
        _stop(f"GitHub answered {error.code} to {method} {path.partition('?')[0]}{need}")
    except (URLError, ValueError) as error:
        _stop(f"cannot ask GitHub: {error}")


# --- readme ----------------------------------------------------------------------------------------------------------


def write_readme() -> None:
    """Replace what is between the markers by a card, or by the newest months; cards are copied beside the file."""
    root, name = Path(os.environ["ALMANAC_PATH"]), os.environ["ALMANAC_README"]
    file = (root / name).resolve()
    if not file.is_relative_to(root.resolve()) or not file.is_file():
        _stop(f"readme: {name} is no file of the repository")
    text = file.read_text("utf-8")
    if text.count(_START) != 1 or text.count(_END) != 1 or text.index(_END) < text.index(_START):
        _stop(f"readme: {name} needs one line {_START} and, below it, one line {_END}")
    block = _card(root, file) if os.environ.get("ALMANAC_PERSON") else _months()
    head, rest = text.split(_START)
    changed = f"{head}{_START}\n{block}\n{_END}{rest.split(_END)[1]}"
    if changed != text:
        file.write_text(changed, "utf-8")
    print(f"{name}: {'changed' if changed != text else 'unchanged'}")


def _card(root: Path, file: Path) -> str:
    person = os.environ["ALMANAC_PERSON"]
    folder = Path(os.environ["ALMANAC_OUTPUT"]) / "people" / person
    if not re.fullmatch(r"[a-z0-9-]+", person) or not folder.is_dir():
        have = ", ".join(sorted(one.name for one in folder.parent.glob("*"))) or "nobody"
        _stop(f"person: {person} has no page ({have} has); add a line to .github/almanac-people.yml by your own commit")
    kept = root / ".github" / "almanac"
    kept.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        shutil.copyfile(folder / f"card-{scheme}.svg", kept / f"{person}-{scheme}.svg")
    path = os.path.relpath(kept.resolve(), file.parent).replace(os.sep, "/")
    profile = json.loads((folder / "profile.json").read_text("utf-8"))["contributor"]["display"]
    shown = re.sub(r"[<>\"&]", "", profile)
    picture = (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{path}/{person}-dark.svg">'
        f'<img alt="The almanac of {shown}" src="{path}/{person}-light.svg"></picture>'
    )
    return _linked(picture, f"people/{person}/index.html")


def _linked(inner: str, page: str) -> str:
    address = os.environ.get("ALMANAC_ADDRESS", "").rstrip("/")
    return f'<a href="{address}/{page}">{inner}</a>' if address.startswith("https://") else inner


def _months() -> str:
    """The newest months of the repository as a table."""
    found = _digest_repository()
    rows = [
        f"| {one['month']} | {one['people']} | {one['commits']} | {one['features']} | {one['bugs']} |"
        for one in found["months"][:-7:-1]
    ]
    head = ("", "| month | people | commits | features | bug fixes |", "|---|---:|---:|---:|---:|")
    return "\n".join([*head, *rows, ""])


def _digest_repository() -> Any:
    site = Path(os.environ["ALMANAC_OUTPUT"])
    known = json.loads((site / "site.json").read_text("utf-8"))["repositories"]
    return json.loads((site / known[0]["page"]).with_name("months.json").read_text("utf-8"))


STEPS: Mapping[str, Callable[[], None]] = {"history": fetch_history, "digest": post_digest, "readme": write_readme}

if __name__ == "__main__":
    STEPS[sys.argv[1]]()
