"""Are commands in a discussion of digests run, and answered there?"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from simulator.server import Simulator
from simulator.state import Discussion, DiscussionComment
from tests.services.landed import Town, town

SETTINGS = "first_digest: post\ndigest: discussion\n"


@contextlib.asynccontextmanager
async def discussed(github: Simulator, folder: Path) -> AsyncIterator[tuple[Town, Discussion]]:
    """A town whose digests are a discussion, with the digest of May in it."""
    async with town(github, folder, settings=SETTINGS) as there:
        there.repository.has_discussions = True
        await there.land("feat: add a wheel")
        await there.month_over()
        (discussion,) = there.repository.discussions
        yield there, discussion


async def say(there: Town, below: Discussion | DiscussionComment, text: str, *, by: str) -> DiscussionComment:
    """A comment or reply, and whatever the bot makes of it."""
    found = there.github.comment_on_discussion(there.repository, below, text, by=there.people[by], at=there.clock.now)
    await there.drained()
    return found


def replies(discussion: Discussion, to: DiscussionComment) -> list[str]:
    return [one.body for one in discussion.comments if one.reply_to == to.id and one.app]


async def test_a_command_gets_a_reaction_and_acts(github: Simulator, tmp_path: Path) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        said = await say(there, discussion, "/almanac dispute the wheel is missing", by="ada")
        assert said.reactions == ["THUMBS_UP"]
        assert replies(discussion, said) == []
        (digest,) = (one.body for one in discussion.comments if one.app)
        assert "Disputed: the wheel is missing" in digest


async def test_a_preview_is_a_reply_to_who_asked_even_within_a_thread(github: Simulator, tmp_path: Path) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        await there.land("feat: add a lever")
        first = await say(there, discussion, "When is the next one?", by="ada")
        asked = await say(there, first, "/almanac digest preview", by="mara")
        assert (first.reactions, asked.reactions) == ([], ["THUMBS_UP"])
        (reply,) = replies(discussion, first)
        assert "lever" in reply
        assert len(there.repository.discussions) == 1


async def test_a_token_for_a_comment_reads_or_writes_discussions_and_nothing_else(
    github: Simulator, tmp_path: Path
) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        before = set(github.state.tokens)
        await say(there, discussion, "/almanac digest preview", by="mara")
        held = [one.permissions for name, one in github.state.tokens.items() if name not in before]
        assert {"discussions": "read", "metadata": "read"} in held
        assert all(set(one) <= {"discussions", "metadata"} for one in held if "discussions" in one)


async def test_a_lost_answer_causes_no_second_reply(github: Simulator, tmp_path: Path) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        await there.land("feat: add a lever")
        lost = github.faults.plan("cut", "POST /graphql", times=1, after=3)
        asked = await say(there, discussion, "/almanac digest preview", by="mara")
        there.clock.now += timedelta(minutes=5)
        await there.drained()
        assert lost.times == 0
        assert (asked.reactions, len(replies(discussion, asked))) == (["THUMBS_UP"], 1)


async def test_bots_quotations_other_discussions_and_copied_markers_are_not_heard(
    github: Simulator, tmp_path: Path
) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        robot = github.account("robot[bot]", name="Robot")
        robot.type = "Bot"
        there.people["robot"] = robot
        quoted = await say(there, discussion, "> /almanac pause\n", by="mara")
        by_bot = await say(there, discussion, "/almanac pause", by="robot")
        other = Discussion("D_5", there.app, "general", "Ours?", discussion.body.partition("\n")[2], number=77)
        there.repository.discussions.append(other)
        elsewhere = await say(there, other, "/almanac pause", by="mara")
        assert quoted.reactions == by_bot.reactions == elsewhere.reactions == []


async def test_a_deleted_comment_is_not_answered(github: Simulator, tmp_path: Path) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        said = there.github.comment_on_discussion(
            there.repository, discussion, "/almanac digest preview", by=there.people["mara"], at=there.clock.now
        )
        discussion.comments.remove(said)
        await there.drained()
        there.clock.now += timedelta(minutes=2)
        await there.drained()
        assert [one.app for one in discussion.comments] == [there.app]
        assert said.reactions == []


async def test_in_a_locked_discussion_the_command_acts_and_no_answer_is_forced(
    github: Simulator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        discussion.locked = True
        said = await say(there, discussion, "/almanac pause", by="mara")
        assert said.reactions == []
        given_up = [vars(record)["reason"] for record in caplog.records if record.msg == "post given up"]
        assert given_up == ["the discussion is locked"]
        await there.land("feat: add a lever")
        await there.month_over(7)
        assert len([one for one in discussion.comments if one.app]) == 1, "it is paused"


async def test_where_announcements_are_for_maintainers_the_digest_is_a_general_discussion(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings=SETTINGS) as there:
        there.repository.has_discussions = there.repository.announces_for_maintainers = True
        await there.land("feat: add a wheel")
        await there.month_over()
        (discussion,) = there.repository.discussions
        assert discussion.category == "general"
        assert len(discussion.comments) == 1


async def test_a_reply_about_somebody_who_leaves_is_deleted(github: Simulator, tmp_path: Path) -> None:
    async with discussed(github, tmp_path) as (there, discussion):
        asked = await say(there, discussion, "/almanac me", by="ada")
        assert len(replies(discussion, asked)) == 1
        await say(there, discussion, "/almanac forget-me", by="ada")
        assert replies(discussion, asked) == []
