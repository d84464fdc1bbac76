"""How are the identities of a work group written, so that equal strings mean the same work?

Strong keys (facts that share one are the same change; `Fact.keys`)
    `commit:<full id>`       the commit itself, or the one it was cherry-picked or exported from
    `pr:<owner/name>#<n>`    a pull request, proved here or named in a trailer about the work's origin
    `drev:D<n>`              Phabricator's Differential Revision
    `change-id:I…`           Gerrit's Change-Id                    `review:<address>`  a code review elsewhere
    `shipit:<12 hex>`        fbshipit-source-id                    `piper:<n>`         PiperOrigin-RevId
    `ghstack:<id>`           ghstack-source-id                     `mail:<message id>` a patch sent by mail
    `svn:<repository>@<n>`   git-svn-id                            `mr:<path>!<n>`     GitLab merge request
    `copy:<digest>`          author's e-mail, author time and subject, which a cherry-pick preserves
    `patch:<digest>`         author's e-mail, subject and changed lines, within one repository (or its parent)

Weak keys (they find a target but never join two facts; also in `Fact.keys`)
    `made:<digest>`               the lines that the commit added and removed in one of its largest files
    `undoes:made:<digest>`        the commit says that it takes something back, and this is what it took back there
    `port:<key>`                  the commit is a backport of what has that key: a title, an abbreviated commit id
    `title:<owner/name>:<title>`  subject or pull request title, see `plain_title`
    `slice:<owner/name>#<n>`      the commit is an export of work whose home is that other repository

References to other commits (`Fact.reverts`, `Fact.relands`) use the same strings; commit ids may be abbreviated to
seven digits, and the prefix `part:` means that only a part is reverted.

A store finds the facts to fold together by comparing strings for equality: start with one fact and add every fact that
offers a string one of them asks for, or asks for a string one of them offers, until nothing is added (`component`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import itemgetter
from types import MappingProxyType

from bot.landing.lines.patch import PatchLines
from bot.model.commit import FileChange, Repository
from bot.model.fact import Fact

PART = "part:"
PORT = "port:"
MADE = "made:"
UNDOES = "undoes:"
WEAK = ("title:", "slice:", PORT, MADE, UNDOES)
NO_REPOSITORIES: Mapping[str, Repository] = MappingProxyType({})
_SHORT = len("commit:") + 7
_TINY = 4
"""a patch with fewer changed lines is too small to serve as an identity"""


def pull_key(repository: str, number: int) -> str:
    return f"pr:{repository.lower()}#{number}"


def commit_key(commit: str) -> str:
    """The key under which a store files a commit: its first characters, since messages may abbreviate its id."""
    return f"commit:{commit}"[:_SHORT]


def title_key(repository: str, title: str) -> str:
    return f"title:{repository.lower()}:{plain_title(title)}"


@lru_cache(maxsize=1024)
def plain_title(title: str) -> str:
    """A title as used for comparison: without a final `(#N)`, enclosing quotes, case or repeated blanks."""
    title = title.strip()
    while title.endswith(")") and (at := title.rfind("(#")) > 0 and title[at + 2 : -1].isdecimal():
        title = title[:at].rstrip()
    return " ".join(title.strip(" \"'`…").lower().split())


def digest(*parts: str) -> str:
    """The hash of the parts, separated by NULs. They may be large, so they are not concatenated first."""
    hashed = blake2b(digest_size=12)
    for index, part in enumerate(parts):
        if index:
            hashed.update(b"\0")
        hashed.update(part.encode("utf-8", "replace"))
    return hashed.hexdigest()


def patch_key(
    scope: str, email: str, title: str, files: Sequence[FileChange], patches: Sequence[PatchLines | None]
) -> str | None:
    """The identity of a patch, wherever its lines moved; None if it is too small or not all of it is available.

    Source: the idea of `git patch-id`, ignoring blanks at both ends of a line.
    """
    with_lines = [(file.path, lines) for file, lines in zip(files, patches, strict=True) if lines is not None]
    if len(with_lines) < len(files) or sum([len(lines.added) + len(lines.removed) for _, lines in with_lines]) < _TINY:
        return None
    parts: list[str] = []
    count = 0
    for path, lines in sorted(with_lines, key=itemgetter(0)) if len(with_lines) > 1 else with_lines:
        more, texts = lines.signed_texts()
        count += more
        parts += [path, *texts]
    if count < _TINY:
        return None
    return "patch:" + digest(scope.lower(), email.lower(), plain_title(title), *parts)


def current_key(key: str, repositories: Mapping[str, Repository]) -> str:
    """The key with the repository's current name, where `repositories` knows the old one."""
    if not repositories:
        return key
    if key.startswith(PORT):
        return PORT + current_key(key.removeprefix(PORT), repositories)
    kind, _, rest = key.partition(":")
    if kind not in ("pr", "slice", "title"):
        return key
    mark = ":" if kind == "title" else "#"
    name, _, tail = rest.partition(mark)
    return f"{kind}:{current_name(name, repositories).lower()}{mark}{tail}"


class Renaming:
    """Converts keys to the current names of their repositories; nearly always they stay the same."""

    def __init__(self, repositories: Mapping[str, Repository]) -> None:
        # The names in keys are in lower case.
        moved = any(name != now.full_name.lower() for name, now in repositories.items() if name == name.lower())
        self._repositories = repositories if moved else NO_REPOSITORIES

    def key(self, key: str) -> str:
        return current_key(key, self._repositories)

    def keys(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([current_key(key, self._repositories) for key in keys]) if self._repositories else keys


def current_name(name: str, repositories: Mapping[str, Repository]) -> str:
    known = repositories.get(name) or repositories.get(name.lower())
    return known.full_name if known else name


def offered_keys(fact: Fact, repositories: Mapping[str, Repository] = NO_REPOSITORIES) -> tuple[str, ...]:
    """The strings under which a store files the fact."""
    return _stored_keys((f"commit:{fact.commit}", f"commit:{fact.merge_commit}", *fact.keys), repositories)


def sought_keys(fact: Fact, repositories: Mapping[str, Repository] = NO_REPOSITORIES) -> tuple[str, ...]:
    """The strings by which a store looks for facts connected to this one."""
    targets = [key.removeprefix(PART) for key in (*fact.reverts, *fact.relands)]
    asking = [key.removeprefix(PORT).removeprefix(UNDOES) for key in fact.keys if key.startswith((PORT, UNDOES))]
    strong = [key for key in fact.keys if not key.startswith(WEAK)] + asking
    return _stored_keys((f"commit:{fact.commit}", *targets, *strong), repositories)


def _stored_keys(keys: Sequence[str], repositories: Mapping[str, Repository]) -> tuple[str, ...]:
    """The keys as a store has them: under current names, with abbreviated commit ids, in order."""
    if repositories:
        keys = [current_key(key, repositories) for key in keys]
    return tuple(sorted({key[:_SHORT] if key.startswith("commit:") else key for key in keys}))
