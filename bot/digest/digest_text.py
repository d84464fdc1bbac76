"""How are a repository's and an organisation's month told, and the months of their contributors below it?"""

from __future__ import annotations

from typing import Literal

from bot.digest.facts import changes_in
from bot.digest.gathering import DigestFacts
from bot.digest.joining import joined
from bot.digest.narrative import MOST_SENTENCES, month_text
from bot.digest.opening import opener
from bot.digest.telling import evidence_of, parts_of, tally, tell
from bot.digest.themes import themes
from bot.digest.turns import turn_sentences
from bot.digest.words import counted, listed, month_name, say
from bot.model import ChangeId, Sentence, Text

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
    taken: set[str] = set()
    texts = []
    for month in facts.contributors:
        text = month_text(month, naming, taken=taken)
        if text.sentences:
            taken.add(opener(text.sentences[0].text))
        texts.append(text)
    return tuple(texts)


def _month(facts: DigestFacts, naming: Naming, opening: str) -> Text:
    if not facts.changes:
        return Text(())
    turns = turn_sentences(facts.turns, 2)
    first = _opening(facts, opening)
    rest = [*_subjects(facts), *_weightiest(facts), *_newcomers(facts, naming)]
    return Text((first, *rest[: MOST_SENTENCES - 1 - len(turns)], *turns))


def _opening(facts: DigestFacts, key: str) -> Sentence:
    features, fixes, others = (facts.of_kind(kind) for kind in ("feature", "bug_fix", "other"))
    work = [tally(items, noun) for items, noun in ((features, "feature"), (fixes, "fix")) if items]
    if others:
        work.append(counted(len(others), "other" if work else "piece"))
    values = {"month": month_name(facts.month), "name": facts.name}
    if not work:
        return Sentence(say("digest", "nothing", **values) + ".", _cited(facts))
    text = say(
        "digest",
        key,
        work=listed(work),
        contributors=counted(sum(bool(month.items) for month in facts.contributors), "contributor"),
        repositories=counted(len(facts.repositories), "repository"),
        **values,
    )
    return Sentence(text + ".", evidence_of(facts.items))


def _cited(facts: DigestFacts) -> tuple[ChangeId, ...]:
    return tuple(dict.fromkeys(name for turn in facts.turns for name in turn.evidence)) or tuple(facts.changes)


def _subjects(facts: DigestFacts) -> list[Sentence]:
    changes = [change for item in facts.items for change in item.changes]
    found = themes(changes, facts.repositories) if len(changes) > 3 else ()
    if not found:
        return []
    ids = dict.fromkeys(name for theme in found for name in theme.evidence)
    return [Sentence(say("digest", "themes", themes=listed([theme.name for theme in found])), tuple(ids))]


def _weightiest(facts: DigestFacts) -> list[Sentence]:
    """What the weightiest features are, else the bug fixes, else the other changes."""
    for kind, key in (("feature", "features"), ("bug_fix", "fixes"), ("other", "others")):
        items = facts.of_kind(kind)
        telling = tell(items)
        if not telling.clauses:
            continue
        if changes_in(facts.items) > 1:
            text = say("digest", key, parts=parts_of(telling))
        elif telling.clauses[0].base:
            text = say("digest", "one", clauses=joined(telling.clauses))
        else:
            text = say("digest", "one_named", parts=parts_of(telling))
        return [Sentence(text, evidence_of(items))]
    return []


def _newcomers(facts: DigestFacts, naming: Naming) -> list[Sentence]:
    found = facts.newcomers
    if not found:
        return []
    ids = tuple(dict.fromkeys(name for ids in found.values() for name in ids))
    if naming == "named" and len(found) <= _NAMED_PEOPLE:
        return [Sentence(say("digest", "first_named", names=listed(sorted(found))), ids)]
    return [Sentence(say("digest", "first_counted", contributors=counted(len(found), "contributor")), ids)]
