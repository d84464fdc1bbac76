"""Which release is the first that contains a commit? The first tag that reaches it, for all commits in one pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from bot.history.clone import Clone
from bot.history.git import SpooledOutput, git
from bot.model.ids import CommitId

_TAG = re.compile(
    r"(?P<lead>(?:.*?[/@_-])?)v?(?P<version>\d{1,6}(?:[._]\d{1,8}){1,3})"
    r"(?P<suffix>[.+_-]?(?P<stage>a|b|c|rc|alpha|beta|dev|pre|preview|canary|nightly|next|snapshot|m|post"
    r"|final)?[\w.+-]*)",
    re.IGNORECASE,
)
_FORMAT = (
    "--format=%(refname:lstrip=2)%00%(objectname)%00%(*objectname)%00%(committerdate:unix)%00%(*committerdate:unix)"
)
_MOST_OF_TAGS = 0.8
"""below this share of one kind of tags, several products are released from the repository"""


class Tag(NamedTuple):
    """A release's tag; `lead` is what stands before the version in its name."""

    at: int
    version: str
    commit: CommitId
    lead: str
    final: str
    """the version without a stage such as rc1"""


def release_tags(clone: Clone) -> list[Tag]:
    """The tags of the product's releases, oldest first; none where several products are tagged.

    A release candidate counts only where its version was never released.
    """
    found = list(_tags(clone))
    leads = Counter(tag.lead for tag in found)
    main, count = max(leads.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    if count < _MOST_OF_TAGS * len(found):
        return []
    finals = {_number(tag.version) for tag in found if tag.version == tag.final}
    kept = [tag for tag in found if tag.lead == main and (tag.version == tag.final or _number(tag.final) not in finals)]
    return sorted(kept, key=lambda tag: (tag.at, _order(tag.version), tag.commit))


def _tags(clone: Clone) -> Iterator[Tag]:
    own = clone.repository.full_name.rpartition("/")[2].lower()
    for line in git(clone.git_dir, "for-each-ref", _FORMAT, "refs/tags").split("\n"):
        name, _, rest = line.partition("\0")
        match = _TAG.fullmatch(name)
        if match is None:
            continue
        direct, target, at, target_at = rest.split("\0")
        lead = match["lead"].lower().strip("/@_-")
        lead = "" if lead in ("release", "releases", "rel", "version", "ver", "v", "r", own) else lead
        version = match["version"].replace("_", ".")
        stage = (match["stage"] or "").lower()
        full_version = version if stage in ("", "final", "post") else version + match["suffix"]
        if at or target_at:
            yield Tag(int(target_at or at), full_version, CommitId(target or direct), lead, version)


def _number(version: str) -> str:
    """The version without closing zeros: 6.0-rc1 comes before 6.0.0."""
    while version.endswith(".0"):
        version = version[:-2]
    return version


def _order(version: str) -> list[tuple[int, str]]:
    return [(int(digits or 0), rest) for digits, rest in re.findall(r"(\d*)(\D*)", version) if digits or rest]


def tags_digest(clone: Clone, tags: Sequence[Tag]) -> str:
    """Changes whenever another release may be the first for a commit."""
    return blake2b(repr((clone.head, tags)).encode(), digest_size=12).hexdigest()


def first_releases(clone: Clone, tags: Sequence[Tag]) -> Iterator[tuple[CommitId, str]]:
    """Each non-merge commit that a release contains, with the version of the oldest such release."""
    numbers: dict[str, int] = {}
    for number, tag in enumerate(tags):
        numbers.setdefault(tag.commit, number)
    if not numbers:
        return
    output = SpooledOutput(clone.git_dir, ("rev-list", "--topo-order", "--parents", *sorted(numbers), "--"))
    unknown = len(tags)
    edge: dict[str, int] = {}
    try:
        for line in output.lines():
            name, *parents = line.decode().split()
            number = min(edge.pop(name, unknown), numbers.get(name, unknown))
            for parent in parents:
                if number < edge.get(parent, unknown):
                    edge[parent] = number
            if len(parents) < 2 and number < unknown:
                yield CommitId(name), tags[number].version
    finally:
        output.close()
