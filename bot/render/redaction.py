"""How are people whom nobody may name masked in the texts that other people's work brings with it?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from bot.landing.identity.addresses import person_key
from bot.model.change import Change
from bot.model.commit import Signature
from bot.model.fact import Fact
from bot.model.ids import PersonKey
from bot.render.anonymity import Mask, mask_of


def redact_names(changes: Sequence[Change], hidden: Collection[PersonKey]) -> tuple[Change, ...]:
    """The changes; in all their texts, every word that identifies one of these people is masked."""
    redacted = tuple(changes)
    for mask in _masks(changes, hidden):
        redacted = tuple(_redacted_change(change, mask) for change in redacted)
    return redacted


def redact_texts(facts: Iterable[Fact], changes: Sequence[Change], hidden: Collection[PersonKey]) -> list[Fact]:
    """The same for facts that tell of these changes."""
    redacted = list(facts)
    for mask in _masks(changes, hidden):
        redacted = [_redacted_fact(fact, mask) for fact in redacted]
    return redacted


def _masks(changes: Sequence[Change], hidden: Collection[PersonKey]) -> list[Mask]:
    """A mask for each of the hidden people who signed something here."""
    signed: dict[PersonKey, set[Signature]] = {}
    for fact in (commit.fact for change in changes for commit in change.commits) if hidden else ():
        for sig in (fact.author, fact.committer, *fact.co_authors):
            if (key := person_key(sig)) in hidden:
                signed.setdefault(key, set()).add(sig)
    return [mask_of(signed[key]) for key in sorted(signed)]


def _redacted_change(change: Change, mask: Mask) -> Change:
    commits = tuple(replace(one, fact=_redacted_fact(one.fact, mask)) for one in change.commits)
    return replace(change, title=mask(change.title), commits=commits)


def _redacted_fact(fact: Fact, mask: Mask) -> Fact:
    """The fact; what may be quoted from it is masked."""
    return replace(
        fact,
        title=mask(fact.title),
        subject=mask(fact.subject),
        merge_subject=mask(fact.merge_subject),
        changelog=tuple(line._replace(text=mask(line.text)) for line in fact.changelog),
    )
