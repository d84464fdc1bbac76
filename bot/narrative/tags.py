"""Which tag does an entry bear: by its prefix, by the section it stands in, or by the kind of what it tells of?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.model.ids import Kind
from bot.narrative.cleaning import Cleaned

_TAG_OF_KIND: Mapping[Kind, str] = {
    "feature": "Feature",
    "bug_fix": "Fix",
    "perf": "Performance",
    "docs": "Documentation",
    "refactor": "Refactoring",
    "test": "Tests",
    "build": "Build",
    "ci": "Build",
    "revert": "Revert",
}
_TAG_OF_SECTION: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Security", ("security", "vulnerab")),
    ("Fix", ("fix", "bug", "correct")),
    ("Performance", ("perf", "speed", "optimi")),
    ("Documentation", ("doc",)),
    ("Feature", ("feat", "add", "new")),
    ("Refactoring", ("refactor",)),
    ("Tests", ("test",)),
    ("Build", ("build", "packag", "ci", "contrib")),
)
_UNSEEN = ("Refactoring", "Tests", "Build")
"""what users do not see, so that a changelog that tells them of it states it itself"""
_LEADING_VERB = re.compile(r"(?:[\w./*&-]+(?:[ ,]+[\w./*&-]+)?:\s+|\[[^\[\]]+\]\s*)*(?P<verb>[A-Za-z]+)")
_FIXES = ("fix", "correct", "repair")
_OTHER_DOINGS: Mapping[str, tuple[str, ...]] = {
    "Feature": (*_FIXES, "remov", "delet", "drop", "refactor", "renam", "deprecat", "simplif", "clean"),
    "Fix": ("refactor", "rewrit", "simplif", "renam", "document", "deprecat", "upgrad"),
    "Refactoring": (*_FIXES, "add", "allow", "implement", "introduc", "provid", "support"),
}
"""how texts begin that say something else than the tag of a kind"""
_OWN_DOINGS: Mapping[str, tuple[str, ...]] = {
    "Feature": ("add", "allow", "enabl", "expos", "implement", "introduc", "let", "new", "provid", "support"),
    "Fix": (*_FIXES, "avoid", "ensur", "handl", "prevent"),
}
"""how texts begin that say what the tag says"""


def tag_of(cleaned: Cleaned, section: str, kind: Kind | None, shared: bool = True) -> str | None:
    """From the prefix that was taken off, else from the section of the changelog, else from the kind, if it is certain.

    Where the text says something else than its prefix or the kind, there is no tag; nor where the kind is not `shared`
    by most of the work and the text does not say it too.
    """
    found = _LEADING_VERB.match(cleaned.text)
    verb = found["verb"].lower() if found else ""
    if cleaned.tag:
        return None if cleaned.tag == "Feature" and verb.startswith(_FIXES) else cleaned.tag
    stated = next((tag for tag, words in _TAG_OF_SECTION if section.startswith(words)), None)
    tag = _TAG_OF_KIND.get(kind) if kind else None
    if stated or tag is None or (section and tag in _UNSEEN):
        return stated
    fits = not verb.startswith(_OTHER_DOINGS.get(tag, ())) and (shared or verb.startswith(_OWN_DOINGS.get(tag, ())))
    return tag if fits else None
