"""What does a path say about its file before any text is read, under the rules of its repository?"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from bot.landing.lines import linguist, path_parts
from bot.landing.lines.attributes import NO_ATTRIBUTES, Attributes
from bot.landing.lines.globs import glob


class Rules(Struct, frozen=True, eq=False):
    """A repository's rules for its own paths. The globs are read as in .gitattributes and take precedence over it."""

    attributes: Attributes = NO_ATTRIBUTES
    extra_generated: tuple[str, ...] = ()
    extra_vendored: tuple[str, ...] = ()
    extra_docs: tuple[str, ...] = ()
    extra_tests: tuple[str, ...] = ()
    extra_authored: tuple[str, ...] = ()
    """the project's own work, whatever the other rules say about its path"""


NO_RULES = Rules()


class PathClassification(Struct, frozen=True):
    """What is known from a path before any text is read.

    `ruled`: decided by the repository itself. `hand_written`: the repository says that no program wrote it.
    """

    part: str | None
    ruled: bool
    hand_written: bool
    language: str | None
    is_certain: bool
    """the name is enough to determine the language"""
    own: str
    """docs, tests, config or authored, if it is the project's own work in this language"""


@lru_cache(maxsize=2048)
def classify_path(path: str, rules: Rules) -> PathClassification:
    """The decisions about a path that hold for every commit under these rules. `part` None: the project's own work."""
    stated_attributes = rules.attributes.all(path) if rules.attributes.lines else {}
    stated = stated_attributes.get("linguist-language")
    name = linguist.language_named(stated) if isinstance(stated, str) else None
    found = linguist.candidates(path[path.rfind("/") + 1 :])
    language = name or linguist.language(path)
    part = _part_by_globs(path, rules)
    if part is None and stated_attributes:
        part = _part_by_attributes(path, rules.attributes)
    ours = bool(stated_attributes) and rules.attributes.get(path, "linguist-generated") is False
    is_certain = bool(name) or found.is_certain
    if part is not None:
        return PathClassification(part, True, ours, language, is_certain, part)
    own = bool(stated_attributes) and rules.attributes.get(path, "linguist-vendored") is False
    part = _part_by_path(path, ours, own)
    return PathClassification(part, False, ours, language, is_certain, part or own_part(path, language, rules))


def _part_by_globs(path: str, rules: Rules) -> str | None:
    """The part given by the repository's own globs."""
    for part, globs in (
        ("authored", rules.extra_authored),
        ("generated", rules.extra_generated),
        ("vendored", rules.extra_vendored),
        ("docs", rules.extra_docs),
        ("tests", rules.extra_tests),
    ):
        if any(glob(pattern).match(path) for pattern in globs):
            return part
    return None


def _part_by_attributes(path: str, attributes: Attributes) -> str | None:
    """The part given by .gitattributes. A lock file marked as generated stays a lock file."""
    if _is_set(attributes.get(path, "linguist-generated")):
        return "lockfiles" if path_parts.is_lock_file(path) else "generated"
    if _is_set(attributes.get(path, "linguist-vendored")):
        return "vendored"
    return "docs" if _is_set(attributes.get(path, "linguist-documentation")) else None


def _is_set(value: bool | str | None) -> bool:
    return value is not None and value is not False


def _part_by_path(path: str, ours: bool, own: bool) -> str | None:
    """The part of a file from outside the project by its path, unless the repository says that it is `ours` (not
    generated) or `own` (not vendored).
    """
    if not ours and path_parts.is_lock_file(path):
        return "lockfiles"
    if not own and path_parts.is_vendored(path):
        return "vendored"
    return "generated" if not ours and path_parts.is_written_by_program(path) else None


def own_part(path: str, language: str | None, rules: Rules) -> str:
    """docs, tests, config or authored, for a path that is the project's own work."""
    part = path_parts.hand_written_part(path, language)
    if part != "docs" or rules.attributes.get(path, "linguist-documentation") is not False:
        return part
    if linguist.language_type(language) == "prose":
        return part
    return "tests" if path_parts.is_test(path) else "authored"
