"""Does a month say its counts, its entries, the rest and what was reverted, each once and with evidence?"""

from __future__ import annotations

from tests.narrative.worlds import change, entry, month_text_of, month_words, quotes, theme


def test_the_counts_name_the_components_and_the_kinds() -> None:
    changes = [change(f"Migrate operator {at}", "refactor", number=at) for at in range(1, 6)]
    changes.append(change("Fix a crash on close", "bug_fix", number=9))
    found = quotes(themes=[theme("the MTIA backend", changes[:5])])
    assert month_words(changes, found)[0] == "Six commits, five of them in the MTIA backend; one bug fix."


def test_one_commit_is_a_commit_and_all_commits_are_all() -> None:
    one = change("Add a retry to the client")
    assert month_words([one])[0] == "One commit; one feature."
    assert month_words([one], quotes(themes=[theme("Client", [one])]))[0] == "One commit, in Client; one feature."
    several = [change(f"Add part {at} of it", number=at) for at in (1, 2, 3)]
    assert "Three commits, all in Client" in month_words(several, quotes(themes=[theme("Client", several)]))[0]


def test_an_entry_quotes_the_work_and_says_its_number_company_and_release() -> None:
    one = change("Add a retry to the client", number=12)
    text = month_text_of([one], quotes(entry(one, people=("Ada Example",), release="3.12.0")))
    said = text.sentences[1]
    assert said.text == "Feature: “Add a retry to the client” (#12, with Ada Example, in 3.12.0)."
    assert (said.role, said.quoted, said.source, said.tag) == ("entry", "Add a retry to the client", "title", "Feature")
    assert said.evidence == (one.id,)


def test_an_entry_of_uncertain_kind_bears_no_tag() -> None:
    one = change("Glitchy resizes of the window", "bug_fix", number=12, certain=False)
    assert month_words([one], quotes(entry(one, tag=None)))[1] == "“Glitchy resizes of the window” (#12)."


def test_at_most_three_entries_stand_alone_and_the_rest_is_counted_by_kind() -> None:
    changes = [change(f"Add part {at} of it", number=at) for at in range(1, 6)]
    changes += [change(f"Explain part {at} of it", "docs", number=at) for at in (6, 7)]
    text = month_text_of(changes, quotes(*map(entry, changes)))
    assert [one.role for one in text.sentences] == ["counts", "entry", "entry", "entry", "rest"]
    assert text.sentences[-1].text == "4 more changes: 2 features, 2 documentation changes."
    assert text.sentences[-1].evidence == tuple(one.id for one in changes[3:])


def test_without_an_entry_the_counts_stand_alone() -> None:
    assert month_words([change("wip"), change("more", number=2)]) == ["Two commits; two features."]
    said = month_words([change("wip", "docs"), change("more", "docs", number=2)])
    assert said == ["Two commits.", "2 documentation changes."]


def test_a_run_of_one_doing_is_one_entry_with_its_objects() -> None:
    one, two = change("Migrate tanh", "refactor", number=1), change("Migrate sqrt", "refactor", number=2)
    run = entry(one, "[MTIA] Migrate …", tag="Refactoring", count=2, objects=("tanh", "sqrt"))
    found = quotes(run, entry(two, "[MTIA] Migrate …", tag="Refactoring", count=2, objects=("tanh", "sqrt")))
    assert month_words([one, two], found)[1:] == ["Refactoring: “[MTIA] Migrate …” (#1, 2 changes: tanh, sqrt)."]


def test_what_was_reverted_and_landed_again_is_said() -> None:
    gone = change("Cache the tide table", number=52, state="reverted", reverted_by="acme/engine#55")
    by = change('Revert "Cache the tide table"', "revert", number=55)
    back = change("Draw depth contours again", number=60, state="relanded")
    said = month_words([gone, by, back], quotes(entry(gone)))
    assert "“Cache the tide table” (#52) was reverted the same month." in said
    assert "#60 landed again after a revert." in said
    assert not any("revert landed" in one for one in said)


def test_a_revert_of_somebody_elses_work_is_named_by_its_number() -> None:
    assert month_words([change('Revert "Cache it"', "revert", number=55)])[1:] == ["One revert landed: #55."]


def test_every_sentence_has_evidence_and_the_text_is_the_sentences_joined() -> None:
    changes = [change(f"Add part {at} of it", number=at) for at in range(1, 6)]
    text = month_text_of(changes, quotes(*map(entry, changes)))
    assert all(one.evidence for one in text.sentences)
    assert text.text == " ".join(one.text for one in text.sentences)


def test_a_month_without_work_has_no_text() -> None:
    assert month_text_of([]).sentences == ()
