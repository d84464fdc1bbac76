"""Do deliveries attribute each commit of a merge of merges to the same pull request as a clone?"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.history.clone import open_clone
from bot.history.log import landings
from bot.history.walk import arrivals
from bot.landing.conventions.recognition import recognise
from bot.model.fact import Fact
from bot.model.ids import RepositoryId
from bot.store import ledger
from simulator.imported import Imported, advance, close_unmerged, import_clone
from simulator.server import Simulator
from simulator.web_host import web
from simulator.world import World
from tests.history.repository import Repository
from tests.path.running import Running, running


def rolled_up(made: Repository) -> dict[str, int | None]:
    """homu's roll-up of two pull requests; the pull request by subject."""
    first = made.commit("Start", {"a.py": "a = 1\n"})
    topic(made, "one", first, ["Step 1 of one", "Step 2 of one"])
    topic(made, "two", first, ["Step 1 of two"])
    made.git("checkout", "-q", "-b", "rollup", first)
    made.merge("one", "Rollup merge of #4 - ben:one, r=ada\n\nOne")
    made.merge("two", "Rollup merge of #7 - cleo:two, r=ada\n\nTwo")
    made.git("checkout", "-q", "main")
    made.merge(
        "rollup", "Auto merge of #9 - ada:rollup, r=ada\n\nRollup of 2 pull requests\n\n - #4 (One)\n - #7 (Two)"
    )
    return {"Start": None, "Step 1 of one": 4, "Step 2 of one": 4, "Step 1 of two": 7}


def batched(made: Repository) -> dict[str, int | None]:
    """bors-ng's batch of two pull requests."""
    first = made.commit("Start", {"a.py": "a = 1\n"})
    topic(made, "one", first, ["Step 1 of one"])
    topic(made, "two", first, ["Step 1 of two"])
    made.git("checkout", "-q", "main")
    made.now += 86_400
    made.git("merge", "-q", "--no-ff", "-m", "Merge #4 #7\n\n4: One r=ada a=ben\n\n7: Two r=ada a=cleo", "one", "two")
    return {"Start": None, "Step 1 of one": 4, "Step 1 of two": 7}


def from_develop(made: Repository) -> dict[str, int | None]:
    """A branch that two pull requests were merged into, merged by hand."""
    first = made.commit("Start", {"a.py": "a = 1\n"})
    topic(made, "one", first, ["Step 1 of one"])
    made.git("checkout", "-q", "-b", "develop", first)
    made.merge("one", "Merge pull request #4 from acme/one\n\nOne")
    topic(made, "two", "develop", ["Step 1 of two"])
    made.git("checkout", "-q", "develop")
    made.commit("On develop itself", {"d.py": "d = 1\n"})
    made.merge("two", "Merge pull request #7 from acme/two\n\nTwo")
    made.git("checkout", "-q", "main")
    made.merge("develop", "Merge branch 'develop'")
    return {"Start": None, "Step 1 of one": 4, "Step 1 of two": 7, "On develop itself": None}


def topic(made: Repository, name: str, start: str, subjects: list[str]) -> None:
    made.git("checkout", "-q", "-b", name, start)
    for number, subject in enumerate(subjects):
        made.commit(subject, {f"{name}_{number}.py": f"{name} = {number}\n"})


async def facts_of(there: Running, found: Imported) -> list[Fact]:
    with there.bot.store.snapshot() as connection:
        return ledger.facts_in(connection, RepositoryId(found.repository.id))


@pytest.mark.parametrize("story", [rolled_up, batched, from_develop])
async def test_a_push_attributes_each_commit_to_its_pull_request(
    github: Simulator, tmp_path: Path, story: object
) -> None:
    made = Repository(tmp_path / "clone", f"{web()}/acme/rocket.git")
    expected = story(made)  # type: ignore[operator]  # one of the functions above
    by = github.account("mara")
    owner = github.organisation("acme")
    app = github.register_app("almanac-test", owner)
    found = import_clone(github, made.folder, "acme/rocket")
    advance(github, found, found.line[0], by=by)
    world = World(github, app, {}, {"rocket": found.repository}, [])
    async with running(github, world, tmp_path / "data") as there:
        github.install(app, owner)
        await there.drained()
        advance(github, found, found.line[-1], by=by)
        await there.drained()
        facts = await facts_of(there, found)
        for number in (4, 7):
            # Delivered after their commits landed: these are measured again, without the commits in between.
            head = next(fact.commit for fact in facts if fact.pull_request == number)
            close_unmerged(github, found, number, title=f"Told {number}", head=head, by=by)
        await there.drained()
        again = await facts_of(there, found)
    assert {fact.commit: fact.pull_request for fact in again} == {fact.commit: fact.pull_request for fact in facts}
    assert {fact.title for fact in again if fact.pull_request} == {"Told 4", "Told 7"}
    clone = open_clone(made.folder)
    read = {one.commit.id: one for one in landings(clone, list(arrivals(clone)))}
    live = {fact.commit: fact.pull_request for fact in facts}
    assert live == {commit: recognise(one).pull_request for commit, one in read.items() if commit in live}
    told = {read[commit].commit.message.split("\n")[0]: number for commit, number in live.items()}
    assert told == {subject: number for subject, number in expected.items() if subject != "Start"}
