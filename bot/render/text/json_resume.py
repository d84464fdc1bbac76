"""What can a CV use of a profile? The JSON Resume fields that landed work can prove."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from bot.metrics.commits import COMMITS
from bot.metrics.months import MONTHS
from bot.metrics.registry import metrics_on
from bot.model.commit import GITHUB
from bot.model.profile import Number, Profile, RepositoryRecord
from bot.render.plain_text import plain_lines, plain_text
from bot.render.verification import repository_addresses
from bot.render.wording import list_missing_parts, rfc3339

SCHEMA = "https://raw.githubusercontent.com/jsonresume/resume-schema/v1.0.0/schema.json"


def render_resume(profile: Profile) -> str:
    """The profile as JSON Resume 1.0.0: `basics`, `projects` (one per repository) and `skills`."""
    text = json.dumps(_resume(profile), ensure_ascii=False, indent=2)
    return text.encode("utf-8", "replace").decode() + "\n"


def _resume(profile: Profile) -> dict[str, Any]:
    addresses = repository_addresses(profile)
    return {
        "$schema": SCHEMA,
        "basics": _basics(profile),
        "projects": [_project(record, addresses.get(record.full_name)) for record in profile.repositories],
        "skills": _skills(profile),
        "meta": {
            "version": profile.method.version,
            "lastModified": rfc3339(profile.generated_at)[:19],
            "metrics": _metrics(profile.overall.numbers),
            **({"notMeasured": list(found)} if (found := list_missing_parts(profile.method)) else {}),
        },
    }


def _metrics(numbers: Mapping[str, Number]) -> dict[str, str]:
    """Each measured number in words. JSON Resume has no field for them, so they are in `meta`, which allows any."""
    return {
        metric.key: metric.quantity(number)
        for metric in metrics_on("resume")
        if (number := numbers.get(metric.key)) is not None
    }


def _basics(profile: Profile) -> dict[str, Any]:
    who = profile.contributor
    basics: dict[str, Any] = {"name": plain_text(who.display), "summary": plain_lines(profile.narrative.text)}
    if who.login and who.naming == "named":
        login = plain_text(who.login)
        basics["profiles"] = [{"network": "GitHub", "username": login, "url": f"https://{_server(profile)}/{login}"}]
    return basics


def _project(record: RepositoryRecord, address: str | None) -> dict[str, Any]:
    project: dict[str, Any] = {
        "name": plain_text(record.full_name),
        "description": f"{COMMITS.quantity(record.commits)} in {MONTHS.quantity(record.active_months)}",
        "keywords": [plain_text(name) for name in (*record.languages, *record.skills)],
        "startDate": record.first_month,
        "endDate": record.last_month,
        "type": "open source contribution" if address else "contribution",
    }
    return project | ({"url": address} if address else {})


def _server(profile: Profile) -> str:
    """The server of the person's account, by the links to their changes."""
    return next((urlsplit(change.url).netloc for change in profile.changes if change.url), GITHUB)


def _skills(profile: Profile) -> list[dict[str, Any]]:
    groups = (
        ("Programming languages", [plain_text(skill.name) for skill in profile.languages]),
        ("Technical skills", [plain_text(skill.name) for skill in profile.technical]),
    )
    return [{"name": name, "keywords": keywords} for name, keywords in groups if keywords]
