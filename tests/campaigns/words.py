"""Is every quotation found, letter for letter, in what it cites? Over all texts of public histories.

    python -m tests.campaigns.words OWNER/NAME=CLONE...

First every subject and every changelog entry of each history is cleaned, and what is left must stand in it. Then the
entries of its people are made, and each must stand in the message or the patch that git itself shows for the commit or
the pull request that it cites. The comparison knows none of the cleaning's rules: it reads letters and digits alone.
What stands in one piece is counted apart from what stands there with a link's address, a reference or a role between.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

from benchmarks.highlights import named_clone
from bot.history.clone import Clone
from bot.history.git import GitError, git
from bot.history.record import CloneRecord
from bot.model.change import Change
from bot.narrative.cleaning import clean
from bot.narrative.entries import entries_of
from bot.narrative.entry import Entry

MOST_PEOPLE = 150
_SIGNS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")


def how_it_stands(quoted: str, source: str) -> str:
    """`whole`, `with gaps` (its words in their order) or `missing`."""
    wanted = quoted.removesuffix("…").lower()
    if _SIGNS.sub("", wanted) in _SIGNS.sub("", source.lower()):
        return "whole"
    words = iter(_WORD.findall(source.lower()))
    following = all(any(word.startswith(each) for word in words) for each in _WORD.findall(wanted))
    return "with gaps" if following else "missing"


def cited_text(clone: Clone, change: Change, entry: Entry) -> str:
    """What git shows of the commits that the entry cites: messages, and for a changelog entry the patch too."""
    if entry.commit is not None and entry.source == "changelog":
        return " ".join(_shown(git(clone.git_dir, "show", "-m", "--first-parent", "--format=%B", entry.commit)))
    names = [entry.commit] if entry.commit else _commits(change)
    return git(clone.git_dir, "show", "--no-patch", "--format=%B", *names)


def _commits(change: Change) -> list[str]:
    return sorted({name for one in change.commits for name in (one.fact.commit, one.fact.merge_commit)})


def _shown(shown: str) -> Iterator[str]:
    """The lines of the patch that it adds or shows: of a wrapped entry, a part may have stood there before."""
    return (line[1:] for line in shown.split("\n") if line.startswith(("+", " ")))


def check_texts(record: CloneRecord, faults: list[str]) -> Counter[str]:
    """Every subject and changelog entry, cleaned."""
    found: Counter[str] = Counter()
    for fact in record.facts():
        for raw in {fact.title, fact.subject, fact.merge_subject, *(line.text for line in fact.changelog)} - {""}:
            verdict = how_it_stands(clean(raw).text, raw)
            found[verdict] += 1
            if verdict == "missing":
                faults.append(f"{fact.commit}: {raw!r} -> {clean(raw).text!r}")
    return found


def check_entries(clone: Clone, record: CloneRecord, faults: list[str]) -> Counter[str]:
    """Every entry of the people with most changes, in what it cites."""
    people = [one for one in record.people.all() if not one.bot]
    work = sorted(((record.changes_of([one]), one) for one in people), key=lambda each: -len(each[0]))
    found: Counter[str] = Counter()
    for changes, person in work[:MOST_PEOPLE]:
        texts = record.texts_about(changes)
        entries = entries_of(changes, record.keys_of([person]), texts, zone=ZoneInfo("UTC"))
        for change in changes:
            if entry := entries.get(change.id):
                try:
                    verdict = how_it_stands(entry.quoted, cited_text(clone, change, entry))
                except GitError:
                    verdict = "not in the clone"
                found[verdict] += 1
                found[entry.source] += 1
                if verdict == "missing":
                    faults.append(f"{entry.source} {entry.change}: {entry.quoted!r}")
    return found


def main(arguments: Sequence[str]) -> int:
    faults: list[str] = []
    for argument in arguments:
        clone = named_clone(argument)
        record = CloneRecord([clone])
        record.refresh()
        print(clone.repository.full_name, "texts", dict(check_texts(record, faults)), flush=True)
        print(clone.repository.full_name, "entries", dict(check_entries(clone, record, faults)), flush=True)
        record.close()
    print(*faults[:50], sep="\n")
    print(f"{len(faults)} quotations are not in what they cite")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
