"""Is non-code activity counted from observations in any order, without changing a number about code?"""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.metrics.non_code_activity import (
    GITHUB_FIELDS,
    MERGE_CLOSE_SECONDS,
    Deed,
    activity_by_month,
    combine_activity,
    documentation,
    first_contributions,
)
from bot.metrics.totals import work_by_month
from bot.model.change import Change
from bot.model.fact import Lines
from bot.model.ids import Month, PersonKey
from bot.model.profile import NonCodeActivity, Trace
from tests.render.factories import change

UTC = ZoneInfo("UTC")
APRIL, JUNE = 1_935_000_000, 1_938_600_000
REVIEW = Deed("review", "acme/app", 3, "1:approved", APRIL, "approved")
MERGE = Deed("merger", "acme/app", 3, "abc", APRIL, "other")
LABEL = Deed("triage", "acme/app", 9, "labelled:u:1:1", APRIL, "labelled")
RELEASE = Deed("release", "acme/app", 0, "7:release", APRIL, "release", "v1.0")


def only(*deeds: Deed) -> NonCodeActivity:
    """The one month that these deeds fall in."""
    (found,) = activity_by_month(deeds, {}, UTC).values()
    return found


# --- what a clone shows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "counts"),
    [
        (Lines(docs=3), True),
        (Lines(docs=3, authored=2, generated=90), True),
        (Lines(docs=3, authored=3), False),
        (Lines(authored=3), False),
        (Lines(), False),
    ],
)
def test_a_change_is_documentation_if_most_of_its_lines_of_code_are(lines: Lines, *, counts: bool) -> None:
    one = change("acme/app", 4, "Describe the pump", "2031-05-02", lines=lines)
    assert documentation([one]) == ((one.id,) if counts else ())


def test_reverted_documentation_does_not_count() -> None:
    gone = change("acme/app", 4, "Describe the pump", "2031-05-02", state="reverted", lines=Lines(docs=3))
    assert documentation([gone]) == ()


def landed(repository: str, number: int, date: str) -> Change:
    return change(repository, number, "Add a pump", date)


def test_the_first_change_in_each_repository_is_reported_in_its_month() -> None:
    first, second = landed("acme/app", 4, "2031-05-02"), landed("acme/app", 5, "2031-05-03")
    other = landed("acme/web", 7, "2031-06-01")
    author = first.commits[0].fact.author
    keys = {PersonKey(f"u:{author.user_id}") if author.user_id else PersonKey(f"e:{author.email.lower()}")}
    work = work_by_month([first, second, other], keys, UTC)
    assert work
    assert first_contributions(work) == {Month("2031-05"): (first.id,), Month("2031-06"): (other.id,)}
    assert first_contributions(work, {"acme/app"}) == {Month("2031-06"): (other.id,)}


# --- what only GitHub shows ------------------------------------------------------------------------------------------


def test_a_review_whose_state_changed_stays_one_review() -> None:
    dismissed = replace(REVIEW, source="1:dismissed", did="dismissed")
    remark = replace(REVIEW, kind="remark", source="8", did="")
    (trace,) = only(REVIEW, dismissed, remark, remark).reviews
    assert trace.did == ("approved", "dismissed", "remarked", "remarked", "reviewed")
    assert trace.url == "https://github.com/acme/app/pull/3"


@pytest.mark.parametrize(
    ("seconds", "counts"), [(-1, True), (0, False), (MERGE_CLOSE_SECONDS, False), (MERGE_CLOSE_SECONDS + 1, True)]
)
def test_an_issue_closed_right_after_ones_own_merge_was_closed_by_it(seconds: int, *, counts: bool) -> None:
    closed = replace(LABEL, source="closed", did="closed", at=MERGE.at + seconds)
    assert len(only(MERGE, closed, RELEASE).triage) == counts
    assert only(MERGE, replace(LABEL, at=MERGE.at + 1)).triage


def test_a_withdrawn_release_disappears_and_a_promoted_one_counts_fully() -> None:
    early = replace(RELEASE, source="7:prerelease", did="prerelease")
    assert only(early).releases[0].did == ("prerelease",)
    assert only(RELEASE, early).releases == only(early, RELEASE).releases == only(RELEASE).releases
    assert activity_by_month([RELEASE, replace(RELEASE, source="7:gone", did="gone")], {}, UTC) == {}


def test_a_tag_of_any_characters_gives_one_valid_address() -> None:
    (trace,) = only(replace(RELEASE, tag='v1/"><script>')).releases
    assert trace.url == "https://github.com/acme/app/releases/tag/v1%2F%22%3E%3Cscript%3E"


def test_newcomers_are_credited_in_the_month_of_landing_and_never_to_themselves() -> None:
    firsts = {("acme/app", 3): JUNE}
    found = activity_by_month([REVIEW, MERGE], firsts, UTC)
    assert {month: len(one.newcomers) for month, one in found.items()} == {"2031-04": 0, "2031-06": 1}
    assert found[Month("2031-06")].newcomers[0].did == ("merged", "reviewed")
    own = activity_by_month([replace(MERGE, did="own")], firsts, UTC)
    assert [one.newcomers for one in own.values()] == [()]
    assert next(iter(own.values())).self_merges == (
        Trace("acme/app", "#3", "https://github.com/acme/app/pull/3", ("merged",)),
    )


DEEDS = st.lists(
    st.builds(
        Deed,
        st.sampled_from(("review", "remark", "merger", "triage")),
        st.sampled_from(("acme/app", "acme/web")),
        st.integers(1, 4),
        st.sampled_from(("1:approved", "2:commented", "3")),
        st.sampled_from((APRIL, APRIL + 30, JUNE)),
        st.sampled_from(("approved", "closed", "own", "other", "labelled")),
    ),
    unique=True,
    max_size=12,
)


@given(DEEDS.flatmap(lambda deeds: st.tuples(st.just(deeds), st.permutations(deeds))))
def test_the_order_in_which_it_was_seen_makes_no_difference(orders: tuple[list[Deed], list[Deed]]) -> None:
    deeds, other = orders
    firsts = {("acme/app", 1): APRIL, ("acme/web", 2): JUNE}
    assert activity_by_month(other, firsts, UTC) == activity_by_month(deeds, firsts, UTC)


@given(DEEDS)
def test_combined_months_contain_each_trace_once_with_all_that_was_done(deeds: list[Deed]) -> None:
    months = activity_by_month(deeds, {}, UTC).values()
    whole = combine_activity(months)
    for name in GITHUB_FIELDS:
        traces = getattr(whole, name)
        assert len({(one.repository, one.name) for one in traces}) == len(traces)
        apart = [word for month in months for one in getattr(month, name) for word in one.did]
        assert sorted(word for one in traces for word in one.did) == sorted(apart)
    assert combine_activity([]) == NonCodeActivity()
