"""Is a sentence accepted only if its cited changes and the facts support every word?"""

from __future__ import annotations

import pytest

from bot.model.profile import Sentence, Text
from bot.narrative.grounding import check, check_text, ground
from bot.narrative.narrative import month_text
from tests.narrative.worlds import change, facts, whole_record_facts

FACTS = facts([
    change("Add retry to HTTPClient", number=1),
    change("Remove legacy_cache from the loader", "refactor", number=2),
    change("Fix crash in parse_header", "bug_fix", number=3),
])  # fmt: skip
ONE, TWO, THREE = (f"acme/engine#{number}" for number in (1, 2, 3))


def _kinds(text: str, *ids: str) -> set[str]:
    return {refusal.kind for refusal in check(Sentence(text, tuple(ids)), FACTS)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("June 2025, acme/engine: added retry to HTTPClient.", [ONE]),
        ("One bug fix dealt with crash in parse_header.", [THREE]),
        ("Introduced retry to HTTPClient, and removed legacy_cache from the loader.", [ONE, TWO]),
        ("Retry landed in HTTPClient.", [ONE]),
    ],
)
def test_true_sentences_are_accepted(text: str, cited: list[str]) -> None:
    assert _kinds(text, *cited) == set()


@pytest.mark.parametrize(
    ("kind", "text", "cited"),
    [
        ("evidence", "Added retry to HTTPClient.", []),
        ("evidence", "Added retry to HTTPClient.", [ONE, "acme/engine#99"]),
        ("number", "Three bug fixes landed.", [THREE]),
        ("number", "Added retry to HTTPClient (two changes).", [ONE]),
        ("name", "Added retry to FTPClient.", [ONE]),
        ("name", "Added retry to legacy_cache.", [ONE, TWO]),
        ("word", "Added timeouts to HTTPClient.", [ONE]),
        ("recased", "Added retry to HttpClient.", [ONE]),
        ("month", "July 2025, acme/engine: added retry to HTTPClient.", [ONE]),
        ("month", "Added retry to HTTPClient in May.", [ONE]),
        ("repository", "June 2025, acme/other: added retry to HTTPClient.", [ONE]),
        ("repository", "Added retry to HTTPClient of octo/fork.", [ONE]),
        ("effect", "Added retry to HTTPClient, improving reliability.", [ONE]),
        ("effect", "Added retry to HTTPClient with higher throughput.", [ONE]),
        ("polarity", "Removed retry from HTTPClient.", [ONE]),
        ("polarity", "Added legacy_cache to the loader.", [TWO]),
        ("pronoun", "She added retry to HTTPClient.", [ONE]),
        ("pronoun", "In June, I added retry to HTTPClient.", [ONE]),
        ("praise", "Led work that added retry to HTTPClient.", [ONE]),
        ("praise", "An excellent fix landed for crash in parse_header.", [THREE]),
        ("mention", "Added retry to HTTPClient with @mira.", [ONE]),
        ("reference", "Added retry to HTTPClient, see #12.", [ONE]),
        ("link", "Added retry to HTTPClient: https://x.example.", [ONE]),
        ("quote", "“Add retries everywhere” landed.", [ONE]),
        ("revert", "“Add retry to HTTPClient” landed and was reverted.", [ONE]),
    ],
)
def test_a_planted_error_is_refused_with_its_kind(kind: str, text: str, cited: list[str]) -> None:
    assert kind in _kinds(text, *cited)


def test_an_abbreviation_is_expanded_only_where_a_cited_title_does() -> None:
    found = facts([change("Add MTIA support"), change("Add the Remote Copy Tool (RCT)", number=2)])
    wrong = Sentence("Added MTIA (Multi-Tensor Intermediate Accumulation) support.", (found.items[0].evidence[0],))
    refusals = check(Sentence(wrong.text, ("acme/engine#1",)), found)  # type: ignore[arg-type]
    assert any(refusal.kind == "expansion" and "Multi-Tensor" in refusal.word for refusal in refusals)
    right = Sentence("Added the Remote Copy Tool (RCT).", ("acme/engine#2",))  # type: ignore[arg-type]
    assert check(right, found) == ()


