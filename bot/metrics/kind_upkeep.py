"""Is a change mere upkeep: a release, a version bump, a merge, an import, formatting, an update of dependencies?

Such work is neither a feature nor a fix, whatever its words and lines look like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.landing.lines.split import ReadFile
from bot.metrics.kind_features import file_category

_VERSION = r"v?\d+\.\d+(?:\.\d+){0,2}(?:[.-]?(?:a|b|c|rc|dev|alpha|beta|pre|post|final|snapshot)[\w.-]{0,12})?"
_RELEASE = re.compile(
    r"(?:(?:releas(?:e|ed|ing)|prepar(?:e|ing)|bump(?:s|ed|ing)?|set|tag(?:ged)?|cut|draft|start|begin|update|back"
    r"|open|towards|now|new|mark|finali[sz]e|publish|push|make|this is|next|version)\b[\s:]{0,2})?"
    r"(?:(?:the|to|for|a|is|new|next|as|on)\s){0,2}"
    r"(?:(?:releas(?:e|ing)|version|version number|changelog|tag|beta|alpha)[\s:]{1,2}(?:(?:to|for|number|of|as)\s)?)?"
    rf"(?:[A-Za-z@`][\w./@`-]{{0,40}}[\s-])?{_VERSION}"
    r"(?: (?:releases?|changelog|development|dev|final|\(.{0,30}\)))?[.!]?$",
    re.IGNORECASE,
)
"""a version with at most the name of what is released: `1.2.3`, `Release 1.2`, `bump version to v2.0-rc1`"""
_OTHERWISE = re.compile(r"[;+&]|, |\band (?:add|support|fix|implement|allow|new|make|remove|use)", re.IGNORECASE)
"""what shows that a title tells of other work too"""
_BRANCHES = r"upstream|origin|master|main|trunk|develop|branch|head|[\w.-]{1,40}/[\w./-]{1,60}"
_PHRASES: dict[str, str] = {
    "release": r"release(?:s|d)?(?: notes?| candidate| version| prep\w*|$| \S{1,40}$)",
    "prepare": r"prepar(?:es?|ing|ation)(?: for)?(?: the| a| next| new)?(?: \w{1,12})? (?:release|version|v?\d[\w.-]*)",
    "bump": r"bump(?:s|ed|ing)?(?:$| \S{1,40}$|\b.{0,60}\b(?:version\w*|dep\w*|submodules?|lock ?file|requirements"
    r"|vendor\w*|to|from|year)\b)",
    "update": r"(?:update|upgrade|downgrade|pin|refresh)(?:s|d|ing|ned|ning)?\b(?:"
    r".{0,60}\b(?:dependenc\w+|deps|submodules?|lock ?files?|requirements\.txt|go\.(?:mod|sum)|cargo\.lock|vendored)\b"
    r"|.{1,60}(?:\bto\b|\bfrom\b|->|=>|>=|==|@)\s?v?\d+(?:\.\d+)+"
    r"| (?:the )?(?:version|version number|version numbers|changelog|change log|changes|news|authors|contributors"
    r"|history|copyright|licen[cs]e year|release notes)\b)",
    "merge": r"merge(?:d|s)?(?:$| '| \"| \S+/\S+$| #\d+| (?:remote-tracking )?(?:branch(?:es)?|tag"
    r"|commits?(?! from fork)|pull requests?|prs?|changes from|latest|(?:(?:in|with|from|back|into)\b ?)?(?:the )?"
    rf"(?:{_BRANCHES}))\b| (?:in|with|from|back)$)",
    "import": r"(?:(?:initial|first) (?:commit|import|check-?in|revision)(?:$|[.:,]| of| from| for)"
    r"|import(?:ed|ing)? (?:of |from )?(?:the |initial |upstream |old |all )?(?:history|sources?|repo\w*|upstream"
    r"|code ?base|svn|cvs)\b)",
    "sync": r"(?:re-?)?sync(?:ed|s|hroni[sz](?:e|ed|ing))?(?:$| up$| (?:(?:up )?(?:with|from|to) )?(?:the |latest )?"
    rf"(?:{_BRANCHES}|fork)\b)",
    "format": r"(?:(?:auto-?|re-?)?format(?:ted|ting)?|run|ran|apply|applied)\b.{0,40}\b(?:black|gofmt|rustfmt"
    r"|clang-format|prettier|isort|yapf|autopep8|cargo fmt|fmt|formatting|code ?style)\b",
    "white": r"(?:(?:fix|remove|strip|trim|clean ?up|kill|delete)\w{0,4} )?(?:trailing |extra |some )?white-?spaces?"
    r"(?: (?:fix\w*|clean-?up|changes?|errors?|only|damage|policy|nits?))?[.!]?$|ws[.!]?$|re-?indent"
    r"|indentation[.!]?$|pep-?8|gofmt|rustfmt|cargo fmt|black$|isort|flakes?\b|pyflakes|reformat(?:ted)?\b"
    r"|cod(?:e|ing) style(?:$|:| fix| clean)",
    "imports": r"(?:sort|reorder|organi[sz]e|clean(?: ?up)?|tidy|remove unused|fix|reorgani[sz]e|optimi[sz]e)"
    r"(?:s|ed|ing)? (?:up )?(?:the |some |unused )?(?:imports\b(?! (?:of|from|error|fail))"
    r"|import (?:order|sort|style))",
    "changelog": r"(?:(?:change-?log|release[ -]notes)(?:$|:| for| update| entry|\.\w{2,4}$)"
    r"|(?:changes|news|authors|history)(?:$| for v?\d| update| entry|\.\w{2,4}$))",
    "dependency": r"(?:dependenc(?:y|ies)|deps|go\.mod|lock ?file|submodules?|vendor(?:ed|ing)?|subtrees?)\b:? ?"
    r"(?:updat|bump|upgrad|sync)\w{1,3}",
    "version": r"version(?: number)? bump|new version|(?:post|pre)[- ]release|next (?:dev\w*|version)|re-?vendor",
    "year": r"(?:copyright|licen[cs]e) years?|happy new year|(?:now )?(?:depends on|requires) \S{1,40} (?:>=? ?)?v?\d",
}
_UPKEEP = re.compile("|".join(f"(?:{phrase})" for phrase in _PHRASES.values()), re.IGNORECASE)
_BUMP = re.compile("|".join(f"(?:{_PHRASES[name]})" for name in ("bump", "update", "dependency", "version")), re.I)
_SCOPES = frozenset(("deps", "deps-dev", "dependencies"))
_LOGS = frozenset(("log",))
_LOCKS = frozenset(("lock",))


def is_upkeep_title(text: str) -> bool:
    """Whether a title without its marks tells of nothing but upkeep."""
    if _RELEASE.match(text) is not None:
        return True
    return _UPKEEP.match(text) is not None and _OTHERWISE.search(text) is None


def is_stated_upkeep(scope: str, text: str) -> bool:
    """Whether a prefix such as `fix:` stands before a version bump: by its scope, as in `fix(deps): …`, or its text."""
    return scope in _SCOPES or _RELEASE.match(text) is not None or _BUMP.match(text) is not None


def upkeep_by_files(files: Sequence[ReadFile]) -> str | None:
    """Why the files show mere upkeep: only the changelog, only lock files or only white space changed."""
    if not files:
        return None
    categories = {file_category(file.change.path, file.part) for file in files}
    if categories <= _LOGS:
        return "only the changelog changed"
    if categories <= _LOCKS:
        return "only lock files changed"
    return "only white space changed" if _only_white_space(files) else None


def _only_white_space(files: Sequence[ReadFile]) -> bool:
    """Whether every file keeps its text."""
    return all(file.whitespace and file.whitespace == len(file.added) + len(file.removed) for file in files)
