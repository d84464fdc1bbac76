"""What people do on GitHub's own pages reaches the bot as deliveries: buttons, reruns, comments, late reverts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator import payloads
from simulator.server import Simulator
from simulator.state import SimCheckRun
from tests.services.landed import Town, reactions, town
from tests.services.test_digests import POST, revert


async def tell_check(there: Town, run: SimCheckRun, action: str, *, by: str, **more: Any) -> None:
    """What GitHub sends when somebody presses something on a check run."""
    github, here = there.github, there.repository
    told = payloads.checks(github.api_url, here, action, found=run) | more
    github.send_event(here, "check_run", told, sender=there.people[by])
    await there.drained()


def only_check(there: Town) -> SimCheckRun:
    (run,) = (run for run in there.repository.checks.values() if run.app is there.app)
    return run


async def test_a_check_run_asked_for_again_is_written_again_and_stays_one(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        await there.land("feat: add a part")
        before = dict(only_check(there).fields["output"])
        only_check(there).fields["output"] = {"title": "something else", "summary": "something else"}
        await tell_check(there, only_check(there), "rerequested", by="sid")
        assert only_check(there).fields["output"] == before


async def test_a_pressed_button_corrects_the_kind_in_the_one_check_run(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        await there.land("feat: add a part")
        pressed = {"requested_action": {"identifier": "classify:fix"}}
        await tell_check(there, only_check(there), "requested_action", by="sid", **pressed)
        assert only_check(there).fields["output"]["title"] == "Counted: 1 feature by Ada Example"
        await tell_check(there, only_check(there), "requested_action", by="ada", **pressed)
        assert only_check(there).fields["output"]["title"] == "Counted: 1 bug fix by Ada Example"
        assert "classified by its author" in only_check(there).fields["output"]["summary"]


async def test_one_comment_on_a_merge_is_edited_by_a_classification_and_by_a_late_revert(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings="on_merge: comment\n") as there:
        pull = await there.land("feat: add a part")
        (first,) = (one for one in pull.issue.comments if one.app is there.app)
        assert "| 1 feature |" in first.body
        await there.say(pull.issue, "/almanac classify fix", by="ada")
        assert "| 1 bug fix |" in first.body
        await revert(there, "feat: add a part", pull.number, pull.landed or "")
        assert "reverted" in first.body
        assert len(there.ours(pull.issue)) == 1


@pytest.mark.parametrize("settings", ["on_merge: comment\n", "on_merge: off\n"])
async def test_other_checks_create_no_check_run_if_check_runs_are_off(
    github: Simulator, tmp_path: Path, settings: str
) -> None:
    async with town(github, tmp_path, settings=settings) as there:
        pull = await there.land("feat: add a part")
        suite = {"id": 7, "head_sha": pull.landed, "status": "completed", "conclusion": "success", "app": {"id": 7}}
        for action in ("completed", "rerequested"):
            told = {"action": action, "check_suite": suite}
            github.send_event(there.repository, "check_suite", told, sender=there.people["sid"])
        await there.drained()
        assert there.repository.checks == {}


QUOTED = """Somebody wrote:

> /almanac opt-out

```
/almanac forget-me
```

    /almanac pause

`/almanac me` <!--
/almanac opt-out
-->
"""


async def test_commands_in_code_quotes_and_hidden_text_are_ignored_on_the_digest_issue(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings=POST) as there:
        await there.land("feat: add a part")
        await there.month_over()
        issue = next(one for one in there.repository.issues.values() if one.app is there.app)
        before = there.digests()
        said = await there.say(issue, QUOTED, by="ada")
        assert reactions(said) == []
        assert there.digests() == before
        heard = await there.say(issue, QUOTED + "\n/almanac me\n", by="ada")
        assert reactions(heard) == ["+1"]
        assert len(there.digests()) == 2