def test_an_effect_is_kept_if_a_cited_title_states_it() -> None:
    found = facts([change("Improve performance of the loader", "perf")])
    assert check(Sentence("Improved performance of the loader.", ("acme/engine#1",)), found) == ()  # type: ignore[arg-type]


def test_a_hidden_revert_is_caught_in_the_sentence_and_in_the_text() -> None:
    gone = change("Add retry", state="reverted", reverted_by="acme/engine#9")
    found = facts([gone, change("Add a flag", number=2)])
    told = Text((Sentence("Added retry.", (gone.id,)),))
    assert "revert" in {refusal.kind for refusal in check(told.sentences[0], found)}
    silent = Text((Sentence("Added a flag.", ("acme/engine#2",)),))  # type: ignore[arg-type]
    assert [refusal.kind for refusal in check_text(silent, found)] == ["revert"]
    assert not check_text(month_text(found), found)


def test_an_uncertain_fix_is_not_called_a_fix() -> None:
    found = facts([change("Handle empty input", "bug_fix", certain=False)])
    refusals = check(Sentence("One bug fix landed.", ("acme/engine#1",)), found)  # type: ignore[arg-type]
    assert "number" in {refusal.kind for refusal in refusals}


def test_an_anonymous_text_names_nobody() -> None:
    found = whole_record_facts({"2025-06": [change("Add retry")]})
    named = Sentence("Mira Kessler landed one commit in acme/engine in June 2025.", ("acme/engine#1",))  # type: ignore[arg-type]
    assert check(named, found) == ()
    assert [refusal.kind for refusal in check(named, found, naming="anonymous")] == ["name"]


def test_failing_sentences_are_replaced_by_the_template_with_its_reverts() -> None:
    gone = change("Add retry", state="reverted", reverted_by="acme/engine#9")
    found = facts([gone, change("Add a flag", number=2), change("Fix crash in x", "bug_fix", number=3)])
    template = month_text(found)
    written = Text(
        (
            Sentence("June 2025, acme/engine: added a flag.", ("acme/engine#2",)),  # type: ignore[arg-type]
            Sentence("The crash in x was fixed, which improves stability.", ("acme/engine#3",)),  # type: ignore[arg-type]
        ),
        "llm",
    )
    text, refusals = ground(written, template, found)
    assert {refusal.kind for refusal in refusals} == {"effect", "revert"}
    assert text.sentences[0] == written.sentences[0]
    assert not check_text(text, found)
    assert "reverted" in text.text


def test_a_text_without_accepted_sentences_falls_back_to_the_template() -> None:
    template = month_text(FACTS)
    text, _ = ground(Text((Sentence("Great work!", ()),), "llm"), template, FACTS)
    assert text == template


def test_work_that_may_be_a_fix_needs_a_cited_change_that_may_be_one() -> None:
    doubtful = facts([change("Handle empty input", "bug_fix", certain=False), change("Add a flag", number=2)])
    text = "One change that may be a bug fix handled empty input."
    assert check(Sentence(text, doubtful.items[0].evidence + doubtful.items[1].evidence), doubtful) == ()  # fmt: skip
    sure = facts([change("Handle empty input", "refactor")])
    assert {refusal.kind for refusal in check(Sentence(text, sure.items[0].evidence), sure)} >= {"kind"}


def test_praise_inside_a_longer_word_does_not_count() -> None:
    found = facts([change("Rename --maxdepth to --max-depth in the walker")])
    assert check(Sentence("Renamed --maxdepth to --max-depth in the walker.", found.items[0].evidence), found) == ()


def test_titles_about_depth_and_with_unlisted_verbs_are_accepted() -> None:
    found = facts([change("fabrics: override queue depth"), change("Reject names, canonicalize charts", number=2)])
    assert not check_text(month_text(found), found)
