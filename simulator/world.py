"""Which organisation does the demo show? Builds it, then plays its half year event by event with signed deliveries.

`build_world` creates accounts, repositories and the App; `play` installs the App and plays the story in order of time,
so that the App sees pull requests opened, reviewed and landed. Set `world.app.webhook_url` first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from simulator.coding import Codebase
from simulator.editing import add_docs_section, add_test, edit_code, initial_files
from simulator.git import GitSignature
from simulator.non_code_activity import label_issue, publish_release
from simulator.server import Simulator
from simulator.state import SimAccount, SimApp, SimInstallation, SimPullRequest, SimRepository
from simulator.story import LENGTH, Line, lines_of, read_story
from simulator.work import NewPullRequest, Step

ORGANISATION = "saltmarsh"
MERGE_BOT = "keelhaul-merge[bot]"
AI_TRAILERS = {
    "claude": "Co-Authored-By: Claude <noreply@anthropic.com>",
    "copilot": "Co-authored-by: Copilot <223556219+Copilot@users.noreply.github.com>",
}
_A_RELEASE = 9
"""landings of the organisation between two releases"""
STRAY = GitSignature("Otho Brisk", "otho@brisk.example")
"""a person whose address belongs to no account"""


@dataclass(slots=True)
class World:
    """The organisation and the events still to come."""

    github: Simulator
    app: SimApp
    people: dict[str, SimAccount]
    repositories: dict[str, SimRepository]
    lines: list[Line]
    code: dict[str, Codebase] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)
    forks: dict[tuple[str, str], SimRepository] = field(default_factory=dict)
    installation: SimInstallation | None = None
    """None until `play` starts"""
    played: int = 0


def build_world(github: Simulator, now: datetime) -> World:
    """The organisation half a year before `now`; the App is registered but not yet installed."""
    story = read_story()
    owner = github.organisation(ORGANISATION)
    people = {
        key: github.account(row["login"], name=row["name"], email=row.get("email"))
        for key, row in story["people"].items()
    }
    people["dependabot"] = github.bot("dependabot[bot]")
    app = github.register_app("almanac-demo", owner)
    world = World(github, app, people, {}, lines_of(story, now))
    for row in story["repository"]:
        _add_repository(world, row, at=now - LENGTH - timedelta(days=3))
    return world


def _add_repository(world: World, row: dict[str, Any], *, at: datetime) -> None:
    code = Codebase(row["name"], row["language"])
    start = initial_files(code, row["description"], row.get("almanac"))
    full_name = f"{ORGANISATION}/{row['name']}"
    repo = world.github.create_repository(full_name, at=at, files=start, by=world.people["noor"])
    repo.private = row.get("private", False)
    repo.description, repo.topics = row["description"], row.get("topics", [])
    repo.language = {"typescript": "TypeScript"}.get(row["language"], row["language"].title())
    repo.permissions = {account.login: "write" for account in world.people.values()}
    repo.permissions[world.people["noor"].login] = "admin"
    world.repositories[row["name"]], world.code[row["name"]], world.how[row["name"]] = repo, code, row["how"]


async def play(world: World) -> int:
    """Play all events, oldest first, with each delivery attempted before the next; return the number of landings."""
    while await play_next(world):
        pass
    return world.played


async def play_next(world: World) -> bool:
    """Play the next landing; False at the end of the story. The first call installs the App."""
    if world.installation is None:
        world.installation = world.github.install(world.app, world.app.owner)
    if world.played == len(world.lines):
        return False
    line = world.lines[world.played]
    world.played += 1
    _play_line(world, line)
    await world.github.wait_until_idle()
    return True


def _play_line(world: World, line: Line) -> None:
    github, repo = world.github, world.repositories[line.repository]
    steps = _steps(world, line)
    if line.flag("push"):
        github.push(repo, "main", steps, by=world.people["noor"], at=line.at)
        return
    author = world.people[line.who]
    opened = line.at - timedelta(hours=5 + len(line.title) % 30)
    body = line.body
    if line.flag("issue"):
        issue = github.open_issue(
            repo, _complaint(line), by=_somebody_else(world, line, 2), at=opened - timedelta(days=2)
        )
        label_issue(github, repo, issue, "bug", by=_somebody_else(world, line, 1), at=opened - timedelta(days=1))
        body = f"{body}\n\nFixes #{issue.number}".strip()
    work = NewPullRequest(
        line.title, author, steps, _branch(line), body, labels=_labels(line), fork=_fork(world, line, repo)
    )
    pull = github.open_pull(repo, work, at=opened)
    _discuss(world, line, pull)
    _land(world, line, pull)
    if world.played % _A_RELEASE == 0:
        tag = f"v0.{len(repo.releases) + 1}.0"
        publish_release(github, repo, tag, by=world.people["noor"], at=line.at + timedelta(hours=1))
    if line.flag("revert"):
        _revert(world, line, pull)


def _land(world: World, line: Line, pull: SimPullRequest) -> None:
    github, repo, how = world.github, world.repositories[line.repository], world.how[line.repository]
    reviewer = _somebody_else(world, line, 1)
    if how == "bot":
        github.land_by_bot(repo, pull, bot=github.bot(MERGE_BOT), at=line.at)
    else:
        github.merge(repo, pull, how, by=reviewer, at=line.at)  # type: ignore[arg-type]  # story.toml names a button


def _revert(world: World, line: Line, pull: SimPullRequest) -> None:
    """Has somebody else revert the work a day later, because it broke something."""
    github, repo = world.github, world.repositories[line.repository]
    when, who = line.at + timedelta(days=1), _somebody_else(world, line, 1)
    back = github.revert(repo, pull, by=who, at=when)
    module, _, name = line.unit.partition(".")
    found = world.code[line.repository].find(name)
    if found:
        found[1].landed.discard(line.edit)
    if line.flag("tests"):
        world.code[line.repository].tested[module].pop()
    _land(world, Line(line.repository, when + timedelta(hours=1), line.who, "", "", "", "", ()), back)


def _steps(world: World, line: Line) -> list[Step]:
    """The commits of a landing: one, or code and tests separately."""
    code, repo = world.code[line.repository], world.repositories[line.repository]
    tree = repo.git.commits[repo.git.tip or ""].tree
    sentence = line.title.rpartition(": ")[2].rpartition("] ")[2].capitalize() + "."
    files = edit_code(code, line.edit, line.unit, sentence=sentence, before=tree)
    if line.flag("docs"):
        files |= add_docs_section(code, line.unit, tree, line.body or sentence)
    tests = add_test(code, line.unit) if line.flag("tests") else {}
    author = STRAY if line.who == "stray" else None
    at = line.at - timedelta(hours=6 + len(line.title) % 30)
    if line.flag("two") and tests:
        return [Step(_message(world, line), files, author, at), Step(f"Test {line.unit}", tests, author, at)]
    return [Step(_message(world, line), files | tests, author, at)]


def _message(world: World, line: Line) -> str:
    trailers: list[str] = []
    if partner := line.flag("coauthor"):
        who = world.people[partner].signature
        trailers.append(f"Co-authored-by: {who.name} <{who.email}>")
    if tool := line.flag("ai"):
        trailers.append(AI_TRAILERS[tool])
    return "\n\n".join(part for part in (line.title, line.body, "\n".join(trailers)) if part)


def _branch(line: Line) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in line.title.lower()).split()
    if line.who == "dependabot":
        return "dependabot/" + "-".join(words[-6:])
    return "-".join(words[:6])


def _labels(line: Line) -> list[str]:
    names = {"fix": "bug", "fix2": "bug", "add": "enhancement", "docs": "documentation", "bump": "dependencies"}
    return [names[line.edit]] if line.edit in names else []


def _complaint(line: Line) -> str:
    return f"{line.unit.partition('.')[0].capitalize()}: {line.title.rpartition(': ')[2].rpartition('] ')[2]}"


def _somebody_else(world: World, line: Line, step: int) -> SimAccount:
    """Another of the eight people, as reviewer or reporter."""
    names = [name for name in world.people if name not in {line.who, "dependabot"}]
    return world.people[names[(len(line.title) * step + step) % len(names)]]


def _fork(world: World, line: Line, repo: SimRepository) -> SimRepository | None:
    if not line.flag("fork"):
        return None
    key = (line.who, line.repository)
    if key not in world.forks:
        world.forks[key] = world.github.fork(repo, world.people[line.who], at=line.at - timedelta(days=9))
    return world.forks[key]


def _discuss(world: World, line: Line, pull: SimPullRequest) -> None:
    github, repo, who = world.github, world.repositories[line.repository], _somebody_else(world, line, 1)
    if line.edit in {"add", "perf"} and len(line.title) % 3 == 0:
        asked = github.review(
            repo, pull, ("CHANGES_REQUESTED", "Some questions below."), by=who, at=line.at - timedelta(hours=3)
        )
        path = repo.differences.between(pull.base, pull.head)[0].path
        github.remark(pull, asked, path, body="Could this be empty?")
        github.comment(
            repo, pull.issue, "Checked: it cannot.", by=world.people[line.who], at=line.at - timedelta(hours=2)
        )
    github.review(repo, pull, ("APPROVED", ""), by=who, at=line.at - timedelta(hours=1))
