"""Which keys may a repository's configuration file contain, and how is each checked?"""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from bot.configuration.package_files import read_text
from bot.landing.lines.globs import glob
from bot.landing.repo_config.shapes import ChoiceShape, ListShape, MappingShape, Shape, TextShape, suggestion
from bot.landing.repo_config.tree import quote_text
from bot.model.ids import KINDS

_NEVER = "(?!)"
"""appears in the expression of a pattern that no path can match"""


class Key(Struct, frozen=True):
    """One key of the file; dots separate the levels of nested keys."""

    name: str
    shape: Shape
    about: str


def _glob_error(pattern: str) -> str | None:
    if pattern.startswith("!"):
        return "starts with `!`; patterns here cannot be negated"
    if pattern.endswith("/"):
        return f"matches no file; write {quote_text(pattern + '**')} for everything in the folder"
    return "can match nothing" if _NEVER in glob(pattern).pattern else None


@cache
def _zones() -> tuple[str, ...]:
    # the list from the tzdata package: a machine's own folder may also contain names that mean nothing elsewhere
    return tuple(read_text("tzdata", "zones").split())


def _zone_error(name: str) -> str | None:
    if name in _zones():
        return None
    lower = {zone.lower(): zone for zone in _zones()}
    if name.lower() in lower:
        return f"is not an IANA time zone; did you mean {lower[name.lower()]}?"
    return "is not an IANA time zone" + (suggestion(name, _zones()) or "; for example Europe/Berlin")


def _plain_name(text: str, others: str) -> bool:
    return all(sign.isascii() and (sign.isalnum() or sign in others) for sign in text)


def _repository_error(name: str) -> str | None:
    owner, slash, rest = name.partition("/")
    good = owner and slash and rest.strip(".") and _plain_name(owner, "-_") and _plain_name(rest, "-_.")
    return None if good else "is not a repository; write owner/name"


def _bot_error(name: str) -> str | None:
    local, at, domain = name.partition("@")
    if at:
        good = bool(local.strip() and domain) and not set(name) & set(" <>\t,;") and "@" not in domain
    else:
        good = bool(local.removesuffix("[bot]")) and _plain_name(local.removesuffix("[bot]"), "-_")
    return None if good else "is neither a login nor an email address"


def _trailer_error(name: str) -> str | None:
    good = name[0].isalpha() and name == name.strip() and "  " not in name and _plain_name(name, "- ")
    return None if good else "is not a trailer; write its name without the colon, as in Landed-PR"


def _accept_any(text: str) -> None:
    return None


_GLOBS = ListShape(TextShape("a pattern", _glob_error, pattern=r"^[^!].*$"))
_KIND = ChoiceShape(tuple(kind for kind in KINDS if kind != "revert"))
"""only the commit itself makes a change a `revert`, never a label"""
_BOT_PATTERN = r"^([A-Za-z0-9_-]+(\[bot\])?|[^@\s<>,;]+@[^@\s<>,;]+)$"
_ACCOUNTS = ListShape(TextShape("a login or an email address", _bot_error, 254, _BOT_PATTERN))
_NAME_PATTERN = r"^[A-Za-z0-9_-]+/[A-Za-z0-9._-]+$"

KEYS: tuple[Key, ...] = (
    Key(
        "on_merge",
        ChoiceShape(("check", "comment", "off")),
        "What is posted when work lands: a check run on the landed commit, a comment on the pull request, or nothing.",
    ),
    Key(
        "digest",
        ChoiceShape(("issue", "discussion", "off")),
        "Where the monthly digest is posted: an issue, a discussion, nowhere.",
    ),
    Key(
        "digest_repository",
        TextShape("a repository as owner/name", _repository_error, 140, _NAME_PATTERN),
        "The repository whose issue or discussion receives the digest; by default the repository itself.",
    ),
    Key(
        "first_digest",
        ChoiceShape(("preview", "post")),
        "Whether the first month after installation is shown only to the installer, or posted like any other.",
    ),
    Key(
        "writer",
        ChoiceShape(("template", "llm")),
        "Who writes the digest: the templates, or the language model, if the operator of Almanac configured one; by "
        "default the model is used for public repositories only.",
    ),
    Key("timezone", TextShape("an IANA time zone", _zone_error, 64), "The zone whose calendar months are used."),
    Key("lines.authored", _GLOBS, "Paths that are the project's own work, regardless of other rules."),
    Key("lines.generated", _GLOBS, "Paths written by programs."),
    Key("lines.vendored", _GLOBS, "Paths copied from other projects."),
    Key("lines.docs", _GLOBS, "Paths that are documentation."),
    Key("lines.tests", _GLOBS, "Paths that are tests."),
    Key(
        "landing.bots",
        _ACCOUNTS,
        "Accounts that commit other people's pull requests; `(#12)` at the end of their subjects counts as proof.",
    ),
    Key(
        "landing.trailers",
        ListShape(TextShape("a trailer's name", _trailer_error, 64, r"^[A-Za-z][A-Za-z0-9 -]*$")),
        "Trailers whose value is a pull request of this repository, as a number or an address.",
    ),
    Key(
        "machines.add",
        _ACCOUNTS,
        "Accounts that are machines: nobody is credited for what they commit.",
    ),
    Key(
        "machines.people",
        _ACCOUNTS,
        "Accounts that are people, although their name looks like a machine's.",
    ),
    Key(
        "kinds.labels",
        MappingShape(TextShape("a label", _accept_any, 100), _KIND),
        "The kind of change that a label stands for.",
    ),
    Key(
        "kinds.scopes",
        MappingShape(TextShape("a scope", _accept_any, 100), _KIND),
        "The kind of change that the scope of a prefix stands for, such as `deps` in `chore(deps): …`.",
    ),
)
