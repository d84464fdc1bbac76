"""What does each command do? `ACTIONS` is the whole list: a command is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.digest.commands import Command, Name
from bot.digest.repository_month import contributor_months
from bot.landing.months import month_of
from bot.metrics.registry import metric_called
from bot.model import Change, ChangeId, Month, MonthRecord, Person
from bot.render.reply_note import Part, own_part, plain_part, why_change_part, why_number_part
from bot.store import configurations, corrections, installations, ledger, people, records
from bot.store.corrections import Correction
from bot.store.digests import told_at
from bot.tasks import personal
from bot.tasks.announcing import announce
from bot.tasks.asking import Asker, Scene, wrote
from bot.tasks.close_month import retell, retell_months
from bot.tasks.configuring import in_force
from bot.tasks.correcting import fold_corrected
from bot.tasks.digest_home import expected
from bot.tasks.month_note import month_note, month_number
from bot.tasks.recording import Place, recount
from bot.tasks.workplace import Workplace, reference

MOST_REFOLDED = 20_000
"""facts of one repository that a recount folds at once; more is an operator's work"""


class Asked(Struct, frozen=True):
    """One command of one comment. `event` names it, so that hearing it twice is once."""

    asker: Asker
    scene: Scene
    command: Command
    event: str

    @property
    def said(self) -> str:
        return f"{self.command.name} {self.command.value}".strip()


class Answer(Struct, frozen=True):
    """Whether it was done, and what is to be said beside the reaction."""

    done: bool = True
    part: Part | None = None
    reaction: str = "+1"


Action = Callable[[Connection, Workplace, Asked], Answer]
DONE = Answer()


def refusal(asked: Asked, *why: str) -> Answer:
    """Not done, and why."""
    return Answer(done=False, part=plain_part(asked.said, *why))


# --- about whoever asks ----------------------------------------------------------------------------------------------


