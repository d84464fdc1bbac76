"""What does a script read of a profile? The full record, as `profile.schema.json` defines it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Any

from bot.metrics.definitions import SCORES
from bot.metrics.non_code_activity import combine_activity
from bot.metrics.registry import METRICS
from bot.model.change import Change, Item
from bot.model.ids import STATED
from bot.model.profile import (
    Method,
    MonthRecord,
    Number,
    Profile,
    Quality,
    RepositoryRecord,
    Score,
    ScoreEvidence,
    Sentence,
    Text,
)
from bot.render.non_code_activity import json_fields
from bot.render.wording import instant, lines_of, rfc3339

Object = dict[str, Any]
SCHEMA = "almanac.profile/1"


def render_json(profile: Profile) -> str:
    """The profile as JSON text, in the schema's order: one line for each field, month, day, repository and change."""
    return "".join(json_parts(profile))


def json_parts(profile: Profile) -> Iterator[str]:
    """The same text in pieces, for writing to a file: one string for a long record takes ten times its size."""
    mark = "{\n"
    for name, value in _fields(profile).items():
        yield f"{mark}{_dump(name)}: "
        yield from _spread(value)
        mark = ",\n"
    yield "\n}\n"


def _spread(value: Any) -> Iterator[str]:
    """A list with one element per line, anything else on one line; indenting would rule out the fast C encoder."""
    if not isinstance(value, Iterator):
        yield _without_surrogates(_dump(value))
        return
    mark = "[\n"
    for element in value:
        yield mark + _without_surrogates(_dump(element))
        mark = ",\n"
    yield "[]" if mark == "[\n" else "\n]"


def _without_surrogates(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot encode, replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


@cache
def schema() -> Object:
    """The JSON Schema that every rendered profile satisfies."""
    text = resources.files("bot.render").joinpath("profile.schema.json").read_text("utf-8")
    loaded: Object = json.loads(text)
    return loaded


def profile_object(profile: Profile) -> Object:
    """The profile as plain dictionaries, lists, strings and numbers."""
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in _fields(profile).items()}


def _limits(method: Method) -> Object:
    """The months that were requested, if not all were, and what could not be read."""
    names = ("since", "until", "not_measured", "shallow")
    return {name: value for name in names if (value := getattr(method, name))}


def _fields(profile: Profile) -> Object:
    """The fields in the schema's order; long lists are iterators."""
    contributor, own = profile.contributor, profile.credits
    return {
        "schema": SCHEMA,
        "generated_at": rfc3339(profile.generated_at),
        "method": {
            "version": profile.method.version,
            "timezone": profile.method.timezone,
            "date_basis": profile.method.date_basis,
            **_limits(profile.method),
        },
        "contributor": {
            "id": contributor.id,
            "login": contributor.login,
            "name": contributor.name,
            "display": contributor.display,
            "naming": contributor.naming,
        },
        "narrative": _text(profile.narrative),
        "overall": _overall(profile),
        "months": (_month(month) for month in profile.months),
        "activity": ({"date": date, "commits": commits} for date, commits in sorted(profile.activity.items())),
        "quality": _quality(profile.quality),
        "ai_usage": _ai_usage(profile),
        "skills": _skills(profile),
        "repositories": (_repository(record) for record in profile.repositories),
        "changes": (
            change_object(change)
            | ({"grade": part.grade, "own_lines": part.lines.total} if (part := own.get(change.id)) else {})
            for change in profile.changes
        ),
    }


def change_object(change: Change) -> Object:
    """One change as the schema defines it. `commits` are those that count, or all of them if none counts."""
    return {
        "id": change.id,
        "repository": change.repository,
        "pull_request": change.pull_request,
        "kind": change.kind,
        "why": change.why,
        "certain": change.certain,
        "probability": change.probability / STATED,
        "title": change.title,
        "landed_at": instant(change.landed_at),
        "commits": [commit.fact.commit for commit in change.counted or change.commits if commit.fact.commit],
        "state": change.state,
        "lines": lines_of(change).as_dict(),
        "also_in": list(change.also_in),
        "reverted_by": change.reverted_by,
        "partly_reverted_by": list(change.partly_reverted_by),
        "url": change.url,
    } | {name: True for name in ("clamped", "parts_unknown") if getattr(change, name)}


def _text(text: Text) -> Object:
    return {
        "text": text.text,
        "writer": text.writer,
        "sentences": [_sentence(sentence) for sentence in text.sentences],
    }


