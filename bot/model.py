"""The types of the record, all frozen: the vocabulary that every room of Almanac shares.

A commit that reaches a default branch is a `Landing`; measured by itself it becomes a slim `Fact`; facts of the same
work group fold into one `Change`; a person's changes become a `Profile`. Times are aware UTC datetimes at the edges and
whole epoch seconds inside a `Fact`. Counts are integers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from operator import add, attrgetter
from types import MappingProxyType
from typing import Any, Literal, NewType, get_args

from msgspec import Struct, field
from msgspec.structs import fields

UserId = NewType("UserId", int)
RepositoryId = NewType("RepositoryId", int)
InstallationId = NewType("InstallationId", int)
CommitId = NewType("CommitId", str)
ChangeId = NewType("ChangeId", str)
"""`owner/name#123` where a pull request of that repository is proved, else `owner/name@<full commit id>`."""
PersonKey = NewType("PersonKey", str)
"""`u:<user id>` when GitHub or a noreply address proves it, else `e:<lower-case e-mail>` (claimed)."""
Month = NewType("Month", str)
"""`YYYY-MM`, the calendar month of the landing time in the configured zone."""

Kind = Literal["feature", "bug_fix", "refactor", "docs", "test", "build", "ci", "perf", "style", "chore", "revert"]
ItemKind = Literal["feature", "bug_fix", "other"]
State = Literal["landed", "reverted", "relanded"]
FileStatus = Literal["added", "modified", "removed", "renamed", "copied", "changed"]

KINDS: tuple[Kind, ...] = get_args(Kind)
_NO_COUNTS: Mapping[str, int] = MappingProxyType({})


def _no_counts() -> Mapping[str, int]:
    return _NO_COUNTS


# --- from GitHub or a clone ------------------------------------------------------------------------------------------


class Repository(Struct, frozen=True):
    """One repository. `id` identifies it if GitHub gave one; `full_name` ("owner/name") is shown, and names a clone."""

    full_name: str
    id: RepositoryId | None = None
    private: bool = False
    fork: bool = False
    parent: str | None = None
    """full name of the repository this one was forked from, where known"""
    default_branch: str = "main"


class Signature(Struct, frozen=True):
    """A name and an e-mail as stated in a commit, after `.mailmap`; `user_id` and `login` where GitHub knows them."""

    name: str
    email: str
    user_id: UserId | None = None
    login: str | None = None
    bot: bool = False
    """GitHub says type Bot, or the identity table contains the name"""


class FileChange(Struct, frozen=True):
    """One file of one commit.

    `additions` and `deletions` are git's numstat (0 for binary files). `patch` is only the hunks, from the first `@@`,
    as in GitHub's API, with any number of context lines >= 1; None if it is not available (binary, too large).
    """

    path: str
    status: FileStatus
    additions: int
    deletions: int
    patch: str | None = None
    previous_path: str | None = None
    binary: bool = False
    submodule: bool = False
    symlink: bool = False


class Commit(Struct, frozen=True):
    """One commit. `partial` if a read limit hid files, so that its lines are a lower bound."""

    id: CommitId
    parents: tuple[CommitId, ...]
    author: Signature
    committer: Signature
    authored_at: datetime
    committed_at: datetime
    message: str
    files: tuple[FileChange, ...] = ()
    partial: bool = False


class Review(Struct, frozen=True):
    author: Signature
    state: Literal["approved", "changes_requested", "commented", "dismissed", "pending"]
    submitted_at: datetime
    comments: int = 0


class PullRequest(Struct, frozen=True):
    """A pull request in GitHub's current answer (never as stated in a payload)."""

    number: int
    title: str
    body: str
    author: Signature | None
    """None for a ghost"""
    base_ref: str
    head_ref: str
    head_id: CommitId
    merge_commit: CommitId | None = None
    merged_at: datetime | None = None
    closed_at: datetime | None = None
    labels: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    """its own commits, without files; empty if they were not read"""
    reviews: tuple[Review, ...] = ()
    checks: Literal["passed", "failed", "unknown"] = "unknown"
    opened_at: datetime | None = None


class Landing(Struct, frozen=True):
    """One non-merge commit that the default branch of one repository contains.

    `carrier` is the commit on the first-parent line that brought it there (a merge commit, or the commit itself), and
    `landed_at` is that commit's committer time, which anybody with a clone can read.
    """

    repository: Repository
    commit: Commit
    carrier: Commit
    landed_at: datetime
    pull_request: PullRequest | None = None
    """known only if GitHub was asked; always None from a clone"""
    brought_by: int | None = None
    """if `carrier` merges several pull requests at once: the one whose branch contained the commit; 0 if the commit
    belongs to the history of another repository, which `carrier` imported"""


