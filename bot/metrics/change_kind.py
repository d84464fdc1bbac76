"""What kind of change is this, and which rule or words say so?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from bot.landing.lines import ReadFile
from bot.model import Kind

_PREFIX = re.compile(r"^(?P<type>[a-zA-Z]{2,12})(?:\([^()\n]{1,60}\))?!?:")
_TYPES: dict[str, Kind] = {
    "feat": "feature", "feature": "feature", "fix": "bug_fix", "bugfix": "bug_fix", "hotfix": "bug_fix", "bug": "bug_fix",
    "docs": "docs", "doc": "docs", "test": "test", "tests": "test", "refactor": "refactor", "perf": "perf",
    "style": "style", "chore": "chore", "build": "build", "deps": "build", "ci": "ci", "revert": "revert",
}  # fmt: skip
_WORDS: tuple[tuple[str, Kind], ...] = (
    (r"fix(?:e[sd]|ing)?|bugs?|crash(?:es)?|regression|wrong|broken|incorrect", "bug_fix"),
    (r"add(?:s|ed)?|implement(?:s|ed)?|support(?:s|ed)?|introduce[sd]?|new|allow(?:s|ed)?|enable[sd]?", "feature"),
    (r"refactor(?:s|ed)?|rename[sd]?|move[sd]?|clean(?:up)?|simplif(?:y|ies|ied)|extract(?:s|ed)?", "refactor"),
    (r"docs?|documentation|readme|changelog|typos?", "docs"),
    (r"bump(?:s|ed)?|upgrade[sd]?|dependenc(?:y|ies)|release", "build"),
)
_COMPILED = tuple((re.compile(rf"\b(?:{words})\b", re.IGNORECASE), kind) for words, kind in _WORDS)
_LABELS: dict[str, Kind] = {"bug": "bug_fix", "enhancement": "feature", "feature": "feature", "documentation": "docs"}


@dataclass(frozen=True, slots=True)
class Evidence:
    title: str
    body: str = ""
    files: Sequence[ReadFile] = ()
    labels: Sequence[str] = ()
    branch: str = ""
    issue_types: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    kind: Kind
    why: str
    certain: bool = True


def classify(evidence: Evidence) -> Verdict:
    title = evidence.title
    if title.startswith('Revert "') or "This reverts commit" in evidence.body:
        return Verdict("revert", "revert marker")
    match = _PREFIX.match(title)
    if match and match["type"].lower() in _TYPES:
        return Verdict(_TYPES[match["type"].lower()], f"stated prefix {match['type']}:")
    for label in evidence.labels:
        if label.lower() in _LABELS:
            return Verdict(_LABELS[label.lower()], f"label {label}")
    parts = {file.part for file in evidence.files}
    if parts == {"docs"} or parts == {"tests"}:
        return Verdict(cast(Kind, "docs" if parts == {"docs"} else "test"), f"only {parts.pop()} changed")
    for pattern, kind in _COMPILED:
        found = pattern.search(title)
        if found:
            return Verdict(kind, f"word {found[0]!r} in the title", certain=False)
    return Verdict("chore", "no sign of a kind", certain=False)
