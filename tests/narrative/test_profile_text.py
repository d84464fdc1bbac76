"""Does the top of a profile say who, where, when and which parts, named and anonymous from the same facts?"""

from __future__ import annotations

from bot.metrics.registry import numbers_of
from bot.metrics.work import Work
from bot.model.fact import Lines
from bot.model.ids import Month, PersonKey
from bot.model.profile import Overall, RepositoryRecord
from bot.narrative.profile_text import RecordFacts, profile_text
from bot.narrative.quotes import NO_QUOTES, Quotes
from tests.narrative.worlds import change, entry, month_of_work, profile, quotes, record_of, theme

MIRA = frozenset({PersonKey("e:mira@example.org")})


def facts(*months: tuple[str, list]) -> RecordFacts:  # type: ignore[type-arg]
    work = [month_of_work(month, changes) for month, changes in months]
    items = [item for one in work for item in record_of(one).items]
    names = sorted({found.repository for _, changes in months for found in changes})
    repositories = [RepositoryRecord(name, Month("2025-06"), Month("2025-07"), 1, 1, (), ()) for name in names]
    overall = Overall(Lines(), numbers_of(Work(work, items)))
    return RecordFacts("Mira Kessler", MIRA, work, overall, repositories, ("Python",))


def said(found: RecordFacts, about: Quotes = NO_QUOTES, naming: str = "named") -> list[str]:
    return [one.text for one in profile_text(found, about, naming).sentences]  # type: ignore[arg-type]


def test_the_lead_names_the_person_the_repositories_the_span_and_the_parts() -> None:
    june = [change(f"Add part {at} of it", number=at) for at in range(1, 4)]
    july = [change("Fix a crash on close", "bug_fix", number=9, month="2025-07")]
    about = quotes(themes=[theme("Client", june)])
    lead, kinds, *_ = said(facts(("2025-06", june), ("2025-07", july)), about)
    assert lead == (
        "Mira Kessler landed four commits in acme/engine between June and July 2025, most of them in Client."
    )
    assert kinds == "They add up to three features and one bug fix."


def test_the_anonymous_lead_states_the_same_without_the_name() -> None:
    june = [change("Add a retry to the client")]
    named, anonymous = said(facts(("2025-06", june))), said(facts(("2025-06", june)), naming="anonymous")
    assert anonymous[0] == "Landed one commit in acme/engine in June 2025."
    assert named[0] == "Mira Kessler landed one commit in acme/engine in June 2025."
    assert named[1:] == anonymous[1:]


def test_of_many_repositories_two_are_named() -> None:
    june = [change("Add a retry to it", number=at, repository=f"acme/{name}") for at, name in enumerate("abcde", 1)]
    assert "in acme/a, acme/b and three other repositories" in said(facts(("2025-06", june)))[0]


def test_a_theme_says_its_share_and_is_followed_by_its_entries() -> None:
    june = [change(f"Add part {at} of it", number=at) for at in range(1, 13)]
    about = quotes(*map(entry, june), themes=[theme("Client", june, total=39, first=True)])
    text = profile_text(facts(("2025-06", june)), about, "named")
    assert [one.role for one in text.sentences] == ["counts", "counts", "theme", *["entry"] * 6, "rest"]
    assert text.sentences[2].text == "Client: 12 of its 39 changes, the first among them."
    assert text.sentences[3].text == "Feature: “Add part 1 of it” (#1, June 2025)."


def test_at_most_three_themes_share_six_entries() -> None:
    june = [change(f"Add part {at} of it", number=at) for at in range(1, 13)]
    parts = [theme(name, june[at : at + 3]) for at, name in enumerate(("One", "Two", "Three", "Four"))]
    roles = [
        one.role
        for one in profile_text(facts(("2025-06", june)), quotes(*map(entry, june), themes=parts), "named").sentences
    ]
    assert roles.count("theme") == 3
    assert roles.count("entry") <= 6


def test_without_themes_three_entries_stand_by_date() -> None:
    late = [change("Add the late part", number=2, month="2025-07")]
    early = [change("Add the early part", number=1)]
    entries = [
        one
        for one in said(facts(("2025-06", early), ("2025-07", late)), quotes(entry(late[0]), entry(early[0])))
        if "“" in one
    ]
    assert ["early" in one for one in entries] == [True, False]


def test_work_that_is_all_documentation_says_so() -> None:
    june = [change("Explain the client", "docs"), change("Explain the server", "docs", number=2)]
    assert said(facts(("2025-06", june)))[1] == "All of it is documentation."


def test_an_empty_record_has_no_text_and_a_built_profile_has_roles() -> None:
    assert profile([]).narrative.sentences == ()
    built = profile([change("Add a retry to the client")])
    assert built.narrative.sentences[0].role == "counts"
    assert all(one.evidence for one in built.narrative.sentences)


def test_a_reverted_only_record_still_leads_with_what_landed() -> None:
    gone = change("Cache the tide table", number=52, state="reverted", reverted_by="acme/engine#55")
    assert profile([gone]).narrative.text.startswith("Mira Kessler landed one commit in acme/engine")
