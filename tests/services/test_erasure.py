"""Is an erased person gone from every byte, for good? The short form of `make campaign-erasure`, and its parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.landing.identity import marks
from bot.landing.identity.marks import marks_of, quotes_marks, without_marks
from bot.model.commit import Signature
from bot.store import inbox
from bot.store.engine import Store
from simulator.server import Simulator
from tests.campaigns.erasure import Outcome, erasures, one_history
from tests.databases import database_url
from tests.services.landed import town
from tests.services.test_non_code_activity import APRIL, POST_AT_ONCE
from tests.services.test_taking_back import april, shown_texts

__all__ = ["database_url"]
SEED = 5
"""a history with a changelog, a revert, a reply and a review"""


async def test_no_byte_of_an_erased_person_is_left_and_nothing_brings_them_back(tmp_path: Path) -> None:
    outcome = await erasures(2, 1, steps=8)
    assert outcome.complete, (outcome.unseen, outcome.found)


async def test_no_row_is_left_on_either_database(tmp_path: Path, database_url: str) -> None:
    outcome = Outcome()
    await one_history(tmp_path / "data", SEED, outcome, steps=6, database=database_url)
    assert outcome.complete, (outcome.unseen, outcome.found)


async def _leave_the_log(_: Store) -> bool:
    return True


PLANTED = {
    "the log is not truncated": (Store, "scrub", _leave_the_log),
    "titles are not marks": (marks, "_titles", lambda text: iter(())),
    "bodies of deliveries stay": (inbox, "drop_bodies", lambda *given, **more: 0),
}


@pytest.mark.parametrize("fault", PLANTED)
async def test_the_campaign_notices_a_planted_fault(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(*PLANTED[fault])
    outcome = await erasures(1, SEED, steps=8)
    assert outcome.histories == 1
    assert outcome.found, fault


# --- posts -----------------------------------------------------------------------------------------------------------


async def test_a_reply_to_somebody_else_goes_if_it_quotes_an_erased_person(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        pull = await there.land("feat: paint the lighthouse lamp")
        other = await there.land("feat: add a bell to the tower", by="bea")
        await there.say(pull.issue, "/almanac digest preview", by="mara")
        await there.say(other.issue, "/almanac me", by="bea")
        assert "Ada Example" in there.ours(pull.issue)[0]
        await there.say(pull.issue, "/almanac forget-me", by="ada")
        assert there.ours(pull.issue) == []
        assert len(there.ours(other.issue)) == 1


async def test_a_digest_is_removed_while_posting_is_paused_and_written_again_after(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await april(there)
        issue = there.repository.pulls[0].issue
        await there.say(issue, "/almanac pause", by="mara")
        await there.say(issue, "/almanac forget-me", by="ada")
        assert there.digests() == []
        await there.say(issue, "/almanac pause", by="mara")
        (again,) = there.digests()
        assert "Bea Example" in again
        assert "Ada" not in again


async def test_a_preview_of_nobody_else_says_nothing_of_them(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: paint the lighthouse lamp", at=APRIL)
        await there.month_over()
        assert "Ada Example" in there.preview_in(there.repository)
        await there.say(pull.issue, "/almanac forget-me", by="ada")
        assert not [text for text in shown_texts(there) if "Ada" in text or "lighthouse" in text]


# --- words -----------------------------------------------------------------------------------------------------------

ORDINARY = frozenset(("will", "react", "update", "readme"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks @react and react", "Thanks [name] and react"),
        ("fix: as Will Quimberley said", "fix: as [name] said"),
        ("will it work?", "will it work?"),
        ("by will-q77, wq@corp.example", "by [name], [name]"),
        ('Revert "feat: paint the lighthouse lamp" (#12)', 'Revert "[title]" (#12)'),
        ('Revert "Revert "feat: paint the lighthouse lamp""', 'Revert "Revert "[title]""'),
        ("[1.x] feat: paint the lighthouse lamp (#9)", "[1.x] [title]"),
        ("Update README", "Update README"),
        ('Revert "Update README"', 'Revert "[title]"'),
    ],
)
def test_words_and_titles_of_one_person_are_replaced(text: str, expected: str) -> None:
    signed = [
        Signature("Will Quimberley", "wq@corp.example", None, "will-q77"),
        Signature("Will", "x", None, "react"),
    ]
    found = marks_of(signed, ["feat: paint the lighthouse lamp (#12)", "Update README"], ORDINARY)
    assert without_marks(text, found) == expected
    assert quotes_marks(text, found) or text == expected


def test_an_entry_quotes_a_title_without_its_prefix() -> None:
    found = marks_of([], ["feat: paint the lighthouse lamp"], ORDINARY)
    assert quotes_marks("- Paint the  lighthouse lamp ([#12](https://x))\n", found)
    assert not quotes_marks("- Paint the lighthouse ([#12](https://x))\n", found)
