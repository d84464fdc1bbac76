"""Where is what in a site? Folder names that every file system can hold, and the links from a month's pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from msgspec import Struct

from bot.model.ids import Month
from bot.render.wording import month_name

_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 60


class MonthLinks(Struct, frozen=True):
    """A month of a repository, with the addresses of the pages around it; an empty one leads nowhere."""

    name: str
    home: str
    repository: str
    other: str
    """the digest on the month's page, the month on the digest's"""
    markdown: str = ""
    earlier: str = ""
    later: str = ""


def folder_name(text: str) -> str:
    """The text in lower-case ASCII letters, digits and hyphens; where it has none, a digest of it."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found = _OTHER.sub("-", plain).strip("-")[:_LONGEST].strip("-")
    return found or "x" + blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


def distinct_folders(names: Iterable[str]) -> list[str]:
    """A folder for each name, in order; a name that gives the same folder as an earlier one gets a number."""
    taken: set[str] = set()
    found = []
    for name in names:
        plain = folder_name(name)
        numbered = (f"{plain}-{at}" for at in range(2, len(taken) + 3))
        folder = plain if plain not in taken else next(one for one in numbered if one not in taken)
        taken.add(folder)
        found.append(folder)
    return found


def month_links(months: Sequence[Month], at: int, kind: str) -> MonthLinks:
    """The links of the month at that place of `months`, oldest first; `kind` is `months` or `digests`."""
    return MonthLinks(
        name=month_name(months[at]),
        home="../../../index.html",
        repository="../index.html",
        other=f"../{'digests' if kind == 'months' else 'months'}/{months[at]}.html",
        markdown=f"{months[at]}.md" if kind == "digests" else "",
        earlier=f"{months[at - 1]}.html" if at else "",
        later=f"{months[at + 1]}.html" if at + 1 < len(months) else "",
    )
