"""What does Almanac store about one landed commit?"""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import add, attrgetter
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import fields

from bot.model.commit import GITHUB, Share, Signature
from bot.model.ids import NO_COUNTS, STATED, CommitId, Kind, UserId, no_counts

PARTS = (
    "authored",
    "tests",
    "docs",
    "config",
    "generated",
    "vendored",
    "lockfiles",
    "moved",
    "whitespace",
    "reverted",
    "mirrored",
)
each_part: Callable[[object], tuple[int, ...]] = attrgetter(*PARTS)


class Lines(Struct, frozen=True):
    """Changed lines (additions + deletions as git counts them), each in one part; the parts sum to git's total."""

    authored: int = 0
    tests: int = 0
    docs: int = 0
    config: int = 0
    generated: int = 0
    vendored: int = 0
    lockfiles: int = 0
    moved: int = 0
    whitespace: int = 0
    reverted: int = 0
    mirrored: int = 0

    @property
    def total(self) -> int:
        return sum(each_part(self))

    @property
    def code(self) -> int:
        """Lines of code as the profile shows them: authored + tests + docs + config."""
        return self.authored + self.tests + self.docs + self.config

    def __add__(self, other: Lines) -> Lines:
        return Lines(*map(add, each_part(self), each_part(other)))

    def as_dict(self) -> dict[str, int]:
        """The parts and `total`, in the order of the schema."""
        return dict(zip(PARTS, each_part(self), strict=True)) | {"total": self.total}


class AiMark(Struct, frozen=True):
    """One disclosed trace of an AI tool on one commit.

    `level` 1 line notes, 2 agent-authored, 3 trailer or footer, 4 pull request only, 5 applied suggestion (METRICS.md).
    `source` is the attribution line or field that shows it.
    """

    level: Literal[1, 2, 3, 4, 5]
    tool: str
    source: str


class Evidence(Struct, frozen=True):
    """What GitHub said about whose work a landed commit is. A commit read from a clone alone has none."""

    opener: UserId | None = None
    """the account that opened the pull request"""
    opener_writes: bool = False
    """whether GitHub says that the opener belongs to the repository (owner, member or collaborator)"""
    pusher: UserId | None = None
    """the account that pushed the commit to the default branch itself"""
    signer: UserId | None = None
    """the account whose verified signature the commit has; never GitHub's own"""
    collaborators: tuple[UserId, ...] = ()
    """of the people in `shares`, those whom GitHub lists as collaborators of the repository"""
    shares: tuple[Share, ...] = ()
    """the pull request's commits by author, if it landed as one commit; empty if they were not read"""
    pull_request: bool = False
    """whether a pull request brought it"""
    opener_is_machine: bool = False
    """GitHub says that the opener is a Bot"""
    pulls_known: bool = False
    """every pull request of the repository was known: without one, somebody with write access pushed it"""


class ChangelogLine(NamedTuple):
    """One entry of a changelog, of release notes or a news fragment, as a landing added it."""

    text: str
    """its first paragraph on one line, with its markup, truncated"""
    numbers: tuple[int, ...] = ()
    """the issues and pull requests of the repository that it names"""
    section: str = ""
    """the heading above it or the type in a fragment's name, in lower case"""
    people: tuple[str, ...] = ()
    """logins and names that it credits"""
    release: str = ""
    """the version in the heading above it"""
    form: Literal["fragment", "new", "edited"] = "new"
    """a news fragment is about the change that adds it; an edited entry stood there before in other words"""


ImportChange = tuple[str, tuple[str, ...], tuple[str, ...]]
"""a file, and the names that a commit begins and stops to import in it (metrics/import_changes.py)"""


