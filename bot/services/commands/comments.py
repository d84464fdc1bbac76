"""How are the commands in a comment run and answered? With a reaction, and with words only where needed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from gidgethub import BadRequest
from msgspec import Struct, to_builtins
from sqlalchemy import Connection

from bot.github import discussions
from bot.github.client import Client, is_missing
from bot.github.payloads.answers import CommentAnswer, IssueAnswer
from bot.github.payloads.discussions import DiscussionThread
from bot.github.posts import marker
from bot.github.reads import read_comment, read_issue, read_permission, read_repository
from bot.model.commit import Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.narrative.commands import Command, Mistake, commands_mark, read_commands
from bot.queue.interface import Job
from bot.render.notes.reply import ReplyPart, plain_part, reply_note
from bot.services.commands.actions import ACTIONS, CommandRequest, CommandResult, refusal
from bot.services.context import Context
from bot.services.permissions import ABOUT_WORK, MAINTAINERS, OWN, Asker, Scene, changes_of, is_author, keys_of, may_ask
from bot.services.posting.publishing import digests_key, request_post
from bot.services.refusals import A_MINUTE
from bot.store import erasure, ledger, outbox
from bot.store.digests import digests_posted_in, repository_of

MOST_REPLIES = 5
"""replies on one issue or pull request in an hour; after that there are only reactions"""


class _CommandComment(Struct, frozen=True):
    comment: CommentAnswer
    thread: DiscussionThread | None
    """where it stands, if it is a discussion's"""
    issue: IssueAnswer
    repository: Repository
    maintainer: bool
    commands: tuple[Command | Mistake, ...]

    @property
    def name(self) -> str:
        """Its name in keys; comments on issues and in discussions are numbered apart."""
        return f"d{self.comment.id}" if self.thread else str(self.comment.id)

    @property
    def discussion_target(self) -> dict[str, Any]:
        """What an answer needs to know of its discussion."""
        return {"thread": to_builtins(self.thread)} if self.thread else {}

    @property
    def reaction_target(self) -> dict[str, Any]:
        return self.discussion_target or {"comment": self.comment.id}


async def read_command_comment(job: Job, context: Context, given: dict[str, Any]) -> _CommandComment | None:
    """The commands and their author; None if nothing is to be answered. Raises Refused while GitHub may only lag."""
    client = context.reader(given["installation"], given["repository"])
    repository = await read_repository(client, RepositoryId(given["repository"]))
    found = await _read_comment(context, client, repository, given)
    if found is None:
        job.doubt(f"comment {given['comment']} is not found", A_MINUTE)
        return None
    comment, issue, thread = found
    mark = commands_mark(comment.body)
    commands = read_commands(comment.body) if given.get("said", mark) == mark else ()
    own = context.ourselves.wrote(comment) or comment.author is None or comment.author.bot
    if own or not commands or not (issue.is_pull_request or _is_digest(context, repository, issue)):
        return None
    maintainer = await _is_maintainer(client, repository, comment)
    return _CommandComment(comment, thread, issue, repository, maintainer, commands)


async def _read_comment(
    context: Context, client: Client, repository: Repository, given: dict[str, Any]
) -> tuple[CommentAnswer, IssueAnswer, DiscussionThread | None] | None:
    """The comment and what it is below; None if one of them is gone."""
    if "node" in given:
        number = InstallationId(given["installation"]), (RepositoryId(given["repository"]),)
        permissions = discussions.READ_PERMISSIONS
        reader = context.github.installation(number[0], repositories=number[1], permissions=permissions)
        heard = await discussions.read_comment(reader, given["node"], app=context.ourselves.id)
        if heard is None or heard.repository != repository.id:
            return None
        return heard.comment, heard.above, heard.thread
    try:
        comment = await read_comment(client, repository, given["comment"])
        return comment, await read_issue(client, repository, comment.number or given["number"]), None
    except BadRequest as error:
        if is_missing(error):
            return None
        raise


def _is_digest(context: Context, repository: Repository, issue: IssueAnswer) -> bool:
    """Whether it is our issue for digests; a copied marker is not enough."""
    first = issue.body.split("\n", 1)[0].strip()
    return issue.app == context.ourselves.id and first == marker(digests_key(repository.id or 0))


async def _is_maintainer(client: Client, repository: Repository, comment: CommentAnswer) -> bool:
    login = comment.author.login if comment.author else None
    try:
        return bool(login) and await read_permission(client, repository, login or "") in MAINTAINERS
    except BadRequest as error:
        if is_missing(error):
            return False
        raise


