"""Is a file a changelog, release notes or a news fragment, and what does a fragment's name state?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

_TEXT = r"(?:\.(?:md|mdx|markdown|rst|txt|adoc|asciidoc|org))"
_LOG = re.compile(
    rf"(?:change-?_?logs?|changes|news|history|release-?_?notes?|releases"
    rf"|what'?s-?_?new)(?:[-_.]?v?\d[\w.-]*)?{_TEXT}?",
    re.IGNORECASE,
)
_LOG_FOLDERS = frozenset(
    ("changelog", "changelogs", "changes", "release-notes", "release_notes", "releasenotes", "releases", "whatsnew")
)
_VERSION = re.compile(
    rf"(?:release|version|changes|changelog|v)?[-_]?v?\d+(?:[._]\w+)*(?:-notes)?{_TEXT}", re.IGNORECASE
)
_FRAGMENT_FOLDERS = frozenset(
    (
        *("changes", "newsfragments", "news", "changelog.d", "changes.d", "changelog", "changelogs", "news.d"),
        *("fragments", "changelog_unreleased", "unreleased", "topfiles", "newsfragment", "news_fragments", ".changes"),
    )
)
_TYPES = (
    "feature|feat|features|added|add|new|enhancement|enh|improvement|improvements|bugfix|bug|bugfixes|fix|fixes|fixed"
    "|doc|docs|documentation|perf|performance|security|removal|removed|deprecation|deprecated|breaking|change|changed"
    "|misc|trivial|vendor|process|contrib|packaging|internal|internals|test|tests|build|ci|refactor|maintenance|minor"
    "|major|patch|other|update|upgrade|highlight|plugin|types|typing"
)
_FRAGMENT = re.compile(rf"(?P<number>\+|[\w+-]{{1,60}}?)\.(?P<type>{_TYPES})(?:\.\d{{1,3}})?{_TEXT}?", re.IGNORECASE)
_FREE_FRAGMENT = re.compile(rf".{{1,100}}{_TEXT}")
_NOT_OWN = frozenset(
    (
        *("vendor", "vendored", "_vendor", "third_party", "third-party", "thirdparty", "3rdparty", "deps", "extern"),
        *("external", "externals", "node_modules", "bower_components", "subprojects", "submodules"),
    )
)
"""folders that hold other projects, whose changelogs tell of nothing here"""
_NOT_ENTRIES = ("readme", "template", "_template", "config", "index", "contributing", "new_changelog")


class ChangelogFile(NamedTuple):
    """What the path of a file that tells of changes states."""

    form: Literal["log", "fragment", "changeset"]
    number: int = 0
    """of the issue or pull request in a fragment's name; 0 if there is none"""
    section: str = ""
    """the kind of change in a fragment's name, in lower case"""


@lru_cache(maxsize=1 << 15)
def changelog_file(path: str) -> ChangelogFile | None:
    """What kind of changelog the file at this path is; None if it is another file."""
    *folders, name = path.lower().split("/")
    if not _NOT_OWN.isdisjoint(folders):
        return None
    if name.startswith(_NOT_ENTRIES) and not name.startswith("changelog"):
        return None
    parent = folders[-1] if folders else ""
    if parent == ".changeset":
        return ChangelogFile("changeset") if name.endswith(".md") else None
    if parent in _FRAGMENT_FOLDERS and (match := _FRAGMENT.fullmatch(name)):
        digits = match["number"].lstrip("gh-").partition("-")[0]
        number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 9 else 0
        return ChangelogFile("fragment", number, match["type"])
    if parent in ("changelog.d", "changes.d", "newsfragments") and _FREE_FRAGMENT.fullmatch(name):
        return ChangelogFile("fragment")
    if _LOG.fullmatch(name) or (_LOG_FOLDERS.intersection(folders) and _VERSION.fullmatch(name)):
        return ChangelogFile("log")
    return None


def is_own_page(path: str) -> bool:
    """Whether a page of text is the project's own and no changelog."""
    return _NOT_OWN.isdisjoint(path.lower().split("/")) and changelog_file(path) is None