class Fact(Struct, frozen=True):
    """Everything that later steps need about one landed commit, measured without looking at other commits.

    The ledger and the caches of clones store facts. They are pure functions of a `Landing`.
    """

    repository: str
    commit: CommitId
    landed_at: int
    """epoch seconds"""
    authored_at: int
    author: Signature
    committer: Signature
    title: str
    """subject line, or the pull request's title if this is its only commit"""
    how: str
    """name of the landing convention that brought it (`bot/landing/conventions/catalogue.py`)"""
    merge_commit: CommitId
    pull_request: int | None = None
    """number in `repository`, only if proved"""
    co_authors: tuple[Signature, ...] = ()
    keys: tuple[str, ...] = ()
    """identities of the work group, e.g. `pr:owner/name#12` or `drev:D123`; `bot.landing.same_work.keys`"""
    reverts: tuple[str, ...] = ()
    """identities (same form as `keys`) that this commit says it reverts"""
    relands: tuple[str, ...] = ()
    """identities that this commit says it lands again"""
    lines: Lines = Lines()
    kind: Kind = "chore"
    why: str = ""
    certain: bool = True
    languages: Mapping[str, int] = field(default_factory=no_counts)
    """hand-written lines by language as github.com counts them"""
    skills: Mapping[str, int] = field(default_factory=no_counts)
    """lines of evidence by skill of the vocabulary"""
    ai: tuple[AiMark, ...] = ()
    paths: tuple[str, ...] = ()
    """source paths touched (not generated, vendored or lock files), sorted, at most 300"""
    links: tuple[str, ...] = ()
    """what items are grouped by: `issue:owner/name#5`, `pr:owner/name#7`, `stack:…`, `series:…`, `scope:…`"""
    partial: bool = False
    opened_at: int | None = None
    """epoch seconds at which `pull_request` was opened, if GitHub says so; a clone never does"""
    probability: int = STATED
    """of `kind`, in thousandths; a kind that somebody stated has `STATED`"""
    evidence: Evidence | None = None
    """None for a clone"""
    subject: str = ""
    """the commit's own subject, if `title` is another text"""
    merge_subject: str = ""
    """the subject of the merge commit that landed it, unless that is "Merge …" or empty"""
    changelog: tuple[ChangelogLine, ...] = ()
    """the changelog entries that the commit adds"""
    renames: tuple[tuple[str, str], ...] = ()
    """files and folders that the commit moved: old and new path, at most 100"""
    headings: tuple[str, ...] = ()
    """short headings that it adds to the documentation"""
    areas: tuple[str, ...] = ()
    """parts of the product that the pull request's labels name, as in `area/storage`"""
    clamped: bool = False
    """whether `landed_at` stands for a committer time that cannot be"""
    line_hashes: bytes = b""
    """the source lines that it adds to and removes from each file (metrics/line_hashes.py); stores keep them apart from
    the rest of the fact, and a fact that was read back has none"""
    host: str = GITHUB
    """the server of the repository"""
    not_measured: int = 0
    """files whose lines could not be read, as in `Commit`: they are in no line count"""
    imports: tuple[ImportChange, ...] = ()
    """what it begins and stops to import; only clones are asked, as nothing else shows a whole history"""


def fact_to_json(fact: Fact) -> dict[str, object]:
    """A JSON object with sorted keys that `fact_from_json` reads back; fields at their default are omitted."""
    out: dict[str, object] = {
        name: value if write is None else write(value)
        for (name, write), value in zip(_JSON_FIELDS, _json_values(fact), strict=True)
        if value or name in _ALWAYS
    }
    # These are omitted at a default that is not false.
    if fact.certain and fact.probability == STATED and fact.host == GITHUB:
        return out
    defaults = {"certain": True, "host": GITHUB, "probability": STATED}
    out |= {name: value for name, default in defaults.items() if (value := getattr(fact, name)) != default}
    return dict(sorted(out.items()))


_ALWAYS = frozenset(
    ("repository", "commit", "landed_at", "authored_at", "author", "committer", "title", "how", "merge_commit", "lines")
)


STATED_ROLES: Mapping[int, Literal["machine", "person"]] = {2: "person", 3: "machine"}
"""what a repository's file says about a signature, in the place of whether it is a bot"""
BOT_OR_STATED: Mapping[str | None, int] = {stated: number for number, stated in STATED_ROLES.items()}


def _signature_to_json(person: Signature) -> list[object]:
    said = BOT_OR_STATED.get(person.stated, person.bot)
    row: list[object] = [person.name, person.email, person.user_id, person.login, said]
    return row if person.host else [*row, person.host]


