"""Which commits lie in a range such as `v1.2..v1.3`, and which came before it?"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bot.configuration.errors import UnusableInputError
from bot.history.clone import Clone
from bot.history.git import commits_named, git


class CommitRange(Struct, frozen=True):
    """The ids of the commits in the range, and of everything that its beginning reaches."""

    commits: frozenset[str]
    before: frozenset[str]


def read_range(clones: Sequence[Clone], text: str) -> CommitRange:
    """The commits that B reaches and A does not; the end is the default branch if it is left out.

    Raises UnusableInputError if there are several clones, or one of the two names means no commit.
    """
    begin, dots, end = text.partition("..")
    if not dots or not begin or end.startswith("."):
        raise UnusableInputError(f"--range {text!r} is no range; write two tags or commits as v1.2..v1.3")
    if len(clones) != 1:
        raise UnusableInputError("--range needs one clone: tags of several repositories mean different commits")
    clone = clones[0]
    known = {begin: "", end or clone.head: ""} | commits_named(clone.folder, [begin, end or clone.head])
    for name, commit in known.items():
        if not commit:
            raise UnusableInputError(f"--range {text}: {name!r} is no tag or commit here; git tag lists the tags")
    first, last = known[begin], known[end or clone.head]
    listed = git(clone.folder, "rev-list", "--no-merges", last, f"^{first}").split()
    return CommitRange(frozenset(listed), frozenset(git(clone.folder, "rev-list", "--no-merges", first).split()))