# --- the ledger ------------------------------------------------------------------------------------------------------

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
        """Lines of code as shown in the profile: authored + tests + docs + config."""
        return self.authored + self.tests + self.docs + self.config

    def __add__(self, other: Lines) -> Lines:
        return Lines(*map(add, each_part(self), each_part(other)))

    def as_dict(self) -> dict[str, int]:
        """The parts and `total`, in the order of the schema."""
        return dict(zip(PARTS, each_part(self), strict=True)) | {"total": self.total}


class AiMark(Struct, frozen=True):
    """One disclosed trace of an AI tool on one commit.

    `level` 1 line notes, 2 agent-authored, 3 trailer or footer, 4 pull request only, 5 applied suggestion (METRICS.md).
    `source` is the attribution line or field with the evidence.
    """

    level: Literal[1, 2, 3, 4, 5]
    tool: str
    source: str


class Fact(Struct, frozen=True):
    """One landed commit, measured by itself: everything later steps need, and nothing they could read elsewhere.

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
    """name of the landing convention that brought it (landing/conventions.py)"""
    carrier: CommitId
    pull_request: int | None = None
    """number in `repository`, only where proved"""
    co_authors: tuple[Signature, ...] = ()
    keys: tuple[str, ...] = ()
    """identities of the work group, such as `pr:owner/name#12` or `drev:D123`; landing/keys.py defines their form"""
    reverts: tuple[str, ...] = ()
    """identities (same form as `keys`) that this commit says it reverts"""
    relands: tuple[str, ...] = ()
    """identities that this commit says it brings back"""
    lines: Lines = Lines()
    kind: Kind = "chore"
    why: str = ""
    certain: bool = True
    languages: Mapping[str, int] = field(default_factory=_no_counts)
    """authored + test lines by Linguist language"""
    skills: Mapping[str, int] = field(default_factory=_no_counts)
    """evidence lines by skill of the vocabulary"""
    ai: tuple[AiMark, ...] = ()
    signals: Mapping[str, int] = field(default_factory=_no_counts)
    """whole-number signals of the patch for the quality formulas (metrics/quality.py lists them)"""
    paths: tuple[str, ...] = ()
    """source paths touched (not generated, vendored or lock files), sorted, at most 300"""
    links: tuple[str, ...] = ()
    """what items are grouped by: `issue:owner/name#5`, `pr:owner/name#7`, `stack:…`, `series:…`, `scope:…`"""
    partial: bool = False
    opened_at: int | None = None
    """epoch seconds at which `pull_request` was opened, where GitHub said so; no clone holds it"""


class CountedCommit(Struct, frozen=True):
    """A fact as it counts once identities, forks and reverts are known."""

    fact: Fact
    counts: bool
    """False if the same commit counts in another repository of the same fork network"""
    lines: Lines
    """the fact's lines, with those of reverted or mirrored work in their own part; same total"""


class Change(Struct, frozen=True):
    """One work group: the landed commits of the same work."""

    id: ChangeId
    repository: str
    title: str
    kind: Kind
    why: str
    certain: bool
    state: State
    landed_at: int
    """epoch seconds of the landing that delivered it: the re-land's, if it landed again"""
    commits: tuple[CountedCommit, ...]
    """every landed commit of the change, oldest first, in every repository"""
    pull_request: int | None = None
    also_in: tuple[str, ...] = ()
    """full names of forks, mirrors and backports, sorted"""
    reverted_by: ChangeId | None = None
    partly_reverted_by: tuple[ChangeId, ...] = ()
    url: str | None = None
    elsewhere: bool = False
    """only an export of it landed here; its home is a repository outside the record"""

    @property
    def outcome(self) -> bool:
        """Whether it is not reverted, not itself a revert, and not the export of another repository's change."""
        return self.state != "reverted" and self.kind != "revert" and not self.elsewhere

    @property
    def counted(self) -> tuple[CountedCommit, ...]:
        return tuple(commit for commit in self.commits if commit.counts)

    @property
    def lines(self) -> Lines:
        parts = [commit.lines for commit in self.commits if commit.counts]
        return parts[0] if len(parts) == 1 else sum(parts, Lines())


class Item(Struct, frozen=True):
    """A contributor's changes of one month that make up one feature, one bug fix or other work."""

    kind: ItemKind
    title: str
    state: State
    changes: tuple[ChangeId, ...]
    edges: tuple[tuple[ChangeId, ChangeId, str], ...] = ()
    """why they are grouped: (one, other, rule)"""


