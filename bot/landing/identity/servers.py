"""Whose accounts do the signatures of a landing name? Those of the repository's own server."""

from __future__ import annotations

from msgspec.structs import replace

from bot.landing.identity.addresses import app_of
from bot.landing.identity.machines import is_web_flow
from bot.model.commit import GITHUB, Commit, Landing, PullRequest, Signature

NO_SERVER = ""


def on_own_server(landing: Landing) -> Landing:
    """The landing with the repository's server in each signature; unchanged on github.com."""
    host = landing.repository.host
    if host == GITHUB:
        return landing
    commit, pull = _commit(landing.commit, host), landing.pull_request
    same = landing.merge_commit.id == commit.id
    return replace(
        landing,
        commit=commit,
        merge_commit=commit if same else _commit(landing.merge_commit, host),
        pull_request=None if pull is None else _pull_request(pull, host),
    )


def without_accounts(landing: Landing) -> Landing:
    """The landing with signatures of no server, so that no address in it proves an account; GitHub's own stay."""
    commit = _unproved(landing.commit)
    merge_commit = commit if landing.merge_commit.id == commit.id else _unproved(landing.merge_commit)
    return replace(landing, commit=commit, merge_commit=merge_commit)


def _unproved(commit: Commit) -> Commit:
    author, committer = (
        sig if is_web_flow(sig) else replace(sig, user_id=None, login=None, host=NO_SERVER)
        for sig in (commit.author, commit.committer)
    )
    return replace(commit, author=author, committer=committer)


def _commit(commit: Commit, host: str) -> Commit:
    author, committer = _signature(commit.author, host), _signature(commit.committer, host)
    signer = None if is_web_flow(committer) else commit.signer
    return replace(commit, author=author, committer=committer, signer=signer)


def _pull_request(pull: PullRequest, host: str) -> PullRequest:
    shares = tuple(replace(one, author=_signature(one.author, host)) for one in pull.shares)
    return replace(pull, author=None if pull.author is None else _signature(pull.author, host), shares=shares)


def _signature(sig: Signature, host: str) -> Signature:
    """An App's address names an account on its own server only."""
    if sig.host in (host, NO_SERVER):
        return sig
    if sig.user_id is not None and app_of(sig.email) == (sig.user_id, sig.login):
        sig = replace(sig, user_id=None, login=None, bot=False)
    app = app_of(sig.email, host) if sig.user_id is None else None
    if app is not None:
        sig = replace(sig, user_id=app[0], login=app[1], bot=True)
    return replace(sig, host=host)
