"""Which technologies does a contributor's landed work show, by what each commit newly imports, requests and sets up?"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.landing.lines.path_parts import is_test
from bot.landing.lines.split import NOT_OURS, ReadFile
from bot.landing.months import month_of, parse_month
from bot.metrics.imports import Syntax, import_lines, imported_names, syntax_by_family, syntax_by_language
from bot.metrics.manifests import Manifest, is_pinned, manifests_of, requested_names
from bot.metrics.skill_index import (
    NONE,
    Skills,
    index,
    skill_by_word,
    skills_at_home,
    skills_by_path,
    skills_named,
)
from bot.model.fact import Fact
from bot.model.ids import ChangeId, Month
from bot.model.profile import TechnicalSkill

LEAST_LINES = 2
"""evidence lines needed to show a skill"""
HALF_LIFE = 18
"""months after which a line of evidence has half its weight"""
MOST_OF_A_COMMIT = 3
"""binary digits of a commit's lines that count: four lines or more weigh the same"""
COMMON = 0.5
"""weight of technologies in nearly every project of a language, relative to skills that distinguish people"""

_UTC = ZoneInfo("UTC")
"""the weight of a skill does not depend on the time zone of the page"""

_INPUTS = re.compile(
    r"/(?:\w*[-_]?fixtures?|__(?:test)?fixtures__|testdata|test[-_](?:data|files|cases|resources|assets|projects|fixtures?)"
    r"|snapshots?|__snapshots__|golden|corpus|cassettes|node_modules)/",
    re.I,
)
_TEST_INPUTS = re.compile(r"/(?:samples?|specs|resources/test\w*)/", re.I)
_SCAFFOLDS = re.compile(
    r"/windows/runner/|/(?:ios|macos)/(?:Runner|RunnerTests|Flutter)[/.]|/linux/(?:my_application|main)\."
)
# Source code in strings of tests is indented in these languages; its imports are not the test's own.
_QUOTING = frozenset({"javascript", "python"})


@lru_cache(maxsize=2048)
def _is_sample(path: str, part: str) -> bool:
    """Whether a test reads the file as input, or a project generator wrote it: nobody chose its imports."""
    rooted = "/" + path
    if _INPUTS.search(rooted) or _SCAFFOLDS.search(rooted):
        return True
    return part == "tests" and _TEST_INPUTS.search(rooted) is not None


@lru_cache(maxsize=2048)
def _manifests(path: str) -> tuple[Manifest, ...]:
    """The manifests that apply to the file, unless it belongs to a test: its requests are test input."""
    found = manifests_of(path)
    return () if found and is_test(path) else found


def skills_of(
    read: Sequence[ReadFile], repository_topics: Sequence[str] = (), labels: Sequence[str] = ()
) -> dict[str, int]:
    """Evidence lines of one commit by skill, most first, then by name.

    An import, a package or an API token counts if the commit as a whole adds more of it than it removes; a file with a
    conventional name counts once. A topic or a label counts once, and only together with evidence in the files.
    """
    hand_written = [file for file in read if file.part not in NOT_OURS]
    ours = [file for file in hand_written if not _is_sample(file.change.path, file.part)]
    found = _tally((file, file.added) for file in ours if file.added)
    if found:
        removed = _tally(((file, file.removed) for file in hand_written if file.removed), only=found.keys())
        found = {name: count - removed.get(name, 0) for name, count in found.items() if count > removed.get(name, 0)}
    for file in ours:
        if file.change.status != "removed":
            for name in skills_by_path(file.change.path):
                found[name] = found.get(name, 0) + 1
    for word in (*repository_topics, *labels):
        skill = skill_by_word(word)
        if skill is not None and skill in found:
            found[skill] += 1
    return dict(sorted(found.items(), key=lambda row: (-row[1], row[0])))


