from __future__ import annotations

import pytest

from bot.model import Change, ChangeId, Item, Lines, Month, MonthRecord, Sentence, Text
from bot.render.digest_note import DigestFrame, DigestPart, digest_note
from tests.render.hostile import OWN

UTC = DigestFrame("UTC")
ONE = Change(ChangeId("acme/app#1"), "acme/app", "Add it", "feature", "prefix", True, "landed", 1_900_000_000, ())


def part(name: str, sentences: int = 2) -> DigestPart:
    said = tuple(Sentence(f"{name} did thing number {n} and more of it.", (ONE.id,)) for n in range(sentences))
    item = Item("feature", "Add it", "landed", (ONE.id,))
    record = MonthRecord(Month("2031-04"), 3, 1, 0, Lines(authored=12), Text(said), (item,))
    return DigestPart(name, record)


def note(people: int, sentences: int = 2) -> str:
    return digest_note([part(f"Person {n:04}", sentences) for n in range(people)], {ONE.id: ONE}, UTC)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def test_a_few_people_stand_open_and_more_are_folded() -> None:
    assert "<details>" not in note(12)
    folded = note(13)
    assert folded.count("<details>") == folded.count("</details>") == 13
    assert "did thing number 1" in folded


@pytest.mark.parametrize("people", [40, 150, 400, 3_000])
def test_the_text_stays_below_the_cap_and_every_commit_is_told(people: int) -> None:
    text = note(people, sentences=30)
    assert units(text) <= 65_000
    assert f"{3 * people:,} commits by {people:,} contributors" in text
    if people == 400:
        assert text.count("- Person") == 400
    if people == 3_000:
        shown = text.count("- Person")
        assert shown > 500
        assert f"{3_000 - shown:,} more contributors&#58; {3 * (3_000 - shown):,} commits" in text.replace(
            ": ", "&#58; "
        )


@pytest.mark.parametrize("text", OWN)
def test_a_strangers_name_or_dispute_is_inert(text: str) -> None:
    frame = DigestFrame("UTC", repository=text, disputes=(text,))
    for people in ([part(text)], [part(text)] * 13):
        made = digest_note(people, {ONE.id: ONE}, frame)
        assert "@" not in made
        assert "<script" not in made
        assert "](http" not in made
        assert made.count("</details>") in (0, 13)
