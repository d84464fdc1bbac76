"""What does each command do? `ACTIONS` lists them all: a new command is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.months import month_of
from bot.metrics.registry import metric_called
from bot.model.change import Change
from bot.model.commit import Person, Repository
from bot.model.ids import ChangeId, Month
from bot.model.profile import MonthRecord, Profile
from bot.narrative import explanation
from bot.narrative.commands import Command, Name
from bot.narrative.profile import ProfileContext, ProfileScope, build
from bot.narrative.repository_month import contributor_months, with_summary
from bot.render.markdown_escaping import md_text
from bot.render.notes.reply import (
    ReplyPart,
    month_part,
    plain_part,
    why_change_part,
    why_number_part,
    why_section_part,
)
from bot.services.claims import ClaimDecision, decide_claims
from bot.services.context import Context, job_reference
from bot.services.digests.month_note import month_note, month_number
from bot.services.digests.refresh import refresh_digests, refresh_months
from bot.services.digests.scope import expected_scope, problems_with_home
from bot.services.no_machine import say_human
from bot.services.permissions import Asker, Scene, is_author
from bot.services.posting.landings import request_landing_posts
from bot.services.privacy import choices, erasure
from bot.services.recording.record import RecordingTarget, recount
from bot.services.repository_settings import stored_settings
from bot.store import configurations, corrections, installations, ledger, lines, people, records
from bot.store.corrections import Correction
from bot.store.digests import digests_posted_in, repository_of

MOST_RECOUNTED = 20_000
"""facts of one repository that a command recounts at once; larger ones are left to the operator"""


class CommandRequest(Struct, frozen=True):
    """One command of one comment. `event` identifies it, so that it takes effect only once."""

    asker: Asker
    scene: Scene
    command: Command
    event: str

    @property
    def text(self) -> str:
        return f"{self.command.name} {self.command.value}".strip()


class CommandResult(Struct, frozen=True):
    """Whether the command was done, its answer in words if any, and the reaction."""

    done: bool = True
    part: ReplyPart | None = None
    reaction: str = "+1"


Action = Callable[[Connection, Context, CommandRequest], CommandResult]
DONE = CommandResult()


def refusal(asked: CommandRequest, *why: str) -> CommandResult:
    """The result for a command that is refused, with the reasons."""
    return CommandResult(done=False, part=plain_part(asked.text, *why))


# --- commands about the person who asks ------------------------------------------------------------------------------


def _report_own(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    records, changes = _records(connection, context, asked)
    newest = records[0] if records else None
    hint = f"Your months, links and settings: {context.public_url}/settings"
    return CommandResult(part=month_part(asked.text, newest, changes, hint))


def _accept(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    return _decide_claims(connection, context, asked, accepted=True)


def _reject(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    return _decide_claims(connection, context, asked, accepted=False)


def _decide_claims(connection: Connection, context: Context, asked: CommandRequest, *, accepted: bool) -> CommandResult:
    """On a pull request about its work; on the digest issue about everything landed so far where the digests look.

    Whoever has no work there gets only a reaction.
    """
    scene, asker = asked.scene, asked.asker
    number = None if scene.is_digest else scene.number
    decision = ClaimDecision(asker.key, accepted, asker.asked_at, asked.event, number)
    repositories = [scene.repository_id]
    if scene.is_digest:
        rows = digests_posted_in(connection, scene.repository_id)
        repositories = sorted({scene.repository_id, *(repository_of(row.target) for row in rows)})
    choices.ensure_person(connection, asker)
    return CommandResult(done=bool(decide_claims(connection, context, decision, (scene.installation, repositories))))


def _say_human(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    scene = asked.scene
    say_human(connection, context, asked.asker.key, (scene.installation, scene.repository_id), event=asked.event)
    return DONE


def _make_anonymous(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    if _record_choice(connection, asked, "visibility"):
        choices.anonymise(connection, context, asked.asker)
    return DONE


def _set_public(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    if _record_choice(connection, asked, "visibility"):
        choices.show(connection, context, asked.asker, public=asked.command.value == "on")
    return DONE


def _opt_out(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    if _record_choice(connection, asked, "opt-out"):
        choices.hide(connection, context, asked.asker)
    return DONE


def _forget(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    erasure.forget(connection, context, asked.asker.key, asked.asker.asked_at)
    return DONE


# --- commands about a piece of work ----------------------------------------------------------------------------------


def _explain(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    name = asked.command.value
    if name not in explanation.names():
        return CommandResult(part=why_change_part(asked.text, asked.scene.changes, asked.asker.keys))
    metric = metric_called(name)
    if metric is None or not metric.monthly:
        explained = explanation.explain(_profile(connection, context, asked), name)
        return CommandResult(part=why_section_part(asked.text, explained))
    records, changes = _records(connection, context, asked)
    return CommandResult(part=why_number_part(asked.text, metric, records, changes))


def _classify(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    scene = asked.scene
    if any(change.kind == "revert" for change in scene.changes):
        return refusal(asked, "A change that reverts other work is always a revert.")
    by = "its author" if is_author(asked.asker, scene.changes) else "a maintainer"
    value = {"number": scene.number, "kind": asked.command.value, "by": by}
    if _record_correction(connection, asked, "classify", value):
        recount_scene(connection, context, scene)
    return DONE


def _dispute(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    scene = asked.scene
    number = scene.number
    if scene.is_digest:
        now = month_of(int(asked.asker.asked_at.timestamp()), context.zone)
        posted_months = [row.month for row in digests_posted_in(connection, scene.repository_id) if row.month < now]
        if not posted_months:
            return refusal(asked, "There is no digest here yet.")
        number = month_number(max(posted_months))
    if _record_correction(connection, asked, "dispute", {"number": number, "text": asked.command.value}):
        recount_scene(connection, context, scene)
        refresh_months(connection, context, (scene.installation, scene.repository_id))
    return DONE


# --- commands of maintainers -----------------------------------------------------------------------------------------


def _recount(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    scene = asked.scene
    if not scene.is_digest:
        given = {
            "installation": scene.installation,
            "number": scene.number,
            "repository": scene.repository_id,
            "again": 1,
        }
        ref = job_reference(given)
        serial = f"repository:{scene.repository_id}"
        context.queue.defer(
            connection,
            "record_pull_request",
            ref,
            serial_key=serial,
            dedupe_key=f"record_pull_request:{ref}",
            installation_id=scene.installation,
        )
        return DONE
    facts = ledger.facts_in(connection, scene.repository_id)
    if len(facts) > MOST_RECOUNTED:
        return refusal(asked, "This record is too long to recount from a comment. Please ask the operator of Almanac.")
    recount(connection, _target(context, scene), [fact.commit for fact in facts])
    refresh_months(connection, context, (scene.installation, scene.repository_id))
    return DONE


def _preview(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    scene = asked.scene
    settings = stored_settings(connection, scene.repository_id)
    now = month_of(int(context.clock().timestamp()), settings.zone(context.zone))
    found = month_note(connection, context, expected_scope(connection, (scene.installation, now), scene.repository))
    if found is None:
        return CommandResult(part=plain_part(asked.text, f"The digest for {now} would be empty so far."))
    problems = [md_text(problem, 400) for problem in problems_with_home(connection, scene.repository_id)]
    return CommandResult(part=ReplyPart(f"{asked.text} of {now}, so far", (*problems, found.markdown)))


def _pause(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    """Pause posting, or resume it if paused; the reaction is a rocket when it resumes."""
    repository = asked.scene.repository_id
    if not _record_correction(connection, asked, "visibility", {"pause": True}):
        return DONE
    if not stored_settings(connection, repository).paused:
        configurations.pause(connection, repository, asked.asker.asked_at)
        return DONE
    configurations.pause(connection, repository, None)
    refresh_months(connection, context, (asked.scene.installation, repository))
    return CommandResult(reaction="rocket")


ACTIONS: Mapping[Name, Action] = {
    "me": _report_own,
    "accept": _accept,
    "reject": _reject,
    "human": _say_human,
    "anonymise": _make_anonymous,
    "public": _set_public,
    "opt-out": _opt_out,
    "forget-me": _forget,
    "why": _explain,
    "classify": _classify,
    "dispute": _dispute,
    "recount": _recount,
    "digest preview": _preview,
    "pause": _pause,
}


# --- shared by several -----------------------------------------------------------------------------------------------


def _target(context: Context, scene: Scene) -> RecordingTarget:
    return RecordingTarget(scene.installation, scene.repository_id, context.zone)


def recount_scene(connection: Connection, context: Context, scene: Scene) -> None:
    """Recount the scene's changes and update their posts."""
    target = _target(context, scene)
    commits = [commit.fact.commit for change in scene.changes for commit in change.commits]
    recorded = recount(connection, target, commits)
    request_landing_posts(connection, context, target, recorded)
    refresh_digests(connection, context, target, recorded)


