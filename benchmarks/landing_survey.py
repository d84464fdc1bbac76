"""How much of public histories do the landing conventions explain, and what do they miss?

    python benchmarks/landing_survey.py [--sample N] [--seed TEXT] [--doubts N] CLONE...

Prints one row for each clone: commits of the default branch; the share that some convention explains (any but `push`
and `merge`, which prove nothing) and the share with a proved pull request; distinct pull requests found, and how many
numbers first-parent subjects name with `#N`; reverts whose target is known, and how many commits have a subject that
says so. Then follows the share of each convention. `--sample` prints that many random commits with what was recognised,
`--doubts` as many reverts with an unknown target and first-parent subjects whose `#N` was not found. Patches are not
read. Name a mirror without a remote by hand: owner/name=FOLDER.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field

from msgspec.structs import replace

from bot.history.clone import open_clone
from bot.history.log import landings
from bot.history.walk import arrivals
from bot.landing.conventions.recognition import Recognised, recognise
from bot.landing.message.parts import DEFAULT, LandingReading
from bot.landing.reverts.titles import is_revert_subject
from bot.landing.same_work.keys import PART
from bot.model.commit import Landing

NOTHING = frozenset(("push", "merge"))
NUMBER = re.compile(r"(?<![\w/])#([1-9][0-9]{0,7})\b")
BATCH = 2_000


@dataclass(slots=True)
class Survey:
    """The findings about one clone."""

    name: str
    seen: list[tuple[Landing, Recognised]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    commits: set[str] = field(default_factory=set)
    """full ids and their first seven digits"""

    def add(self, landing: Landing) -> None:
        known = recognise(landing)
        self.seen.append((landing, known))
        self.keys.update(known.keys)
        for commit in (landing.commit.id, landing.merge_commit.id):
            self.commits.update((commit, commit[:7]))

    def knows(self, key: str) -> bool:
        key = key.removeprefix(PART)
        if key.startswith("commit:"):
            return key[7:] in self.commits or (len(key) < 47 and key[7:14] in self.commits)
        return key in self.keys

    def is_matched(self, known: Recognised) -> bool:
        return any(self.knows(key) for key in (*known.reverts, *known.relands))

    def stated_reverts(self) -> list[tuple[Landing, Recognised]]:
        """Landings whose subject says that they revert something."""
        return [row for row in self.seen if is_revert_subject(LandingReading.of(row[0], DEFAULT).subject)]

    def named_numbers(self) -> dict[int, str]:
        """Numbers that first-parent subjects name, with the subject."""
        subjects = {landing.merge_commit.message.strip().split("\n", 1)[0] for landing, _ in self.seen}
        return {int(number): subject for subject in sorted(subjects) for number in NUMBER.findall(subject)}

    def row(self) -> str:
        total = len(self.seen)
        explained = sum(known.how not in NOTHING for _, known in self.seen)
        pulls = {known.pull_request for _, known in self.seen if known.pull_request}
        proved = sum(known.pull_request is not None for _, known in self.seen)
        reverting, named = self.stated_reverts(), self.named_numbers()
        matched = sum(self.is_matched(known) for _, known in reverting)
        return (
            f"| {self.name} | {total:,} | {explained / total:.1%} | {proved / total:.1%} | {len(pulls):,}"
            f" | {len(pulls & named.keys()):,} of {len(named):,} | {matched} of {len(reverting)} |"
        )

    def conventions(self) -> str:
        found = Counter(known.how for _, known in self.seen)
        return ", ".join(f"{how} {count / len(self.seen):.1%}" for how, count in found.most_common())


def survey(given: str) -> Survey:
    name, named, path = given.rpartition("=")
    clone = open_clone(path)
    if named:
        clone = replace(clone, repository=replace(clone.repository, full_name=name))
    found = Survey(clone.repository.full_name)
    waiting = []
    for arrival in arrivals(clone):
        waiting.append(arrival)
        if len(waiting) == BATCH:
            for landing in landings(clone, waiting, patches=False):
                found.add(landing)
            waiting = []
    for landing in landings(clone, waiting, patches=False) if waiting else ():
        found.add(landing)
    return found


def print_landing(landing: Landing, known: Recognised) -> None:
    commit = landing.commit
    subject = commit.message.strip().split("\n", 1)[0]
    print(f"  {commit.id[:10]} {landing.landed_at:%Y-%m} {commit.author.name} <{commit.author.email}> {subject[:110]}")
    if landing.merge_commit.id != commit.id:
        print(
            f"      brought by {landing.merge_commit.id[:10]}",
            landing.merge_commit.message.strip().split(chr(10), 1)[0][:110],
        )
    facts = [known.how, f"#{known.pull_request}" if known.pull_request else "no pull request", repr(known.title[:80])]
    keys = [key for key in known.keys if not key.startswith(("title:", "copy:", "patch:"))]
    print(
        "      ->",
        *facts,
        *keys,
        *(f"reverts {key}" for key in known.reverts),
        *(f"relands {k}" for k in known.relands),
    )


def print_doubts(found: Survey, most: int, pick: random.Random) -> None:
    lost = [row for row in found.stated_reverts() if not found.is_matched(row[1])]
    print(f"- reverts whose target is unknown: {len(lost)}")
    for row in pick.sample(lost, min(most, len(lost))):
        print_landing(*row)
    pulls = {known.pull_request for _, known in found.seen}
    missing = sorted((n, subject) for n, subject in found.named_numbers().items() if n not in pulls)
    print(f"- numbers named and not found: {len(missing)}")
    for number, subject in pick.sample(missing, min(most, len(missing))):
        print(f"  #{number}: {subject[:150]}")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("clones", nargs="+", metavar="CLONE")
    reader.add_argument("--sample", type=int, default=0)
    reader.add_argument("--doubts", type=int, default=0)
    reader.add_argument("--seed", default="landing")
    options = reader.parse_args()
    print("| project | commits | explained | with pull request | pull requests | named and found | reverts known |")
    print("|---|---|---|---|---|---|---|")
    for path in options.clones:
        began, pick = time.process_time(), random.Random(options.seed)
        found = survey(path)
        print(found.row())
        print(f"- {found.conventions()}; {time.process_time() - began:.0f} s")
        for row in pick.sample(found.seen, min(options.sample, len(found.seen))):
            print_landing(*row)
        if options.doubts:
            print_doubts(found, options.doubts, pick)


if __name__ == "__main__":
    main()
