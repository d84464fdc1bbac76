"""Do squashes show each person's own part, and do claims wait for the person?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from bot.cli.recomputing.verify import Verification, examine
from bot.configuration.errors import UnusableInputError
from bot.model.ids import PersonKey
from bot.narrative.explanation import explain
from bot.render.html.page import PageOptions, render_page
from bot.render.text.json import render_json
from bot.services.recording.rebuild import rebuild
from bot.store.people import PERSON
from bot.store.totals import TOTALS
from simulator.server import Simulator
from simulator.web_host import noreply_domain
from simulator.work import Button, NewPullRequest, Step
from tests.services.conftest import github, strict_github
from tests.services.landed import NOW, Town, town
from tests.services.test_hours_to_land import clone_of, profile_of

__all__ = ["github", "strict_github"]


def _counted(there: Town, name: str) -> tuple[int, int, int]:
    """(commits, co-authored commits, lines) of a person in the totals."""
    key = f"u:{there.people[name].id}"
    query = select(TOTALS.c.commits, TOTALS.c.co_authored, TOTALS.c.lines_authored).where(TOTALS.c.person_key == key)
    with there.bot.store.snapshot() as connection:
        rows = [tuple(row) for row in connection.execute(query)]
    return tuple(map(sum, zip(*rows, strict=True))) if rows else (0, 0, 0)  # type: ignore[return-value]  # three sums


async def _squash_of_two(there: Town, opener: str) -> int:
    return await _land_two(there, opener, "squash")


async def _land_two(there: Town, opener: str, way: Button) -> int:
    """A pull request with forty lines of the opener's and two of Bea's, landed by the maintainer."""
    mine, other = there.people[opener], there.people["bea"]
    steps = [
        Step("feat: add a lamp\n", {"lamp.py": b"".join(b"lamp_%d = %d\n" % (n, n) for n in range(40))}),
        Step("fix: the wick\n", {"wick.py": b"wick = 1\nwax = 2\n"}, author=other.signature),
    ]
    work = NewPullRequest("feat: add a lamp", mine, steps, f"{opener}-lamp")
    pull = there.github.open_pull(there.repository, work, at=NOW)
    there.github.merge(there.repository, pull, way, by=there.people["mara"], at=NOW)
    await there.drained()
    return pull.number


async def test_each_author_of_a_squash_has_their_own_lines_for_one_request(
    strict_github: Simulator, tmp_path: Path
) -> None:
    async with town(strict_github, tmp_path) as there:
        there.repository.permissions["ada"] = "write"
        before = sum("graphql" in request for request in there.github.requests)
        await _squash_of_two(there, "ada")
        assert sum("graphql" in request for request in there.github.requests) - before == 1
        assert _counted(there, "ada") == (1, 0, 40)
        assert _counted(there, "bea") == (0, 1, 2)


async def test_an_outsiders_co_author_counts_once_they_accept_also_after_a_rebuild(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        number = await _squash_of_two(there, "sid")
        assert _counted(there, "sid") == (1, 0, 40)
        assert _counted(there, "bea") == (0, 0, 0)
        issue = there.repository.issues[number]
        await there.say(issue, "/almanac accept", by="bea")
        assert _counted(there, "bea") == (0, 1, 2)
        result = await rebuild(there.bot.store, there.installation.id, there.bot.context.zone)  # type: ignore[arg-type]  # its number
        assert (result.wrong, _counted(there, "bea")) == (0, (0, 1, 2))
        await there.say(issue, "/almanac reject", by="bea")
        assert _counted(there, "bea") == (0, 0, 0)


async def test_an_accepted_claim_is_unverifiable_in_a_clone_and_not_different(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW.timestamp() + 86_400)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with town(github, tmp_path) as there:
        number = await _squash_of_two(there, "sid")
        await there.say(there.repository.issues[number], "/almanac accept", by="bea")
        (row,), _, checked = await _rows_and_page(there, tmp_path, "bea")
        assert (row["grade"], row["own_lines"]) == ("attributed", 2)
        assert checked.differences == ()
        assert f"changes[acme/app#{number}].grade is attributed" in checked.stated


async def test_a_trailer_writes_nothing_about_the_account_that_it_names(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        await there.land("feat: add a lamp", by="ada")
        ada = there.people["ada"].id

        def row() -> tuple[object, ...]:
            columns = (PERSON.c.user_id, PERSON.c.login, PERSON.c.name, PERSON.c.bot)
            with there.bot.store.snapshot() as connection:
                return tuple(connection.execute(select(*columns).where(PERSON.c.key == PersonKey(f"u:{ada}"))).one())

        before, counted = row(), _counted(there, "ada")
        for forged in (
            f"Someone Else <{ada}+x@{noreply_domain()}>",
            f"x[bot] <{ada}+x[bot]@{noreply_domain()}>",
        ):
            await there.land("feat: add a horn", by="sid", body=f"Co-authored-by: {forged}")
        assert (row(), _counted(there, "ada")) == (before, counted)


async def _rows_and_page(there: Town, tmp_path: Path, name: str) -> tuple[list[dict[str, Any]], str, Verification]:
    """A person's changes in the JSON form, the page, and what a clone says of the JSON form."""
    found = await profile_of(there, name)
    text = render_json(found)
    checked = examine([clone_of(there, tmp_path / f"clone-{name}")], text)
    return json.loads(text)["changes"], render_page(found, PageOptions()), checked


