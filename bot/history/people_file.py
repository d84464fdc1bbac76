"""Which commits changed the people file of a clone, and what did each leave in it?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.history.clone import Clone
from bot.history.git import SpooledOutput, blobs_named
from bot.landing.identity.consent import OwnEntry, PeopleFile, added_entries, entries_in
from bot.landing.repo_config.files import PEOPLE_PATH
from bot.model.commit import Signature
from bot.model.ids import CommitId

_HISTORY = ("log", "--full-history", "--simplify-merges", "--parents", "--topo-order", "--reverse")
_FORMAT = "--format=%H%x00%P%x00%an%x00%ae"


def entries_of_people(clone: Clone) -> tuple[OwnEntry, ...]:
    """The entries of the people file, each with the commit that added it; where a shallow clone begins, nobody knows
    who added what is there. Raises GitError if the file's history cannot be read.
    """
    if not clone.text(PEOPLE_PATH):
        return ()
    versions = list(_versions(clone))
    unknown = {one.commit for one in versions if clone.shallow and not one.parents}
    return tuple(one for one in added_entries(versions) if one.commit not in unknown)


def _versions(clone: Clone) -> Iterator[PeopleFile]:
    output = SpooledOutput(clone.git_dir, (*_HISTORY, _FORMAT, clone.head, "--", PEOPLE_PATH))
    try:
        rows = [line.decode("utf-8", "replace").rstrip("\n").split("\0") for line in output.lines()]
    finally:
        output.close()
    texts = blobs_named(clone.git_dir, [f"{row[0]}:{PEOPLE_PATH}" for row in rows])
    for commit, parents, name, email in rows:
        _, text = texts.get(f"{commit}:{PEOPLE_PATH}", ("", ""))
        known = tuple(CommitId(parent) for parent in parents.split())
        yield PeopleFile(CommitId(commit), known, Signature(name, email), entries_in(text))
