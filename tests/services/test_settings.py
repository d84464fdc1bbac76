from __future__ import annotations

from pathlib import Path

import pytest

from bot.configuration.errors import UnusableInputError
from bot.services.digests.on_request import publish_month
from bot.services.digests.publishing import close_months
from simulator.server import Simulator
from tests.services.landed import NOW, town

CONFIG = ".github/almanac.yml"
APRIL = NOW.replace(month=4, day=10)


async def test_on_merge_comment_writes_one_comment_and_edits_it(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings="on_merge: comment\n") as there:
        pull = await there.land("feat: add a part")
        (text,) = there.ours(pull.issue)
        assert "| 1 feature | ada |" in text
        assert there.checks() == {}
        await there.say(pull.issue, "/almanac classify fix", by="mara")
        (text,) = there.ours(pull.issue)
        assert "| 1 bug fix | ada |" in text
        github.bot("helper[bot]")
        there.people["robot"] = github.bot("helper[bot]")
        robots = await there.land("chore: bump a part", by="robot")
        assert there.ours(robots.issue) == []


async def test_on_merge_off_posts_nothing_and_still_counts(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings="on_merge: off\n") as there:
        pull = await there.land("feat: add a part")
        assert there.checks() == {}
        assert there.ours(pull.issue) == []
        await there.say(pull.issue, "/almanac why 1", by="ada")
        assert "It counts as a feature." in there.ours(pull.issue)[0]


async def test_a_broken_file_is_reported_by_line_and_the_last_valid_one_applies(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings="on_merge: check\nlines:\n  generated: [part_*.py]\n") as there:
        first = await there.land("feat: add a part")
        assert "2 generated" in there.checks()[first.landed or ""]["summary"]
        await there.write(CONFIG, "on_merge: check\nlinse:\n  generated: []\n")
        second = await there.land("feat: another part")
        summary = there.checks()[second.landed or ""]["summary"]
        assert "2 generated" in summary
        assert "almanac.yml, line 2: 'linse' is no key; did you mean lines?" in summary.replace("&#46;", ".").replace(
            "&#58;", ":"
        )
        await there.write(CONFIG, "on_merge: check\n")
        third = await there.land("feat: a third part")
        summary = there.checks()[third.landed or ""]["summary"]
        assert "2 authored" in summary
        assert "linse" not in summary


async def test_an_organisations_file_is_the_default_and_the_repositorys_own_wins(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        files = {CONFIG: b"on_merge: comment\nlines:\n  generated: [part_*.py]\n"}
        github.create_repository("acme/.github", at=NOW, files=files, by=there.people["mara"])
        pull = await there.land("feat: add a part")
        assert "2 generated" in there.ours(pull.issue)[0]
        await there.write(CONFIG, "on_merge: check\n")
        pull = await there.land("feat: another part")
        assert there.ours(pull.issue) == []
        assert "2 generated" in there.checks()[pull.landed or ""]["summary"]


async def test_a_private_file_of_the_organisation_is_not_quoted_where_more_people_read(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        shared = await there.second_repository(".github", private=True)
        await there.write(CONFIG, "project_zebra: {}\n", repo=shared)
        pull = await there.land("feat: add a part")
        summary = there.checks()[pull.landed or ""]["summary"]
        assert "has errors" in summary
        assert "zebra" not in summary


async def test_the_first_month_is_a_preview_that_notifies_nobody(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        await there.land("feat: add a lamp", at=APRIL)
        await close_months(there.bot.context)
        await there.drained()
        assert there.digests() == []
        (preview,) = there.checks("Almanac: digest preview").values()
        assert "Ada Example" in preview["summary"]
        assert "nothing was posted" in preview["summary"]
        await there.land("feat: add a bell", at=NOW)
        there.clock.now = NOW.replace(month=6, day=2)
        await close_months(there.bot.context)
        await there.drained()
        (digest,) = there.digests()
        assert "May 2031" in digest
        await there.write(CONFIG, "first_digest: post\n")
        await there.land("feat: late work", at=APRIL)
        assert len(there.digests()) == 2


async def test_a_month_without_work_and_a_digest_that_is_off_post_nothing(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings="digest: off\n") as there:
        await there.land("feat: add a lamp", at=APRIL)
        assert await close_months(there.bot.context) == 0
        await there.write(CONFIG, "first_digest: post\n")
        there.clock.now = NOW.replace(month=8, day=2)
        await close_months(there.bot.context)
        await there.drained()
        months = [text.splitlines()[1].partition(":")[0] for text in there.digests()]
        assert months == ["**April 2031", "**May 2031"]
        assert await close_months(there.bot.context) == 0


async def test_nothing_of_another_private_repository_is_shown(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings="first_digest: post\n") as there:
        files = {"README.md": b"hidden\n"}
        hidden = github.create_repository("acme/zebra-secret", at=NOW, files=files, by=there.people["mara"])
        hidden.private = True
        pull = await there.land("feat: add a lamp", at=APRIL)
        body = "This reverts commit " + (pull.landed or "")
        await there.land('Revert "feat: add a lamp"', by="bea", repo=hidden, at=APRIL, body=body)
        await there.say(pull.issue, "/almanac recount", by="mara")
        await close_months(there.bot.context)
        await there.drained()
        everything = [*there.digests(), *(output["summary"] for output in there.checks().values())]
        assert everything
        assert not [text for text in everything if "zebra" in text]


async def test_an_operator_previews_a_month_and_posts_it_once(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings="first_digest: post\n") as there:
        await there.land("feat: add a lamp", at=APRIL)
        shown = await publish_month(there.bot.context, "acme/app", "2031-04", dry_run=True)
        await there.drained()
        assert "Ada Example" in shown
        assert there.digests() == []
        for _ in range(2):
            await publish_month(there.bot.context, "ACME/app", "2031-04")
            await there.drained()
        (posted,) = there.digests()
        assert posted.endswith(shown)
        assert await publish_month(there.bot.context, "acme/app", "2031-03", dry_run=True) == ""
        for wrong in (("acme/app", "2031-05"), ("acme/none", "2031-04"), ("acme/app", "April")):
            await there.land("feat: add a bell")
            with pytest.raises(UnusableInputError):
                await publish_month(there.bot.context, *wrong)


async def test_a_dispute_on_the_digest_issue_is_shown_and_strangers_cannot_dispute(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings="first_digest: post\n") as there:
        await there.land("feat: add a lamp", at=APRIL)
        await close_months(there.bot.context)
        await there.drained()
        issue = next(issue for issue in there.repository.issues.values() if issue.app is there.app)
        await there.say(issue, "/almanac dispute I say @octocat did it", by="sid")
        await there.say(issue, "/almanac dispute half of it was <b>Bea</b>", by="ada")
        (text,) = there.digests()
        assert "octocat" not in text
        assert "> Disputed: half of it was" in text
        assert "<b>" not in text
