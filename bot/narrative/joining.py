"""How are several clauses told as one, or as one predicate?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from bot.narrative.clauses import Clause
from bot.narrative.words import fill_phrase, join_list, phrases

SHORT_TAIL = 40
NAMED_TAILS = 3
_PARTICLES = frozenset({"up", "out", "down", "off", "away", "back"})


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _common_start(rows: Sequence[Sequence[str]], told: Callable[[str], str] = str) -> int:
    """How many words all rows begin with, where `told` alike is alike."""
    count = 0
    for column in zip(*rows, strict=False):
        if len(set(map(told, column))) > 1:
            break
        count += 1
    return count


def stack_clauses(clauses: Sequence[Clause]) -> Clause | None:
    """Clauses that begin alike told as one: `added dispatch keys for A, B and others`; None where they do not.

    At least half of them, and three where there are as many, must share the verb and its first words.
    """
    base, count = Counter(clause.base for clause in clauses).most_common(1)[0]
    alike = [clause for clause in clauses if clause.base == base]
    if base is None or 2 * count < len(clauses) or count < min(3, len(clauses)):
        return None
    rows = [clause.rest.split(" ") for clause in alike]
    shared = _common_start(rows, _singular)
    tails = list(dict.fromkeys(" ".join(row[shared:]) for row in rows))
    if shared < 2 or any(len(tail) > SHORT_TAIL or (not tail and len(tails) > 1) for tail in tails):
        return None
    start = Counter(" ".join(row[:shared]) for row in rows).most_common(1)[0][0]
    whole = count == len(clauses) and len(tails) <= NAMED_TAILS + 1
    parts = tails if whole else [*tails[:NAMED_TAILS], phrases()["lists"]["others"]]
    return replace(alike[0], rest=f"{start} {join_list(parts)}" if tails != [""] else start, scope=shared_scope(alike))


def shared_scope(clauses: Iterable[Clause]) -> str:
    """The scope that all clauses stand under, else nothing."""
    scopes = {clause.scope for clause in clauses}
    return scopes.pop() if len(scopes) == 1 else ""


def _verb_and_object(clause: Clause) -> tuple[str, str]:
    """`tidied up` and what was tidied up: a particle stays with its verb."""
    if not clause.base:
        return "", clause.text
    particle, _, rest = clause.object.partition(" ")
    return (f"{clause.verb} {particle}", rest) if particle in _PARTICLES and rest else (clause.verb, clause.object)


def _folded(objects: Sequence[str]) -> str:
    """Objects that begin alike as one, their beginning told once; nothing where they do not."""
    rows = [text.split(" ") for text in objects]
    shared = _common_start(rows)
    tails = [" ".join(row[shared:]) for row in rows]
    short = all(0 < len(tail) <= SHORT_TAIL and not re.search(r"[,;(]| and ", tail) for tail in tails)
    return f"{' '.join(rows[0][:shared])} {join_list(tails)}" if len(rows) > 1 and shared > 1 and short else ""


def join_clauses(clauses: Sequence[Clause], *, subject: bool = False) -> str:
    """Clauses as one predicate, equal verbs told once: `fixed A and B, added C and removed D`.

    `subject` where one stands right before it, which no comma parts from its verb.
    """
    scope = shared_scope(clauses) if len(clauses) > 1 else ""
    shown = [replace(clause, scope="") for clause in clauses] if scope else list(clauses)
    by_verb: dict[str, list[str]] = {}
    for clause in shown:
        verb, told = _verb_and_object(clause)
        by_verb.setdefault(verb, []).append(told)
    parts: list[str] = []
    for verb, objects in by_verb.items():
        if verb and (folded := _folded(objects)):
            parts.append(f"{verb} {folded}")
        elif verb and any(", " in text or phrases()["lists"]["and"] in text for text in objects):
            parts.extend(f"{verb} {text}" for text in objects)
        else:
            told = join_list(objects)
            parts.append(f"{verb} {told}" if verb else fill_phrase("clause", "untitled", titles=told))
    text = join_list(parts)
    return (
        fill_phrase("clause", "scopes_after" if subject else "scopes_first", scope=scope, clauses=text)
        if scope
        else text
    )
