"""What a person decides about themselves takes effect everywhere at once: on pages, in digests, in notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection

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
from bot.store.visibility import Naming, subject_of_person
from bot.tasks.announcing import intend_check, intend_comment, post
from bot.tasks.asking import Asker
from bot.tasks.close_month import retell_months
from bot.tasks.recording import Place, Recorded, recount
from bot.tasks.workplace import Workplace, reference

ERASED = "Removed at a person's request.\n"


def hide(connection: Connection, place: Workplace, asker: Asker) -> None:
    """Opt out: shown nowhere, whoever they are; what was posted is written anew without them."""
    _know(connection, asker)
    choices.opt_out(connection, asker.key, asker.asked_at)
    retell_person(connection, place, asker.key)


def show(connection: Connection, place: Workplace, asker: Asker, *, public: bool) -> None:
    """A public page, or none any more. Who opted out comes back by asking for a public page."""
    _know(connection, asker)
    if public:
        people.opt_out(connection, asker.key, None)
    visibility.publish(connection, subject_of_person(asker.key), public=public, now=asker.asked_at)
    retell_person(connection, place, asker.key)


def unname(connection: Connection, place: Workplace, asker: Asker) -> None:
    """Shown without a name from now on."""
    _know(connection, asker)
    state = visibility.person_state(connection, asker.key)
    naming: Naming = "anonymous"
    visibility.publish(
        connection, subject_of_person(asker.key), public=bool(state and state.public), now=asker.asked_at, naming=naming
    )
    visibility.set_naming(connection, subject_of_person(asker.key), naming)
    retell_person(connection, place, asker.key)


def _know(connection: Connection, asker: Asker) -> None:
    """A choice needs a person to hang on, also before any work of theirs landed."""
    if people.person(connection, asker.key) is None:
        account = asker.account
        see_people(connection, [Person(asker.key, account.name, (), account.login, account.user_id)])


def retell_person(connection: Connection, place: Workplace, key: PersonKey) -> None:
    """Write anew every digest and note in which this person's work is told."""
    work = erasure.work_of(connection, visibility.every_key(connection, key))
    for repository in sorted({repository for repository, _ in work}):
        stored = installations.repository(connection, repository)
        if stored is None or stored.installation_id is None or stored.removed_at is not None:
            continue
        facts = [fact for where, fact in work if where == repository]
        target = Place(stored.installation_id, repository, place.zone)
        retell_months(connection, place, (stored.installation_id, repository))
        renew_notes(connection, place, target, facts)


def renew_notes(
    connection: Connection, place: Workplace, target: Place, facts: Collection[Fact], recorded: Recorded | None = None
) -> None:
    """Post the notes on these facts' carriers and pull requests again, as far as such notes stand."""
    recorded = recorded or recount(connection, target, [fact.commit for fact in facts])
    carriers, numbers = {fact.carrier for fact in facts}, {fact.pull_request for fact in facts}
    name = next((name for name, repo in recorded.repositories.items() if repo.id == target.repository), "")
    for intent, _ in outbox.intents(connection, target.repository, ("check", "comment")):
        if intent.kind == "check" and intent.target["commit"] in carriers:
            carrier = CommitId(intent.target["commit"])
            there = [c for c in recorded.changed if any(one.fact.carrier == carrier for one in c.commits)]
            intend_check(connection, place, target, (carrier, there))
        if intent.kind == "comment" and intent.target["number"] in numbers:
            number = int(intent.target["number"])
            there = [
                change
                for change in recorded.changed
                if any((one.fact.repository, one.fact.pull_request) == (name, number) for one in change.commits)
            ]
            intend_comment(connection, place, target, (number, there))


# --- forgetting ------------------------------------------------------------------------------------------------------


def forget(connection: Connection, place: Workplace, key: PersonKey, now: datetime) -> None:
    """Hide at once and let nothing come back; a job erases the record, which takes longer."""
    keys = visibility.every_key(connection, key)
    erasure.add_tombstones(connection, keys, now)
    choices.forget(connection, key, now)
    if key.startswith("u:"):
        sessions.end_all(connection, UserId(int(key[2:])))
        ask_about_account(connection, place, "erase_person", key)


def ask_about_account(connection: Connection, place: Workplace, task: str, key: PersonKey) -> None:
    """Defer a task about one account, behind others about it; one that waits already is enough."""
    user = int(key.removeprefix("u:"))
    ref = reference({"user": user})
    place.queue.defer(connection, task, ref, serial_key=f"user:{user}", dedupe_key=f"{task}:{user}")


def erase(connection: Connection, place: Workplace, key: PersonKey) -> None:
    """Delete the record of an erased person, fold anew what is left, and write every post anew without them."""
    keys = visibility.every_key(connection, key)
    _fold_alone(connection, keys)
    work = erasure.work_of(connection, keys)
    by_repository: dict[RepositoryId, list[Fact]] = defaultdict(list)
    near: dict[RepositoryId, list[Fact]] = {}
    for repository, fact in work:
        by_repository[repository].append(fact)
    homes = {repository: _home(connection, repository) for repository in by_repository}
    for repository, facts in by_repository.items():
        seeds = [(repository, fact.commit) for fact in facts]
        near[repository] = ledger.component(connection, seeds, installation_id=homes[repository])
    disputed = corrections.disputes_of(connection, keys)
    erasure.erase_record(connection, keys)
    inbox.drop_bodies(connection, place.clock())
    readings.forget_all(connection)
    for repository, facts in by_repository.items():
        home = homes[repository]
        if home is not None:
            _fold_without(connection, place, Place(home, repository, place.zone), (keys, facts, near[repository]))
    for repository, number in disputed:
        _tell_without_dispute(connection, place, repository, number)
    _erase_replies(connection, place, keys)


def _fold_alone(connection: Connection, keys: Collection[PersonKey]) -> None:
    """Nobody else folds where their work is, until it is gone and what it folded with stands as it is then."""
    repositories = {repository for repository, _ in erasure.work_of(connection, keys)}
    for home in sorted({home for one in repositories if (home := _home(connection, one)) is not None}):
        folding.lock_installation(connection, home)


def _home(connection: Connection, repository: RepositoryId) -> InstallationId | None:
    stored = installations.repository(connection, repository)
    return stored.installation_id if stored is not None and stored.removed_at is None else None


def _fold_without(
    connection: Connection,
    place: Workplace,
    target: Place,
    gone: tuple[Collection[PersonKey], list[Fact], list[Fact]],
) -> None:
    """What folded with erased facts is folded anew, and told anew."""
    keys, facts, near = gone
    left = [fact.commit for fact in near if person_key(fact.author) not in keys]
    lost = [fact for fact in near if person_key(fact.author) in keys]
    recorded = recount(connection, target, left, gone=lost)
    renew_notes(connection, place, target, facts, recorded)
    retell_months(connection, place, (target.installation, target.repository))


def _tell_without_dispute(connection: Connection, place: Workplace, repository: RepositoryId, number: int) -> None:
    """What somebody who is gone said against other people's work is told no more; below zero, of a month."""
    home = _home(connection, repository)
    if home is None:
        return
    retell_months(connection, place, (home, repository))
    if number > 0:
        facts = ledger.facts_named(connection, repository, number)
        renew_notes(connection, place, Place(home, repository, place.zone), facts)


def _erase_replies(connection: Connection, place: Workplace, keys: Collection[PersonKey]) -> None:
    """Our answers to that person stay as comments that say nothing."""
    for intent in outbox.intents_about(connection, keys):
        post(
            connection,
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
