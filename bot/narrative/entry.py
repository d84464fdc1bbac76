"""What are an entry (one quoted sentence of one piece of work) and a theme (a part of the product)?"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.model.ids import ChangeId, CommitId, Month

Source = Literal["changelog", "merge", "title", "subject", "issue"]
"""What the sentence was found in, best first: a changelog entry, the subject of the merge that landed the work, the
pull request's title, the subject of the person's own commit, the title of the closed issue.
"""


class Entry(Struct, frozen=True):
    """One sentence that the work brought with it, cleaned, with what it cites."""

    quoted: str
    tag: str | None
    """Feature, Fix, Performance, Security, Documentation, Refactoring, Tests, Build, Revert or Issue"""
    source: Source
    change: ChangeId
    commit: CommitId | None
    """the landed commit whose subject is quoted, or that added the quoted line; None for a pull request's title"""
    link: str | None
    """None where no address is known: a clone without a remote"""
    number: int | None
    """the pull request, unless the subject of one of its commits is quoted"""
    people: tuple[str, ...]
    """names of others who wrote a quarter of the change's lines or whom its changelog entry credits"""
    release: str | None
    """the first release that contains the change; None if unknown or not yet released"""
    month: Month
    objects: tuple[str, ...] = ()
    """of a run of changes whose titles differ in one place: what stands in that place, oldest first"""
    count: int = 1
    """changes that the entry stands for"""
    members: tuple[ChangeId, ...] = ()
    """of a run: all its changes"""
    unnamed: int = 0
    """others like those in `people` who may not be named where this is read"""


class Theme(Struct, frozen=True):
    """A part of the product that the person worked on, named as the project names it."""

    name: str
    folder: str | None
    """the folder or file in which most of the work was done; None if the theme has no place of its own"""
    changes: tuple[ChangeId, ...]
    """the person's own changes, oldest first"""
    total: int
    """its changes by everybody; 0 if unknown"""
    first: bool
    """the first of all its changes is the person's; False if unknown"""
    months: tuple[Month, Month]
    """months of the first and the last of `changes`"""
