from __future__ import annotations

from html import unescape

import pytest
from msgspec.structs import replace

from bot.model.change import Change, Item
from bot.model.fact import Lines
from bot.model.ids import ChangeId, Month
from bot.model.profile import MonthRecord, Sentence, Text
from bot.render.notes.digest import DigestFrame, DigestPart, digest_note
from bot.render.wording import tally
from tests.render.hostile import OWN

UTC = DigestFrame("UTC")
ONE = Change(ChangeId("acme/app#1"), "acme/app", "Add it", "feature", "prefix", True, "landed", 1_900_000_000, ())


def part(name: str, sentences: int = 2) -> DigestPart:
    summary = tuple(Sentence(f"{name} did thing number {n} and more of it.", (ONE.id,)) for n in range(sentences))
    item = Item("feature", "Add it", "landed", (ONE.id,))
    record = MonthRecord(Month("2031-04"), Lines(authored=12), Text(summary), (item,), {"commits": 3, "features": 1})
    return DigestPart(name, record)


def note(people: int, sentences: int = 2) -> str:
    return digest_note([part(f"Person {n:04}", sentences) for n in range(people)], {ONE.id: ONE}, UTC)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def test_texts_of_few_people_are_unfolded_and_of_many_folded() -> None:
    assert "<details>" not in note(12)
    folded = note(13)
    assert folded.count("<details>") == folded.count("</details>") == 13
    assert "did thing number 1" in folded


@pytest.mark.parametrize(("people", "sentences"), [(40, 30), (150, 30), (400, 30), (2_000, 6)])
def test_the_text_stays_below_the_cap_and_covers_every_commit(people: int, sentences: int) -> None:
    text = note(people, sentences)
    assert units(text) <= 65_000
    assert f"{3 * people:,} commits by {people:,} contributors" in text
    if people == 400:
        assert text.count("- Person") == 400
    if people == 2_000:
        shown = text.count("- Person")
        assert shown > 500
        assert f"{2_000 - shown:,} more contributors&#58; {3 * (2_000 - shown):,} commits" in text.replace(
            ": ", "&#58; "
        )


def wide_month(people: int, changes: int) -> tuple[list[DigestPart], dict[ChangeId, Change]]:
    """This many changes of this many people, each in its own sentence."""
    every = {
        ChangeId(f"acme/app#{n}"): replace(
            ONE, id=ChangeId(f"acme/app#{n}"), url=f"https://github.com/acme/app/pull/{n}"
        )
        for n in range(1, changes + 1)
    }
    parts = []
    for turn in range(people):
        own = [*every][turn::people]
        summary = tuple(Sentence(f"The lever of harbour number {key[9:]} was added.", (key,)) for key in own)
        numbers = {"commits": len(own) + turn, "features": len(own), "bugs": turn}
        record = MonthRecord(Month("2031-04"), Lines(authored=7 * turn), Text(summary), (), numbers)
        parts.append(DigestPart(f"Person {turn:03}", record))
    return parts, every


def test_five_thousand_changes_of_three_hundred_people_are_folded_below_the_cap_and_no_number_is_lost() -> None:
    parts, changes = wide_month(300, 5_000)
    text = digest_note(parts, changes, UTC)
    assert units(text) < 65_536
    shown = unescape(text)
    assert f"{sum(part.record.commits for part in parts):,} commits by 300 contributors" in shown
    assert f"{sum(part.record.lines.code for part in parts):,} lines of code changed" in shown
    lines = shown.splitlines()
    for part in parts:
        assert sum(line.endswith(f"{part.name} — {tally(part.record)}") for line in lines) == 1
    few, same = wide_month(30, 500)
    folded = digest_note(few, same, UTC)
    assert units(folded) < 65_536
    assert folded.count("<details>") == 30
    assert sum(folded.count(f"pull/{n}>)") for n in range(1, 501)) == 500


@pytest.mark.parametrize("text", OWN)
def test_an_untrusted_name_or_dispute_is_inert(text: str) -> None:
    frame = DigestFrame("UTC", repository=text, disputes=(text,))
    for people in ([part(text)], [part(text)] * 13):
        made = digest_note(people, {ONE.id: ONE}, frame)
        assert "@" not in made
        assert "<script" not in made
        assert "](http" not in made
        assert made.count("</details>") in (0, 13)
