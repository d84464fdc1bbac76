"""From which profile is a number explained: one of the record, or one of clones?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bot.configuration.errors import UnusableInputError
from bot.model.profile import Profile
from bot.narrative.explanation import Explanation, NoSuchMetricError, check_name
from bot.narrative.explanation import explain as explained


def _known_metric(metric: str) -> str:
    try:
        return check_name(metric)
    except NoSuchMetricError as error:
        raise UnusableInputError(str(error)) from None


def from_clones(paths: Sequence[str], who: str, metric: str, timezone: str) -> Explanation:
    """Explain a number from clones. Raises UnusableInputError for an unknown metric, person or zone, or a bad clone."""
    from bot.cli.recomputing import offline

    name = _known_metric(metric)
    return explained(
        offline.build_profile(paths, who, offline.read_window(None, None, timezone), anonymous=False), name
    )


def from_record(login: str, metric: str) -> Explanation:
    """Explain a number from everything recorded, as the operator sees it. Raises UnusableInputError likewise."""
    from bot.cli.operating.run import operator_errors, read_settings_of_a_record

    name = _known_metric(metric)
    settings = read_settings_of_a_record()
    with operator_errors(settings):
        profile = asyncio.run(recorded_profile(settings.database_url, login, str(settings.timezone)))
        return explained(profile, name)


async def recorded_profile(url: str, login: str, zone: str) -> Profile:
    """Everything recorded about a login, with months in `zone`. Raises UnusableInputError for an unknown one."""
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    from bot.landing.identity.people import People
    from bot.narrative.profile import ProfileContext, ProfileScope, build
    from bot.store import installations, people, records, visibility
    from bot.store.engine import Store

    async with await Store.open(url, read_only=True) as store:
        with store.snapshot() as connection:
            state = visibility.person_called(connection, login)
            if state is None:
                raise UnusableInputError(f"the record knows nobody as {login}, or several people; give a GitHub login")
            reached = [
                installations.repositories_of(connection, one)
                for one in sorted(installations.active_installations(connection))
            ]
            repositories = {row.repository.id: row.repository for rows in reached for row in rows}
            found = records.facts_about(connection, state.keys, [one for one in repositories if one is not None])
            person = people.person(connection, state.key)
    names = {one.full_name: one for one in repositories.values()}
    known = person or People.of([fact.author for fact in found.facts()]).all()[0]
    scope = ProfileScope(person=known, keys=state.keys, zone=ZoneInfo(zone), now=datetime.now(UTC))
    changes = found.changes(names)
    context = ProfileContext(
        found.own_lines(changes, scope.zone),
        non_code=found.non_code_by_month(scope.zone),
        partial=found.partial(),
        texts=found.project_texts(changes),
    )
    return build(changes, scope, context)