@pytest.mark.parametrize("way", ["squash", "merge", "rebase"])
async def test_each_author_s_own_lines_are_shown_however_it_landed_and_a_clone_agrees(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Button
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW.timestamp() + 86_400)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with town(github, tmp_path) as there:
        there.repository.permissions["ada"] = "write"
        await _land_two(there, "ada", way)
        for name, lines, grade in (("ada", 40, "proved"), ("bea", 2, "attributed")):
            (row,), page, checked = await _rows_and_page(there, tmp_path, name)
            assert (row["own_lines"], row["grade"], row["lines"]["total"]) == (lines, grade, 42)
            assert "parts_unknown" not in row
            assert f"{lines} of 42 lines" in page
            if way == "rebase":
                continue  # git holds no number of a rebased pull request, so a clone counts each commit by itself
            assert checked.differences == ()
            told = f"changes[acme/app#{row['pull_request']}].own_lines is {lines}" in checked.stated
            assert told == (way == "squash"), "only the parts of a squash are hidden from a clone"


async def test_what_a_publisher_may_state_of_a_squash_decides_every_other_number(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW.timestamp() + 86_400)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with town(github, tmp_path) as there:
        there.repository.permissions["ada"] = "write"
        await _squash_of_two(there, "ada")
        await there.land("feat: add a horn", by="ada")
        clone, text = [clone_of(there, tmp_path / "clone")], render_json(await profile_of(there, "ada"))

    def different(change: Callable[[Any], object]) -> set[str]:
        whole = json.loads(text)
        change(whole)
        return {one.field for one in examine(clone, json.dumps(whole)).differences}

    squash = next(at for at, row in enumerate(json.loads(text)["changes"]) if row["own_lines"] == 40)
    assert different(lambda whole: None) == set()
    assert "overall.lines.authored" in different(lambda whole: whole["overall"]["lines"].update(authored=4000))
    assert "narrative.text" in different(lambda whole: whole["narrative"].update(text="The best of all."))
    assert "skills.languages[Python].lines" in different(
        lambda whole: whole["skills"]["languages"][0].update(lines=4000)
    )
    assert different(lambda whole: whole["changes"][squash].update(own_lines=4000)) >= {
        f"changes[{json.loads(text)['changes'][squash]['id']}].own_lines"
    }
    assert "overall.lines_of_code" in different(lambda whole: whole["changes"][squash].update(own_lines=42))
    assert "overall.commits" in different(lambda whole: whole["changes"][squash].update(grade="claimed"))
    assert "overall.commits" in different(lambda whole: whole["changes"].pop(squash))
    assert "overall.claimed" in different(lambda whole: whole["overall"].update(claimed=7))
    with pytest.raises(UnusableInputError, match="grade that does not exist"):
        different(lambda whole: whole["changes"][squash].update(grade="superb"))


async def test_why_and_explain_say_the_grade_with_its_evidence(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        number = await _squash_of_two(there, "sid")
        issue = there.repository.issues[number]
        await there.say(issue, f"/almanac why {number}", by="bea")
        await there.say(issue, "/almanac why credit", by="sid")
        for name in ("items", "languages", "skills", "kind", "correctness", "claimed"):
            await there.say(issue, f"/almanac why {name}", by="sid")
        said = "\n".join(there.ours(issue))
        found = await profile_of(there, "bea")
    claimed = "It is only claimed: named in commits of a pull request that somebody else opened without write access"
    assert f"Your part: {claimed}" in said
    assert "The author's part: It is proved by what GitHub says: opened the pull request and is the author" in said
    assert "credit: 1 proved, 0 attributed, 0 claimed" in said
    assert "Python: 40 lines since 2031-05, most of them in acme/app" in said
    for words in ("items: 1 feature", "Not rated: no lines old enough", "changes are certain", "claimed: 0"):
        assert words in said, words
    assert claimed in explain(found, "claimed").text()
    assert "claimed by others: review" in render_page(found, PageOptions())
