"""How does an operator inspect, repair, export, erase, rebuild and move the record and the queue?"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from gidgethub.sansio import Event
from sqlalchemy import Connection

from bot import app
from bot.cli.operating.run import operator_errors, read_settings, read_settings_of_a_record, with_bot
from bot.configuration.addresses import database_url_of
from bot.configuration.errors import UnusableInputError
from bot.configuration.settings import Settings
from bot.model.ids import InstallationId, PersonKey
from bot.services.deliveries.inbox import RoutedDelivery, StoreInbox, read_delivery
from bot.services.privacy import erasure
from bot.services.recording.rebuild import rebuild
from bot.store import choices, installations, jobs, people, visibility
from bot.store.engine import Store
from bot.store.move import Moved, MoveError, move_all
from bot.web.body import LARGEST
from handlers import Handlers

Answer = TypeVar("Answer")


def _with_store(work: Callable[[Store, Settings], Awaitable[Answer]], *, read_only: bool) -> Answer:
    """Run it on the configured database. Reading does not have to wait for a running bot."""
    settings = read_settings_of_a_record()

    async def run_with_store() -> Answer:
        async with await Store.open(settings.database_url, read_only=read_only) as store:
            return await work(store, settings)

    with operator_errors(settings):
        return asyncio.run(run_with_store())


def _with_bot(work: Callable[[app.Bot], Awaitable[Answer]]) -> Answer:
    """Run it with the whole bot built, as a job would find it."""
    settings = read_settings(serving=True)
    with operator_errors(settings):
        return with_bot(settings, work)


# --- jobs ------------------------------------------------------------------------------------------------------------


def list_jobs(states: Sequence[str]) -> list[jobs.JobRow]:
    """The jobs in these states, those changed last first; at most a thousand."""

    async def load(store: Store, _: Settings) -> list[jobs.JobRow]:
        return await store.read(jobs.in_states, states)

    return _with_store(load, read_only=True)


def count_jobs() -> dict[str, int]:
    """Jobs by state."""

    async def count(store: Store, _: Settings) -> dict[str, int]:
        return await store.read(jobs.counts)

    return _with_store(count, read_only=True)


def show_job(number: int) -> jobs.JobRow:
    """Everything about one job."""

    async def load(store: Store, _: Settings) -> jobs.JobRow:
        return (await store.read(_existing_jobs, [number]))[0]

    return _with_store(load, read_only=True)


def _existing_jobs(connection: Connection, numbers: Sequence[int]) -> list[jobs.JobRow]:
    found = {row.id: row for row in jobs.with_ids(connection, numbers)}
    missing = [str(number) for number in numbers if number not in found]
    if missing:
        raise UnusableInputError(f"no job {', '.join(missing)}; see: almanac jobs list --state all")
    return [found[number] for number in numbers]


def _require_states(rows: Sequence[jobs.JobRow], states: Sequence[str], action: str) -> None:
    wrong = [f"{row.id} is {row.state}" for row in rows if row.state not in states]
    if wrong:
        raise UnusableInputError(f"{', '.join(wrong)}; only {' and '.join(states)} jobs can be {action}")


def replay_jobs(numbers: Sequence[int], *, every: str | None = None) -> int:
    """Make these dead or parked jobs ready again, or all in the state `every`; return how many."""

    async def revive(store: Store, _: Settings) -> int:
        def revive(connection: Connection) -> int:
            if every is None:
                _require_states(_existing_jobs(connection, numbers), ("dead", "parked"), "replayed")
            return len(jobs.revive_jobs(connection, numbers, every, datetime.now(UTC)))

        return await store.write(revive)

    return _with_store(revive, read_only=False)


def cancel_jobs(numbers: Sequence[int]) -> int:
    """Cancel these waiting, parked or dead jobs; return how many."""

    async def cancel(store: Store, _: Settings) -> int:
        def cancel(connection: Connection) -> int:
            _require_states(_existing_jobs(connection, numbers), ("dead", "parked", "ready"), "cancelled")
            return jobs.cancel(connection, numbers, datetime.now(UTC))

        return await store.write(cancel)

    return _with_store(cancel, read_only=False)


# --- deliveries ------------------------------------------------------------------------------------------------------


def replay_delivery(path: Path) -> str:
    """Accept a delivery from a file as the webhook would, and run its jobs; return one line with the result."""
    event, guid, body = _read_delivery_file(path)

    async def replay(bot: app.Bot) -> str:
        routes = Handlers(bot.context.ourselves)
        hook = f"app:{bot.context.ourselves.id}"
        delivery = await read_delivery(routes, Event(None, event=event, delivery_id=guid), body, hook=hook)
        if delivery is None:
            raise UnusableInputError(f"{path}: its payload is no {event} as GitHub documents it")
        return await _work_delivery(bot, delivery)

    return _with_bot(replay)


async def _work_delivery(bot: app.Bot, delivery: RoutedDelivery) -> str:
    label = f"delivery {delivery.guid} ({delivery.event})"
    if not delivery.jobs:
        return f"{label} asks for nothing"
    if not await StoreInbox(bot.writer, bot.timing.clock).accept(delivery):
        return f"{label} was received before: nothing to do"
    done = await bot.queue.drain()
    return f"{label} is taken; {done} job{'' if done == 1 else 's'} worked"


def _read_delivery_file(path: Path) -> tuple[str, str, bytes]:
    """Event, GUID and body of a delivery in JSON: `payload`, and either `event` and `guid` or the `headers`."""
    try:
        content = path.read_bytes()
        found = json.loads(content) if len(content) <= 2 * LARGEST else None
    except OSError as error:
        raise UnusableInputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UnusableInputError(f"{path} is not JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("payload"), dict):
        raise UnusableInputError(f'{path} must hold {{"event", "guid"?, "payload"}} or {{"headers", "payload"}}')
    body = json.dumps(found["payload"], ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    headers = found.get("headers")
    named = {str(name).lower(): value for name, value in headers.items()} if isinstance(headers, dict) else {}
    event = found.get("event") or named.get("x-github-event")
    if not isinstance(event, str):
        raise UnusableInputError(f"{path} does not name its event: add event, or the header X-GitHub-Event")
    # Without a GUID, a hash of the content replaces it, so that the same file is the same delivery.
    own = hashlib.sha256(event.encode("utf-8", "replace") + b"\0" + body).hexdigest()[:32]
    guid = found.get("guid") or named.get("x-github-delivery") or f"replay-{own}"
    return event, str(guid), body


# --- people ----------------------------------------------------------------------------------------------------------


def _person_key(connection: Connection, login: str) -> PersonKey:
    """The key of a person. Raises UnusableInputError if nobody or several people match."""
    state = visibility.person_called(connection, login)
    if state is not None:
        return state.key
    if "@" in login.strip("@"):
        keys = people.keys_of(connection, "email", login)
        if len(keys) == 1:
            return keys[0]
    raise UnusableInputError(
        f"the record knows nobody as {login}, or several people; give a GitHub login or an email address"
    )


def export_person(login: str) -> str:
    """Everything stored about a person, as JSON."""

    async def export(store: Store, _: Settings) -> str:
        return await store.read(lambda connection: choices.export(connection, _person_key(connection, login)))

    return _with_store(export, read_only=True)


def forget_person(login: str) -> str:
    """Erase a person permanently; return the erased key.

    Posts that name them are rewritten as soon as a worker runs.
    """

    async def erase(bot: app.Bot) -> str:
        def forget(connection: Connection) -> PersonKey:
            key = _person_key(connection, login)
            erasure.forget(connection, bot.context, key, bot.timing.clock())
            return key

        key = await bot.store.write(forget)
        await bot.store.write(erasure.erase, bot.context, key)
        await bot.store.scrub()
        return key

    return _with_bot(erase)


# --- the whole record ------------------------------------------------------------------------------------------------


def rebuild_totals(report: Callable[[str], None]) -> None:
    """Rebuild all derived data from the facts, one installation at a time; report the number of wrong rows."""

    async def rebuild_each(store: Store, settings: Settings) -> None:
        damage = await asyncio.to_thread(store.check_integrity)
        if damage is not None:
            raise UnusableInputError(damage)
        for one, name in (await store.read(_active_logins)).items():
            found = await rebuild(store, one, settings.timezone)
            state = f"wrong until now: {found.wrong}" if found.wrong else "everything agrees with the facts"
            report(f"{name or one}: changes {found.changes}, sums {found.sums}; {state}")

    _with_store(rebuild_each, read_only=False)


def _active_logins(connection: Connection) -> dict[InstallationId, str | None]:
    return {
        one: installations.login_of(connection, one) for one in sorted(installations.active_installations(connection))
    }


def move_record(target: str, report: Callable[[str], None]) -> Moved:
    """Copy the configured database into the empty one at `target`, and verify that both are equal."""
    try:
        url = database_url_of(target)
    except ValueError as error:
        raise UnusableInputError(f"--to {error}") from None

    async def move_to(source: Store, settings: Settings) -> Moved:
        if url == settings.database_url:
            raise UnusableInputError("--to is the database in use; give another one")
        async with await Store.open(url) as store:
            try:
                return await move_all(source, store, report)
            except MoveError as error:
                raise UnusableInputError(str(error)) from None

    return _with_store(move_to, read_only=False)
