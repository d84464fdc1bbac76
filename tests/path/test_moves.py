"""Does the record equal that of a fresh clone after forks, renames, transfers and changes of the default branch?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.landing.changes import fold
from bot.model.ids import InstallationId
from bot.store import installations
from simulator import merging
from simulator.server import Simulator
from simulator.state import SimRepository
from tests.path.requests import Shop, cloned, data, github, shop

__all__ = ["data", "github"]


# --- the default branch ----------------------------------------------------------------------------------------------


def change_default(there: Shop, branch: str) -> None:
    git, before = there.repository.git, there.repository.git.default_branch
    git.default_branch = branch
    (git.path / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    changes = {"action": "edited", "changes": {"default_branch": {"from": before}}}
    there.github.send_event(there.repository, "repository", changes, sender=there.mara)


def merge_branch(there: Shop, source: str, into: str) -> str:
    """A merge commit by hand, pushed."""
    there.clock.now += timedelta(hours=1)
    git, who = there.repository.git, there.mara.signature
    landing = merging.MergeDetails(who, there.clock.now, f"Merge branch '{source}' into {into}\n", who)
    draft = merging.merge_commit(git, git.branches[into], git.branches[source], landing=landing)
    (merged,) = git.write([draft])
    there.github.force_push(there.repository, into, merged.id, by=there.mara)
    return merged.id


async def test_another_default_branch_and_back_is_a_fresh_clone_each_time(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        start = there.repository.git.tip or ""
        there.push(2)
        there.repository.git.set_ref("refs/heads/next", start)
        github.commit(there.repository, "next", [there.step(), there.step()], by=there.ada, at=there.clock.now)
        await there.cost()
        for branch in ("next", "main"):
            change_default(there, branch)
            await there.cost()
            assert await there.rows() == cloned(there.repository), branch
            there.push(branch=branch)
            await there.cost()
            assert await there.rows() == cloned(there.repository), branch
        assert await there.unlike_rebuilt() == set()


async def test_branches_that_were_merged_into_each_other_are_a_fresh_clone_whichever_is_the_default(
    github: Simulator, data: Path
) -> None:
    async with shop(github, data) as there:
        there.repository.git.set_ref("refs/heads/next", there.repository.git.tip)
        github.commit(there.repository, "next", [there.step()], by=there.ada, at=there.clock.now)
        there.merge(there.open(2), "squash")
        merge_branch(there, "main", "next")
        there.push(branch="next")
        there.push()
        await there.cost()
        for branch, other in (("next", "main"), ("main", "next")):
            change_default(there, branch)
            await there.cost()
            assert await there.rows() == cloned(there.repository), f"{branch} is the default now"
            merge_branch(there, other, branch)
            await there.cost()
            assert await there.rows() == cloned(there.repository), f"{other} was merged into it"
        assert await there.unlike_rebuilt() == set()


async def test_a_push_delivered_before_the_default_branch_change_makes_no_difference(
    github: Simulator, data: Path
) -> None:
    async with shop(github, data) as there:
        there.repository.git.set_ref("refs/heads/next", there.repository.git.tip)
        github.commit(there.repository, "next", [there.step()], by=there.ada, at=there.clock.now)
        await there.cost()
        github.deliveries.hold()
        there.push()
        change_default(there, "next")
        there.push(branch="next")
        github.deliveries.waiting.reverse()
        github.deliveries.release()
        await there.cost()
        assert await there.rows() == cloned(there.repository)
        assert await there.unlike_rebuilt() == set()


async def test_a_forced_push_removes_the_commits_it_dropped(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        stays = (await there.facts())[-1].commit
        there.push(2)
        await there.cost()
        github.force_push(there.repository, "main", stays, by=there.mara)
        await there.cost()
        assert [fact.commit for fact in await there.facts()] == [stays]
        assert await there.unlike_rebuilt() == set()


# --- names and owners ------------------------------------------------------------------------------------------------


async def test_a_renamed_repository_is_counted_once_under_its_new_name(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        there.merge(there.open(), "squash")
        await there.cost()
        github.deliveries.hold()
        github.rename(there.repository, "renamed", by=there.mara)
        there.push()
        github.deliveries.waiting.reverse()  # the push is the first to show the new name
        github.deliveries.release()
        await there.cost()
        facts = await there.facts()
        assert {fact.repository for fact in facts} == {"acme/renamed"}
        assert len(facts) == 3
        lines = await there.lines("change", "fact")
        assert not [line for line in lines if "acme/app" in line and line.startswith(('["change"', '["fact"'))]
        assert sum(line.startswith('["change"') for line in lines) == 3


@pytest.mark.parametrize("heard", ["by a push", "by the nightly look", "by another event of the repository"])
async def test_an_account_that_is_renamed_keeps_its_repositories(github: Simulator, data: Path, heard: str) -> None:
    async with shop(github, data) as there:
        there.merge(there.open(), "squash")
        await there.cost()
        accounts, installation = github.state.accounts, there.installation.id
        there.owner.login = "acme-limited"
        accounts["acme-limited"] = accounts.pop("acme")
        if heard == "by a push":
            there.push()
        elif heard == "by the nightly look":
            await there.ask("reconcile_installation", installation=installation)
        else:
            github.send_event(there.repository, "repository", {"action": "edited", "changes": {}}, sender=there.mara)
        await there.cost()
        with there.bot.store.snapshot() as connection:
            (kept,) = installations.repositories_of(connection, InstallationId(installation))
        assert (kept.repository.full_name, kept.visibility) == ("acme-limited/app", "public")
        assert {fact.repository for fact in await there.facts()} == {"acme-limited/app"}


@pytest.mark.parametrize("heard", ["rename first", "new repository first"])
async def test_a_new_repository_under_an_old_name_inherits_nothing(github: Simulator, data: Path, heard: str) -> None:
    async with shop(github, data) as there:
        there.merge(there.open(), "squash")
        await there.cost()
        github.deliveries.hold()
        github.rename(there.repository, "renamed", by=there.mara)
        taker = there.github.create_repository(
            "acme/app", at=there.clock.now, files={"README.md": b"# another\n"}, by=there.mara
        )
        there.merge(there.open(repo=taker), "squash", repo=taker)
        there.push(repo=taker)
        if heard == "new repository first":
            await there.hear(lambda one: one.event != "repository")
        github.deliveries.release()
        await there.cost()
        assert {fact.repository for fact in await there.facts()} == {"acme/renamed"}
        assert {fact.repository for fact in await there.facts(taker)} == {"acme/app"}
        assert len(await there.facts()) == len(await there.facts(taker)) == 2
        found = await there.changes()
        assert {change.id for change in found if change.pull_request} == {"acme/renamed#1", "acme/app#1"}
        assert all(change.also_in == () for change in found)
        assert len(await there.lines("change")) == 4
        assert await there.unlike_rebuilt() == set()


async def test_a_transferred_repository_counts_only_for_its_new_installation(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        there.merge(there.open(), "squash")
        await there.cost()
        github.deliveries.hold()
        there.push()  # delivered to the old installation, and handled when it no longer has access
        other = github.install(there.app, github.organisation("globex"))
        old = there.installation.id
        there.repository.owner = github.state.accounts["globex"]
        github.send_event(there.repository, "repository", {"action": "transferred"}, sender=there.mara)
        there.merge(there.open(2), "rebase")
        github.deliveries.waiting.reverse()
        await there.hear(lambda one: one.event == "installation")
        github.deliveries.release()
        await there.cost()
        await there.ask("update_repository", action="transferred", installation=old, repository=there.repository.id)
        await there.ask("reconcile_installation", installation=other.id)
        with there.bot.store.snapshot() as connection:
            assert installations.repositories_of(connection, InstallationId(old)) == []
            (kept,) = installations.repositories_of(connection, InstallationId(other.id))
        assert kept.repository.full_name == "globex/app"
        assert await there.rows() == cloned(there.repository)
        assert not [line for line in await there.lines("fact", "change") if "acme/app@" in line or "acme/app#" in line]


# --- forks -----------------------------------------------------------------------------------------------------------


def forked(there: Shop) -> SimRepository:
    fork = there.github.fork(there.repository, there.owner, at=there.clock.now)
    fork.name = "fork"
    fork.permissions = dict(there.repository.permissions)
    return fork


def sync(there: Shop, fork: SimRepository) -> None:
    """The fork's branch moves to the upstream's head."""
    tip = there.repository.git.tip or ""
    fork.git.adopt(there.repository.git, [tip])
    there.github.force_push(fork, "main", tip, by=there.ada)


@pytest.mark.parametrize("heard", ["upstream first", "fork first"])
async def test_a_fork_of_an_installed_repository_counts_only_its_own_work(
    github: Simulator, data: Path, heard: str
) -> None:
    async with shop(github, data) as there:
        fork = forked(there)
        github.deliveries.hold()
        there.merge(there.open(2), "squash")
        sync(there, fork)
        (own,) = there.push(repo=fork)
        if heard == "fork first":
            await there.hear(lambda one: one.payload["repository"]["id"] == fork.id)
        github.deliveries.release()
        await there.cost()
        changes = await there.changes()
        shared = next(change for change in changes if change.pull_request == 1)
        assert (shared.repository, shared.also_in) == ("acme/app", ("acme/fork",))
        assert [one.fact.repository for one in shared.counted] == ["acme/app"]
        assert len(await there.facts(fork)) == 2, "what came by the sync, and its own"
        in_fork = [one for change in changes for one in change.counted if one.fact.repository == "acme/fork"]
        assert [one.fact.commit for one in in_fork] == [own]
        assert len(fold(await there.facts())) == 2
        assert await there.unlike_rebuilt() == set()
