"""Is what an outsider's pull request says about other work true?

A pull request opened without write access may say that it is a backport, a re-land or a revert of anything. Whoever
merges it has read the lines, but perhaps not the text: the lines must show it, in the same files. Otherwise, its
commits are work of their own. Whoever may write is believed, and so are clones, which show no access.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from bot.landing.identity.addresses import person_key
from bot.landing.identity.evidence import is_from_outside
from bot.landing.same_work.keys import MADE, UNDOES, WEAK, pull_key
from bot.model.fact import Fact

_SHOWN_BY_LINES = ("patch:", *WEAK)


def is_claim(fact: Fact, key: str) -> bool:
    """Whether a key of a fact is only what an outsider's commit says of itself.

    The author, time and subject of a commit (`copy:`) are its own if its author opened the pull request.
    """
    if not is_from_outside(fact) or key.startswith(_SHOWN_BY_LINES) or key == f"commit:{fact.commit}":
        return False
    if key.startswith("copy:") and opener_is_among(fact, [person_key(fact.author)]):
        return False
    return fact.pull_request is None or key != pull_key(fact.repository, fact.pull_request)


def false_claims(facts: Sequence[Fact], holders: Mapping[str, Sequence[int]]) -> set[tuple[int, str]]:
    """The (fact, key) of claims that no line shows, among the holders of each shared key.

    A claim is compared with those who have the key without a claim, or else with the first who claims it.
    """
    found: set[tuple[int, str]] = set()
    outside = {index for indexes in holders.values() for index in indexes if is_from_outside(facts[index])}
    for key, indexes in holders.items() if outside else ():
        claiming = [index for index in indexes if index in outside and is_claim(facts[index], key)]
        proved = [index for index in indexes if index not in claiming] or claiming[:1]
        found.update(
            (index, key)
            for index in claiming
            if index not in proved and not any(repeats(facts[index], facts[other]) for other in proved)
        )
    return found


def repeats(fact: Fact, original: Fact) -> bool:
    """Whether a commit has most lines of another one, and touches no other source files."""
    one, other = _made(fact), _made(original)
    same = 2 * len(one & other) > max(len(one), len(other)) or not _patches(fact).isdisjoint(_patches(original))
    return same and set(fact.paths) <= set(original.paths)


def reverts_lines_of(fact: Fact, target: Fact) -> bool:
    """Whether a commit reverts most lines of another one, in the same source files."""
    undone = {key.removeprefix(UNDOES) for key in fact.keys if key.startswith(UNDOES)}
    made = _made(target)
    return 2 * len(undone & made) > len(made) and set(target.paths) <= set(fact.paths)


def believed_targets(
    fact: Fact, targets: Sequence[int], facts: Sequence[Fact], shows: Callable[[Fact, Fact], bool]
) -> list[int]:
    """Those of its targets, by index, that a fact is believed to be about: all of them unless it is from outside."""
    if not is_from_outside(fact):
        return list(targets)
    return [target for target in targets if shows(fact, facts[target])]


def opener_is_among(fact: Fact, people: Collection[str]) -> bool:
    """Whether an outsider's pull request was opened by one of these people, whatever its commits say."""
    return fact.evidence is not None and f"u:{fact.evidence.opener}" in people


def _made(fact: Fact) -> set[str]:
    return {key for key in fact.keys if key.startswith(MADE)}


def _patches(fact: Fact) -> set[str]:
    return {key for key in fact.keys if key.startswith("patch:")}