class Person(Struct, frozen=True):
    """A contributor: all addresses that are proved to belong to one account, or one claimed e-mail."""

    key: PersonKey
    name: str
    emails: tuple[str, ...]
    login: str | None = None
    user_id: UserId | None = None
    bot: bool = False
    names: tuple[str, ...] = ()

    @property
    def display(self) -> str:
        """The name verbatim, else the login, else the e-mail's local part."""
        return self.name or self.login or (self.emails[0].split("@")[0] if self.emails else "")


# --- the profile, as in profile.schema.json --------------------------------------------------------------------------


class Sentence(Struct, frozen=True):
    text: str
    evidence: tuple[ChangeId, ...]


class Text(Struct, frozen=True):
    sentences: tuple[Sentence, ...]
    writer: Literal["template", "llm"] = "template"

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)


class Method(Struct, frozen=True):
    version: str
    timezone: str = "UTC"
    date_basis: Literal["landed"] = "landed"
    since: Month | None = None
    """first month requested, if not all were"""
    until: Month | None = None


class Contributor(Struct, frozen=True):
    display: str
    naming: Literal["named", "anonymous"] = "named"
    id: UserId | None = None
    login: str | None = None
    name: str | None = None


Number = int | Fraction | None
"""The value of a metric: a whole number or an exact fraction; None where nothing says what it is."""


def _nothing() -> Mapping[str, Any]:
    return _NO_COUNTS


class Part(Struct, frozen=True):
    """What some changes, most often one, add to a metric."""

    changes: tuple[ChangeId, ...]
    value: int | Fraction = 1


class Count:
    """A field that reads a metric that counts, by its key; 0 where it was not measured."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __get__(self, record: Overall | MonthRecord, _: type) -> int:
        value: Any = record.numbers.get(self._key)
        return value or 0


class Overall(Struct, frozen=True):
    """The metrics of the whole record by their keys; the fields below are those that texts speak of."""

    lines: Lines
    numbers: Mapping[str, Number] = field(default_factory=_nothing)

    commits = Count("commits")
    co_authored = Count("co_authored")
    outcomes = Count("outcomes")
    features = Count("features")
    bugs = Count("bugs")
    other = Count("other")
    active_months = Count("months")


class MonthRecord(Struct, frozen=True):
    """One month: its metrics by their keys, what each of them rests on, and what is said and shown beside them."""

    month: Month
    lines: Lines
    summary: Text
    items: tuple[Item, ...]
    numbers: Mapping[str, Number] = field(default_factory=_nothing)
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=_nothing)
    repositories: tuple[str, ...] = ()
    languages: Mapping[str, int] = field(default_factory=_no_counts)
    beside: BesideCode = field(default_factory=lambda: BesideCode())
    """non-code activity; never part of the numbers above"""

    commits = Count("commits")
    co_authored = Count("co_authored")
    features = Count("features")
    bugs = Count("bugs")


class ScoreEvidence(Struct, frozen=True):
    change: ChangeId
    signal: str
    effect: float


class LiveScore(Struct, frozen=True):
    """The score including what only GitHub shows: checks and reviews. It cannot be recomputed from a clone."""

    score: float
    evidence: tuple[ScoreEvidence, ...]


class Score(Struct, frozen=True):
    """0-100, None = not rated. `interval` is the 80 % interval; with fewer than three rated items it is provisional."""

    score: float | None = None
    rated: int = 0
    interval: tuple[float, float] | None = None
    evidence: tuple[ScoreEvidence, ...] = ()
    live: LiveScore | None = None
    """set if GitHub showed anything that changes the score"""


class Trace(Struct, frozen=True):
    """Where non-code activity can be seen: a pull request, an issue or a release, without text that others wrote there.

    `name` is `#12` or the release's tag; `did` lists what was done there, each word as often as it was done, sorted.
    """

    repository: str
    name: str
    url: str | None = None
    did: tuple[str, ...] = ()


class BesideCode(Struct, frozen=True):
    """One person's non-code activity, never part of a number about code.

    Changes are read from the record. Traces are shown only by GitHub: an empty tuple means that none was seen, not that
    there was none, and a clone has none.
    """

    documentation: tuple[ChangeId, ...] = ()
    first_contributions: tuple[ChangeId, ...] = ()
    reviews: tuple[Trace, ...] = ()
    triage: tuple[Trace, ...] = ()
    releases: tuple[Trace, ...] = ()
    newcomers: tuple[Trace, ...] = ()
    self_merges: tuple[Trace, ...] = ()

    def __bool__(self) -> bool:
        by_github = self.reviews or self.triage or self.releases or self.newcomers or self.self_merges
        return bool(self.documentation or self.first_contributions or by_github)


class Quality(Struct, frozen=True):
    correctness: Score = Score()
    maintainability: Score = Score()
    architecture: Score = Score()
    performance: Score = Score()


class AiUsage(Struct, frozen=True):
    """Commits by level of disclosure; the three shares sum to 1 if there are commits. Unknown is not "human"."""

    declared: int = 0
    detected: int = 0
    unknown: int = 0
    tools: Mapping[str, int] = field(default_factory=_no_counts)
    """commits by tool"""

    def shares(self) -> tuple[float, float, float]:
        """(declared, detected, unknown), summing to 1; without commits everything is unknown."""
        total = self.declared + self.detected + self.unknown
        return (self.declared / total, self.detected / total, self.unknown / total) if total else (0.0, 0.0, 1.0)


class LanguageSkill(Struct, frozen=True):
    name: str
    lines: int
    first_month: Month


class TechnicalSkill(Struct, frozen=True):
    name: str
    weight: float
    evidence: tuple[ChangeId, ...]


class RepositoryRecord(Struct, frozen=True):
    full_name: str
    first_month: Month
    last_month: Month
    active_months: int
    commits: int
    languages: tuple[str, ...]
    skills: tuple[str, ...]
    whole: bool = True
    """False if the record does not contain the repository's history from its first commit on"""


