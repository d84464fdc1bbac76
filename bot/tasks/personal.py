"""What a person decides about themselves takes effect everywhere at once: on pages, in digests, in notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.identity import person_key
from bot.model import CommitId, Fact, InstallationId, Person, PersonKey, RepositoryId, UserId
from bot.store import (
    choices,
    corrections,
    erasure,
    folding,
    inbox,
    installations,
    ledger,
    outbox,
    people,
    readings,
    sessions,
    visibility,
)
from bot.store.people import see_people
from bot.store.turn import run, spelling_of
from bot.store.visibility import Naming, subject_of_person
from bot.tasks.announcing import intend_check, intend_comment, post
from bot.tasks.asking import Asker
from bot.tasks.close_month import retell_months
from bot.tasks.recording import Place, Recorded, recount
from bot.tasks.workplace import Workplace, reference

ERASED = "Removed at a person's request.\n"


async def hide(conn: AsyncConnection, place: Workplace, asker: Asker) -> None:
    """Opt out: shown nowhere, whoever they are; what was posted is written anew without them."""
    await _know(conn, asker)
    await choices.opt_out(conn, asker.key, asker.asked_at)
    await retell_person(conn, place, asker.key)


async def show(conn: AsyncConnection, place: Workplace, asker: Asker, *, public: bool) -> None:
    """A public page, or none any more. Who opted out comes back by asking for a public page."""
    await _know(conn, asker)
    if public:
        await people.opt_out(conn, asker.key, None)
    await visibility.publish(conn, subject_of_person(asker.key), public=public, now=asker.asked_at)
    await retell_person(conn, place, asker.key)


async def unname(conn: AsyncConnection, place: Workplace, asker: Asker) -> None:
    """Shown without a name from now on."""
    await _know(conn, asker)
    state = await visibility.person_state(conn, asker.key)
    naming: Naming = "anonymous"
    await visibility.publish(
        conn, subject_of_person(asker.key), public=bool(state and state.public), now=asker.asked_at, naming=naming
    )
    await visibility.set_naming(conn, subject_of_person(asker.key), naming)
    await retell_person(conn, place, asker.key)


async def _know(conn: AsyncConnection, asker: Asker) -> None:
    """A choice needs a person to hang on, also before any work of theirs landed."""
    if await people.person(conn, asker.key) is None:
        account = asker.account
        await see_people(conn, [Person(asker.key, account.name, (), account.login, account.user_id)])


async def retell_person(conn: AsyncConnection, place: Workplace, key: PersonKey) -> None:
    """Write anew every digest and note in which this person's work is told."""
    work = await erasure.work_of(conn, await visibility.every_key(conn, key))
    for repository in sorted({repository for repository, _ in work}):
        stored = await installations.repository(conn, repository)
        if stored is None or stored.installation_id is None or stored.removed_at is not None:
            continue
        facts = [fact for where, fact in work if where == repository]
        target = Place(stored.installation_id, repository, place.zone)
        await retell_months(conn, place, (stored.installation_id, repository))
        await renew_notes(conn, place, target, facts)


async def renew_notes(
    conn: AsyncConnection, place: Workplace, target: Place, facts: Collection[Fact], recorded: Recorded | None = None
) -> None:
    """Post the notes on these facts' carriers and pull requests again, as far as such notes stand."""
    recorded = recorded or await recount(conn, target, [fact.commit for fact in facts])
    carriers, numbers = {fact.carrier for fact in facts}, {fact.pull_request for fact in facts}
    name = next((name for name, repo in recorded.repositories.items() if repo.id == target.repository), "")
    for intent, _ in await outbox.intents(conn, target.repository, ("check", "comment")):
        if intent.kind == "check" and intent.target["commit"] in carriers:
            carrier = CommitId(intent.target["commit"])
            there = [c for c in recorded.changed if any(one.fact.carrier == carrier for one in c.commits)]
            await intend_check(conn, place, target, (carrier, there))
        if intent.kind == "comment" and intent.target["number"] in numbers:
            number = int(intent.target["number"])
            there = [
                change
                for change in recorded.changed
                if any((one.fact.repository, one.fact.pull_request) == (name, number) for one in change.commits)
            ]
            await intend_comment(conn, place, target, (number, there))


# --- forgetting ------------------------------------------------------------------------------------------------------


