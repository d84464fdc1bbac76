"""What does a profile contain?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal

from msgspec import Struct, field

from bot.model.change import Change, Credit, Item
from bot.model.fact import Lines
from bot.model.ids import NO_COUNTS, ChangeId, CommitId, Month, UserId, no_counts

SentenceRole = Literal["counts", "theme", "entry", "rest", "course"]
EntrySource = Literal["changelog", "merge", "title", "subject", "issue"]


class Layout(Struct, frozen=True):
    """How a page sets a sentence that the joined text says in one line."""

    label: str = ""
    """the name of a theme, or the number that an entry's link shows"""
    folder: str = ""
    """where a theme is"""
    link: str | None = None
    notes: tuple[str, ...] = ()
    """what follows a quotation or the name of a theme"""
    brief: str | None = None
    """what remains below a heading that says who, where, when and how much; None if all of it"""


NO_LAYOUT = Layout()


class Sentence(Struct, frozen=True):
    """One sentence of ours, or an entry that quotes the work; `quoted` to `tag` are those of an entry."""

    text: str
    evidence: tuple[ChangeId, ...]
    role: SentenceRole = "counts"
    quoted: str | None = None
    """the words as the work brought them, after cleaning"""
    source: EntrySource | None = None
    """where the quoted words stand"""
    tag: str | None = None
    """what kind of change it was, where that is certain"""
    layout: Layout = NO_LAYOUT


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
    not_measured: int = 0
    """files of the contributor's commits whose lines could not be read: they are in no line count"""
    shallow: bool = False
    """whether a clone starts in the middle of the history"""


class Contributor(Struct, frozen=True):
    display: str
    naming: Literal["named", "anonymous"] = "named"
    id: UserId | None = None
    login: str | None = None
    name: str | None = None


Number = int | Fraction | None
"""The value of a metric: a whole number or an exact fraction; None if it was not measured."""


def _nothing() -> Mapping[str, Any]:
    return NO_COUNTS


class Part(Struct, frozen=True):
    """What one change (or several together) adds to a metric."""

    changes: tuple[ChangeId, ...]
    value: int | Fraction = 1


class Count:
    """An attribute that reads a counting metric by its key; 0 if it was not measured."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __get__(self, record: Overall | MonthRecord, _: type) -> int:
        value: Any = record.numbers.get(self._key)
        return value or 0


class Overall(Struct, frozen=True):
    """The metrics of the whole record by key; the attributes below are those that texts mention."""

    lines: Lines
    numbers: Mapping[str, Number] = field(default_factory=_nothing)

    commits = Count("commits")
    co_authored = Count("co_authored")
    outcomes = Count("outcomes")
    features = Count("features")
    bugs = Count("bugs")
    other = Count("other")
    unclear = Count("unclear")
    active_months = Count("months")


class MonthRecord(Struct, frozen=True):
    """One month: its metrics by key, the evidence for each, and the text and lists shown with them."""

    month: Month
    lines: Lines
    summary: Text
    items: tuple[Item, ...]
    numbers: Mapping[str, Number] = field(default_factory=_nothing)
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=_nothing)
    repositories: tuple[str, ...] = ()
    languages: Mapping[str, int] = field(default_factory=no_counts)
    non_code: NonCodeActivity = field(default_factory=lambda: NonCodeActivity())
    """non-code activity; never part of the numbers above"""

    commits = Count("commits")
    co_authored = Count("co_authored")
    features = Count("features")
    bugs = Count("bugs")


class ScoreEvidence(Struct, frozen=True):
    """What happened to lines of one of the person's changes, or what it did; `effect` in points."""

    change: ChangeId
    signal: str
    effect: float
    by: ChangeId | None = None
    """the later change that took the lines"""


class Score(Struct, frozen=True):
    """What happened to the person's own lines: 0-100, None = not rated. `interval` is the 80 % interval."""

    score: float | None = None
    rated: int = 0
    """changes of the person that are at risk"""
    interval: tuple[float, float] | None = None
    evidence: tuple[ScoreEvidence, ...] = ()
    at_risk: int = 0
    """lines, or new imports"""
    lost: int = 0
    """of those at risk"""
    project: float | None = None
    """the value of everybody's lines in the same repositories and months"""
    unrated: str = ""
    """why there is no score"""


class QualityFact(Struct, frozen=True):
    """A number beside the scores, for which there is no better or worse."""

    key: str
    value: float | None
    project: float | None = None


class Trace(Struct, frozen=True):
    """Where non-code activity can be seen: a pull request, an issue or a release, without any text from it.

    `name` is `#12` or the release's tag; `did` lists what was done there, sorted; a word occurs once for each time.
    """

    repository: str
    name: str
    url: str | None = None
    did: tuple[str, ...] = ()


class NonCodeActivity(Struct, frozen=True):
    """One person's non-code activity, never part of a number about code.

    Changes come from the record. Traces come only from GitHub: an empty tuple means that none was seen, not that
    there was none. A clone has no traces.
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
    facts: tuple[QualityFact, ...] = ()


class AiTrace(Struct, frozen=True):
    """A commit on which a tool was disclosed, and the change it belongs to."""

    change: ChangeId
    commit: CommitId


def _no_traces() -> Mapping[str, tuple[AiTrace, ...]]:
    return NO_COUNTS  # type: ignore[return-value]  # an empty mapping, whatever it maps to


class AiUsage(Struct, frozen=True):
    """Commits by level of disclosure; the three shares sum to 1 if there are commits. Unknown is not "human"."""

    declared: int = 0
    detected: int = 0
    unknown: int = 0
    tools: Mapping[str, int] = field(default_factory=no_counts)
    """commits by tool"""
    evidence: Mapping[str, tuple[AiTrace, ...]] = field(default_factory=_no_traces)
    """the commits themselves, newest first, by tool"""

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
    full_history: bool = True
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
    credits: Mapping[ChangeId, Credit] = field(default_factory=dict)
    """the contributor's own part in each of the changes; those of other people have none"""
    non_code_months: tuple[MonthRecord, ...] = ()
    """months with non-code activity but no commits, newest first"""