class Profile(Struct, frozen=True):
    """One contributor's record: what every renderer reads. `changes` is the evidence everything else refers to."""

    generated_at: datetime
    method: Method
    contributor: Contributor
    narrative: Text
    overall: Overall
    months: tuple[MonthRecord, ...]
    """active months only, newest first"""
    activity: Mapping[str, int]
    """commits by ISO date, oldest first"""
    quality: Quality
    ai_usage: AiUsage
    languages: tuple[LanguageSkill, ...]
    """by authored lines, most first"""
    technical: tuple[TechnicalSkill, ...]
    repositories: tuple[RepositoryRecord, ...]
    changes: tuple[Change, ...]
    beside_months: tuple[MonthRecord, ...] = ()
    """months with non-code activity but no commits, newest first"""


def fact_to_json(fact: Fact) -> dict[str, object]:
    """A plain JSON object, keys in order, that `fact_from_json` converts back; fields at their default are omitted."""
    out: dict[str, object] = {
        name: value if spell is None else spell(value)
        for (name, spell), value in zip(_SPELT, _spelt_fields(fact), strict=True)
        if value or name in _ALWAYS
    }
    # The only field that is omitted if it is true.
    return out if fact.certain else dict(sorted({**out, "certain": False}.items()))


_ALWAYS = frozenset(
    ("repository", "commit", "landed_at", "authored_at", "author", "committer", "title", "how", "carrier", "lines")
)


def _signature_to_json(person: Signature) -> list[object]:
    return [person.name, person.email, person.user_id, person.login, person.bot]


def _in_order(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


_SPELLERS: dict[str, Callable[..., object]] = {
    "ai": lambda marks: [[mark.level, mark.tool, mark.source] for mark in marks],
    "author": _signature_to_json,
    "co_authors": lambda people: [_signature_to_json(person) for person in people],
    "committer": _signature_to_json,
    "lines": lambda lines: list(each_part(lines)),
    **dict.fromkeys(("keys", "links", "paths", "relands", "reverts"), list),
    **dict.fromkeys(("languages", "signals", "skills"), _in_order),
}
_SPELT = tuple((name, _SPELLERS.get(name)) for name in sorted(f.name for f in fields(Fact)) if name != "certain")
_spelt_fields = attrgetter(*(name for name, _ in _SPELT))


@lru_cache(maxsize=4096)
def _signature_of(row: tuple[Any, ...]) -> Signature:
    """One object for the many facts that the same person signed."""
    name, email, user_id, login, bot = row
    return Signature(name, email, user_id, login, bool(bot))


def fact_from_json(row: Mapping[str, Any]) -> Fact:
    """The fact that `fact_to_json` wrote; arguments are positional, in the order of the fields, which is fastest."""
    get = row.get
    return Fact(
        row["repository"],
        row["commit"],
        row["landed_at"],
        row["authored_at"],
        _signature_of(tuple(row["author"])),
        _signature_of(tuple(row["committer"])),
        row["title"],
        row["how"],
        row["carrier"],
        get("pull_request"),
        tuple([_signature_of(tuple(person)) for person in get("co_authors", ())]),
        tuple(get("keys", ())),
        tuple(get("reverts", ())),
        tuple(get("relands", ())),
        Lines(*row["lines"]),
        get("kind", "chore"),
        get("why", ""),
        get("certain", True),
        get("languages", _NO_COUNTS),
        get("skills", _NO_COUNTS),
        tuple([AiMark(*mark) for mark in get("ai", ())]),
        get("signals", _NO_COUNTS),
        tuple(map(sys.intern, get("paths", ()))),  # the same paths occur again and again
        tuple(get("links", ())),
        get("partial", False),
        get("opened_at"),
    )
