"""Is credit graded by what GitHub said, and never by what a text says?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.landing.identity.credit import change_credits, credits_of, people_of, person_key
from bot.landing.identity.evidence import merged_evidence, shares_of, with_shares
from bot.landing.identity.own_lines import own_commit, own_lines
from bot.model.change import Change, CountedCommit, Judgement
from bot.model.commit import Share, Signature
from bot.model.fact import Evidence, Fact, Lines
from bot.model.ids import ChangeId, CommitId, PersonKey, UserId

ADA = Signature("Ada Vance", "ada@example.org", UserId(7), "ada")
ODO = Signature("Odo Kessler", "odo@example.org", UserId(8), "odo")
UNKNOWN = Signature("Mira Holt", "mira@example.org")
WEB = Signature("GitHub", "noreply@github.com")


def _fact(author: Signature = ADA, evidence: Evidence | None = None, *helpers: Signature, **more: object) -> Fact:
    plain = Fact("acme/engine", CommitId("a" * 40), 100, 90, author, author, "Add a flag", "commit", CommitId("a" * 40))
    return replace(plain, evidence=evidence, co_authors=helpers, lines=Lines(authored=1600, tests=3), **more)


def _commit(fact: Fact, *judgements: Judgement) -> CountedCommit:
    return CountedCommit(fact, True, fact.lines, judgements)


def _change(*facts: Fact) -> Change:
    commits = tuple(_commit(fact) for fact in facts)
    return Change(ChangeId("acme/engine#1"), "acme/engine", "Add a flag", "feature", "", True, "landed", 100, commits)


OUTSIDERS = Evidence(pull_request=True, opener=UserId(9))
MEMBERS = Evidence(pull_request=True, opener=UserId(9), opener_writes=True)


@pytest.mark.parametrize(
    ("fact", "grade"),
    [
        (_fact(), "attributed"),  # a clone
        (_fact(ADA, Evidence(pull_request=True, opener=UserId(7))), "proved"),
        (_fact(ADA, Evidence(pusher=UserId(7))), "proved"),
        (_fact(ADA, Evidence(pusher=UserId(9))), "attributed"),
        (_fact(ADA, Evidence(pull_request=True, opener=UserId(9), signer=UserId(7))), "proved"),
        (_fact(ADA, Evidence(pull_request=True, opener=UserId(9), signer=UserId(8))), "claimed"),
        (_fact(ADA, OUTSIDERS), "claimed"),
        (_fact(ADA, MEMBERS), "attributed"),
        # Whoever merges also pushes: it proves nothing of commits in somebody else's pull request.
        (_fact(ADA, replace(OUTSIDERS, pusher=UserId(7))), "claimed"),
        (_fact(UNKNOWN, MEMBERS), "claimed"),
        (_fact(UNKNOWN, Evidence(pusher=UserId(9))), "claimed"),
        # GitHub committed it: until its pull request is known, nobody can say who opened it.
        (_fact(ADA, Evidence(pusher=UserId(9)), committer=WEB), "claimed"),
        (_fact(ADA, Evidence(pulls_known=True), committer=WEB), "attributed"),
        (_fact(ADA, Evidence(pusher=UserId(9)), pull_request=12), "claimed"),
    ],
)
def test_the_author_s_grade_follows_from_what_github_said(fact: Fact, grade: str) -> None:
    (credit,) = credits_of(_commit(fact))
    assert (credit.person, credit.grade) == (person_key(fact.author), grade)


VICTIM = Signature("Someone Else", "8+x@users.noreply.github.com")


@pytest.mark.parametrize("evidence", [None, OUTSIDERS, MEMBERS, Evidence(pusher=UserId(7)), Evidence(signer=UserId(7))])
def test_a_trailer_only_claims(evidence: Evidence | None) -> None:
    found = {credit.person: credit.grade for credit in credits_of(_commit(_fact(ADA, evidence, VICTIM)))}
    assert found[PersonKey("u:8")] == "claimed"


TWO = (Share(ADA, 3, 1601, "Add a flag"), Share(ODO, 1, 2, "Fix a typo"))


@pytest.mark.parametrize(
    ("evidence", "grade"),
    [
        (replace(OUTSIDERS, shares=TWO), "claimed"),
        (replace(MEMBERS, shares=TWO), "attributed"),
        (replace(OUTSIDERS, shares=TWO, collaborators=(UserId(8),)), "attributed"),
        (replace(OUTSIDERS, shares=TWO, opener=UserId(8)), "attributed"),
    ],
)
def test_a_part_of_a_squash_is_graded_by_who_opened_it_and_holds_its_own_lines(evidence: Evidence, grade: str) -> None:
    fact = _fact(ADA, evidence, *with_shares([VICTIM], ADA, TWO))
    found = {credit.person: credit for credit in credits_of(_commit(fact))}
    assert (found[PersonKey("u:8")].grade, found[PersonKey("u:8")].lines.total, found[PersonKey("u:8")].commits) == (
        grade,
        2,
        1,
    )
    assert found[PersonKey("u:8")].title == "Fix a typo"
    assert found[PersonKey("u:7")].lines.total == 1601


def test_own_lines_sum_to_the_commit_s_whatever_the_shares() -> None:
    lines = Lines(authored=7, tests=5, docs=1, moved=11)
    for weights in ((1, 1, 1), (0, 0, 0), (100, 1, 3), (0, 9, 2)):
        parts = own_lines(lines, [Share(ADA, 1, weight) for weight in weights])
        assert sum(part.total for part in parts) == lines.total
    (credit, _) = credits_of(_commit(_fact(ADA, replace(MEMBERS, shares=TWO), ODO)))
    assert own_commit(_commit(_fact(languages={"Python": 1600})), credit).fact.languages == {"Python": 1598}


def test_a_person_s_decision_raises_or_removes_a_claim_and_never_what_is_proved() -> None:
    fact = _fact(ADA, Evidence(pusher=UserId(7)), ODO)
    accepted = Judgement(person_key(ODO), "attributed", "accepted by the person")
    rejected = (Judgement(person_key(ODO), None, ""), Judgement(person_key(ADA), None, ""))
    assert [one.grade for one in credits_of(_commit(fact, accepted))] == ["proved", "attributed"]
    assert [one.person for one in credits_of(_commit(fact, *rejected))] == ["u:7"]


def test_a_person_s_proved_change_raises_its_backport_but_no_copy_by_an_outsider() -> None:
    proved = _fact(ADA, Evidence(pusher=UserId(7)))
    by_machine = Evidence(pull_request=True, opener=UserId(99), opener_is_machine=True)
    for evidence, grade in ((by_machine, "attributed"), (OUTSIDERS, "claimed")):
        copy = _fact(ADA, evidence, commit=CommitId("b" * 40))
        grades = [parts[0].grade for _, parts in change_credits(_change(proved, copy))]
        assert grades == ["proved", grade]


def test_in_clones_a_trailer_credits_who_authored_anything_else_there() -> None:
    change = _change(_fact(ADA, None, UNKNOWN))
    assert {one.person: one.grade for one in people_of(change)}[person_key(UNKNOWN)] == "claimed"
    raised = people_of(change, {person_key(UNKNOWN)})
    assert {one.person: one.grade for one in raised}[person_key(UNKNOWN)] == "attributed"


def test_evidence_is_only_added_in_either_order() -> None:
    one, other = Evidence(pusher=UserId(7), pulls_known=True), replace(OUTSIDERS, shares=TWO)
    assert merged_evidence(one, other) == merged_evidence(other, one)
    assert merged_evidence(None, one) == one


def test_shares_join_the_commits_of_one_author() -> None:
    again = Share(replace(ODO, email="other@example.org"), 1, 5, "Fix more")
    assert shares_of([*TWO, again])[1] == replace(again, commits=2, lines=7)
