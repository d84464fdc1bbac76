"""How are facts told in sentences, each with the changes that prove it?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from bot.model.ids import ChangeId, Month
from bot.model.profile import Sentence, Text
from bot.narrative.facts import ItemFacts, MonthFacts, ProfileFacts
from bot.narrative.item_clauses import ChosenClauses, choose_clauses, evidence_of, parts_of, predicate, tally
from bot.narrative.kinds import fix_sentence, more_sentence, other_sentence
from bot.narrative.opening import choose, opener
from bot.narrative.profile_summary import profile_summary
from bot.narrative.revert_sentences import revert_sentences
from bot.narrative.words import fill_phrase, join_list, month_name, phrases, quantity, sentence_case

Naming = Literal["named", "anonymous"]
MOST_SENTENCES = 5


def month_text(facts: MonthFacts, naming: Naming = "named", *, used: Collection[str] = ()) -> Text:
    """One to five sentences on one contributor's month; both namings read alike, since no person is named.

    `taken` are the openers (`opener`) of the other texts of the same digest.
    """
    rest = [*_after_opening(facts)]
    turns = revert_sentences(facts.turns, MOST_SENTENCES - 1)
    first = _opening(facts, used)
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
    return profile_summary(facts, naming)


def _prefix(facts: MonthFacts) -> str:
    return fill_phrase("month", "prefix", month=month_name(facts.month), repositories=join_list(facts.repositories))


def _opening(facts: MonthFacts, used: Collection[str]) -> Sentence | None:
    """The first sentence: the features; without features, what else stands; None where only fixes or turns are left."""
    if facts.features:
        return _lead(facts, facts.features, "features", used)
    if facts.fixes or not facts.others:
        return None
    return _lead(facts, facts.others, "changes", used)


def _lead(facts: MonthFacts, items: Sequence[ItemFacts], noun: str, used: Collection[str]) -> Sentence:
    telling = choose_clauses(items)
    table = phrases()["month"]
    values = {noun: tally(items, "feature") if noun == "features" else quantity(len(items), "piece")}
    if telling.clauses and telling.complete:
        texts = _filled(table["all"], telling, {})
    elif telling.clauses:
        fill = {**values, "parts": parts_of(telling)}
        templates = table[noun] if all(clause.base for clause in telling.clauses) else table[f"{noun}_named"]
        texts = _filled(_turned(templates, facts.month), telling, fill)
    else:
        texts = [template.format(**values) for template in table[f"{noun}_only"]]
    return Sentence(_prefix(facts) + choose(texts, used), evidence_of(items))


def _filled(templates: Sequence[str], telling: ChosenClauses, values: Mapping[str, str]) -> list[str]:
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
    text = fill_phrase("month", "apart", commits=quantity(facts.commits, "commit"))
    return [_sentence(text, facts.other_months)] if facts.other_months else []


def _helped(facts: MonthFacts) -> list[Sentence]:
    """Commits of others that credit the contributor."""
    ids = facts.helped
    return (
        [_sentence(fill_phrase("firsts", "helped", commits=quantity(facts.co_authored, "commit")), ids)] if ids else []
    )


def _firsts(facts: MonthFacts) -> list[Sentence]:
    """Repositories, and languages and skills, that this month is the first to show; not in the first month of all."""
    found = []
    repositories = facts.new_repositories
    if facts.previous and repositories and len(facts.repositories) > len(repositories):
        ids = [name for ids in repositories.values() for name in ids]
        found.append(_sentence(fill_phrase("firsts", "repository", repositories=join_list(list(repositories))), ids))
    new = {**facts.new_languages, **facts.new_skills}
    if facts.previous and new:
        names = list(new)[:4]
        ids = [name for key in names for name in new[key]]
        found.append(_sentence(fill_phrase("firsts", "skills", names=join_list(names)), ids))
    return found


def _sentence(text: str, ids: Iterable[ChangeId]) -> Sentence:
    return Sentence(sentence_case(text), tuple(dict.fromkeys(ids)))


__all__ = ["ChosenClauses", "Naming", "month_text", "opener", "profile_text"]
