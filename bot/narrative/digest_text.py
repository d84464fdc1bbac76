"""How are a repository's and an organisation's month told, and the months of their contributors below it?"""

from __future__ import annotations

from typing import Literal

from bot.model.ids import ChangeId
from bot.model.profile import Sentence, Text
from bot.narrative.facts import changes_in
from bot.narrative.gathering import DigestFacts
from bot.narrative.item_clauses import choose_clauses, evidence_of, parts_of, tally
from bot.narrative.joining import join_clauses
from bot.narrative.narrative import MOST_SENTENCES, month_text
from bot.narrative.opening import opener
from bot.narrative.revert_sentences import revert_sentences
from bot.narrative.shared_subjects import shared_subjects
from bot.narrative.words import fill_phrase, join_list, month_name, quantity

Naming = Literal["named", "anonymous"]
_NAMED_PEOPLE = 5


def repository_month_text(facts: DigestFacts, naming: Naming = "named") -> Text:
    """One to five sentences on a repository's month; empty where nothing landed."""
    return _month(facts, naming, "opening")


def organisation_month_text(facts: DigestFacts, naming: Naming = "named") -> Text:
    """The same over the repositories of an organisation."""
    return _month(facts, naming, "opening_organisation")


def contributor_texts(facts: DigestFacts, naming: Naming = "named") -> tuple[Text, ...]:
    """One text for each of `facts.contributors`, in their order, no two of which begin alike where it can be helped."""
    used: set[str] = set()
    texts = []
    for month in facts.contributors:
        text = month_text(month, naming, used=used)
        if text.sentences:
            used.add(opener(text.sentences[0].text))
        texts.append(text)
    return tuple(texts)


def _month(facts: DigestFacts, naming: Naming, opening: str) -> Text:
    if not facts.changes:
        return Text(())
    turns = revert_sentences(facts.turns, 2)
    first = _opening(facts, opening)
    rest = [*_subjects(facts), *_weightiest(facts), *_newcomers(facts, naming)]
    return Text((first, *rest[: MOST_SENTENCES - 1 - len(turns)], *turns))


def _opening(facts: DigestFacts, key: str) -> Sentence:
    features, fixes, others = (facts.of_kind(kind) for kind in ("feature", "bug_fix", "other"))
    work = [tally(items, noun) for items, noun in ((features, "feature"), (fixes, "fix")) if items]
    if others:
        work.append(quantity(len(others), "other" if work else "piece"))
    values = {"month": month_name(facts.month), "name": facts.name}
    if not work:
        return Sentence(fill_phrase("digest", "nothing", **values) + ".", _cited(facts))
    text = fill_phrase(
        "digest",
        key,
        work=join_list(work),
        contributors=quantity(sum(bool(month.items) for month in facts.contributors), "contributor"),
        repositories=quantity(len(facts.repositories), "repository"),
        **values,
    )
    return Sentence(text + ".", evidence_of(facts.items))


def _cited(facts: DigestFacts) -> tuple[ChangeId, ...]:
    return tuple(dict.fromkeys(name for turn in facts.turns for name in turn.evidence)) or tuple(facts.changes)


def _subjects(facts: DigestFacts) -> list[Sentence]:
    changes = [change for item in facts.items for change in item.changes]
    found = shared_subjects(changes, facts.repositories) if len(changes) > 3 else ()
    if not found:
        return []
    ids = dict.fromkeys(name for theme in found for name in theme.evidence)
    return [Sentence(fill_phrase("digest", "themes", themes=join_list([theme.name for theme in found])), tuple(ids))]


def _weightiest(facts: DigestFacts) -> list[Sentence]:
    """What the weightiest features are, else the bug fixes, else the other changes."""
    for kind, key in (("feature", "features"), ("bug_fix", "fixes"), ("other", "others")):
        items = facts.of_kind(kind)
        telling = choose_clauses(items)
        if not telling.clauses:
            continue
        if changes_in(facts.items) > 1:
            text = fill_phrase("digest", key, parts=parts_of(telling))
        elif telling.clauses[0].base:
            text = fill_phrase("digest", "one", clauses=join_clauses(telling.clauses))
        else:
            text = fill_phrase("digest", "one_named", parts=parts_of(telling))
        return [Sentence(text, evidence_of(items))]
    return []


def _newcomers(facts: DigestFacts, naming: Naming) -> list[Sentence]:
    found = facts.newcomers
    if not found:
        return []
    ids = tuple(dict.fromkeys(name for ids in found.values() for name in ids))
    if naming == "named" and len(found) <= _NAMED_PEOPLE:
        return [Sentence(fill_phrase("digest", "first_named", names=join_list(sorted(found))), ids)]
    return [Sentence(fill_phrase("digest", "first_counted", contributors=quantity(len(found), "contributor")), ids)]
