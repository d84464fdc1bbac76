"""Does nobody write a record about somebody else, and would the campaign see it if somebody could?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.landing.identity import credit, public_work
from bot.landing.identity.machines import StatedMachines
from bot.landing.repo_config.options import RepoConfig
from bot.landing.reverts import matching
from bot.landing.same_work import work_groups
from bot.services.commands import comments
from bot.services.recording import record
from bot.store import people
from bot.web import profile_reader
from tests.campaigns.forged_deliveries import forged_differences
from tests.campaigns.forgery import Forger, differences


def test_worlds_with_a_forger_equal_those_without(tmp_path: Path) -> None:
    assert list(differences(3, tmp_path)) == []


def _everything_is_trusted(facts: Any, *_: Any) -> Any:
    return facts


def _newest_commit_names_the_account(connection: Any, facts: Any) -> None:
    for fact in facts:
        number = credit.user_id_of(fact.author)
        if number is not None:
            named = people.GitHubAccount(number, fact.author.name, at=2**40 + fact.landed_at, by=fact.commit)
            people.see_accounts(connection, [named])


def _a_machine_s_name_makes_a_machine(connection: Any, facts: Any) -> None:
    for fact in facts:
        number = credit.user_id_of(fact.author)
        if number is not None:
            bot = credit.is_machine(replace(fact.author, user_id=None, login=None))
            people.see_accounts(connection, [people.GitHubAccount(number, "ada", bot, at=2**40)])


BUGS: dict[str, tuple[Forger, Any, str, Any]] = {
    "an outsider's authors are attributed": (
        "outsider",
        credit,
        "grade_of_author",
        lambda fact: ("attributed", "author"),
    ),
    "trailers are attributed": ("outsider", credit, "_grade_of_helper", lambda *_: ("attributed", "trailer")),
    "whoever merges proves": ("outsider", credit, "grade_of_author", lambda fact: ("proved", "pushed")),
    "every organisation is trusted": ("stranger", profile_reader, "facts_for_public", _everything_is_trusted),
    "claims are on public pages": ("outsider", profile_reader, "changes_for_public", lambda changes, _: changes),
    "copies by signature are trusted": ("stranger", public_work, "_takes_part", lambda *_: True),
    "copies told from outside fold": ("outsider", work_groups, "false_claims", lambda *_: set()),
    "reverts told from outside count": (
        "outsider",
        matching,
        "believed_targets",
        lambda fact, targets, *_: list(targets),
    ),
    "a commit names its account": ("stranger", record, "_see_people", _newest_commit_names_the_account),
    "a commit makes a machine": ("stranger", record, "_see_people", _a_machine_s_name_makes_a_machine),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forger, module, name, planted = BUGS[bug]
    monkeypatch.setattr(module, name, planted)
    assert any(next(differences(seed, tmp_path, forgers=(forger,)), None) for seed in range(8))


async def test_worlds_of_webhooks_with_a_forger_equal_those_without(tmp_path: Path) -> None:
    assert await forged_differences(3, tmp_path) == []


_STATED: set[str] = set()


def _every_file_is_everywhere(config: RepoConfig) -> StatedMachines:
    """The machines of all the files that were ever read."""
    _STATED.update(config.machines_add)
    return StatedMachines(frozenset(_STATED))


DELIVERED_BUGS: dict[str, tuple[tuple[Forger, ...], Any, str, Any]] = {
    "a settings file is everybody's": (("stranger",), RepoConfig, "stated_machines", _every_file_is_everywhere),
    "any comment is a command": (("stranger",), comments, "may_ask", lambda *_, **__: True),
    "every opener may write": (
        ("outsider",),
        credit,
        "grade_of_author",
        lambda fact: ("attributed", "author in a pull request opened with write access"),
    ),
    "a commit names its account": (("writer",), record, "_see_people", _newest_commit_names_the_account),
}


@pytest.mark.parametrize("bug", DELIVERED_BUGS)
async def test_a_bug_planted_behind_the_webhooks_is_caught(
    bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgers, where, name, planted = DELIVERED_BUGS[bug]
    _STATED.clear()
    monkeypatch.setattr(where, name, planted)
    for seed in range(4):
        if await forged_differences(seed, tmp_path / str(seed), forgers=forgers):
            return
    pytest.fail("no world showed it")
