"""Is a name gone from every revision that GitHub shows, once its person asked for that?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from simulator.server import Simulator
from simulator.state import Comment, SimRepository
from tests.services.landed import Town, town
from tests.services.test_leaving import posted_at_team
from tests.services.test_non_code_activity import APRIL, POST_AT_ONCE

COMMENTS = "first_digest: post\non_merge: comment\n"
DISCUSSION = "first_digest: post\ndigest: discussion\n"


def shown_texts(there: Town, repository: SimRepository | None = None) -> Iterator[str]:
    """Every revision of every text of ours that a reader can still open."""
    here = repository or there.repository
    for issue in here.issues.values():
        if issue.app is there.app:
            yield from (issue.title, issue.body, *issue.revisions)
        for comment in issue.comments:
            if comment.app is there.app:
                yield from (comment.body, *comment.revisions)
    for discussion in here.discussions:
        yield from (discussion.title, discussion.body)
        for one in discussion.comments:
            yield from (one.body, *one.revisions)
    for run in here.checks.values():
        yield str(run)


async def april(there: Town) -> None:
    """Ada and Bea land work, the digest is posted, and then edited for late work."""
    await there.land("feat: paint the lamp", at=APRIL)
    await there.land("feat: add a wheel", by="bea", at=APRIL + timedelta(hours=1))
    await there.month_over()
    await there.land("feat: add a bell", at=APRIL + timedelta(hours=2))


def _digests(there: Town) -> list[Comment]:
    issues = [issue for issue in there.repository.issues.values() if issue.app is there.app]
    return [one for issue in issues for one in issue.comments if one.app is there.app]


@pytest.mark.parametrize("wish", ["anonymise", "opt-out", "forget-me"])
@pytest.mark.parametrize("settings", [POST_AT_ONCE, COMMENTS, DISCUSSION], ids=["issue", "comments", "discussion"])
async def test_no_revision_names_who_left(github: Simulator, tmp_path: Path, wish: str, settings: str) -> None:
    async with town(github, tmp_path, settings=settings) as there:
        there.repository.has_discussions = True
        await april(there)
        assert any("Ada" in text or "ada" in text for text in shown_texts(there))
        await there.say(there.repository.pulls[0].issue, f"/almanac {wish}", by="ada")
        told = [text for text in shown_texts(there) if "Ada Example" in text or "@ada" in text or "[ada]" in text]
        assert told == []
        assert any("Bea Example" in text for text in shown_texts(there))


async def test_a_digest_older_than_two_months_is_deleted_and_not_written_anew(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await april(there)
        there.clock.now += timedelta(days=70)
        await there.say(there.repository.pulls[0].issue, "/almanac opt-out", by="ada")
        assert there.digests() == []
        await there.land("feat: add late", by="bea", at=APRIL + timedelta(hours=3))
        assert there.digests() == []


async def test_a_comment_about_nobody_else_is_deleted(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=COMMENTS) as there:
        await there.land("feat: paint the lamp", at=APRIL)
        issue = there.repository.pulls[0].issue
        assert len(there.ours(issue)) == 1
        await there.say(issue, "/almanac opt-out", by="ada")
        assert there.ours(issue) == []


async def test_a_late_edit_after_that_edits_again(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await april(there)
        await there.say(there.repository.pulls[0].issue, "/almanac opt-out", by="ada")
        (before,) = _digests(there)
        await there.land("feat: add a late horn", by="bea", at=APRIL + timedelta(hours=3))
        (after,) = _digests(there)
        assert before.id == after.id
        assert after.revisions


async def test_a_repository_that_turns_private_leaves_the_digests_of_others(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        team, (port, _) = await posted_at_team(there, "port", "mill")
        assert any("port wheel" in text for text in shown_texts(there, team))
        port.private = True
        told = {"action": "privatized", "repository": {"id": port.id}, "installation": {"id": there.installation.id}}
        github.deliveries.add(there.app, "repository", told, installation=there.installation)
        await there.drained()
        assert not [text for text in shown_texts(there, team) if "port" in text]
        assert any("mill wheel" in text for text in shown_texts(there, team))


async def test_an_answer_that_is_lost_leaves_one_new_comment(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await april(there)
        (old,) = _digests(there)
        lost = github.faults.plan("cut", "POST */comments")
        await there.say(there.repository.pulls[0].issue, "/almanac opt-out", by="ada")
        there.clock.now += timedelta(minutes=10)
        await there.drained()
        assert lost.times == 0
        (new,) = _digests(there)
        assert new.id != old.id
        assert (new.revisions, "Ada" in new.body) == ([], False)
