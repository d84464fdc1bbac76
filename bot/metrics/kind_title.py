"""What does the grammar of a title show: its verb, and what it speaks of?

A title is read without its ticket, prefix, tags and component (`lib/foo: `), as a person reads it: by the leading verb
(`Add`, `Fixes`, `Don't`) or, in older projects, a participle at the end (`STRLEN command implemented`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from bot.metrics.kind_rules import strip_marks
from bot.metrics.kind_upkeep import is_upkeep_title

Verb = Literal[
    "fix", "prevent", "add", "allow", "improve", "speed", "refactor", "use", "remove", "document", "test", "update",
    "change", "none",
]  # fmt: skip
"""what a leading verb is a sign of; `none` for a title that begins with anything else"""
VERBS: tuple[Verb, ...] = get_args(Verb)
_BASES: dict[Verb, str] = {
    "fix": "fix correct repair resolve hotfix unbreak mend rectify bugfix quickfix",
    "prevent": "prevent avoid stop guard protect ensure handle ignore skip catch restore reset preserve keep retain "
    "respect honor honour escape check validate reject workaround tolerate recover retry unregister never do dont "
    "properly correctly actually always only free close quote",
    "add": "add implement introduce create provide expose new initial",
    "allow": "allow support enable accept permit let",
    "improve": "improve imp enhance extend better expand polish",
    "speed": "optimize optimise speed faster reduce cache micro-optimize",
    "refactor": "refactor ref mov rename move extract split simplify clean cleanup reorganize reorganise restructure "
    "rewrite rework inline unify consolidate merge convert migrate tidy modernize reformat format reorder deduplicate "
    "centralize factor encapsulate decouple isolate modularize rearrange refactoring cleanups",
    "use": "use switch replace port prefer adopt",
    "remove": "remove rem rm del drop delete deprecate disable kill strip discard",
    "document": "document clarify mention describe explain doc docs comment reword note typo typos docfix docfixes "
    "documentation",
    "test": "test tests cover testing",
    "update": "update upd bump upgrade downgrade pin sync regenerate refresh synchronize reflect",
    "change": "change make set turn tweak adjust modify increase decrease show print log return display pass call "
    "send treat mark default raise lower bring run apply minor",
}
_IRREGULAR: dict[str, Verb] = {
    "don't": "prevent", "doesn't": "prevent", "shouldn't": "prevent", "can't": "prevent", "no": "prevent",
    "kept": "prevent", "made": "change", "sent": "change", "shown": "change", "ran": "change", "sped": "speed",
    "rewrote": "refactor", "rewritten": "refactor", "splitting": "refactor",
}  # fmt: skip


def _forms(base: str) -> Iterable[str]:
    """The forms of a regular verb: `add adds added adding`."""
    stem = base.removesuffix("e")
    yield from (base, base + "s", base + "es", stem + "ed", stem + "ing")
    if base.endswith("y"):
        yield from (base[:-1] + "ies", base[:-1] + "ied")
    if base[-1:] in "pgdtm":
        yield from (base + base[-1] + "ed", base + base[-1] + "ing")


_VERBS: dict[str, Verb] = {
    form: verb for verb, bases in _BASES.items() for base in bases.split() for form in _forms(base)
} | _IRREGULAR

_VERB_AS_TYPE = re.compile(
    r"^[\[(]?([A-Za-z]{2,12})[\])]?(?:\([^()\n]{0,60}\))?(?:!?:\s{1,3}|\s{1,3}(?<=[\])]\s))(?=\S)"
)
"""`add: `, `[IMP] `: a project's own type that is a verb"""
_ISSUE = r"(?:(?:[\w.-]{1,60}/[\w.-]{1,60})?#|gh-|bpo-|issue\s)\d{1,7}"
_CLOSING = re.compile(
    rf"(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?)\s(?:for\s|issue\s)?)?{_ISSUE}[\s:,.-]{{1,4}}", re.IGNORECASE
)
_ONLY_ISSUE = re.compile(r"(?:fix|close|resolve|ref)(?:e?[sd])?[\s:]*(?:issues?|bugs?)?\s?[\d#,&. ]*$", re.IGNORECASE)
_TAGS = re.compile(r"(?:\[[^\[\]\n]{1,40}\]\s{0,2}){1,3}")
_COMPONENT = re.compile(r"[\w`./*+#@&<>|{},-]{1,40}(?:\s[\w`./*+-]{1,20}){0,3}(?:\([^()\n]{0,40}\))?:\s{1,3}(?=\S)")
_LEAD = re.compile(r"(?:[-*]\s)?[\"'`(]{0,2}([A-Za-z]+(?:'[a-z]+)?)(?![\w.(])")
_TRAILING = re.compile(
    r"\b(fixed|implemented|added|supported|removed|dropped|refactored|renamed|moved|updated|improved|exposed)"
    r"(?: (?:in|to|for|from|into|by|with)\b.{0,60})?[.!]?$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s{0,2}\(?(?:fixes|closes|fix|close|see|ref|pr)?:?\s{0,2}#\d{1,7}\)?\.?$", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TAIL = re.compile(
    r"(?<=\w)(?:[,;.]| and| &| \+| with| including)\s(?:add(?:s|ed)? |updated? |some |more |an? |the |unit |its ){0,3}"
    r"(?:tests?(?: cases?)?|docs?|documentation|examples?|changelog)\.?$",
    re.IGNORECASE,
)
"""`… and tests`: what comes with the work and is not the work"""
_FAULTS = _words(
    "crash crashes crashed crashing segfault segfaults sigsegv leak leaks leaked leaking leakage deadlock "
    "deadlocks deadlocked race races racy overflow overflows overflowed overflowing underflow underflows "
    "uninitialized uninitialised nullptr bug bugs regression regressions incorrect incorrectly wrong wrongly "
    "broken break breaks broke breakage panic panics hang hangs hanging stuck infinite corrupt corrupts corrupted "
    "corruption corrupting vulnerability vulnerabilities vulnerable cve starvation erroneous erroneously fault "
    "faulty mistaken mistakenly mistake unsound inconsistent inconsistency inconsistencies truncated freeze "
    "freezes freezing frozen"
)
_SOFT_FAULTS = _words(
    "error errors exception exceptions fail fails failed failing failure failures missing invalid unexpected "
    "unexpectedly stale problem problems issue issues lost loses undefined null nil none empty duplicate "
    "duplicates duplicated properly correctly actually mishandle mishandled misleading edge corner bad bogus "
    "spurious ignored never twice compatible compatibility incompatible conflict conflicts proper should sure "
    "instead"
)
_OFFERS = _words(
    "option options flag flags command commands method methods api apis support supports supported supporting "
    "setting settings parameter parameters argument arguments endpoint endpoints hook hooks action actions event "
    "events field fields function functions attribute attributes keyword keywords variable variables type types "
    "decorator decorators plugin plugins mode modes configurable customizable customize customise ability "
    "abilities new"
)
_ASIDES = _words(
    "typo typos spelling spell spelled misspelling misspelled misspellings grammar test tests testing testsuite "
    "testcase testcases spec specs doc docs documentation docstring docstrings docfix docfixes readme changelog "
    "comment comments example examples demo demos lint linting linter lints warning warnings ci travis appveyor "
    "workflow workflows news whitespace indent indentation formatting license licence licenses copyright coverage "
    "flake flakes flaky flakey clippy mypy pylint pep rubocop eslint "
    "jshint jslint tslint semicolon semicolons annotation annotations typing typings jsdoc "
    "utility utilities utils helper helpers macro macros harness scaffold scaffolding bench benchmark benchmarks "
    "benchsuite script scripts internal internals wording tutorial tutorials guide guides website fixture "
    "fixtures fuzz fuzzer fuzzing refactor refactored refactoring cleanup cleanups todo todos authors "
    "contributors makefile cmake bazel dockerfile vendor vendored vendoring unused"
)
_COSTS = _words(
    "allocation allocations allocating alloc cloning clone clones copy copies copying cost costs expensive extra "
    "lookup lookups "
    "needless needlessly overhead recomputing recompute redundant repeated slow unnecessary unnecessarily unneeded work"
)
"""what is avoided to be faster, not to be right"""
_WORD = re.compile(r"[a-z]+")
_FLAG = re.compile(r"(?<![\w-])--?[a-z][\w-]{1,30}|\w\(\)")
_CALL = re.compile(r"\w\(\)")


class TitleSigns(NamedTuple):
    """What a title shows."""

    verb: Verb
    word: str
    """the word behind `verb`, as written"""
    faults: int
    """words for a fault, such as `crash`"""
    soft_faults: int
    """words that go with a fault as often as not, such as `missing`"""
    offers: bool
    """whether it names something that users get: an option, a command, a method"""
    calls: bool
    """whether it names a function by its call: `read_all()`"""
    aside: bool
    """whether it speaks of tests, documents, comments, examples, scripts, CI or warnings"""
    upkeep: bool
    """whether it is a release, a version bump, a merge, an import, formatting or an update of dependencies"""


@lru_cache(maxsize=1024)
def read_title(title: str) -> TitleSigns:
    """The signs in a title."""
    full = title[:300].strip()
    typed = _VERB_AS_TYPE.match(full)
    typed_verb = _VERBS.get(typed[1].lower()) if typed else None
    rest = full[typed.end() :] if typed and typed_verb else full
    text = _TAIL.sub("", _strip_components(strip_marks(rest)))
    components = full[: full.rfind(text)] if text else full
    verb, word = (typed_verb, typed[1]) if typed and typed_verb else _verb(text)
    lower = text.lower()
    words = _WORD.findall(lower)
    if verb == "prevent" and not _COSTS.isdisjoint(words):
        verb = "speed"
    return TitleSigns(
        verb=verb,
        word=word,
        faults=_count(words, _FAULTS),
        soft_faults=_count(words, _SOFT_FAULTS),
        offers=not _OFFERS.isdisjoint(words) or (("-" in text or "()" in text) and _FLAG.search(lower) is not None),
        calls=_CALL.search(text) is not None,
        aside=not _ASIDES.isdisjoint(words) or not _ASIDES.isdisjoint(_WORD.findall(components.lower())),
        upkeep=is_upkeep_title(text) or (components != "" and is_upkeep_title(full)),
    )


def _count(words: Iterable[str], known: frozenset[str]) -> int:
    return sum([word in known for word in words])


def _strip_components(text: str) -> str:
    """The text without leading tags, issues and components and without a number at its end."""
    rest = text
    for _ in range(3):
        before = rest
        for pattern in (_TAGS, _CLOSING, _COMPONENT):
            match = pattern.match(rest)
            if match and match.end() < len(rest):
                rest = rest[match.end() :]
        if rest == before:
            break
    number = _NUMBER.search(rest) if "#" in rest else None
    return rest[: number.start()] if number and number.start() else rest


def _verb(text: str) -> tuple[Verb, str]:
    if _ONLY_ISSUE.match(text) is not None:
        return "none", ""
    lead = _LEAD.match(text)
    verb = _VERBS.get(lead[1].lower()) if lead else None
    if lead and verb:
        return verb, lead[1]
    trailing = _TRAILING.search(text)
    return (_VERBS[trailing[1].lower()], trailing[1]) if trailing else ("none", "")


def count_faults(body: str) -> tuple[int, int]:
    """Words for a fault, and softer ones, in the beginning of a body."""
    words = _WORD.findall(body[:600].lower())
    return _count(words, _FAULTS), _count(words, _SOFT_FAULTS)
