from __future__ import annotations

from pathlib import Path

from simulator.server import Simulator
from tests.services.landed import reactions, town


async def test_a_classification_moves_the_numbers_and_the_check_run_and_survives_a_recount(
    strict_github: Simulator, tmp_path: Path
) -> None:
    async with town(strict_github, tmp_path) as there:
        pull = await there.land("feat: add a part")
        assert pull.landed
        assert there.checks()[pull.landed]["title"] == "Counted: 1 feature by Ada Example"
        said = await there.say(pull.issue, "/almanac classify fix", by="ada")
        assert reactions(said) == ["+1"]
        assert there.ours(pull.issue) == []
        assert there.checks()[pull.landed]["title"] == "Counted: 1 bug fix by Ada Example"
        assert "classified by its author: correction" in there.checks()[pull.landed]["summary"]
        again = await there.say(pull.issue, "/almanac recount", by="mara")
        assert reactions(again) == ["+1"]
        assert there.checks()[pull.landed]["title"] == "Counted: 1 bug fix by Ada Example"


async def test_each_command_is_limited_to_who_may_use_it(github: Simulator, tmp_path: Path) -> None:
    """Author, maintainer, stranger; a refusal is a reaction and nothing else."""
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: add a part")
        for command in ("classify fix", "dispute not mine", "why 1", "recount", "digest preview", "pause"):
            said = await there.say(pull.issue, f"/almanac {command}", by="sid")
            assert reactions(said) == ["confused"], command
        for command in ("recount", "digest preview", "pause"):
            said = await there.say(pull.issue, f"/almanac {command}", by="ada")
            assert reactions(said) == ["confused"], command
        assert there.ours(pull.issue) == []
        for command in ("classify other", "dispute two pieces of work"):
            said = await there.say(pull.issue, f"/almanac {command}", by="mara")
            assert reactions(said) == ["+1"], command
        summary = there.checks()[pull.landed or ""]["summary"]
        assert "classified by a maintainer: correction" in summary
        assert "disputed: two pieces of work" in summary


async def test_text_replies_come_only_on_request_or_need(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: add a part")
        await there.say(pull.issue, "/almanac why features", by="ada")
        await there.say(pull.issue, f"/almanac why {pull.number}", by="ada")
        wrong = await there.say(pull.issue, "/almanac clasify fix\n\n> /almanac opt-out", by="ada")
        assert reactions(wrong) == ["confused"]
        number, change, mistake = there.ours(pull.issue)
        assert "features: 1 in this repository" in number
        assert "pull/" in number
        assert "It counts as a feature. The project states it: stated prefix" in change
        assert "did you mean classify feature" in mistake
        assert all("@" not in text for text in (number, change, mistake))
        await there.say(pull.issue, "/almanac me", by="ada")
        await there.say(pull.issue, "/almanac digest preview", by="mara")
        own, preview = there.ours(pull.issue)[3:]
        assert "May 2031: 1 commit" in own
        assert "Ada Example" in preview
        after = await there.say(pull.issue, "thanks\n```\n/almanac me\n```\n", by="ada")
        assert reactions(after) == []
        assert len(there.ours(pull.issue)) == 5


async def test_a_comment_delivered_twice_is_answered_once(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: add a part")
        paused = await there.say(pull.issue, "/almanac pause", by="mara")
        asked = await there.say(pull.issue, "/almanac why 1", by="mara")
        for delivery in [one for one in github.deliveries.log if one.event == "issue_comment"]:
            # a captured body under a new name, as a second delivery of the same event
            there.github.deliveries.add(
                there.app, "issue_comment", dict(delivery.payload), installation=there.installation
            )
        await there.drained()
        assert reactions(paused) == ["+1"]
        assert reactions(asked) == ["+1"]
        assert len(there.ours(pull.issue)) == 1
        second = await there.land("feat: another part")
        assert second.landed not in there.checks()
        resumed = await there.say(pull.issue, "/almanac pause", by="mara")
        assert reactions(resumed) == ["rocket"]
        third = await there.land("feat: a third part")
        assert third.landed in there.checks()


async def test_a_comment_edited_by_another_person_is_not_a_command(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: add a part")
        for body, edited, heard in (
            ("/almanac me", "/almanac forget-me", []),
            ("```\n/almanac forget-me\n```\n/almanac me", "/almanac forget-me\n/almanac me", []),
            ("Thanks!\n/almanac me", "/almanac me", ["+1"]),
        ):
            said = github.comment(there.repository, pull.issue, body, by=there.people["ada"], at=there.clock.now)
            said.body = edited
            await there.drained()
            assert reactions(said) == heard


async def test_text_replies_stop_after_five_in_an_hour(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: add a part")
        comments = [
            github.comment(there.repository, pull.issue, "/almanac me", by=there.people["sid"], at=there.clock.now)
            for _ in range(8)
        ]
        await there.drained()
        assert all(reactions(comment) == ["+1"] for comment in comments)
        assert len(there.ours(pull.issue)) == 5


async def test_commands_on_a_plain_issue_are_ignored(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        issue = github.open_issue(there.repository, "A question", by=there.people["sid"], at=there.clock.now)
        issue.body = "<!-- almanac:digests:1 -->"
        said = await there.say(issue, "/almanac me", by="sid")
        assert reactions(said) == []
        assert there.ours(issue) == []
