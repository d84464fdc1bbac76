"""How are facts told in sentences, each with the changes that prove it?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from bot.digest.facts import MonthFacts, ProfileFacts, Told
from bot.digest.kinds import fix_sentence, more_sentence, other_sentence
from bot.digest.opening import choose, opener
from bot.digest.portrait import portrait
from bot.digest.telling import Telling, evidence_of, parts_of, predicate, tally, tell
from bot.digest.turns import turn_sentences
from bot.digest.words import counted, listed, month_name, phrases, say, sentence_case
from bot.model import ChangeId, Month, Sentence, Text

Naming = Literal["named", "anonymous"]
MOST_SENTENCES = 5


def month_text(facts: MonthFacts, naming: Naming = "named", *, taken: Collection[str] = ()) -> Text:
    """One to five sentences on one contributor's month; both namings read alike, since no person is named.

    `taken` are the openers (`opener`) of the other texts of the same digest.
    """
    rest = [*_after_opening(facts)]
    turns = turn_sentences(facts.turns, MOST_SENTENCES - 1)
    first = _opening(facts, taken)
    if first is None:
        leads = rest or turns or _apart(facts) or _helped(facts)
        if not leads:
            return Text(())
        lead = leads.pop(0)
        first = Sentence(_prefix(facts) + lead.text[:1].lower() + lead.text[1:], lead.evidence)
    room = MOST_SENTENCES - 1 - len(turns)
    told = [first, *rest[:room], *turns]
    extra = [*_firsts(facts), *(_helped(facts) if facts.items else [])]
    return Text((*told, *extra[: MOST_SENTENCES - len(told)]))


def profile_text(facts: ProfileFacts, naming: Naming = "named") -> Text:
    """Four sentences on the whole record: where and on what, the features, the fixes, languages and technologies."""
    return portrait(facts, naming)


def _prefix(facts: MonthFacts) -> str:
    return say("month", "prefix", month=month_name(facts.month), repositories=listed(facts.repositories))


def _opening(facts: MonthFacts, taken: Collection[str]) -> Sentence | None:
    """The first sentence: the features; without features, what else stands; None where only fixes or turns are left."""
    if facts.features:
        return _lead(facts, facts.features, "features", taken)
    if facts.fixes or not facts.others:
        return None
    return _lead(facts, facts.others, "changes", taken)


def _lead(facts: MonthFacts, items: Sequence[Told], noun: str, taken: Collection[str]) -> Sentence:
    telling = tell(items)
    table = phrases()["month"]
    values = {noun: tally(items, "feature") if noun == "features" else counted(len(items), "piece")}
    if telling.clauses and telling.whole:
        texts = _filled(table["all"], telling, {})
    elif telling.clauses:
        fill = {**values, "parts": parts_of(telling)}
        templates = table[noun] if all(clause.base for clause in telling.clauses) else table[f"{noun}_named"]
        texts = _filled(_turned(templates, facts.month), telling, fill)
    else:
        texts = [template.format(**values) for template in table[f"{noun}_only"]]
    return Sentence(_prefix(facts) + choose(texts, taken), evidence_of(items))


def _filled(templates: Sequence[str], telling: Telling, values: Mapping[str, str]) -> list[str]:
    return [
        template.format(clauses=clauses, **values)
        for template in templates
        for clauses in predicate(telling, subject=not template.startswith("{clauses}"))
    ]


def _turned(templates: Sequence[str], month: Month) -> list[str]:
    """The variants, in an order that differs from month to month."""
    first = int(month[5:7]) % 2
    return [*templates[first:], *templates[:first]]


def _after_opening(facts: MonthFacts) -> Iterable[Sentence]:
    if facts.fixes:
        yield fix_sentence(facts.fixes, facts.month)
    if facts.others and (facts.features or facts.fixes):
        yield other_sentence(facts.others, facts.month)
    elif more := more_sentence(facts.others, facts.month):
        yield more


def _apart(facts: MonthFacts) -> list[Sentence]:
    """A month whose commits are part of what another month tells."""
    text = say("month", "apart", commits=counted(facts.commits, "commit"))
    return [_sentence(text, facts.apart)] if facts.apart else []


def _helped(facts: MonthFacts) -> list[Sentence]:
    """Commits of others that credit the contributor."""
    ids = facts.helped
    return [_sentence(say("firsts", "helped", commits=counted(facts.co_authored, "commit")), ids)] if ids else []


def _firsts(facts: MonthFacts) -> list[Sentence]:
    """Repositories, and languages and skills, that this month is the first to show; not in the first month of all."""
    found = []
    repositories = facts.new_repositories
    if facts.previous and repositories and len(facts.repositories) > len(repositories):
        ids = [name for ids in repositories.values() for name in ids]
        found.append(_sentence(say("firsts", "repository", repositories=listed(list(repositories))), ids))
    new = {**facts.new_languages, **facts.new_skills}
    if facts.previous and new:
        names = list(new)[:4]
        ids = [name for key in names for name in new[key]]
        found.append(_sentence(say("firsts", "skills", names=listed(names)), ids))
    return found


def _sentence(text: str, ids: Iterable[ChangeId]) -> Sentence:
    return Sentence(sentence_case(text), tuple(dict.fromkeys(ids)))


__all__ = ["Naming", "Telling", "month_text", "opener", "profile_text"]
