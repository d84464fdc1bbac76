"""How does every renderer word a number, a month, a span or a state?

Every function returns plain text that suits any format, so equal input gives equal words in every output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from bot.metrics.quality_sentences import NOT_RATED
from bot.metrics.registry import metrics_on
from bot.metrics.unclear import UNCLEAR
from bot.model.change import Change, Credit, Item
from bot.model.fact import Lines
from bot.model.ids import ChangeId
from bot.model.profile import AiTrace, Method, MonthRecord, Score, Sentence
from bot.narrative.words import MONTH_NAMES

BULLET = " • "
_SHORT_NAMES = ("", *(name[:3] for name in MONTH_NAMES))
PART_NAMES = {
    "authored": "authored",
    "tests": "tests",
    "docs": "docs",
    "config": "configuration",
    "generated": "generated",
    "vendored": "vendored",
    "lockfiles": "lock files",
    "moved": "moved",
    "whitespace": "whitespace only",
    "reverted": "reverted",
    "mirrored": "mirrored",
}
"""display name of each part of `Lines`, in the order of the schema"""
ITEM_NAMES = {"feature": "Feature", "bug_fix": "Bug fix", "other": "Other"}
STATE_NAMES = {"landed": "landed", "reverted": "reverted", "relanded": "landed again after a revert"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def thousands(number: int) -> str:
    """`12345` as `12,345`."""
    return f"{number:,}"


@lru_cache(maxsize=4096)
def quantity(number: int, one: str, many: str | None = None) -> str:
    """`1 commit`, `2 commits`, `0 commits`; `many` for an irregular plural.

    Cached, because a page repeats the same small numbers many times and grouping digits is slow.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def tally(month: MonthRecord) -> str:
    """`3 commits • 1 feature • 2 bug fixes`; without metrics that are zero or not measured."""
    numbers = month.numbers
    return BULLET.join(
        [metric.quantity(numbers[metric.key]) for metric in metrics_on("month") if numbers.get(metric.key)]
    )


def below_heading(sentence: Sentence) -> str:
    """What remains of a sentence below a heading that says who, where, when and how much; often nothing."""
    brief = sentence.layout.brief
    return sentence.text if brief is None else brief


@cache
def month_name(month: str) -> str:
    """`2025-07` as `July 2025`."""
    return f"{MONTH_NAMES[int(month[5:7]) - 1]} {month[:4]}"


@cache
def short_month(month: str) -> str:
    """`2025-07` as `Jul 2025`."""
    return f"{MONTH_NAMES[int(month[5:7]) - 1][:3]} {month[:4]}"


def span(first: str, last: str) -> str:
    """`Jun 2025 – Oct 2025`, or `Jun 2025` for one month."""
    return short_month(first) if first == last else f"{short_month(first)} – {short_month(last)}"


def limits(method: Method) -> str:
    """`; only months from July 2025 on are counted; the lines of 3 files are not measured …`, as far as it applies."""
    return "".join(f"; {clause}" for clause in (_window(method), *list_missing_parts(method)) if clause)


def list_missing_parts(method: Method) -> tuple[str, ...]:
    """What a clone did not contain: the lines of files, the start of the history."""
    count = method.not_measured
    files = "1 file" if count == 1 else f"{count:,} files"
    lines = f"the lines of {files} are not measured, because the clone does not contain them" if count else ""
    start = "the clone is shallow: what landed before it starts is not measured" if method.shallow else ""
    return tuple(filter(None, (lines, start)))


def begin_sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def _window(method: Method) -> str:
    """`only months from July 2025 on are counted`, or nothing if all months are."""
    first = f" from {month_name(method.since)}" if method.since else ""
    last = f"{' to' if first else ' until'} {month_name(method.until)}" if method.until else " on" if first else ""
    return f"only months{first}{last} are counted" if first or last else ""


def date_name(date: str) -> str:
    """`2025-07-09` as `9 July 2025`."""
    return f"{int(date[8:10])} {month_name(date)}"


ANONYMOUS = (
    "This record leaves out the person's name, login and addresses. It does not hide them from a search: public work "
    "can be traced to its author through the commits that it cites."
)
"""what a record without a name protects, and what not"""
_MOST_IDS = 10


def short_ids(traces: Sequence[AiTrace]) -> str:
    """The first commits of a tool as short ids, and how many more there are."""
    ids = ", ".join(one.commit[:10] for one in traces[:_MOST_IDS])
    return f"{ids} and {len(traces) - _MOST_IDS} more" if len(traces) > _MOST_IDS else ids


def percents(shares: Iterable[float]) -> tuple[str, ...]:
    """Shares that sum to 1 as percentages with one decimal that sum to 100.0 (largest remainders)."""
    exact = [1000 * share for share in shares]
    floors = [int(value + 1e-9) for value in exact]
    missing = round(sum(exact)) - sum(floors)
    for index in sorted(range(len(exact)), key=lambda i: (floors[i] - exact[i], i))[:missing]:
        floors[index] += 1
    return tuple(f"{value / 10:.1f} %" for value in floors)


def score_text(score: Score) -> str:
    """`96.4`, or `not rated`."""
    return NOT_RATED if score.score is None else f"{score.score:.1f}"


