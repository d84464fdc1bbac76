"""Which technologies does a contributor's landed work show, by what each commit newly imports, asks for and sets up?"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.landing.lines import NOT_OURS, ReadFile
from bot.landing.months import month_of, parse_month
from bot.metrics.imports import Syntax, by_language, imported
from bot.metrics.manifests import asked_for, is_pinned, manifests_of
from bot.metrics.skill_index import NONE, Skills, by_path, by_word, index, named
from bot.model import ChangeId, Fact, Month, TechnicalSkill

LEAST_LINES = 2
"""evidence lines from which a skill is shown"""
HALF_LIFE = 18
"""months after which a line of evidence weighs half"""

_UTC = ZoneInfo("UTC")
"""the weight of a skill does not hang on the zone of the page"""

_SAMPLES = re.compile(
    r"/(?:\w*[-_]?fixtures?|__fixtures__|__testfixtures__|testdata|test[-_](?:data|files|cases|resources|assets|projects|fixtures?)"
    r"|snapshots?|__snapshots__|samples?|golden|corpus|cassettes|specs|resources/test\w*)/",
    re.I,
)
# Strings of source code within tests are indented in these languages; their imports are not the test's own.
_QUOTING = frozenset({"javascript", "python"})


@lru_cache(maxsize=65_536)
def _is_sample(path: str) -> bool:
    """Whether a test reads the file as its input, so that what it imports is nobody's choice."""
    return _SAMPLES.search("/" + path) is not None


def skills_of(
    read: Sequence[ReadFile], repository_topics: Sequence[str] = (), labels: Sequence[str] = ()
) -> dict[str, int]:
    """Evidence lines of one commit by skill, most first, then by name.

    An import, a package or an API token counts where the commit as a whole adds more of it than it removes; a file
    that a convention names counts once. A topic or a label counts once, and only for what the files show too.
    """
    ours = [
        file
        for file in read
        if file.part not in NOT_OURS
        and file.change.status != "removed"
        and not (file.part == "tests" and _is_sample(file.change.path))
    ]
    found: Counter[str] = Counter()
    for file in ours:
        if file.added:
            found.update(_in_lines(file, file.added))
    if found:
        for file in read:
            if file.removed and file.part not in NOT_OURS:
                found.subtract(_in_lines(file, file.removed))
    found = +found
    for file in ours:
        found.update(by_path(file.change.path))
    for word in (*repository_topics, *labels):
        name = by_word(word)
        if name in found:
            found[name] += 1
    return dict(sorted(found.items(), key=lambda row: (-row[1], row[0])))


def _in_lines(file: ReadFile, lines: Sequence[str]) -> Counter[str]:
    """What these lines of a file import, call and ask for."""
    found: Counter[str] = Counter()
    path = file.change.path
    is_test = file.part == "tests"
    syntax = by_language().get(file.language) if file.language else None
    manifests = () if is_test else manifests_of(path)
    if syntax is None and not manifests:
        return found
    text = "\n".join(lines)
    if syntax is not None:
        shown = [line for line in lines if line[:1] not in " \t"] if is_test and syntax.family in _QUOTING else lines
        for skills in _imports(shown, text, syntax):
            found.update(skills)
        for token, skill in index().tokens.get(syntax.family, ()):
            if token in text:
                found[skill] += text.count(token)
    if manifests and not is_pinned(text):
        for manifest in manifests:
            for name in asked_for(lines, manifest):
                found.update(_first(manifest.spaces, name))
    return found


def _imports(lines: Sequence[str], text: str, syntax: Syntax) -> Iterator[Skills]:
    space = syntax.space
    for name in imported(lines, text, syntax):
        skills = named(space, name)
        if skills:
            yield skills


def _first(spaces: Sequence[str], name: str) -> Skills:
    return next((skills for space in spaces if (skills := named(space, name))), NONE)


def technical(commits: Iterable[tuple[ChangeId, Fact]], now_month: Month) -> tuple[TechnicalSkill, ...]:
    """The skills with enough evidence, heaviest first, each with the changes that show it, oldest first.

    A commit weighs as the logarithm of its lines, halved every HALF_LIFE months before `now_month`; a skill weighs as
    the logarithm of its commits' sum. The order of `commits` makes no difference.
    """
    lines: Counter[str] = Counter()
    units: defaultdict[str, Counter[int]] = defaultdict(Counter)
    changes: defaultdict[str, set[tuple[int, ChangeId]]] = defaultdict(set)
    now = _month_number(now_month)
    for change, fact in commits:
        if not fact.skills:
            continue
        age = max(0, now - _month_number(month_of(fact.landed_at, _UTC)))
        for name, count in fact.skills.items():
            lines[name] += count
            units[name][age] += count.bit_length()
            changes[name].add((fact.landed_at, change))
    shown = [
        TechnicalSkill(name, _weight(units[name]), tuple(dict.fromkeys(change for _, change in sorted(changes[name]))))
        for name, count in lines.items()
        if count >= LEAST_LINES
    ]
    return tuple(sorted(shown, key=lambda skill: (-skill.weight, skill.name)))


def _weight(units: Counter[int]) -> float:
    """log2(1 + the sum of the units, each halved every HALF_LIFE months); summed from the oldest month on."""
    total = sum(units[age] * 0.5 ** (age / HALF_LIFE) for age in sorted(units, reverse=True))
    return round(math.log2(1 + total), 3)


def _month_number(month: Month) -> int:
    year, number = parse_month(month)
    return year * 12 + number - 1
