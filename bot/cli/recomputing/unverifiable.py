"""What does a published profile state that no clone can show: corrections by people, and values only GitHub has?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from bot.landing.corrections import CLASSIFY_KINDS, Classification
from bot.metrics.registry import METRICS
from bot.model.change import Change
from bot.model.commit import Person
from bot.render.anonymity import PERSONAL
from bot.render.plain_text import plain_text

LIVE = "live"
"""the key, in a score or a month, of values that only GitHub shows and no clone can confirm"""
_BEFORE, _AFTER = "classified by ", ": correction"


def corrector_in(why: object) -> str | None:
    """Who corrected the kind of a change, by its `why`; None if nobody did."""
    if isinstance(why, str) and why.startswith(_BEFORE) and why.endswith(_AFTER):
        return why[len(_BEFORE) : -len(_AFTER)]
    return None


def published_corrections(
    published: Mapping[str, Any], changes: Sequence[Change], own: Collection[str]
) -> dict[str, tuple[Classification, Change]]:
    """By the published change's id: the stated correction, and the corrected change of the clones.

    Only for what can be corrected: a pull request that the clones contain and that is no revert, and one of the kinds
    that `classify` accepts. Everything else in such a row is compared as usual. `own` are the repositories that an
    anonymous profile calls personal.
    """
    by_number = {
        (change.repository.lower(), change.pull_request): change for change in changes if change.kind != "revert"
    }
    found: dict[str, tuple[Classification, Change]] = {}
    for row in published["changes"]:
        by, number = corrector_in(row.get("why")), row.get("pull_request")
        if by is None or not isinstance(number, int) or row.get("kind") not in CLASSIFY_KINDS.values():
            continue
        named = str(row.get("repository", ""))
        names = own if named.startswith(PERSONAL) else (named,)
        matching = [change for name in names if (change := by_number.get((name.lower(), number))) is not None]
        if len(matching) == 1:
            found[str(row.get("id", ""))] = Classification(matching[0].repository, number, row["kind"], by), matching[0]
    return found


def contributor_lines(published: Mapping[str, Any], persons: Sequence[Person]) -> Iterator[str]:
    """Each stated name that the clones do not confirm: they show the work, not the identity of its author."""
    if published.get("naming") == "anonymous":
        return
    known: list[object] = [None, *(one for person in persons for one in (person.user_id, person.login, person.display))]
    known += [name for person in persons for name in (*person.names, *person.emails)]
    for field in ("id", "login", "name", "display"):
        value = published.get(field)
        if value not in known:
            yield f"contributor.{field} is {plain_text(json.dumps(value, ensure_ascii=False))}"


def correction_lines(corrected: Mapping[str, tuple[Classification, Change]]) -> Iterator[str]:
    """Each correction in words: the change, its stated kind, by whom, and its kind by the clone."""
    for key, (one, change) in corrected.items():
        from_clone = f"{change.kind} ({plain_text(change.why)})"
        by = plain_text(one.by)
        yield f"changes[{plain_text(key)}].kind is {one.kind}, classified by {by}; the clone says {from_clone}"


def live_lines(published: Mapping[str, Any]) -> Iterator[str]:
    """Each value that only GitHub knew, with its score, sums or month."""
    for field, value in _live(published):
        for inner, leaf in _leaves(field, value):
            yield f"{plain_text(inner)} is {plain_text(json.dumps(leaf, ensure_ascii=False))}"


def is_live(field: str, name: str) -> bool:
    """Whether a value with that name in that field is one that no clone can confirm."""
    if field == "overall.metrics" or (field.startswith("months[") and field.endswith("].metrics")):
        return name in _from_github()
    if name == "grade" and field.startswith("changes["):
        return True
    return name == LIVE and (field == "overall" or field.startswith("months["))


def _from_github() -> frozenset[str]:
    """The metrics that depend on data that no clone contains."""
    return frozenset(metric.key for metric in METRICS if metric.source == "GitHub")


def _live(published: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    months, overall = published.get("months"), published.get("overall")
    if isinstance(overall, dict):
        yield from _of_github("overall", overall)
    for month in months if isinstance(months, list) else ():
        if isinstance(month, dict):
            yield from _of_github(f"months[{month.get('month')}]", month)


def _of_github(field: str, row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values that only GitHub shows, in total or for a month, and the metrics that use them."""
    if LIVE in row:
        yield f"{field}.{LIVE}", _numbers(row[LIVE])
    metrics = row.get("metrics")
    for name, found in metrics.items() if isinstance(metrics, dict) else ():
        if name in _from_github() and isinstance(found, dict) and found.get("value") is not None:
            yield f"{field}.metrics.{name}", found["value"]


def _numbers(value: Any) -> Any:
    """The value without the evidence of each number, which is an address on GitHub."""
    if isinstance(value, dict):
        return {name: _numbers(inner) for name, inner in value.items() if name != "evidence"}
    return value


def _leaves(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each number or text in objects, and each row of a list."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(f"{field}.{name}", inner)
    elif isinstance(value, list):
        yield from ((f"{field}[{at}]", row) for at, row in enumerate(value, 1))
    else:
        yield field, value