@cache
def _zone(name: str) -> ZoneInfo | None:
    return None if name == "UTC" else ZoneInfo(name)


def day_reader(zone_name: str) -> Callable[[int], str]:
    """A function from epoch seconds to the ISO date in that time zone."""
    zone = _zone(zone_name)
    if zone is None:
        return _utc_day
    return lambda seconds: datetime.fromtimestamp(seconds, zone).date().isoformat()


def short_day_reader(zone_name: str) -> Callable[[int], str]:
    """A function from epoch seconds to `9 Jul` in that time zone."""
    zone = _zone(zone_name)
    if zone is None:
        return lambda seconds: _short_day(seconds // 86400)

    def read(seconds: int) -> str:
        moment = datetime.fromtimestamp(seconds, zone)
        return f"{moment.day} {_SHORT_NAMES[moment.month]}"

    return read


@cache
def _short_day(number: int) -> str:
    date = _day_number(number)
    return f"{int(date[8:])} {_SHORT_NAMES[int(date[5:7])]}"


def _utc_day(seconds: int) -> str:
    return _day_number(seconds // 86400)


@cache
def _day_number(number: int) -> str:
    return (_EPOCH + timedelta(days=number)).date().isoformat()


def instant(seconds: int) -> str:
    """Epoch seconds as RFC 3339 in UTC."""
    return rfc3339(_EPOCH + timedelta(seconds=seconds))


def rfc3339(moment: datetime) -> str:
    """An aware datetime as RFC 3339 in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_name(moment: datetime, zone_name: str) -> str:
    """`9 July 2025, 14:05 (Europe/Berlin)`."""
    local = moment.astimezone(_zone(zone_name) or UTC)
    return f"{date_name(local.date().isoformat())}, {local:%H:%M} ({zone_name})"


def short_id(change_id: str) -> str:
    """`acme/api#12` as `api#12`; `acme/api@<full commit id>` as `api@0123456789`."""
    name, mark, rest = change_id.rpartition("@")
    if mark and "#" not in rest:
        return f"{name.rpartition('/')[2]}@{rest[:10]}"
    return change_id.rpartition("/")[2]


def lines_of(change: Change) -> Lines:
    """`change.lines`, without a sum if the change has only one commit."""
    commits = change.commits
    return commits[0].lines if len(commits) == 1 and commits[0].counts else change.lines


def changed_lines(change: Change) -> int:
    """`change.lines.total`, without summing the parts, because a page needs it for every change."""
    total = 0
    for commit in change.commits:
        if commit.counts:
            total += commit.lines.total
    return total


def own_line_count(change: Change, part: Credit | None) -> int | None:
    """The person's own lines of a change that others have lines in too; None if all are theirs, or nobody knows."""
    own = part.lines.total if part else 0
    return own if 0 < own < changed_lines(change) else None


def size_text(change: Change, part: Credit | None) -> str:
    """`1,603 lines`, or `2 of 1,603 lines` where the others are not the person's own."""
    own, text = own_line_count(change, part), quantity(changed_lines(change), "line")
    return text if own is None else f"{own:,} of {text}"


def item_name(item: Item) -> str:
    """`Feature`, `Bug fix`, `Other`, or `Not sure which` if its kind is not certain."""
    return ITEM_NAMES[item.kind] if item.certain else UNCLEAR.label


def item_state(item: Item, changes: Mapping[ChangeId, Change]) -> str:
    """The state of an item as shown after its title: `reverted by api#14`, or nothing if it simply landed."""
    if item.state == "landed":
        return ""
    reverters = sorted({str(by) for key in item.changes if (by := _reverter(changes.get(key)))})
    state = STATE_NAMES[item.state]
    return f"{state} by {', '.join(map(short_id, reverters))}" if item.state == "reverted" and reverters else state


def _reverter(change: Change | None) -> ChangeId | None:
    return change.reverted_by if change else None


CLAIMED_NOTE = "claimed by others: review"
UNKNOWN_PARTS_NOTE = "parts unknown"


def change_notes(change: Change, part: Credit | None = None) -> tuple[str, ...]:
    """What a reader must know about a change besides its title and size, as short clauses.

    `part` is that of the person whose record is shown.
    """
    notes: list[str] = []
    if change.state == "reverted":
        notes.append(f"reverted by {short_id(change.reverted_by)}" if change.reverted_by else "reverted")
    elif change.state == "relanded":
        notes.append(STATE_NAMES["relanded"])
    if change.partly_reverted_by:
        notes.append("partly reverted by " + ", ".join(map(short_id, change.partly_reverted_by)))
    if change.also_in:
        notes.append("also in " + ", ".join(change.also_in))
    if not change.certain:
        notes.append("kind uncertain")
    return (*notes, *credit_notes(change, part))


def credit_notes(change: Change, part: Credit | None) -> tuple[str, ...]:
    """Whether somebody only claims that it is the person's, and whether its people's parts are unknown."""
    claimed = (CLAIMED_NOTE,) if part and part.grade == "claimed" else ()
    return (*claimed, UNKNOWN_PARTS_NOTE) if change.parts_unknown else claimed
