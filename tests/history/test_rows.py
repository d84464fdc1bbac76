from msgspec.structs import replace

from bot.history.rows import ASKS, OFFERS, Rows, from_bytes, key_number, to_bytes
from bot.landing.same_work.keys import offered_keys, sought_keys
from bot.model.commit import Signature
from bot.model.fact import AiMark, Fact, Lines
from bot.model.ids import CommitId, UserId

ADA = Signature("Ada Brook", "ada@example.org", UserId(7), "ada")
BEN = Signature("Ben Castor", "ben@example.org", bot=True)
RICH = Fact(
    repository="acme/rocket",
    commit=CommitId("a" * 40),
    landed_at=1_735_732_800,
    authored_at=1_735_732_000,
    author=ADA,
    committer=BEN,
    title="Größe der Düse",
    how="merge button",
    merge_commit=CommitId("b" * 40),
    pull_request=12,
    co_authors=(BEN,),
    keys=("commit:" + "a" * 40, "pr:acme/rocket#12", "title:acme/rocket:x"),
    reverts=("part:pr:acme/rocket#9",),
    relands=("title:acme/rocket:y",),
    lines=Lines(authored=3, tests=2),
    kind="bug_fix",
    why="stated",
    certain=False,
    probability=612,
    languages={"Python": 5},
    skills={"Flask": 2},
    ai=(AiMark(3, "Codex", "Co-authored-by: Codex"),),
    paths=("a.py", "b.py"),
    links=("issue:acme/rocket#3",),
    partial=True,
    opened_at=1_735_700_000,
)


def test_a_fact_round_trips_through_its_bytes() -> None:
    assert from_bytes(to_bytes(RICH)) == RICH


def test_half_a_character_in_a_title_does_no_harm() -> None:
    broken = replace(RICH, title="a\udcffb", author=replace(ADA, name="A\udcff"))
    assert from_bytes(to_bytes(broken)) == broken
    assert {name for name, *_ in Rows.of([broken]).signatures} == {"A?", "Ben Castor"}


def test_each_key_is_one_row_that_says_whether_it_is_offered_or_asked_for() -> None:
    roles = {number: role for number, _, role in Rows.of([RICH]).keys}
    assert {number for number, role in roles.items() if role & OFFERS} == {
        key_number(key) for key in offered_keys(RICH)
    }
    assert {number for number, role in roles.items() if role & ASKS} == {key_number(key) for key in sought_keys(RICH)}


def test_everybody_who_signed_or_is_credited_is_one_row() -> None:
    assert {row[0] for row in Rows.of([RICH, RICH]).signatures} == {"Ada Brook", "Ben Castor"}


def test_the_number_of_a_key_is_the_same_on_every_machine() -> None:
    assert key_number("pr:acme/rocket#12") == key_number("pr:acme/rocket#12") < 1 << 63
    assert key_number("pr:acme/rocket#12") != key_number("pr:acme/rocket#13")
