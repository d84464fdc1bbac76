"""Which items does a sentence name, and with which clauses?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.model.ids import ChangeId
from bot.narrative.clauses import Clause, clause_of
from bot.narrative.facts import ItemFacts, certainty_counts
from bot.narrative.joining import join_clauses, shared_scope, stack_clauses
from bot.narrative.timeline import Evidence
from bot.narrative.words import fill_phrase, join_list, quantity, word_set

NAMED = 3
_SLIGHT = frozenset(
    {"bump", "release", "increment", "update", "upgrade", "tweak", "clean up", "cleanup", "merge", "sync"}
)


class ChosenClauses(Struct, frozen=True):
    """The clauses chosen for a sentence; `whole` where they tell all of its items."""

    clauses: tuple[Clause, ...]
    complete: bool
    proofs: tuple[ChangeId, ...] = ()
    """the changes whose titles the clauses tell"""
    evidence: tuple[ChangeId, ...] = ()
    """all changes of the items told"""


Worded = tuple[ItemFacts, Clause | None, Evidence]
"""an item, its clause, and the changes which that tells"""
_BEST = (False, False, False, False)


def item_clause(item: ItemFacts) -> tuple[Clause | None, Evidence]:
    """One clause for the item and the changes it tells: its stack as one, else its weightiest change to be told."""
    clauses = [(change, clause_of(change.title, change.repository)) for change in item.changes]
    usable = [clause for _, clause in clauses if clause is not None]
    if len(usable) > 1 and (one := stack_clauses(usable)):
        return one, item.evidence
    ranked = sorted(
        (row for row in clauses if row[1] is not None),
        key=lambda row: (_kind_differs(row[0].kind, item), -row[0].lines.code, row[0].id),
    )
    return (ranked[0][1], (ranked[0][0].id,)) if ranked else (None, ())


def _kind_differs(kind: str, item: ItemFacts) -> bool:
    return item.kind != "other" and kind != item.kind


def _worded(items: Iterable[ItemFacts], most: int) -> Iterator[Worded]:
    """The items with their clauses, until nothing that follows can come before the `most` that will be told."""
    best: set[str] = set()
    for item in items:
        row = (item, *item_clause(item))
        yield row
        if row[1] is not None and _rank(row) == _BEST:
            best.add(row[1].text)
            if len(best) >= most:
                return


def _rank(row: Worded) -> tuple[bool, bool, bool, bool]:
    """Clauses with a verb before quotes, substance before version bumps, what is certain before what may be."""
    item, clause, _ = row
    if clause is None:
        return (True, False, False, not item.certain)
    slight = clause.base in _SLIGHT or clause.rest.lower() in word_set("plain_words")
    return (False, slight, clause.base is None, not item.certain)


def choose_clauses(items: Sequence[ItemFacts], most: int = NAMED, *, sizes: bool = True) -> ChosenClauses:
    """The items that a sentence names, weightiest first, at most `most`, equal clauses once; `sizes` of large ones."""
    chosen: dict[str, tuple[ItemFacts, Clause, Evidence]] = {}
    for item, clause, proof in sorted(_worded(items, most), key=_rank):
        if clause is not None and len(chosen) < most:
            chosen.setdefault(clause.text, (item, clause, proof))
    return ChosenClauses(
        tuple(_sized(*row, len(chosen)) if sizes else row[1] for row in chosen.values()),
        len(chosen) == len(items),
        tuple(name for _, _, proof in chosen.values() for name in proof),
        evidence_of(item for item, _, _ in chosen.values()),
    )


def _sized(item: ItemFacts, clause: Clause, proof: Evidence, told: int) -> Clause:
    """Beside others only an item of three changes or more says how many it took."""
    size = len(item.changes)
    leads = len(proof) < size
    return replace(clause, size=size, leads=leads) if clause.base and size > (1 if told == 1 else 2) else clause


def predicate(telling: ChosenClauses, *, subject: bool = False) -> Iterable[str]:
    """The clauses as one predicate, beginning with each of them in turn; `subject` is as in `joined`."""
    for turn in range(len(telling.clauses)):
        yield join_clauses(telling.clauses[turn:] + telling.clauses[:turn], subject=subject)


def parts_of(telling: ChosenClauses) -> str:
    """The clauses as a noun phrase: titles in quotes, then "work that added A and removed B"."""
    quoted = [clause.text for clause in telling.clauses if clause.base is None]
    verbal = [clause for clause in telling.clauses if clause.base is not None]
    if not verbal:
        return join_list(quoted)
    scope = shared_scope(verbal) if len(verbal) > 1 else ""
    bare = join_clauses([replace(clause, scope="") if scope else clause for clause in verbal])
    work = fill_phrase("clause", "work_in" if scope else "work_that", clauses=bare, scope=scope)
    return join_list([*quoted, work]) if quoted else work


def tally(items: Sequence[ItemFacts], noun: str) -> str:
    """`seven features and one change that may be a feature`: their number as the profile counts them, doubt told."""
    sure, unsure = certainty_counts(items)
    parts = [(sure, noun), (unsure, f"maybe_{noun}")]
    return join_list([quantity(count, name) for count, name in parts if count])


def evidence_of(items: Iterable[ItemFacts]) -> Evidence:
    return tuple(dict.fromkeys(name for item in items for name in item.evidence))