def answer_commands(
    connection: Connection, context: Context, installation: InstallationId, heard: _CommandComment
) -> None:
    """Run all commands in order; answer with one reaction and at most one comment."""
    comment = heard.comment
    assert comment.author is not None  # noqa: S101  # `read_command_comment` returns no comment without an author
    key, keys = keys_of(connection, comment.author)
    asker = Asker(key, keys, heard.maintainer, comment.author, comment.created_at or context.clock())
    answers = []
    # Nothing is stored about an erased person again, whatever they ask, and old comments may be delivered once more.
    erased = bool(erasure.erased_people(connection, keys))
    for turn, command in enumerate(heard.commands):
        if erased:
            answers.append(CommandResult(done=isinstance(command, Command) and command.name == "forget-me"))
            continue
        scene = _scene_of(connection, installation, heard)
        if isinstance(command, Mistake):
            answers.append(
                CommandResult(
                    done=False,
                    part=plain_part(
                        command.said,
                        f"Not understood: {command.hint.rstrip('?')}{'?' if command.hint.endswith('?') else '.'}",
                    ),
                )
            )
        else:
            answers.append(
                _run_command(connection, context, CommandRequest(asker, scene, command, f"comment:{heard.name}:{turn}"))
            )
    _request_answers(connection, context, (installation, heard), answers)


def _scene_of(connection: Connection, installation: InstallationId, heard: _CommandComment) -> Scene:
    repository = RepositoryId(heard.repository.id or 0)
    is_digest, number = not heard.issue.is_pull_request, heard.issue.number
    changes = () if is_digest else changes_of(connection, installation, repository, number)
    return Scene(installation, heard.repository, number, is_digest, changes)


def _run_command(connection: Connection, context: Context, asked: CommandRequest) -> CommandResult:
    """Run the command unless this person may not use it or there is nothing to apply it to."""
    name, value = asked.command.name, asked.command.value
    scene = asked.scene
    if name == "why" and value.isdecimal():
        found = changes_of(connection, scene.installation, scene.repository_id, int(value))
        scene = Scene(scene.installation, scene.repository, int(value), changes=found)
        asked = CommandRequest(asked.asker, scene, asked.command, asked.event)
    by_name = name in OWN or (name == "why" and not value.isdecimal())
    digest = name == "dispute" and scene.is_digest
    theirs = by_name or is_author(asked.asker, scene.changes) or (digest and _has_work_in_digests(connection, asked))
    if not may_ask(asked.asker, name, is_theirs=theirs):
        # A stranger only gets a reaction: replies would let anybody make us post.
        return CommandResult(done=False)
    if name in ABOUT_WORK and not by_name and not scene.changes and not digest:
        where = (
            "Use this command on a pull request." if scene.is_digest else "Nothing in this pull request has landed yet."
        )
        return refusal(asked, where)
    return ACTIONS[name](connection, context, asked)


def _has_work_in_digests(connection: Connection, asked: CommandRequest) -> bool:
    """Whether the asker contributed to this repository, or to others covered by the digests here."""
    repository_id = asked.scene.repository_id
    repository_ids = {
        repository_id,
        *(repository_of(row.target) for row in digests_posted_in(connection, repository_id)),
    }
    return bool(ledger.facts_of(connection, sorted(asked.asker.keys), repositories=sorted(repository_ids)))


def _request_answers(
    connection: Connection,
    context: Context,
    where: tuple[InstallationId, _CommandComment],
    answers: Sequence[CommandResult],
) -> None:
    installation, heard = where
    repository, target = heard.repository.id or 0, heard.reaction_target
    content = answers[-1].reaction if all(answer.done for answer in answers) else "confused"
    reaction = outbox.Intent(
        f"reaction:{repository}:{heard.name}",
        "reaction",
        repository,
        target,
        {"content": content},
        installation,
    )
    request_post(connection, context, reaction)
    parts = [answer.part for answer in answers if answer.part is not None]
    key = f"reply:{repository}:{heard.name}"
    if parts and (outbox.is_posted(connection, key) or _may_reply(connection, context, heard)):
        request_post(connection, context, _reply_intent(key, where, parts))


def _reply_intent(key: str, where: tuple[InstallationId, _CommandComment], parts: Sequence[ReplyPart]) -> outbox.Intent:
    installation, heard = where
    author = heard.comment.author
    target = {
        "number": heard.issue.number,
        "person": f"u:{author.user_id}" if author else "",
        **heard.discussion_target,
    }
    return outbox.Intent(key, "reply", heard.repository.id or 0, target, {"text": reply_note(parts)}, installation)


def _may_reply(connection: Connection, context: Context, heard: _CommandComment) -> bool:
    """Whether the limit of replies per hour allows one more."""
    since = context.clock() - timedelta(hours=1)
    replies = outbox.intents(connection, heard.repository.id or 0, ("reply",))
    recent = [intent for intent, at in replies if at > since and intent.target["number"] == heard.issue.number]
    return len(recent) < MOST_REPLIES
