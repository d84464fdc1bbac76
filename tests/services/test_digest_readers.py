"""Is a private repository told of only where everybody who reads may read it?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.cli.doctor.machine import problems_with_homes
from bot.services.digests import scope
from bot.services.digests.on_request import publish_month
from bot.services.digests.readers import defer_check
from bot.store import digest_readers
from simulator.server import Simulator
from simulator.state import SimRepository
from tests.services.landed import Town, reactions, town

SHARED = "first_digest: post\ndigest_repository: acme/team\n"
CANARY = "feat: add the canary wheel"


async def private_pair(there: Town, **readers: str) -> tuple[SimRepository, SimRepository]:
    """`team` takes the digest of `vault`; both are private, and `readers` have access to `team` alone."""
    team = await there.second_repository("team", private=True)
    vault = await there.second_repository("vault", private=True)
    team.permissions = {**vault.permissions, **readers}
    await there.write(".github/almanac.yml", SHARED, repo=vault)
    await there.land(CANARY, repo=vault)
    return team, vault


async def compared_again(there: Town) -> None:
    """A day later the readers are compared."""
    there.clock.now += timedelta(days=1)
    with there.bot.store.transaction() as connection:
        defer_check(connection, there.bot.context, there.installation.id)  # type: ignore[arg-type]
    await there.drained()
    there.clock.now += timedelta(minutes=2)
    await there.drained()


async def test_a_private_digest_goes_where_every_reader_may_read_it(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        team, vault = await private_pair(there)
        vault.permissions["sid"] = "admin"
        await there.month_over()
        (digest,) = there.digests(team)
        assert "canary wheel" in digest
        assert there.digests(vault) == []


async def test_it_stays_at_home_if_one_reader_may_not_read_it_and_the_check_run_says_why(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        github.account("eve", name="Eve Example")
        team, vault = await private_pair(there, eve="read")
        pull = await there.land("feat: add a lever", repo=vault)
        why = "its digest is posted here, not in acme/team: some of its readers may have no access here"
        asked = await there.say(pull.issue, "/almanac digest preview", by="mara", repo=vault)
        assert reactions(asked) == ["+1"]
        assert why in there.ours(pull.issue)[-1]
        await there.month_over()
        assert there.digests(team) == []
        (digest,) = there.digests(vault)
        assert "canary wheel" in digest
        (summary,) = (
            run.fields["output"]["summary"]
            for run in vault.checks.values()
            if run.fields["name"] == "Almanac" and run.fields["head_sha"] == pull.landed
        )
        assert why in summary
        assert [one for one in await there.bot.store.read(problems_with_homes) if why in one]


async def test_the_command_line_and_a_dry_run_follow_the_same_rule(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.account("eve", name="Eve Example")
        team, _ = await private_pair(there, eve="read")
        await there.land("feat: add a lever", repo=team)
        assert "canary" not in await publish_month(there.bot.context, "acme/team", "2031-05", dry_run=True)
        assert "canary" in await publish_month(there.bot.context, "acme/vault", "2031-05", dry_run=True)


@pytest.mark.parametrize("refusal", ["403", "404"])
async def test_what_github_does_not_list_is_a_no(github: Simulator, tmp_path: Path, refusal: str) -> None:
    async with town(github, tmp_path) as there:
        github.faults.plan(refusal, "GET /repositories/*/collaborators", times=999)
        team, vault = await private_pair(there)
        await there.month_over()
        assert there.digests(vault) == there.digests(team) == [], "it may be a replica that lags"
        there.clock.now += timedelta(minutes=2)
        await there.drained()
        assert there.digests(team) == []
        assert "canary wheel" in there.digests(vault)[0]


async def test_an_internal_repository_is_open_to_more_people_than_are_listed(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        team, vault = await private_pair(there)
        team.internal = True
        await there.month_over()
        assert there.digests(team) == []
        assert "canary wheel" in there.digests(vault)[0]


@pytest.mark.parametrize("change", ["a new reader there", "a reader left here"])
async def test_what_was_posted_is_deleted_when_the_answer_turns_false(
    github: Simulator, tmp_path: Path, change: str
) -> None:
    async with town(github, tmp_path) as there:
        team, vault = await private_pair(there)
        other = await there.second_repository("other")
        await there.write(".github/almanac.yml", SHARED, repo=other)
        await there.land("feat: add a public lever", repo=other)
        await there.month_over()
        (before,) = there.digests(team)
        assert "canary wheel" in before
        assert "public lever" in before
        (issue,) = (one for one in team.issues.values() if one.app is there.app)
        (old,) = issue.comments
        github.account("eve", name="Eve Example")
        if change == "a new reader there":
            team.permissions["eve"] = "read"
        else:
            del vault.permissions["bea"]
        await compared_again(there)
        (after,) = issue.comments
        assert after.id != old.id, "an edit would leave the old text in the comment's history"
        assert "canary" not in after.body
        assert "public lever" in after.body
        vault.permissions = dict(team.permissions)
        await compared_again(there)
        assert "canary wheel" in there.digests(team)[0]


async def test_a_list_that_is_short_once_opens_nothing(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.account("eve", name="Eve Example")
        team, vault = await private_pair(there)
        await there.month_over()
        team.permissions["eve"] = "read"
        short = github.faults.plan("short", f"GET /repositories/{team.id}/collaborators", times=1)
        await compared_again(there)
        assert short.times == 0, "the first list lacked Eve, the last by id"
        assert "canary" not in "".join(there.digests(team))
        assert there.digests(vault) == []


async def test_a_rule_that_asks_for_public_and_private_alone_is_caught(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bug that this file was written for, planted again."""
    monkeypatch.setattr(scope, "may_show", lambda connection, one, home: home.private or not one.private)
    async with town(github, tmp_path) as there:
        github.account("eve", name="Eve Example")
        team, _ = await private_pair(there, eve="read")
        await there.month_over()
        assert "canary wheel" in there.digests(team)[0]


async def test_an_answer_that_was_never_given_is_a_no(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        assert not await there.bot.store.read(digest_readers.may_all_read, 1, 2)
