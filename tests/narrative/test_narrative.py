"""Do the template texts say what happened once, neutrally and with evidence for every sentence?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from msgspec.structs import replace

from bot.landing.identity.credit import People, person_key
from bot.model.change import Change, CountedCommit, Judgement
from bot.model.commit import Signature
from bot.model.ids import ChangeId, Month
from bot.model.profile import Profile
from bot.narrative.digest_text import contributor_texts, organisation_month_text, repository_month_text
from bot.narrative.facts import month_facts
from bot.narrative.gathering import digest_facts
from bot.narrative.grounding import check_text
from bot.narrative.narrative import month_text, profile_text
from bot.narrative.opening import opener
from bot.narrative.profile import ProfileScope, build
from bot.narrative.shared_subjects import shared_subjects
from tests.narrative.worlds import MIRA, UTC_ZONE, change, facts, line_of, record, whole_record_facts


def _stack() -> list[Change]:
    names = ["ge.out", "le.out", "ne.out", "gt.out", "mul.out"]
    return [change(f"[Backend] Add dispatch keys for {name}", number=at) for at, name in enumerate(names, 1)]


def test_a_stack_of_changes_is_one_clause_with_their_number() -> None:
    text = month_text(facts(_stack(), groups=[range(5)]))
    assert text.text == (
        "June 2025, acme/engine: added dispatch keys for ge.out, le.out, ne.out and others in Backend (five changes)."
    )
    assert len(text.sentences[0].evidence) == 5


def test_related_changes_are_counted_with_the_change_they_belong_to() -> None:
    found = facts(
        [
            change("Add a modal", lines=90),
            change("Rename x", "refactor", number=2),
            change("Use y", "refactor", number=3),
        ],
        groups=[range(3)],
    )
    assert month_text(found).text == "June 2025, acme/engine: added a modal (with two related changes)."
    assert not check_text(month_text(found), found)


def test_features_fixes_and_the_rest_have_a_sentence_each() -> None:
    found = facts([
        change("Add a flag", number=1),
        change("Fix a crash in the parser", "bug_fix", number=2),
        change("Rename the module", "refactor", number=3),
    ])  # fmt: skip
    first, second, third = (sentence.text for sentence in month_text(found).sentences)
    assert first == "June 2025, acme/engine: added a flag."
    assert second == "One bug fix dealt with a crash in the parser."
    assert third == "One other piece of work renamed the module."
    assert not check_text(month_text(found), found)


def test_an_uncertain_kind_is_worded_as_uncertain() -> None:
    doubtful = [change("Handle empty input", "bug_fix", certain=False), change("Add x", number=2, certain=False)]
    first, second = (sentence.text for sentence in month_text(facts(doubtful)).sentences)
    assert first == "June 2025, acme/engine: added x."
    assert second == "One change that may be a bug fix handled empty input."


def test_numbers_in_the_text_equal_the_profiles_and_state_uncertainty() -> None:
    sure = [change(f"Add the {part} part", number=at) for at, part in enumerate(("left", "right", "upper", "lower"), 1)]
    text = month_text(facts([*sure, change("Grow a tail", number=9, certain=False)])).text
    assert "four features and one change that may be a feature" in text


def test_other_work_is_counted_in_pieces_as_the_profile_counts_it() -> None:
    rest = [change(f"Rename module {at}", "refactor", number=at) for at in range(1, 5)]
    text = month_text(facts([change("Add a flag", number=9), *rest])).text
    assert "our other pieces of work landed" in text


def test_a_revert_is_reported_with_its_month() -> None:
    revert = change('Revert "Add a flag"', "revert", number=2, month="2025-07")
    gone = change("Add a flag", state="reverted", reverted_by=revert.id)
    text = month_text(facts([gone], others=[revert]))
    assert text.text == "June 2025, acme/engine: “Add a flag” landed and was reverted in July 2025."


def test_the_month_of_the_revert_says_so_too() -> None:
    revert = change('Revert "Add a flag"', "revert", number=2, month="2025-07")
    gone = change("Add a flag", state="reverted", reverted_by=revert.id)
    later = change("Rename it", "refactor", number=3, month="2025-07")
    line = line_of({"2025-06": [gone], "2025-07": [later]}, [revert])
    text = month_text(month_facts(record("2025-07", [later]), line))
    assert "“Add a flag”, landed in an earlier month, was reverted." in text.text


def test_a_persons_own_revert_is_reported_once() -> None:
    revert = change('Revert "Add a flag"', "revert", number=2)
    gone = change("Add a flag", state="reverted", reverted_by=revert.id)
    text = month_text(facts([gone, revert]))
    assert text.text.count("revert") == 1


def test_a_re_land_is_reported() -> None:
    text = month_text(facts([change("Add a flag", state="relanded")]))
    assert "“Add a flag” landed again after a revert." in text.text


def test_a_later_re_land_by_another_person_is_reported_once() -> None:
    back = change("Add a flag", state="relanded")
    later = replace(change("Add a flag", number=2, month="2025-07").commits[0].fact, author=Signature("Ann", "a@x.org"))
    back = replace(back, commits=(*back.commits, CountedCommit(later, True, later.lines)), landed_at=later.landed_at)
    text = _profile([back]).months[0].summary.text
    assert "“Add a flag” landed, was reverted, and landed again in July 2025." in text
    assert "after a revert" not in text


def test_a_month_whose_commit_belongs_to_work_of_another_month_says_so() -> None:
    first, last = change("Add a flag"), change("Add a flag", number=2, month="2025-07")
    both = replace(last, commits=(*first.commits, *last.commits))
    text = _profile([both]).months[1].summary
    assert text.text == "June 2025, acme/engine: one commit landed for work counted in another month."
    assert text.sentences[0].evidence == (both.id,)


def test_a_number_at_the_end_of_a_title_counts_nothing() -> None:
    titles = ("Pin the lamps", "Raise the mast", "Move to node 12", "Turn the wheel")
    found = facts([change(title, "chore", number=at) for at, title in enumerate(titles)])
    assert not check_text(month_text(found, used=["pin the lamps"]), found)


def test_pronoun_names_and_skills_with_a_leading_dot_are_accepted() -> None:
    for person in ("Elena He", "“mira”"):
        found = whole_record_facts({"2025-06": [change("Add a flag")]}, person=person)
        found = replace(found, skills={".NET": (ChangeId("acme/engine#1"),)})
        assert not check_text(profile_text(found), found)


def test_themes_are_not_opening_words_of_titles_or_names_of_authors() -> None:
    titles = ("Traducido lamp (Mira Kessler)", "Traducido mast lamp (Mira Kessler)", "Traducido lamp")
    (theme,) = shared_subjects([change(title, number=at) for at, title in enumerate(titles)], ["acme/engine"])
    assert theme.name == "lamp"


def test_every_sentence_cites_changes_and_none_is_refused() -> None:
    months = {
        "2025-05": [
            change("Add a flag", month="2025-05"),
            change("docs: explain the flag", "docs", number=2, month="2025-05"),
        ],
        "2025-06": [change("Fix parser for `HTTPServer`", "bug_fix", number=3), change("v1.2.3", "chore", number=4)],
    }
    found = whole_record_facts(months)
    for naming in ("named", "anonymous"):
        text = profile_text(found, naming)
        assert all(sentence.evidence for sentence in text.sentences)
        assert not check_text(text, found, naming=naming)
    for month in found.months:
        assert not check_text(month_text(month), month)


def test_named_and_anonymous_records_differ_only_in_the_name() -> None:
    found = whole_record_facts({"2025-06": [change("Add a flag"), change("Fix a crash", "bug_fix", number=2)]})
    named, anonymous = profile_text(found, "named"), profile_text(found, "anonymous")
    assert named.text.replace("Mira Kessler landed", "Landed") == anonymous.text
    assert "Mira" not in anonymous.text


def test_a_month_without_anything_has_no_text() -> None:
    assert month_text(facts([])).sentences == ()


def test_no_two_texts_of_a_digest_open_alike() -> None:
    months = [facts([change("Add a flag", number=at)]) for at in range(1, 6)]
    digest = digest_facts(Month("2025-06"), "acme/engine", months)
    openers = [opener(text.sentences[0].text) for text in contributor_texts(digest)]
    assert len(set(openers)) == len(openers)


def test_a_repository_month_counts_items_and_people() -> None:
    found = facts([change("Add a flag"), change("Fix a crash", "bug_fix", number=2)])
    digest = digest_facts(Month("2025-06"), "acme/engine", [found])
    text = repository_month_text(digest)
    assert text.sentences[0].text == "June 2025, acme/engine: one feature and one bug fix by one contributor landed."
    assert not check_text(text, digest)


def test_an_organisation_month_counts_repositories() -> None:
    found = facts([change("Add a flag"), change("Add x", number=2, repository="acme/web")])
    digest = digest_facts(Month("2025-06"), "acme", [found], organisation=True)
    text = organisation_month_text(digest)
    assert text.sentences[0].text == "June 2025, acme: two features by one contributor landed in two repositories."
    assert not check_text(text, digest)


def _profile(changes: Sequence[Change], naming: Literal["named", "anonymous"] = "named") -> Profile:
    people = People.of([MIRA])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    keys = frozenset({person_key(MIRA)})
    return build(changes, ProfileScope(person=people.person(MIRA), keys=keys, zone=UTC_ZONE, now=now, naming=naming))


def _credited(found: Change) -> Change:
    """The same by somebody else, with Mira as co-author, who accepted the credit."""
    counted = found.commits[0]
    fact = replace(counted.fact, author=Signature("Odo Vance", "odo@example.org"), co_authors=(MIRA,))
    accepted = Judgement(person_key(MIRA), "attributed", "accepted by the person")
    return replace(found, commits=(replace(counted, fact=fact, judgements=(accepted,)),))


def test_a_co_author_is_described_as_credited_with_evidence() -> None:
    changes = [_credited(change("Add a flag")), _credited(change("Add x", number=2, month="2025-08"))]
    (sentence,) = _profile(changes).narrative.sentences
    assert sentence.text == (
        "Two commits with a co-author credit for Mira Kessler landed in acme/engine between June and August 2025."
    )
    assert sentence.evidence == ("acme/engine#1", "acme/engine#2")
    (anonymous,) = _profile(changes, "anonymous").narrative.sentences
    assert anonymous.text == sentence.text.replace(" for Mira Kessler", "")


def test_own_commits_are_dated_by_their_own_months() -> None:
    changes = [change("Add a flag"), _credited(change("Add x", number=2, month="2025-08"))]
    text = _profile(changes).narrative.sentences[0].text
    assert text.startswith("Mira Kessler landed one commit in acme/engine in June 2025")


def test_a_fully_reverted_record_says_so_where_it_counts() -> None:
    revert = change('Revert "Add a flag"', "revert", number=2)
    gone = change("Add a flag", state="reverted", reverted_by=revert.id)
    found = whole_record_facts({"2025-06": [gone, revert]})
    (sentence, *_) = profile_text(found).sentences
    assert sentence.text.endswith("in June 2025; one change landed and stayed reverted.")
    assert not check_text(profile_text(found), found)


def test_fully_reverted_work_still_cites_its_changes() -> None:
    for found in (change("Add a flag", state="reverted", reverted_by="acme/engine#9"), change("Take x back", "revert")):
        assert _profile([found]).narrative.sentences[0].evidence == ("acme/engine#1",)


def test_other_work_in_one_area_names_it_once() -> None:
    notes = [change(f"Note {at}", "docs", number=at) for at in range(2, 7)]
    found = facts([change("Add a flag"), *notes])
    text = month_text(found)
    assert text.sentences[1].text == "Five other pieces of work went to the documentation."
    assert not check_text(text, found)
    found = facts([change("Add a flag"), *notes[:4], change("Rename the module", "refactor", number=9)])
    text = month_text(found)
    assert text.sentences[1].text.endswith(
        "four went to the documentation; the rest includes work that renamed the module."
    )
    assert not check_text(text, found)