def _tally(files: Iterable[tuple[ReadFile, Sequence[str]]], only: Container[str] | None = None) -> dict[str, int]:
    """What these lines import, call and request; of calls, `only` those of these skills. Files with the same import
    syntax are read as one text: calls are expensive."""
    found: dict[str, int] = {}
    groups: dict[tuple[str, bool], tuple[Syntax, list[str]]] = {}
    syntaxes = syntax_by_language()
    for file, lines in files:
        in_test = file.part == "tests"
        if not in_test:
            for manifest in _manifests(file.change.path):
                _add(found, _requested_skills(lines, manifest))
        syntax = syntaxes.get(file.language) if file.language else None
        if syntax is not None:
            key = (syntax.family, in_test)
            groups.setdefault(key, (syntax, []))[1].extend(lines)
    for (family, in_test), (syntax, together) in groups.items():
        text = "\n".join(together)
        flush = in_test and family in _QUOTING
        _add(found, [_imported_skills(family, line) for line in import_lines(together, text, syntax, flush=flush)])
        tokens = () if in_test else index().tokens.get(family, ())
        for token, skill in tokens if only is None else [row for row in tokens if row[1] in only]:
            if token in text:
                found[skill] = found.get(skill, 0) + text.count(token)
    return found


@lru_cache(maxsize=2048)
def _imported_skills(family: str, line: str) -> Skills:
    """The skills of one line; cached, because the same lines repeat in a history."""
    syntax = syntax_by_family()[family]
    return tuple(skill for name in imported_names(line, syntax) for skill in skills_named(syntax.space, name))


def _add(found: dict[str, int], evidence: Iterable[Skills]) -> None:
    for skills in evidence:
        for skill in skills:
            found[skill] = found.get(skill, 0) + 1


def _requested_skills(lines: Sequence[str], manifest: Manifest) -> Iterator[Skills]:
    if manifest.name == "requirements" and is_pinned(lines):
        return
    for name in requested_names(lines, manifest):
        yield next((skills for space in manifest.spaces if (skills := skills_named(space, name))), NONE)


def technical_skills(commits: Iterable[tuple[ChangeId, Fact]], now_month: Month) -> tuple[TechnicalSkill, ...]:
    """The skills with enough evidence, heaviest first, each with the changes that show it, oldest first.

    A commit weighs the digits of its lines, at most MOST_OF_A_COMMIT, so that one migration weighs little more than one
    import; a month weighs the logarithm of its commits' sum, halved every HALF_LIFE months before `now_month`, and a
    skill that of its months' sum. The order of `commits` does not matter.
    """
    lines: Counter[str] = Counter()
    units: defaultdict[str, Counter[int]] = defaultdict(Counter)
    changes: defaultdict[str, set[tuple[int, ChangeId]]] = defaultdict(set)
    now = _month_number(now_month)
    for change, fact in commits:
        skills = _with_home_skills(fact)
        age = max(0, now - _month_number(month_of(fact.landed_at, _UTC))) if skills else 0
        for name, count in skills.items():
            lines[name] += count
            units[name][age] += min(count.bit_length(), MOST_OF_A_COMMIT)
            changes[name].add((fact.landed_at, change))
    weights = {name: _weight(name, units[name]) for name, count in lines.items() if count >= LEAST_LINES}
    return tuple(
        TechnicalSkill(
            name, round(weights[name], 4), tuple(dict.fromkeys(change for _, change in sorted(changes[name])))
        )
        for name in sorted(weights, key=lambda name: (-weights[name], name))
    )


def _with_home_skills(fact: Fact) -> Mapping[str, int]:
    """The skills of a commit, plus one line for code in the technology's own project.

    Such a project seldom imports or requests itself.
    """
    home = skills_at_home(fact.repository) if fact.languages else NONE
    return {**fact.skills, **{name: fact.skills.get(name, 0) + 1 for name in home}} if home else fact.skills


def _weight(name: str, units: Counter[int]) -> float:
    """log2(1 + the sum of the months, each log2(1 + its units), halved every HALF_LIFE months), oldest month first."""
    total = sum(math.log2(1 + units[age]) * 0.5 ** (age / HALF_LIFE) for age in sorted(units, reverse=True))
    return math.log2(1 + total) * (COMMON if name in index().common else 1)


def _month_number(month: Month) -> int:
    year, number = parse_month(month)
    return year * 12 + number - 1
