"""Are digests posted to an issue or a discussion, for one or several repositories, and edited when facts change?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.store import jobs
from simulator.non_code_activity import publish_release
from simulator.server import Simulator
from simulator.state import SimRepository
from tests.services.landed import Town, reactions, town

POST = "first_digest: post\n"


def discussed(repository: SimRepository) -> list[str]:
    return [comment.body for one in repository.discussions for comment in one.comments]


async def revert(there: Town, title: str, number: int, commit: str) -> None:
    body = f"Reverts acme/app#{number}\n\nThis reverts commit {commit}."
    await there.land(f'Revert "{title}"', by="mara", body=body)


async def test_the_first_month_is_shown_and_each_other_one_is_a_comment_that_late_facts_edit(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        first = await there.land("feat: add a part")
        await there.month_over()
        preview = there.checks("Almanac: digest preview")[first.landed or ""]["summary"]
        assert "**Preview.**" in preview
        assert "Ada Example" in preview
        assert there.digests() == []
        pull = await there.land("feat: add another part")
        await there.month_over(7)
        (before,) = there.digests()
        assert "Preview" not in before
        assert "June 2031" in before
        assert "reverted" not in before
        await revert(there, "feat: add another part", pull.number, pull.landed or "")
        await there.land("fix: mend the part", by="bea")
        await there.month_over(8)
        june, july = there.digests()
        assert "reverted" in june
        assert june.split("\n")[0] == before.split("\n")[0]
        assert "July 2031" in july
        assert sum(issue.app is there.app for issue in there.repository.issues.values()) == 1


async def test_a_digest_follows_a_dispute_and_people_who_leave(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST) as there:
        pull = await there.land("feat: add a part")
        await there.land("feat: add a lever to it", by="bea")
        await there.month_over()
        issue = next(one for one in there.repository.issues.values() if one.app is there.app)
        said = await there.say(issue, "/almanac dispute one part is missing", by="ada")
        assert reactions(said) == ["+1"]
        assert "Disputed: one part is missing" in there.digests()[0]
        await there.say(pull.issue, "/almanac opt-out", by="ada")
        (digest,) = there.digests()
        assert "Ada" not in digest
        assert "Bea Example" in digest
        await there.say(pull.issue, "/almanac forget-me", by="bea")
        assert there.digests() == [], "nobody's work is left in it"


async def test_a_digest_asked_for_as_a_discussion_is_one_discussion_with_a_comment_a_month(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings=POST + "digest: discussion\n") as there:
        there.repository.has_discussions = True
        pull = await there.land("feat: add a part")
        await there.land("feat: add another part")
        await there.month_over()
        await there.land("fix: mend the part", by="bea")
        await there.month_over(7)
        (one,) = there.repository.discussions
        assert one.category == "announcements"
        assert len(discussed(there.repository)) == 2
        assert there.digests() == []
        await revert(there, "feat: add a part", pull.number, pull.landed or "")
        may, june = discussed(there.repository)
        assert "reverted" in may
        assert "June 2031" in june
        one.comments.clear()
        await there.say(pull.issue, "/almanac anonymise", by="ada")
        assert [text.split("\n")[1][:12] for text in discussed(there.repository)] == ["**May 2031:*"]
        assert "Ada" not in "".join(discussed(there.repository))
        assert len(there.repository.discussions) == 1


@pytest.mark.parametrize("asked_before", [2, 4], ids=["the discussion's", "the comment's"])
async def test_a_lost_response_causes_no_duplicate_discussion_or_comment(
    github: Simulator, tmp_path: Path, asked_before: int
) -> None:
    async with town(github, tmp_path, settings=POST + "digest: discussion\n") as there:
        there.repository.has_discussions = True
        await there.land("Add the first thing")
        lost = github.faults.plan("cut", "POST /graphql", after=asked_before)
        await there.month_over()
        assert (lost.times, [len(one.comments) for one in there.repository.discussions]) == (0, [asked_before // 4])
        there.clock.now += timedelta(minutes=1)
        await there.drained()
        assert [len(one.comments) for one in there.repository.discussions] == [1]


async def test_an_incomplete_list_of_discussions_opens_no_second_one(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST + "digest: discussion\n") as there:
        there.repository.has_discussions = True
        await there.land("Add the first thing")
        await there.month_over()
        there.clock.now += timedelta(minutes=5)
        await there.land("Add the second thing")
        github.faults.plan("empty", "POST /graphql")
        await there.month_over(7)
        there.clock.now += timedelta(minutes=5)
        await there.drained()
        (one,) = there.repository.discussions
        assert len(one.comments) == 2


async def test_a_digest_waits_until_the_apps_identity_is_known(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST) as there:
        await there.land("Add the first thing")
        ourselves = there.bot.context.ourselves
        ourselves.login, known = "", ourselves.login
        await there.month_over()
        assert github.count(r"/issues$") == 0
        ourselves.login = known
        there.clock.now += timedelta(minutes=1)
        await there.drained()
        assert len(there.digests()) == 1


async def test_the_digest_is_abandoned_at_once_if_issues_are_disabled(
    github: Simulator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with town(github, tmp_path, settings=POST) as there:
        await there.land("Add the first thing")
        github.faults.plan("410", "GET /repositories/*/issues", times=99)
        await there.month_over()
        there.clock.now += timedelta(days=1)
        await there.drained()
        assert github.count(r"GET /repositories/\d+/issues$") == 1
        (told,) = (vars(record) for record in caplog.records if record.msg == "post given up")
        assert told["post"] == f"digest:{there.repository.id}:2031-05"
        assert told["reason"] == "Issues are disabled for this repo"


async def test_without_discussions_nothing_is_posted_and_the_check_run_says_so(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings=POST + "digest: discussion\n") as there:
        pull = await there.land("feat: add a part")
        summary = there.checks()[pull.landed or ""]["summary"]
        assert summary.count("discussions are disabled in acme/app") == 1
        await there.month_over()
        assert there.digests() == []
        there.repository.has_discussions = True
        await there.land("feat: add more")
        await there.month_over(7)
        assert [text.split("\n")[1][:13] for text in discussed(there.repository)] == ["**May 2031:**", "**June 2031:*"]


async def organisation(there: Town) -> tuple[SimRepository, SimRepository, SimRepository]:
    """`team` takes the digests of all; `secret` is private."""
    team = await there.second_repository("team")
    more = await there.second_repository("more")
    secret = await there.second_repository("secret", private=True)
    for one in (there.repository, more, secret):
        await there.write(".github/almanac.yml", POST + "digest_repository: acme/team\n", repo=one)
    return team, more, secret


async def test_an_organisations_digest_is_one_comment_a_month_without_what_is_private(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        team, more, secret = await organisation(there)
        await there.land("feat: add a part")
        await there.land("feat: add a lever to more", repo=more)
        await there.land("fix: stop the wheel of more", repo=more, by="bea")
        await there.land("feat: add the canary of secret", repo=secret)
        await there.month_over()
        (digest,) = there.digests(team)
        assert "## May 2031, acme" in digest
        assert all(word in digest for word in ("lever", "wheel", "Ada Example", "Bea Example"))
        assert "canary" not in digest
        assert "secret" not in digest
        assert there.digests() == there.digests(more) == []
        (own,) = there.digests(secret)
        assert "canary" in own
        assert "lever" not in own


async def test_late_facts_and_hidden_repositories_edit_the_organisations_one_comment(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        team, more, _ = await organisation(there)
        pull = await there.land("feat: add a part")
        await there.land("feat: add a lever to more", repo=more)
        await there.month_over()
        (before,) = there.digests(team)
        await revert(there, "feat: add a part", pull.number, pull.landed or "")
        (after,) = there.digests(team)
        assert "reverted" in after
        assert "reverted" not in before
        issue = next(one for one in team.issues.values() if one.app is there.app)
        said = there.github.comment(
            team, issue, "/almanac dispute no lever", by=there.people["ada"], at=there.clock.now
        )
        await there.drained()
        assert reactions(said) == ["+1"]
        assert "no lever" in there.digests(team)[0]
        more.private = True
        told = {"action": "privatized", "repository": {"id": more.id}, "installation": {"id": there.installation.id}}
        there.github.deliveries.add(there.app, "repository", told, installation=there.installation)
        await there.drained()
        assert "a lever" not in there.digests(team)[0]


async def test_many_digests_are_spread_and_landings_go_first(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST) as there:
        await there.land("feat: add a part")
        others = [await there.second_repository(f"part-{number:02}") for number in range(24)]
        for number, one in enumerate(others):
            await there.land(f"feat: add lever {number}", repo=one)
        await there.month_over()
        assert sum(bool(there.preview_in(one)) for one in others) == 19, "twenty at once, with that of acme/app"
        assert "installed in 25 repositories" in there.preview_in(others[0])
        waiting = await there.bot.store.read(jobs.in_states, ["ready"])
        assert sorted((one.run_at - there.clock.now).total_seconds() for one in waiting) == [36, 72, 108, 144, 180]
        there.clock.now += timedelta(minutes=4)
        await there.drained()
        assert all(there.preview_in(one) for one in others)


async def test_a_month_with_a_release_puts_the_lines_of_its_notes_first(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST) as there:
        bea = there.people["bea"]
        publish_release(github, there.repository, "v1.0", by=bea, at=there.clock.now - timedelta(days=1))
        pull = await there.land("Draw the windows")
        await there.month_over()
        await there.write("CHANGES.md", f"# Changes\n\n## 1.1\n\n- Windows open to the garden (#{pull.number}).\n")
        publish_release(github, there.repository, "v1.1", by=bea, at=there.clock.now)
        await there.land("Paint the walls of every room", by="bea")
        await there.land("Paint the doors of every room", by="bea")
        await there.month_over(7)
        _, june = there.digests()
        section = june.partition("### Released in 1.1")[2]
        assert "- Windows open to the garden ([#" in section
        assert "Ada Example" in section.split("\n")[2], "the author landed nothing in June"
        await there.say(pull.issue, "/almanac opt-out", by="ada")
        (june,) = there.digests()
        assert "Windows" not in june
