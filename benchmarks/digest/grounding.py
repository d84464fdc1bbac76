"""How many planted errors does the grounding check catch, and how many true sentences does it refuse?

`python -m benchmarks.digest.grounding CLONE...` reads the histories of clones, writes the texts of the busiest people
from templates, plants one error in each of a thousand true sentences, and prints a table by kind of error.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from benchmarks.digest.histories import Record, records
from bot.model.profile import Sentence, Text
from bot.narrative.grounding import check, check_text
from bot.narrative.narrative import month_text, profile_text
from bot.narrative.table import FactTable, fact_table
from bot.narrative.words import number_in_words, phrases

Case = tuple[Sentence, FactTable, "Pool"]
EFFECTS = """
improving performance|for better reliability|which improves scalability|reducing memory use|increasing throughput
reducing maintenance overhead|ensuring long-term maintainability|with lower latency|strengthening security
enabling smoother integration|streamlining workflows|and reduced risk
"""
OPPOSITES = """
added:removed removed:added enabled:disabled disabled:enabled allowed:disallowed supported:dropped dropped:added
deprecated:restored restored:removed increased:decreased reduced:increased exposed:hid introduced:removed
implemented:removed prevented:allowed rejected:allowed fixed:broke
"""
WORDS = """
Adaptive Basic Core Dynamic Engine Fast General Hybrid Integrated Joint Kernel Layered Multi Native Open Parallel Quick
Remote System Tensor Unified Virtual Wide Extended Yield Zone
"""


class Pool:
    """Wrong but plausible values to plant, taken from other records and months."""

    def __init__(self, rows: Sequence[Record]) -> None:
        self.names = sorted(
            {token for row in rows for change in row.changes.values() for token in _identifiers(change.title)}
        )
        self.repositories = sorted({row.repository for row in rows} | {"example/fork", "octo/other-repository"})


def _identifiers(title: str) -> list[str]:
    return [
        token
        for token in re.findall(r"[A-Za-z][\w.]*[\w]", title)
        if re.search(r"[a-z][A-Z]|_|\w\.\w|^[A-Z]{3,}$", token)
    ]


def plant_number(case: Case, rng: random.Random) -> Sentence | None:
    """A wrong count of features, fixes, changes or commits."""
    sentence = case[0]
    found = list(
        re.finditer(
            r"\b(\d[\d,]*|[a-z]+(?:-[a-z]+)?) ((?:other |bug )?(?:changes|fixes|features|commits))",
            sentence.text,
            re.IGNORECASE,
        )
    )
    values = {number_in_words(value): value for value in range(1, 100)}
    for match in found:
        plain = match[1].replace(",", "").lower()
        value = int(plain) if plain.isdigit() else values.get(plain)
        if value is None or value < 2:
            continue
        wrong = value + rng.choice([-1, 1, 2, 3, 10])
        wrong_text = number_in_words(wrong) if not plain.isdigit() and 2 <= wrong < 100 else f"{max(wrong, 2):,}"
        return _swap(sentence, match.span(1), wrong_text) if wrong_text.lower() != match[1].lower() else None
    return None


def plant_name(case: Case, rng: random.Random) -> Sentence | None:
    """An identifier of another change: of this month if there is one, otherwise of another record."""
    sentence, table, pool = case
    mine = [match for match in re.finditer(r"[A-Za-z][\w.]*[\w]", sentence.text) if _identifiers(match[0])]
    mine = [
        match
        for match in mine
        if match[0] not in table.terms and "/" not in sentence.text[match.start() - 1 : match.end() + 1]
    ]
    cited = " ".join(table.changes[name].title for name in sentence.evidence if name in table.changes)
    near = [token for change in table.changes.values() for token in _identifiers(change.title) if token not in cited]
    far = [token for token in rng.sample(pool.names, min(20, len(pool.names))) if token not in cited]
    if not mine or not (near or far):
        return None
    return _swap(sentence, rng.choice(mine).span(), rng.choice(near or far))


def plant_expansion(case: Case, rng: random.Random) -> Sentence | None:
    """An invented expansion of an abbreviation in the sentence."""
    found = list(re.finditer(r"(?<![\w./-])[A-Z]{3,6}(?![\w./-])", case[0].text))
    if not found:
        return None
    match = rng.choice(found)
    words = " ".join(
        next((word for word in WORDS.split() if word[0] == letter), letter + "arious") for letter in match[0]
    )
    return _swap(case[0], match.span(), f"{match[0]} ({words})")


def plant_month(case: Case, rng: random.Random) -> Sentence | None:
    """Another month or year."""
    months = phrases()["months"]
    found = list(re.finditer(rf"\b({'|'.join(months)}) (20\d\d)", case[0].text))
    if not found:
        return None
    match = rng.choice(found)
    wrong = (
        f"{rng.choice([m for m in months if m != match[1]])} {match[2]}"
        if rng.random() < 0.6
        else f"{match[1]} {int(match[2]) + rng.choice([-1, 1])}"
    )
    return _swap(case[0], match.span(), wrong)


def plant_repository(case: Case, rng: random.Random) -> Sentence | None:
    """A repository other than the one where the work landed."""
    sentence, table, pool = case
    for name in sorted(table.repositories):
        at = sentence.text.find(name)
        others = [other for other in pool.repositories if other not in table.repositories]
        if at >= 0 and others:
            return _swap(sentence, (at, at + len(name)), rng.choice(others))
    return None


def plant_effect(case: Case, rng: random.Random) -> Sentence | None:
    """A benefit that no title mentions."""
    text = case[0].text.rstrip(".")
    effects = EFFECTS.strip().replace("\n", "|").split("|")
    return replace(case[0], text=f"{text}, {rng.choice(effects)}.")


def plant_polarity(case: Case, rng: random.Random) -> Sentence | None:
    """The opposite of what was done."""
    opposites = dict(pair.split(":") for pair in OPPOSITES.split())
    found = [
        match
        for match in re.finditer(r"[a-z]+", re.sub("“[^”]*”", lambda m: "#" * len(m[0]), case[0].text))
        if match[0] in opposites
    ]
    if not found:
        return None
    match = rng.choice(found)
    return _swap(case[0], match.span(), opposites[match[0]])


def plant_hidden_revert(case: Case, rng: random.Random) -> Sentence | None:
    """A reverted change, described as if it were not reverted."""
    if "reverted" not in case[0].text:
        return None
    return replace(
        case[0],
        text=re.sub(r" and (?:was|were|has since been|have since been) reverted(?: in \w+ \d{4})?", "", case[0].text),
    )


def _swap(sentence: Sentence, span: tuple[int, int], text: str) -> Sentence:
    return replace(sentence, text=sentence.text[: span[0]] + text + sentence.text[span[1] :])


PLANTS: dict[str, Callable[[Case, random.Random], Sentence | None]] = {
    "number": plant_number,
    "name": plant_name,
    "expansion": plant_expansion,
    "month": plant_month,
    "repository": plant_repository,
    "effect": plant_effect,
    "polarity": plant_polarity,
    "hidden revert": plant_hidden_revert,
}


def true_texts(rows: Sequence[Record]) -> Iterator[tuple[Text, FactTable, int]]:
    """Every text of every record, with its facts and the number of refusals in it."""
    for row in rows:
        for month in row.facts.months:
            text = month_text(month)
            yield text, fact_table(month), _count_refusals(text, month)
        text = profile_text(row.facts)
        yield text, fact_table(row.facts), _count_refusals(text, row.facts)


def _count_refusals(text: Text, facts: object) -> int:
    found = check_text(text, facts)
    for refusal in found:
        print(f"true, yet refused: {refusal}")
    return len(found)


def run(rows: Sequence[Record], planted: int, seed: int) -> tuple[Counter[str], Counter[str], int, int, list[str]]:
    """(planted, caught) by kind, the number of true sentences, how many of them were refused, and the missed errors."""
    rng, pool = random.Random(seed), Pool(rows)
    texts = list(true_texts(rows))
    cases: list[Case] = [(sentence, table, pool) for text, table, _ in texts for sentence in text.sentences]
    rng.shuffle(cases)
    done: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    missed: list[str] = []
    for at in range(planted * 4):
        kind = list(PLANTS)[at % len(PLANTS)]
        wrong = PLANTS[kind](cases[(at * 7 + at // len(PLANTS)) % len(cases)], rng)
        if wrong is None or wrong.text == cases[(at * 7 + at // len(PLANTS)) % len(cases)][0].text:
            continue
        if sum(done.values()) >= planted:
            break
        done[kind] += 1
        if check(wrong, cases[(at * 7 + at // len(PLANTS)) % len(cases)][1]):
            caught[kind] += 1
        else:
            missed.append(f"{kind}: {wrong.text}")
    return done, caught, len(cases), sum(refused for _, _, refused in texts), missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--planted", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10, help="missed errors to print")
    args = parser.parse_args()
    rows = [row for clone in args.clones for row in records(clone, people=args.people)]
    done, caught, sentences, refused, missed = run(rows, args.planted, args.seed)
    print(f"{len(rows)} people, {sentences} true sentences, {refused} refused")
    for kind in PLANTS:
        share = f"{caught[kind] / done[kind]:.3f}" if done[kind] else "-"
        print(f"{kind:14} planted {done[kind]:4}  caught {caught[kind]:4}  {share}")
    total = sum(done.values())
    print(f"{'all':14} planted {total:4}  caught {sum(caught.values()):4}  {sum(caught.values()) / total:.3f}")
    print("\n".join(missed[: args.show]))


if __name__ == "__main__":
    main()
