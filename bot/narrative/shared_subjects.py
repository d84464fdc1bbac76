"""Which subjects do several changes share, as their own titles name them?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from bot.model.change import Change
from bot.narrative.change_words import is_identifier
from bot.narrative.guards import is_unfit
from bot.narrative.languages import is_fragment
from bot.narrative.tenses import base_of
from bot.narrative.timeline import Evidence
from bot.narrative.titles import read_title
from bot.narrative.words import word_set

_TOKEN = re.compile(r"(?<!\w)(?<!\w\.)(?<!\d-)[^\W\d_](?:[\w.+#-]*[\w+#])?")
LEAST_CHANGES = 2
LEAST_SHARE = 50
"""a theme is in at least one of this many changes"""


class SharedSubject(Struct, frozen=True):
    """A word or tag as most of the titles spell it, with the changes whose titles hold it."""

    name: str
    evidence: Evidence


def _tokens(change: Change) -> dict[str, tuple[str, int]]:
    """Lower-case subject -> (as written, weight); a tag or scope weighs more than a word of the sentence."""
    title = read_title(change.title)
    tokens = _TOKEN.findall(title.body)
    if tokens and title.body.startswith(tokens[0]) and not is_identifier(tokens[0]):
        del tokens[0]  # what a title begins with says what was done, whatever its language
    found = {token.lower(): (token, 1) for token in tokens if _is_subject(token)}
    return found | {scope.lower(): (scope, 3) for scope in title.scopes if _names(scope)}


@lru_cache(maxsize=4096)
def _is_subject(token: str) -> bool:
    """Neither short nor plain nor a verb: the same words come again in every title."""
    return (
        len(token) > 2
        and not is_fragment(token)
        and token.lower() not in word_set("plain_words")
        and base_of(token) is None
    )


def _names(scope: str) -> bool:
    return len(scope) <= 30 and scope.lower() not in word_set("plain_words")


def shared_subjects(changes: Sequence[Change], repositories: Iterable[str], most: int = 3) -> tuple[SharedSubject, ...]:
    """The subjects that most changes name, at most `most`; a repository's own name is none, nor a part of another."""
    barred = {part for name in repositories for part in name.lower().split("/")}
    weights: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    where: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        for key, (written, weight) in _tokens(change).items():
            if key not in barred and not is_unfit(written):
                weights[key] += weight
                forms[key][written] += 1
                where[key].append(change)
    least = max(LEAST_CHANGES, len(changes) // LEAST_SHARE)
    chosen: list[str] = []
    for key in sorted(weights, key=lambda key: (-weights[key], key)):
        fresh = len(where[key]) >= least and not any(_overlap(key, other) for other in chosen)
        if fresh and not _signs(key, where[key]):
            chosen.append(key)
    return tuple(
        SharedSubject(_common_form(forms[key]), tuple(change.id for change in where[key])) for key in chosen[:most]
    )


def _signs(key: str, changes: Iterable[Change]) -> bool:
    """It is part of a name of somebody who made one of the changes, which some titles hold."""
    facts = (commit.fact for change in changes for commit in change.commits)
    names = {sig.name.lower() for fact in facts for sig in (fact.author, *fact.co_authors)}
    return any(key in name.split() for name in names)


def _overlap(one: str, other: str) -> bool:
    return one.rstrip("s") in other or other.rstrip("s") in one


def _common_form(found: Counter[str]) -> str:
    """As written in lower case where any title does, else as most titles write it."""
    return min(found, key=lambda written: (not written.islower(), -found[written], written))