def _sort_by_name(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _evidence_to_json(found: Evidence | None) -> list[object] | None:
    if found is None:
        return None
    shares = [[_signature_to_json(one.author), one.commits, one.lines, one.title] for one in found.shares]
    who = [found.opener, found.opener_writes, found.pusher, found.signer]
    return [*who, list(found.collaborators), shares, found.pull_request, found.opener_is_machine, found.pulls_known]


def _evidence_from_json(row: list[Any] | None, host: str) -> Evidence | None:
    if row is None:
        return None
    opener, opener_writes, pusher, signer, collaborators, shares, *rest = row
    read = tuple([Share(_read_signature(tuple(author), host), *rest) for author, *rest in shares])
    return Evidence(opener, opener_writes, pusher, signer, tuple(collaborators), read, *rest)


def _changelog_line(row: Sequence[Any]) -> ChangelogLine:
    text, numbers, section, people, release, form = row
    return ChangelogLine(text, tuple(numbers), section, tuple(people), release, form)


_JSON_WRITERS: dict[str, Callable[..., object]] = {
    "ai": lambda marks: [[mark.level, mark.tool, mark.source] for mark in marks],
    "author": _signature_to_json,
    "co_authors": lambda people: [_signature_to_json(person) for person in people],
    "changelog": lambda lines: [
        [line.text, list(line.numbers), line.section, list(line.people), line.release, line.form] for line in lines
    ],
    "committer": _signature_to_json,
    "imports": lambda files: [[path, list(begun), list(ended)] for path, begun, ended in files],
    "renames": lambda pairs: [list(pair) for pair in pairs],
    "evidence": _evidence_to_json,
    "line_hashes": lambda packed: b64encode(packed).decode(),
    "lines": lambda lines: list(each_part(lines)),
    **dict.fromkeys(("areas", "headings", "keys", "links", "paths", "relands", "reverts"), list),
    **dict.fromkeys(("languages", "skills"), _sort_by_name),
}
_JSON_FIELDS = tuple(
    (name, _JSON_WRITERS.get(name))
    for name in sorted(f.name for f in fields(Fact))
    if name not in ("certain", "host", "probability")
)
_json_values = attrgetter(*(name for name, _ in _JSON_FIELDS))


@lru_cache(maxsize=4096)
def _read_signature(row: tuple[Any, ...], host: str) -> Signature:
    """Cached, so that the many facts of one person share one object."""
    name, email, user_id, login, bot, *no_host = row
    return Signature(name, email, user_id, login, bot == 1, STATED_ROLES.get(bot), "" if no_host else host)


def fact_from_json(row: Mapping[str, Any]) -> Fact:
    """The fact that `fact_to_json` wrote. Positional arguments in the order of the fields are the fastest."""
    get = row.get
    host = get("host", GITHUB)
    return Fact(
        row["repository"],
        row["commit"],
        row["landed_at"],
        row["authored_at"],
        _read_signature(tuple(row["author"]), host),
        _read_signature(tuple(row["committer"]), host),
        row["title"],
        row["how"],
        row["merge_commit"],
        get("pull_request"),
        tuple([_read_signature(tuple(person), host) for person in get("co_authors", ())]),
        tuple(get("keys", ())),
        tuple(get("reverts", ())),
        tuple(get("relands", ())),
        Lines(*row["lines"]),
        get("kind", "chore"),
        get("why", ""),
        get("certain", True),
        get("languages", NO_COUNTS),
        get("skills", NO_COUNTS),
        tuple([AiMark(*mark) for mark in get("ai", ())]),
        tuple(map(sys.intern, get("paths", ()))),  # the same paths occur many times
        tuple(get("links", ())),
        get("partial", False),
        get("opened_at"),
        get("probability", STATED),
        _evidence_from_json(get("evidence"), host),
        get("subject", ""),
        get("merge_subject", ""),
        tuple([_changelog_line(line) for line in get("changelog", ())]),
        tuple([(old, new) for old, new in get("renames", ())]),
        tuple(get("headings", ())),
        tuple(get("areas", ())),
        get("clamped", False),
        b64decode(get("line_hashes", "")),
        host,
        get("not_measured", 0),
        tuple([(path, tuple(begun), tuple(ended)) for path, begun, ended in get("imports", ())]),
    )