async def forget(conn: AsyncConnection, place: Workplace, key: PersonKey, now: datetime) -> None:
    """Hide at once and let nothing come back; a job erases the record, which takes longer."""
    keys = await visibility.every_key(conn, key)
    await erasure.bury(conn, keys, now)
    await choices.forget(conn, key, now)
    if key.startswith("u:"):
        await sessions.end_all(conn, UserId(int(key[2:])))
        await ask_about_account(conn, place, "erase_person", key)


async def ask_about_account(conn: AsyncConnection, place: Workplace, task: str, key: PersonKey) -> None:
    """Defer a task about one account, behind others about it; one that waits already is enough."""
    user = int(key.removeprefix("u:"))
    ref = reference({"user": user})
    await place.queue.defer(conn, task, ref, serial_key=f"user:{user}", dedupe_key=f"{task}:{user}")


async def erase(conn: AsyncConnection, place: Workplace, key: PersonKey) -> None:
    """Delete the record of a buried person, fold anew what is left, and write every post anew without them."""
    keys = await visibility.every_key(conn, key)
    await _fold_alone(conn, keys)
    work = await erasure.work_of(conn, keys)
    by_repository: dict[RepositoryId, list[Fact]] = defaultdict(list)
    near: dict[RepositoryId, list[Fact]] = {}
    for repository, fact in work:
        by_repository[repository].append(fact)
    homes = {repository: await _home(conn, repository) for repository in by_repository}
    for repository, facts in by_repository.items():
        seeds = [(repository, fact.commit) for fact in facts]
        near[repository] = await ledger.component(conn, seeds, installation_id=homes[repository])
    disputed = await corrections.disputes_of(conn, keys)
    await erasure.erase_record(conn, keys)
    await inbox.drop_bodies(conn, place.clock())
    await readings.forget_all(conn)
    for repository, facts in by_repository.items():
        home = homes[repository]
        if home is not None:
            await _fold_without(conn, place, Place(home, repository, place.zone), (keys, facts, near[repository]))
    for repository, number in disputed:
        await _tell_without_dispute(conn, place, repository, number)
    await _erase_replies(conn, place, keys)


async def _fold_alone(conn: AsyncConnection, keys: Collection[PersonKey]) -> None:
    """Nobody else folds where their work is, until it is gone and what it folded with stands as it is then."""
    repositories = {repository for repository, _ in await erasure.work_of(conn, keys)}
    for home in sorted({home for one in repositories if (home := await _home(conn, one)) is not None}):
        await run(conn, folding.alone(spelling_of(conn), home))


async def _home(conn: AsyncConnection, repository: RepositoryId) -> InstallationId | None:
    stored = await installations.repository(conn, repository)
    return stored.installation_id if stored is not None and stored.removed_at is None else None


async def _fold_without(
    conn: AsyncConnection,
    place: Workplace,
    target: Place,
    gone: tuple[Collection[PersonKey], list[Fact], list[Fact]],
) -> None:
    """What folded with erased facts is folded anew, and told anew."""
    keys, facts, near = gone
    left = [fact.commit for fact in near if person_key(fact.author) not in keys]
    lost = [fact for fact in near if person_key(fact.author) in keys]
    recorded = await recount(conn, target, left, gone=lost)
    await renew_notes(conn, place, target, facts, recorded)
    await retell_months(conn, place, (target.installation, target.repository))


async def _tell_without_dispute(conn: AsyncConnection, place: Workplace, repository: RepositoryId, number: int) -> None:
    """What somebody who is gone said against other people's work is told no more; below zero, of a month."""
    home = await _home(conn, repository)
    if home is None:
        return
    await retell_months(conn, place, (home, repository))
    if number > 0:
        facts = await ledger.facts_named(conn, repository, number)
        await renew_notes(conn, place, Place(home, repository, place.zone), facts)


async def _erase_replies(conn: AsyncConnection, place: Workplace, keys: Collection[PersonKey]) -> None:
    """Our answers to that person stay as comments that say nothing."""
    for intent in await outbox.intents_about(conn, keys):
        await post(
            conn,
            place,
            outbox.Intent(
                intent.key,
                intent.kind,
                intent.repository_id,
                {**intent.target, "person": ""},
                {"text": ERASED},
                intent.installation_id,
            ),
        )
