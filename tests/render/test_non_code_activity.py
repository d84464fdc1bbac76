"""Does every format show non-code activity with links to its evidence, without changing a number about code?"""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from bot.model.fact import Lines
from bot.model.ids import Month
from bot.model.profile import MonthRecord, NonCodeActivity, Profile, Text, Trace
from bot.narrative.explanation import explain
from bot.render import RENDERERS
from bot.render.anonymity import Identity, anonymise_profile
from bot.render.html.page import BUDGET, render_html
from bot.render.html.site import PageLocation, month_page, restrict_to_month
from bot.render.non_code_activity import NON_CODE_KINDS, non_code_lines
from bot.render.text.json import schema
from tests.render.factories import long_profile, small_profile
from tests.render.hostile import payloads

REPOSITORY_URL = "https://github.com/harbour/beacon"


def traces(page: str, *numbers: int, did: tuple[str, ...] = ()) -> tuple[Trace, ...]:
    return tuple(Trace("harbour/beacon", f"#{number}", f"{REPOSITORY_URL}/{page}/{number}", did) for number in numbers)


def everything(profile: Profile, tag: str = "v1.2.0") -> NonCodeActivity:
    names = [change.id for change in profile.changes]
    return NonCodeActivity(
        documentation=(names[0],),
        first_contributions=(names[1],),
        reviews=traces("pull", 60, 61, did=("approved", "reviewed")),
        triage=traces("issues", 70, 71, 72, did=("closed", "labelled", "labelled")),
        releases=(Trace("harbour/beacon", tag, f"{REPOSITORY_URL}/releases/tag/v1.2.0", ("prerelease",)),),
        newcomers=traces("pull", 61, did=("merged",)),
        self_merges=traces("pull", 62, did=("merged",)),
    )


EXPECTED_LINES = (
    "1 documentation change",
    "first contribution to 1 repository",
    "reviewed 2 pull requests of others (2 reviews, 2 approvals)",
    "reviewed or merged 1 first pull request of newcomers (1 merged)",
    "triaged 3 issues of others (3 closed, 3 labelled)",
    "published 1 release (1 prerelease)",
    "merged 1 own pull request",
)


def busy(tag: str = "v1.2.0") -> Profile:
    """One month of landed work with every kind of non-code activity, and one month with only reviews."""
    profile = small_profile()
    month = replace(profile.months[0], non_code=everything(profile, tag))
    reviews_only = NonCodeActivity(reviews=traces("pull", 80, did=("reviewed",)))
    quiet = MonthRecord(Month("2025-12"), Lines(), Text(()), (), non_code=reviews_only)
    return replace(profile, months=(month, *profile.months[1:]), non_code_months=(quiet,))


def read(form: str, profile: Profile) -> str:
    return " ".join(unescape(RENDERERS[form](profile)).replace("\\", "").replace("\u200b", "").split())


def test_each_kind_of_activity_is_worded_with_its_evidence() -> None:
    non_code = everything(small_profile())
    assert tuple(one.words for one in non_code_lines(non_code)) == EXPECTED_LINES
    assert all(one.changes or one.traces for one in non_code_lines(non_code))
    assert list(non_code_lines(NonCodeActivity())) == []
    assert {sort.name for sort in NON_CODE_KINDS} == set(NonCodeActivity.__struct_fields__)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_format_shows_every_kind_and_months_with_nothing_else(form: str) -> None:
    text = read(form, busy())
    for words in EXPECTED_LINES:
        assert words in text
    assert "December 2025" in text
    assert "December 2025" not in read(form, small_profile())
    assert "reviewed 3 pull requests of others" in text  # of both months together
    assert "There may be more that Almanac has not seen" in text
    assert "eside code" not in read(form, small_profile())


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_numbers_link_to_where_they_can_be_seen(form: str) -> None:
    text = RENDERERS[form](busy()).replace("redirect.github.com", "github.com")
    for path in ("pull/60", "issues/70", "releases/tag/v1.2.0", "pull/80"):
        assert f"{REPOSITORY_URL}/{path}" in text