def _tell_own(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    records, changes = _records(connection, place, asked)
    newest = records[0] if records else None
    hint = f"Your months, links and settings: {place.public_url}/settings"
    return Answer(part=own_part(asked.said, newest, changes, hint))


def _be_anonymous(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    if _first_time(connection, asked, "visibility"):
        personal.unname(connection, place, asked.asker)
    return DONE


def _be_public(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    if _first_time(connection, asked, "visibility"):
        personal.show(connection, place, asked.asker, public=asked.command.value == "on")
    return DONE


def _leave(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    if _first_time(connection, asked, "opt-out"):
        personal.hide(connection, place, asked.asker)
    return DONE


def _be_forgotten(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    personal.forget(connection, place, asked.asker.key, asked.asker.asked_at)
    return DONE


# --- about a piece of work -------------------------------------------------------------------------------------------


def _explain(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    metric = metric_called(asked.command.value)
    if metric is None:
        return Answer(part=why_change_part(asked.said, asked.scene.changes))
    records, changes = _records(connection, place, asked)
    return Answer(part=why_number_part(asked.said, metric, records, changes))


def _classify(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    scene = asked.scene
    if any(change.kind == "revert" for change in scene.changes):
        return refusal(asked, "A change that reverts other work is always a revert.")
    by = "its author" if wrote(asked.asker, scene.changes) else "a maintainer"
    value = {"number": scene.number, "kind": asked.command.value, "by": by}
    if _append(connection, asked, "classify", value):
        refold(connection, place, scene)
    return DONE


def _dispute(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    scene = asked.scene
    number = scene.number
    if scene.is_digest:
        now = month_of(int(asked.asker.asked_at.timestamp()), place.zone)
        told = [row.month for row in told_at(connection, scene.repository_id) if row.month < now]
        if not told:
            return refusal(asked, "There is no digest here yet.")
        number = month_number(max(told))
    if _append(connection, asked, "dispute", {"number": number, "text": asked.command.value}):
        refold(connection, place, scene)
        retell_months(connection, place, (scene.installation, scene.repository_id))
    return DONE


# --- what maintainers decide -----------------------------------------------------------------------------------------


def _recount(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    scene = asked.scene
    if not scene.is_digest:
        given = {
            "installation": scene.installation,
            "number": scene.number,
            "repository": scene.repository_id,
            "again": 1,
        }
        ref = reference(given)
        serial = f"repository:{scene.repository_id}"
        place.queue.defer(
            connection,
            "record_pull_request",
            ref,
            serial_key=serial,
            dedupe_key=f"record_pull_request:{ref}",
            installation_id=scene.installation,
        )
        return DONE
    facts = ledger.facts_in(connection, scene.repository_id)
    if len(facts) > MOST_REFOLDED:
        return refusal(asked, "This record is too long to recount from a comment. Please ask the operator of Almanac.")
    recount(connection, _target(place, scene), [fact.commit for fact in facts])
    retell_months(connection, place, (scene.installation, scene.repository_id))
    return DONE


def _preview(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    scene = asked.scene
    settings = in_force(connection, scene.repository_id)
    now = month_of(int(place.clock().timestamp()), settings.zone(place.zone))
    found = month_note(connection, place, expected(connection, (scene.installation, now), scene.repository))
    if found is None:
        return Answer(part=plain_part(asked.said, f"The digest for {now} would be empty so far."))
    return Answer(part=Part(f"{asked.said} of {now}, so far", (found.markdown,)))


def _pause(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    """Asked again, posting begins again; the rocket says which of the two it was."""
    repository = asked.scene.repository_id
    if not _append(connection, asked, "visibility", {"pause": True}):
        return DONE
    if not in_force(connection, repository).paused:
        configurations.pause(connection, repository, asked.asker.asked_at)
        return DONE
    configurations.pause(connection, repository, None)
    retell_months(connection, place, (asked.scene.installation, repository))
    return Answer(reaction="rocket")


ACTIONS: Mapping[Name, Action] = {
    "me": _tell_own,
    "anonymise": _be_anonymous,
    "public": _be_public,
    "opt-out": _leave,
    "forget-me": _be_forgotten,
    "why": _explain,
    "classify": _classify,
    "dispute": _dispute,
    "recount": _recount,
    "digest preview": _preview,
    "pause": _pause,
}


# --- shared by several -----------------------------------------------------------------------------------------------


def _target(place: Workplace, scene: Scene) -> Place:
    return Place(scene.installation, scene.repository_id, place.zone)


def refold(connection: Connection, place: Workplace, scene: Scene) -> None:
    """Count the scene's changes anew and tell it where it was told."""
    target = _target(place, scene)
    commits = [commit.fact.commit for change in scene.changes for commit in change.commits]
    recorded = recount(connection, target, commits)
    announce(connection, place, target, recorded)
    retell(connection, place, target, recorded)


def _append(connection: Connection, asked: Asked, kind: corrections.CorrectionKind, value: object) -> bool:
    """Write the event down; False where it was heard before."""
    event = Correction(
        asked.event, kind, asked.asker.key, asked.asker.asked_at, value, repository_id=asked.scene.repository_id
    )
    return corrections.append(connection, event)


def _first_time(connection: Connection, asked: Asked, kind: corrections.CorrectionKind) -> bool:
    """A choice about oneself, heard once: the person may have chosen otherwise since."""
    event = Correction(asked.event, kind, asked.asker.key, asked.asker.asked_at, asked.said, person_key=asked.asker.key)
    return corrections.append(connection, event)


def _records(
    connection: Connection, place: Workplace, asked: Asked
) -> tuple[list[MonthRecord], dict[ChangeId, Change]]:
    """The asker's months in this repository alone, newest first: who reads here may not read elsewhere."""
    scene, keys = asked.scene, sorted(asked.asker.keys)
    facts = ledger.facts_of(connection, keys, repositories=[scene.repository_id])
    stored = installations.repositories_of(connection, scene.installation)
    names = {row.repository.full_name: row.repository for row in stored}
    whole = records.facts_about(connection, keys, [scene.repository_id]).facts()
    changes = fold_corrected(connection, whole, names)
    known = people.person(connection, asked.asker.key) or Person(asked.asker.key, asked.asker.account.name, ())
    persons = {key: replace(known, bot=False) for key in keys}
    found: dict[Month, MonthRecord] = {}
    for month in sorted({month_of(fact.landed_at, place.zone) for fact in facts}, reverse=True):
        told = contributor_months(changes, persons, (scene.repository.full_name, month, place.zone))
        if told:
            found[month] = told[0][1]
    return list(found.values()), {change.id: change for change in changes}