def _record_correction(
    connection: Connection, asked: CommandRequest, kind: corrections.CorrectionKind, value: object
) -> bool:
    """Store the correction; False if it is already stored."""
    event = Correction(
        asked.event, kind, asked.asker.key, asked.asker.asked_at, value, repository_id=asked.scene.repository_id
    )
    return corrections.append(connection, event)


def _record_choice(connection: Connection, asked: CommandRequest, kind: corrections.CorrectionKind) -> bool:
    """Store a person's choice; False if it is already stored, because they may have chosen differently since."""
    event = Correction(asked.event, kind, asked.asker.key, asked.asker.asked_at, asked.text, person_key=asked.asker.key)
    return corrections.append(connection, event)


def _records(
    connection: Connection, context: Context, asked: CommandRequest
) -> tuple[list[MonthRecord], dict[ChangeId, Change]]:
    """The asker's months, newest first, only in this repository: its readers may not be allowed to read others."""
    scene, keys = asked.scene, sorted(asked.asker.keys)
    facts = ledger.facts_of(connection, keys, repositories=[scene.repository_id])
    found = records.facts_about(connection, keys, [scene.repository_id])
    changes = found.changes(_repositories(connection, scene))
    asker = [(_person(connection, asked), frozenset(keys))]
    months: dict[Month, MonthRecord] = {}
    for month in sorted({month_of(fact.landed_at, context.zone) for fact in facts}, reverse=True):
        own_months = contributor_months(changes, asker, ((scene.repository.full_name,), month, context.zone))
        if own_months:
            months[month] = with_summary(own_months[0], changes, context.zone)
    return list(months.values()), {change.id: change for change in changes}


def _repositories(connection: Connection, scene: Scene) -> dict[str, Repository]:
    stored = installations.repositories_of(connection, scene.installation)
    return {row.repository.full_name: row.repository for row in stored}


def _person(connection: Connection, asked: CommandRequest) -> Person:
    asker = asked.asker
    return replace(people.person(connection, asker.key) or Person(asker.key, asker.account.name, ()), bot=False)


def _profile(connection: Connection, context: Context, asked: CommandRequest) -> Profile:
    """The asker's record in this repository only."""
    lines.attribute(connection, lines.repositories_behind(connection, [asked.scene.repository_id]))
    found = records.facts_about(connection, sorted(asked.asker.keys), [asked.scene.repository_id])
    changes = found.changes(_repositories(connection, asked.scene))
    zone, keys = context.zone, frozenset(asked.asker.keys)
    scope = ProfileScope(person=_person(connection, asked), keys=keys, zone=zone, now=context.clock())
    non_code, partial = found.non_code_by_month(zone), found.partial()
    more = ProfileContext(found.own_lines(changes, zone), non_code=non_code, partial=partial)
    return build(changes, scope, more)