def _sentence(sentence: Sentence) -> Object:
    return {
        "text": sentence.text,
        "evidence": list(sentence.evidence),
        "role": sentence.role,
        "quoted": sentence.quoted,
        "source": sentence.source,
        "tag": sentence.tag,
    }


def _overall(profile: Profile) -> Object:
    """Every metric, the sums of non-code activity, and the months that had nothing else."""
    overall = profile.overall
    non_code = json_fields(
        combine_activity(month.non_code for month in (*profile.months, *profile.non_code_months)), opened=False
    )
    if profile.non_code_months:
        non_code["live"]["months"] = {
            one.month: json_fields(one.non_code, opened=True)["live"] for one in profile.non_code_months
        }
    return (
        {metric.field: number(overall.numbers.get(metric.key)) for metric in METRICS if metric.field}
        | {"lines": overall.lines.as_dict(), "metrics": _metrics(overall.numbers)}
        | non_code
    )


def _metrics(numbers: Mapping[str, Number]) -> Object:
    """Every metric without its own field."""
    return {
        metric.key: {"value": number(numbers.get(metric.key)), "unit": metric.unit}
        for metric in METRICS
        if not metric.field
    }


def _month_metrics(month: MonthRecord) -> Object:
    """The same for one month, each with the changes that are its evidence and what they add."""
    return {
        metric.key: {
            "value": number(month.numbers.get(metric.key)),
            "evidence": [
                {"changes": list(part.changes), "value": number(part.value)} for part in month.parts.get(metric.key, ())
            ],
        }
        for metric in METRICS
        if metric.monthly and not metric.field
    }


def number(value: Number) -> int | float | None:
    """The value of a metric; an exact fraction becomes a float."""
    return float(value) if isinstance(value, Fraction) else value


def _month(month: MonthRecord) -> Object:
    """One month; with non-code activity if there is any, `live` for the part that no clone contains."""
    plain = {
        "month": month.month,
        **{
            metric.field: number(month.numbers.get(metric.key)) for metric in METRICS if metric.monthly and metric.field
        },
        "lines": month.lines.as_dict(),
        "metrics": _month_metrics(month),
        "repositories": list(month.repositories),
        "languages": dict(sorted(month.languages.items(), key=lambda pair: (-pair[1], pair[0]))),
        "summary": _text(month.summary),
        "items": [_item(item) for item in month.items],
    }
    return plain | json_fields(month.non_code, opened=True)


def _item(item: Item) -> Object:
    return {
        "kind": item.kind,
        "title": item.title,
        "state": item.state,
        "changes": list(item.changes),
        "certain": item.certain,
    }


def _quality(quality: Quality) -> Object:
    scores = {one.key: _score(getattr(quality, one.key)) for one in SCORES}
    facts = [{"key": one.key, "value": one.value, "project": one.project} for one in quality.facts]
    return scores | {"facts": facts}


def _score(score: Score) -> Object:
    return {
        "score": score.score,
        "rated": score.rated,
        "interval": list(score.interval) if score.interval else None,
        "at_risk": score.at_risk,
        "lost": score.lost,
        "project": score.project,
        "evidence": [_evidence(row) for row in score.evidence],
    }


def _evidence(row: ScoreEvidence) -> Object:
    plain = {"change": row.change, "signal": row.signal, "effect": row.effect}
    return plain | {"by": row.by} if row.by else plain


def _ai_usage(profile: Profile) -> Object:
    usage = profile.ai_usage
    declared, detected, unknown = usage.shares()
    tools = sorted(usage.tools.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "declared": declared,
        "detected": detected,
        "unknown": unknown,
        "tools": [
            {
                "name": name,
                "commits": commits,
                "evidence": [{"change": one.change, "commit": one.commit} for one in usage.evidence.get(name, ())],
            }
            for name, commits in tools
        ],
        "commits": {"declared": usage.declared, "detected": usage.detected, "unknown": usage.unknown},
    }


def _skills(profile: Profile) -> Object:
    return {
        "languages": [
            {"name": skill.name, "lines": skill.lines, "first_month": skill.first_month} for skill in profile.languages
        ],
        "technical": [
            {"name": skill.name, "weight": skill.weight, "evidence": list(skill.evidence)}
            for skill in profile.technical
        ],
    }


def _repository(record: RepositoryRecord) -> Object:
    """One repository; `whole_history` is false if its start is unknown, and first contributions with it."""
    plain = {
        "full_name": record.full_name,
        "first_month": record.first_month,
        "last_month": record.last_month,
        "active_months": record.active_months,
        "commits": record.commits,
        "languages": list(record.languages),
        "skills": list(record.skills),
    }
    return plain if record.full_history else plain | {"whole_history": False}
