"""Somebody asked for something in a comment: do it, and answer with a reaction, in words only where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from gidgethub import BadRequest
from msgspec import Struct
from sqlalchemy import Connection

from bot.digest.commands import Command, Mistake, commands_mark, read_commands
from bot.github.client import Client, is_missing
from bot.github.payloads.answers import CommentAnswer, IssueAnswer
from bot.github.publish import marker
from bot.github.reads import read_comment, read_issue, read_permission, read_repository
from bot.model import InstallationId, Repository, RepositoryId
from bot.queue.interface import Job
from bot.render.reply_note import Part, plain_part, reply_note
from bot.store import ledger, outbox
from bot.store.closing import repository_of
from bot.store.digests import told_at
from bot.tasks.announcing import post
from bot.tasks.answering import ACTIONS, Answer, Asked, refusal
from bot.tasks.asking import ABOUT_WORK, MAINTAINERS, OWN, Asker, Scene, changes_of, keys_of, may, wrote
from bot.tasks.known_installation import know_installation
from bot.tasks.publish_post import digests_key
from bot.tasks.workplace import Workplace, arguments, asking_github

MOST_REPLIES = 5
"""answers in words on one issue or pull request in an hour; beyond them a reaction has to do"""


class _Heard(Struct, frozen=True):
    comment: CommentAnswer
    issue: IssueAnswer
    repository: Repository
    maintainer: bool
    said: tuple[Command | Mistake, ...]


async def answer_command(job: Job, place: Workplace) -> None:
    """The comment is read anew: what was deleted, or edited into something else, by whomever, is not obeyed."""
    given = arguments(job.ref_id)
    await know_installation(place, given["installation"])
    with asking_github():
        heard = await _hear(place, given)

    def save(connection: Connection) -> None:
        if heard is not None:
            _answer(connection, place, InstallationId(given["installation"]), heard)
        job.finish(connection)

    await place.store.write(save)


async def _hear(place: Workplace, given: dict[str, Any]) -> _Heard | None:
    """What is asked, by whom; None where nothing is to be answered."""
    client = place.reader(given["installation"], given["repository"])
    repository = await read_repository(client, RepositoryId(given["repository"]))
    try:
        comment = await read_comment(client, repository, given["comment"])
        issue = await read_issue(client, repository, comment.number or given["number"])
    except BadRequest as error:
        if is_missing(error):
            return None
        raise
    mark = commands_mark(comment.body)
    said = read_commands(comment.body) if given.get("said", mark) == mark else ()
    own = place.ourselves.wrote(comment) or comment.author is None or comment.author.bot
    if own or not said or not (issue.is_pull_request or _is_digest(place, repository, issue)):
        return None
    maintainer = await _is_maintainer(client, repository, comment)
    return _Heard(comment, issue, repository, maintainer, said)


def _is_digest(place: Workplace, repository: Repository, issue: IssueAnswer) -> bool:
    """The issue that takes our digests; a marker that somebody copied is not enough."""
    first = issue.body.split("\n", 1)[0].strip()
    return issue.app == place.ourselves.id and first == marker(digests_key(repository.id or 0))


async def _is_maintainer(client: Client, repository: Repository, comment: CommentAnswer) -> bool:
    login = comment.author.login if comment.author else None
    try:
        return bool(login) and await read_permission(client, repository, login or "") in MAINTAINERS
    except BadRequest as error:
        if is_missing(error):
            return False
        raise


def _answer(connection: Connection, place: Workplace, installation: InstallationId, heard: _Heard) -> None:
    """Every command in its order, then one reaction and at most one comment for all of them."""
    comment = heard.comment
    assert comment.author is not None  # noqa: S101  # _hear lets nobody else through
    key, keys = keys_of(connection, comment.author)
    asker = Asker(key, keys, heard.maintainer, comment.author, comment.created_at or place.clock())
    answers = []
    for turn, said in enumerate(heard.said):
        scene = _scene(connection, installation, heard)
        if isinstance(said, Mistake):
            answers.append(
                Answer(
                    done=False,
                    part=plain_part(
                        said.said, f"Not understood: {said.hint.rstrip('?')}{'?' if said.hint.endswith('?') else '.'}"
                    ),
                )
            )
        else:
            answers.append(_act(connection, place, Asked(asker, scene, said, f"comment:{comment.id}:{turn}")))
    _react(connection, place, (installation, heard), answers)


def _scene(connection: Connection, installation: InstallationId, heard: _Heard) -> Scene:
    repository = RepositoryId(heard.repository.id or 0)
    is_digest, number = not heard.issue.is_pull_request, heard.issue.number
    changes = () if is_digest else changes_of(connection, installation, repository, number)
    return Scene(installation, heard.repository, number, is_digest, changes)


def _act(connection: Connection, place: Workplace, asked: Asked) -> Answer:
    """Refuse what this person may not ask, or what there is nothing to be said of; else do it."""
    name, value = asked.command.name, asked.command.value
    scene = asked.scene
    if name == "why" and value.isdecimal():
        found = changes_of(connection, scene.installation, scene.repository_id, int(value))
        scene = Scene(scene.installation, scene.repository, int(value), changes=found)
        asked = Asked(asked.asker, scene, asked.command, asked.event)
    by_name = name in OWN or (name == "why" and not value.isdecimal())
    digest = name == "dispute" and scene.is_digest
    theirs = by_name or wrote(asked.asker, scene.changes) or (digest and _is_told_of(connection, asked))
    if not may(asked.asker, name, wrote=theirs):
        # In words it would be a way to make us talk: a stranger gets a reaction.
        return Answer(done=False)
    if name in ABOUT_WORK and not by_name and not scene.changes and not digest:
        where = (
            "Use this command on a pull request." if scene.is_digest else "Nothing in this pull request has landed yet."
        )
        return refusal(asked, where)
    return ACTIONS[name](connection, place, asked)


def _is_told_of(connection: Connection, asked: Asked) -> bool:
    """The asker has a part in work that landed here, or in what else the digests here tell of."""
    here = asked.scene.repository_id
    told = {here, *(repository_of(row.target) for row in told_at(connection, here))}
    return bool(ledger.facts_of(connection, sorted(asked.asker.keys), repositories=sorted(told)))


def _react(
    connection: Connection, place: Workplace, where: tuple[InstallationId, _Heard], answers: Sequence[Answer]
) -> None:
    installation, heard = where
    repository, comment = heard.repository.id or 0, heard.comment.id
    content = answers[-1].reaction if all(answer.done for answer in answers) else "confused"
    reaction = outbox.Intent(
        f"reaction:{repository}:{comment}",
        "reaction",
        repository,
        {"comment": comment},
        {"content": content},
        installation,
    )
    post(connection, place, reaction)
    parts = [answer.part for answer in answers if answer.part is not None]
    key = f"reply:{repository}:{comment}"
    if parts and (outbox.is_posted(connection, key) or _room(connection, place, heard)):
        post(connection, place, _reply(key, where, parts))


def _reply(key: str, where: tuple[InstallationId, _Heard], parts: Sequence[Part]) -> outbox.Intent:
    installation, heard = where
    author = heard.comment.author
    target = {"number": heard.issue.number, "person": f"u:{author.user_id}" if author else ""}
    return outbox.Intent(key, "reply", heard.repository.id or 0, target, {"text": reply_note(parts)}, installation)


def _room(connection: Connection, place: Workplace, heard: _Heard) -> bool:
    """Not yet too many answers here within the hour."""
    since = place.clock() - timedelta(hours=1)
    told = outbox.intents(connection, heard.repository.id or 0, ("reply",))
    here = [intent for intent, at in told if at > since and intent.target["number"] == heard.issue.number]
    return len(here) < MOST_REPLIES
