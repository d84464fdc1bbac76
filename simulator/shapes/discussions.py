"""How does GitHub represent discussions and their comments in JSON? Only deliveries show them so."""

from __future__ import annotations

from simulator.shapes.accounts import stamp, user
from simulator.shapes.conversations import association
from simulator.state import Discussion, DiscussionComment, Json, SimRepository
from simulator.web_host import web


def discussion(api: str, repo: SimRepository, found: Discussion) -> Json:
    return {
        "id": found.number,
        "node_id": found.id,
        "number": found.number,
        "title": found.title,
        "body": found.body,
        "html_url": f"{web()}/{repo.full_name}/discussions/{found.number}",
        "category": {"slug": found.category, "is_answerable": found.category == "q-a"},
        "user": user(api, found.app.account),
        "state": "locked" if found.locked else "open",
        "locked": found.locked,
        "comments": len(found.comments),
        "author_association": association(repo, found.app.account.login),
    }


def discussion_reply(api: str, repo: SimRepository, found_in: Discussion, *, found: DiscussionComment) -> Json:
    parent = None if found.reply_to is None else int(found.reply_to.removeprefix("DC_"))
    return {
        "id": found.number,
        "node_id": found.id,
        "html_url": f"{web()}/{repo.full_name}/discussions/{found_in.number}#discussioncomment-{found.number}",
        "parent_id": parent,
        "child_comment_count": sum(one.reply_to == found.id for one in found_in.comments),
        "repository_url": f"{api}/repos/{repo.full_name}",
        "discussion_id": found_in.number,
        "author_association": association(repo, found.user.login),
        "user": user(api, found.user),
        "created_at": stamp(found.created_at),
        "updated_at": stamp(found.created_at),
        "body": found.body,
    }
