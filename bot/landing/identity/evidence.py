"""What did GitHub say about whose work a landed commit is, and how is that kept?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bot.landing.identity.addresses import person_key, plain_email
from bot.landing.identity.machines import is_machine
from bot.model.commit import Landing, PullRequest, Share, Signature
from bot.model.fact import Evidence, Fact
from bot.model.ids import PersonKey, UserId


def evidence_of(landing: Landing) -> Evidence | None:
    """What GitHub said of the landing; None for a clone, where nobody asked."""
    if not landing.on_github:
        return None
    asked = landing.pull_request
    found = Evidence(pusher=landing.pusher, signer=landing.commit.signer, pulls_known=landing.pulls_known)
    if asked is None:
        return found
    opener = asked.author
    return replace(
        found,
        pull_request=True,
        opener=None if opener is None else opener.user_id,
        opener_writes=asked.author_writes,
        opener_is_machine=opener is not None and opener.bot,
        shares=_shares(landing),
        collaborators=_helping_collaborators(asked) if landing.commit.id == asked.merge_commit else (),
    )


def is_from_outside(fact: Fact) -> bool:
    """Whether GitHub said that the landing came in a pull request of somebody without write access."""
    found = fact.evidence
    return found is not None and found.pull_request and not (found.opener_writes or found.opener_is_machine)


def _helping_collaborators(asked: PullRequest) -> tuple[UserId, ...]:
    """The collaborators who wrote commits of somebody else's pull request."""
    opener = None if asked.author is None else asked.author.user_id
    return tuple(one for one in asked.collaborators if one != opener)


def _shares(landing: Landing) -> tuple[Share, ...]:
    """The pull request's shares if it landed as this one commit and several people wrote it.

    The author's own stand under the author's identity.
    """
    asked, author = landing.pull_request, landing.commit.author
    if asked is None or landing.commit.id != asked.merge_commit or landing.commit.id != landing.merge_commit.id:
        return ()
    shares = _merged(replace(one, author=author) if _is_same(one.author, author) else one for one in asked.shares)
    return shares if len(shares) > 1 else ()


def _is_same(one: Signature, author: Signature) -> bool:
    """Whether an author within a pull request is its landed author; without an account, by address or name."""
    if one.user_id is not None and author.user_id is not None:
        return one.user_id == author.user_id
    names = {author.name.strip().lower(), (author.login or "").lower()} - {""}
    return plain_email(one.email) == plain_email(author.email) or one.name.strip().lower() in names


def _merged(shares: Iterable[Share]) -> tuple[Share, ...]:
    """The shares with each person once, in the order of their keys; the subject is that of the largest part."""
    found: dict[PersonKey, Share] = {}
    for one in shares:
        key = person_key(one.author)
        before = found.get(key)
        if before is not None:
            largest = max(before, one, key=lambda share: share.lines)
            one = replace(largest, commits=before.commits + one.commits, lines=before.lines + one.lines)
        found[key] = one
    return tuple(found[key] for key in sorted(found))


def shares_of(commits: Iterable[Share]) -> tuple[Share, ...]:
    """The shares of a pull request whose own commits are these, each given as a share of one commit."""
    return _merged(commits)


def with_shares(co_authors: Sequence[Signature], author: Signature, shares: Sequence[Share]) -> tuple[Signature, ...]:
    """The co-authors as GitHub resolved them: those in trailers, and everybody else who wrote commits of the squash."""
    if not shares:
        return tuple(co_authors)
    mine = person_key(author)
    by_address = {plain_email(one.author.email): one.author for one in shares}
    wrote = [one.author for one in shares if not is_machine(one.author)]
    named = [by_address.get(plain_email(sig.email), sig) for sig in co_authors]
    return tuple({key: sig for sig in (*named, *wrote) if (key := person_key(sig)) != mine}.values())


def merged_evidence(old: Evidence | None, new: Evidence | None) -> Evidence | None:
    """What is known after both were said, in either order: evidence is only added."""
    if old is None or new is None:
        return new or old
    return Evidence(
        opener=new.opener or old.opener,
        opener_writes=new.opener_writes or old.opener_writes,
        pusher=new.pusher or old.pusher,
        signer=new.signer or old.signer,
        collaborators=tuple(sorted({*old.collaborators, *new.collaborators})),
        shares=new.shares or old.shares,
        pull_request=new.pull_request or old.pull_request,
        opener_is_machine=new.opener_is_machine or old.opener_is_machine,
        pulls_known=new.pulls_known or old.pulls_known,
    )


def named_keys(fact: Fact) -> set[PersonKey]:
    """Everybody whom a fact names, in whatever role."""
    found = fact.evidence or Evidence()
    accounts = {found.opener, found.pusher, found.signer, *found.collaborators} - {None}
    signed = (fact.author, fact.committer, *fact.co_authors, *(one.author for one in found.shares))
    return {person_key(sig) for sig in signed} | {PersonKey(f"u:{who}") for who in accounts}