def test_the_json_holds_numbers_and_evidence_and_satisfies_its_schema() -> None:
    found = json.loads(RENDERERS["json"](busy()))
    jsonschema.validate(found, schema())
    month = found["months"][0]
    assert month["beside_code"]["documentation"] == {"changes": 1, "evidence": [small_profile().changes[0].id]}
    assert month["live"]["triage"] | {"evidence": []} == {
        "issues": 3,
        "closed": 3,
        "labelled": 3,
        "assigned": 0,
        "milestoned": 0,
        "transferred": 0,
        "evidence": [],
    }
    assert month["live"]["releases"]["evidence"][0]["url"] == f"{REPOSITORY_URL}/releases/tag/v1.2.0"
    assert found["overall"]["live"]["reviews"] == {
        "pull_requests": 3,
        "given": 3,
        "approvals": 2,
        "rounds": 0,
        "remarks": 0,
    }
    assert list(found["overall"]["live"]["months"]) == ["2025-12"]
    assert found["overall"]["live"]["months"]["2025-12"]["reviews"]["evidence"][0]["name"] == "#80"


def test_non_code_activity_changes_no_number_or_row_about_code() -> None:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name not in ("live", "beside_code")}
        return [without(one) for one in value] if isinstance(value, list) else value

    before, after = (json.loads(RENDERERS["json"](one)) for one in (small_profile(), busy()))
    assert without(after) == before
    for form in ("svg", "csv", "atom", "seed", "seed-text"):
        assert RENDERERS[form](busy()) == RENDERERS[form](small_profile())


def test_incomplete_history_is_marked_and_complete_history_is_not() -> None:
    profile = small_profile()
    part = replace(profile.repositories[0], full_history=False)
    found = json.loads(RENDERERS["json"](replace(profile, repositories=(part, *profile.repositories[1:]))))
    jsonschema.validate(found, schema())
    assert [row.get("whole_history") for row in found["repositories"]] == [False, None]


@pytest.mark.parametrize("tag", payloads()[:120])
def test_a_tag_of_any_characters_is_inert_everywhere(tag: str) -> None:
    plain = RENDERERS["html"](busy("v1"))
    assert RENDERERS["html"](busy(tag)).count("<") == plain.count("<")


def test_an_anonymous_page_links_to_no_personal_repository() -> None:
    own = NonCodeActivity(
        reviews=(Trace("mira-okonjo/dotfiles", "#9", "https://github.com/mira-okonjo/dotfiles/pull/9"),)
    )
    profile = busy("v1-mira-okonjo")
    profile = replace(profile, non_code_months=(replace(profile.non_code_months[0], non_code=own),))
    masked = anonymise_profile(
        profile, Identity(frozenset({"mira-okonjo"}), frozenset({"Mira (Mi) Okonjo"}), frozenset())
    )
    (trace,) = masked.non_code_months[0].non_code.reviews
    assert trace == Trace("a personal repository", "#9")
    assert masked.months[0].non_code.releases[0].name == "v1-[name]"
    assert masked.months[0].non_code.reviews == profile.months[0].non_code.reviews


def test_a_page_of_ten_years_with_much_non_code_activity_stays_small() -> None:
    profile = long_profile()
    much = NonCodeActivity(
        reviews=traces("pull", *range(100, 140), did=("reviewed",)),
        triage=traces("issues", *range(200, 240), did=("closed",)),
    )
    months = tuple(replace(month, non_code=much) for month in profile.months)
    page = render_html(replace(profile, months=months))
    assert len(page.encode()) <= BUDGET
    assert page.count("reviewed 40 pull requests of others") > 100
    assert f"{REPOSITORY_URL}/pull/105>" in page
    assert "+34" in page


def test_each_kind_of_activity_can_be_explained_by_month() -> None:
    found = explain(busy(), "reviews")
    assert found.value == "3"
    assert found.rows == (
        ("2025-12", "harbour/beacon#80: reviewed"),
        ("2026-02", "harbour/beacon#60: approved, reviewed"),
        ("2026-02", "harbour/beacon#61: approved, reviewed"),
    )
    assert explain(busy(), "releases").rows == (("2026-02", "harbour/beacon v1.2.0: prerelease"),)
    assert explain(small_profile(), "triage").value == "none seen, which does not mean none"
    assert explain(small_profile(), "documentation").value == "0"
    assert explain(busy(), "documentation").rows == (("2026-02", small_profile().changes[0].id),)


def test_the_page_of_a_month_shows_only_its_own_non_code_activity() -> None:
    page = month_page(busy(), Month("2026-02"), PageLocation())
    assert f"{REPOSITORY_URL}/issues/70" in page
    assert "triaged 3 issues of others" in page
    assert restrict_to_month(busy(), Month("2026-02")).non_code_months == ()
    assert "eside code" not in month_page(busy(), Month("2026-01"), PageLocation())
