"""What does the top of a profile say? Who, where and when; the themes with their entries; one line for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.identity.addresses import person_key
from bot.landing.identity.machines import is_machine
from bot.metrics.work import MonthWork
from bot.model.change import Change
from bot.model.ids import ChangeId, Month, PersonKey
from bot.model.profile import Layout, Overall, RepositoryRecord, Sentence, Text
from bot.narrative.cleaning import without_scope
from bot.narrative.entry import Entry, Theme
from bot.narrative.quotes import Quotes
from bot.narrative.sentences import citations, entry_sentence, theme_sentence
from bot.narrative.words import capitalise, digits, join_list, month_span, number, quantity

MOST_THEMES = 3
MOST_ENTRIES = 6
_WITHOUT_THEMES = 3
_REPOSITORIES = 3
_LANGUAGES = 3


class RecordFacts(Struct, frozen=True):
    """What the lead and the rest may state of a whole record. `work` is by month, oldest first."""

    person: str
    keys: frozenset[PersonKey]
    work: Sequence[MonthWork]
    overall: Overall
    repositories: Sequence[RepositoryRecord]
    languages: Sequence[str]

    @property
    def span(self) -> tuple[Month, Month]:
        months = [one.month for one in self.work if one.commits] or [one.month for one in self.work]
        return min(months), max(months)

    @property
    def landed(self) -> Mapping[ChangeId, Change]:
        """The changes with an own commit, oldest first; with a credited one, where there is no own."""
        own = {change.id: change for one in self.work for change, _ in one.commits}
        return own or {change.id: change for one in self.work for change, _ in one.co_authored}


def profile_text(facts: RecordFacts, quotes: Quotes, naming: Literal["named", "anonymous"]) -> Text:
    """The lead, then each theme with its entries, or the entries by date where there is no theme, then the rest."""
    themes = quotes.themes[:MOST_THEMES]
    lead = [_lead(facts, themes, naming), _kinds(facts)]
    rest = _rest(facts)
    return Text(tuple(one for one in (*lead, *_themed(facts, quotes, themes), *rest) if one))


def _lead(facts: RecordFacts, themes: Sequence[Theme], naming: Literal["named", "anonymous"]) -> Sentence:
    """`Ada Example landed 542 commits in acme/api between May 2019 and August 2026, most of them in Client.`"""
    own = facts.overall.commits
    landed = facts.landed
    parts = _component_words(facts, themes) if own else ""
    where = f"in {_repositories(facts, landed)}"
    when = month_span(*facts.span)
    done = f"landed {quantity(own, 'commit')}" if own else f"is credited in {_credited(facts)}"
    if naming == "anonymous" and not own:
        done = f"credited in {_credited(facts)}"
    head = f"{facts.person} {done}" if naming == "named" else capitalise(done)
    ids = [name for theme in themes for name in theme.changes[:10]]
    return Sentence(
        f"{head} {where} {when}{parts}.",
        citations([*ids, *landed]),
        layout=Layout(brief=f"{capitalise(done)} {where}{parts}."),
    )


def _credited(facts: RecordFacts) -> str:
    return quantity(facts.overall.co_authored, "commit") + " by others"


def _repositories(facts: RecordFacts, landed: Mapping[ChangeId, Change]) -> str:
    names = [record.full_name for record in facts.repositories]
    names = names or list(dict.fromkeys(change.repository for change in landed.values()))
    if len(names) <= _REPOSITORIES:
        return join_list(names)
    rest = len(names) - _REPOSITORIES + 1
    return f"{', '.join(names[: _REPOSITORIES - 1])} and {number(rest)} other repositories"


def _component_words(facts: RecordFacts, themes: Sequence[Theme]) -> str:
    members = {name for theme in themes for name in theme.changes}
    inside = sum(change.id in members for one in facts.work for change, _ in one.commits)
    if not inside:
        return ""
    commits = facts.overall.commits
    how_many = "all" if inside == commits > 1 else "most" if 2 * inside > commits else number(inside)
    of_them = f"{how_many} of them " if commits > 1 else ""
    return f", {of_them}in {join_list([theme.name for theme in themes])}"


def _kinds(facts: RecordFacts) -> Sentence | None:
    """`They add up to 25 features and 70 bug fixes.`"""
    overall = facts.overall
    counts = ((overall.features, "feature", "features"), (overall.bugs, "bug fix", "bug fixes"))
    items = [quantity(count, one, many) for count, one, many in counts if count]
    kinds = (change for change in facts.landed.values() if change.kind in ("feature", "bug_fix"))
    ids = citations(change.id for change in kinds if change.certain and change.outcome)
    if not items or not ids:
        return _documentation(facts)
    head = "They add up to" if overall.commits > 1 else "It is"
    return Sentence(f"{head} {join_list(items)}.", ids)


def _documentation(facts: RecordFacts) -> Sentence | None:
    """Where there is neither feature nor fix: that most of it is documentation, where it is."""
    changes = [change for change in facts.landed.values() if change.outcome]
    docs = [change.id for change in changes if change.kind == "docs" and change.certain]
    if len(docs) * 2 <= len(changes) or not docs:
        return None
    return Sentence(
        "All of it is documentation." if len(docs) == len(changes) else "Most of it is documentation.", citations(docs)
    )


def _themed(facts: RecordFacts, quotes: Quotes, themes: Sequence[Theme]) -> list[Sentence]:
    if not themes:
        own = {name for name, change in facts.landed.items() if change.outcome}
        by_date = sorted(quotes.lead_entries(own, _WITHOUT_THEMES), key=lambda entry: (entry.month, entry.change))
        return [entry_sentence(entry, dated=facts.span[0] != facts.span[1]) for entry in by_date]
    found: list[Sentence] = []
    used: list[Entry] = []
    each = MOST_ENTRIES // len(themes)
    for theme in themes:
        entries = quotes.lead_entries(set(theme.changes), each, used)
        used += entries
        said = [replace(entry, quoted=without_scope(entry.quoted, theme.name)) for entry in entries]
        found += [theme_sentence(theme, facts.span), *(entry_sentence(entry, dated=True) for entry in said)]
    return found


def _rest(facts: RecordFacts) -> list[Sentence]:
    """`12 changes with others · 112 backports beside · Python, Cython`"""
    pairs = [(change, commit) for one in facts.work for change, commit in one.commits]
    helped = {change.id for one in facts.work for change, _ in one.co_authored} if facts.overall.commits else set()
    shared = {
        change.id
        for change, commit in pairs
        if any(person_key(sig) not in facts.keys and not is_machine(sig) for sig in commit.fact.co_authors)
    }
    backports = [change.id for change, commit in pairs if commit.lines.mirrored and change.also_in]
    parts = [
        (digits(len(shared), "change") + " with others", sorted(shared)),
        (f"co-author of {digits(len(helped), 'change')} by others", sorted(helped)),
        (digits(len(backports), "backport") + " beside", backports),
    ]
    known = [(text, ids) for text, ids in parts if ids]
    words = [text for text, _ in known]
    ids = [name for _, found in known for name in found]
    if facts.languages and facts.landed:
        words.append(", ".join(facts.languages[:_LANGUAGES]))
        ids += list(facts.landed)
    return [Sentence(capitalise(" · ".join(words)), citations(ids), "rest")] if words else []
