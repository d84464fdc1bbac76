"""Which landed work may a person's public page show? Only what GitHub proves, or a trusted installation attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from bot.landing.corrections import Classification, Decision
from bot.landing.identity.credit import HELPED_OUTSIDER, change_credits, grade_of_author, people_of, person_key
from bot.model.change import Change, CountedCommit, Judgement
from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, PersonKey

_HIDDEN = "not on a public page"


def facts_for_public(
    facts: Sequence[Fact],
    keys: Collection[PersonKey],
    homes: Mapping[str, InstallationId | None],
    corrections: Iterable[Classification | Decision],
) -> list[Fact]:
    """The facts that a public page may be folded from, in the same order; `homes` are repositories' installations.

    An installation's work counts once GitHub proves that the person did something there, or lists them as its
    collaborator. Of any other installation only what is proved is left, and what the person accepted.
    """
    accepted = [one for one in corrections if isinstance(one, Decision) and one.accepted and {*keys} & {*one.keys}]
    trusted = {homes.get(fact.repository) for fact in facts if _takes_part(fact, keys)}
    known = {fact.commit for fact in facts if homes.get(fact.repository) in trusted}
    return [
        fact
        for fact in facts
        if homes.get(fact.repository) in trusted
        or (fact.commit not in known and (person_key(fact.author) in keys and grade_of_author(fact)[0] == "proved"))
        or any(one.concerns(fact, fact.pull_request) for one in accepted)
    ]


def _takes_part(fact: Fact, keys: Collection[PersonKey]) -> bool:
    """Whether the person acted in the repository: opened the pull request, pushed, or belongs to it.

    A signature proves whose work it is, but anybody can push a copy of signed commits to a repository of their own.
    """
    evidence = fact.evidence
    if evidence is None:
        return False
    if any(f"u:{who}" in keys for who in evidence.collaborators):
        return True
    if evidence.opener is not None and evidence.opener_writes and f"u:{evidence.opener}" in keys:
        return True
    if person_key(fact.author) not in keys:
        return False
    return grade_of_author(replace(fact, evidence=replace(evidence, signer=None)))[0] == "proved"


def changes_for_public(changes: Sequence[Change], keys: Collection[PersonKey]) -> tuple[Change, ...]:
    """The changes without the person's part where it is only claimed, or rests on an outsider's pull request."""
    return tuple(_without_claims(change, keys) for change in changes)


def _without_claims(change: Change, keys: Collection[PersonKey]) -> Change:
    hidden = {
        (commit.fact.repository, commit.fact.commit, part.person)
        for commit, parts in change_credits(change)
        for part in parts
        if part.person in keys and (part.grade == "claimed" or part.why == HELPED_OUTSIDER)
    }
    if not hidden:
        return change
    return replace(change, commits=tuple(_judged(commit, hidden) for commit in change.commits))


def _judged(commit: CountedCommit, hidden: Collection[tuple[str, str, PersonKey]]) -> CountedCommit:
    fact = commit.fact
    more = tuple(
        Judgement(person, None, _HIDDEN)
        for repository, one, person in sorted(hidden)
        if (repository, one) == (fact.repository, fact.commit)
    )
    return replace(commit, judgements=(*commit.judgements, *more)) if more else commit


def commits_shown(changes: Sequence[Change], keys: Collection[PersonKey]) -> set[tuple[str, CommitId]]:
    """Every commit, by repository, of the changes that the person has a part in and of those that reverted them."""
    own = [change for change in changes if any(part.person in keys for part in people_of(change))]
    reverts = {name for change in own for name in (change.reverted_by, *change.partly_reverted_by) if name}
    theirs = [*own, *(change for change in changes if change.id in reverts)]
    return {(commit.fact.repository, commit.fact.commit) for change in theirs for commit in change.commits}
