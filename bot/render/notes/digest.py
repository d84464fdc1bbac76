"""How does a comment sum up a month? As a changelog by theme, plain as raw text, with the contributors folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from bot.narrative.digest import ContributorRow, DigestGroup, DigestLine, MonthDigest
from bot.narrative.sentences import entry_label, entry_notes
from bot.narrative.words import digits, join_list, month_name
from bot.render.environment import template
from bot.render.markdown_escaping import MdText, md_join, md_link, md_reference, md_text
from bot.render.static.other_names import SOMEBODY

LONGEST = 65_000
"""UTF-16 units of a comment, the strictest reading of GitHub's 65,536 characters, with room for the hidden marker"""
_MOST_FOLDED = 100
_MANY = 3
"""entries of one author from which on the author is named once"""
_LINE = MdText("\n")


class NamedLink(Struct, frozen=True):
    """A release or a comparison: what its link says, and its address if one is known."""

    name: str
    url: str | None = None


class DigestFrame(Struct, frozen=True):
    """What a digest says beside the month's work."""

    zone: str
    subject: str = ""
    """the repository or organisation; empty for the repository that the digest is posted in"""
    preview: bool = False
    disputes: Sequence[str] = ()
    releases: Sequence[NamedLink] = ()
    comparison: str | None = None
    posted: bool = True
    """whether it is a comment that people can answer"""
    many_digests: int = 0
    """how many repositories with a digest each the installation has, if that is many"""


def digest_note(digest: MonthDigest, frame: DigestFrame) -> str:
    """The Markdown of a month's comment. If it is too long, fewer folded entries and contributors are listed."""
    for folded, people in ((_MOST_FOLDED, 10_000), (40, 10_000), (0, 10_000), (0, 500), (0, 100)):
        text = _render(digest, frame, folded, people)
        if len(text.encode("utf-16-le", "surrogatepass")) // 2 <= LONGEST:
            return text
    return text


def _render(digest: MonthDigest, frame: DigestFrame, folded: int, people: int) -> str:
    rows = digest.contributors[:people]
    everywhere, same = _only_author(digest), _same_author(digest.folded)
    text = template("digest_note.md").render(
        month=md_text(month_name(digest.month)),
        subject=md_text(frame.subject, 200),
        preview=frame.preview,
        many_digests=frame.many_digests,
        quiet=digest.quiet,
        counts=_counts(digest, frame),
        releases=md_join(MdText(", "), [md_link(md_text(one.name, 100), one.url) for one in frame.releases[:20]]),
        one_line=md_join(MdText("; "), _everything(digest)),
        groups=[_group(group, everywhere) for group in digest.groups],
        more=md_text(_more(digest, "" if everywhere else same)),
        folded=md_join(_LINE, [_line(line, everywhere or same) for line in digest.folded[:folded]]),
        reverts=[_revert(one.text, digest) for one in digest.reverts],
        rows=[_row(row) for row in rows],
        others=md_text(_others(digest.contributors[people:])),
        disputes=[md_text(dispute, 600) for dispute in frame.disputes[:20]],
        zone=md_text(frame.zone),
        posted=frame.posted,
    )
    return text.strip() + "\n"


def _counts(digest: MonthDigest, frame: DigestFrame) -> MdText:
    """`38 commits by 5 contributors: 4 features, 21 bug fixes ([compare](…))`; one contributor is named."""
    kinds = [
        digits(count, one, many)
        for count, one, many in (
            (digest.features, "feature", "features"),
            (digest.fixes, "bug fix", "bug fixes"),
        )
        if count
    ]
    kinds += digest.others
    people = sum(row.people for row in digest.contributors)
    who = _only_author(digest) or digits(people, "contributor")
    text = f"{digits(digest.commits, 'commit')} by {who}"
    text += f": {', '.join(kinds)}" if kinds else ""
    compare = md_link(MdText("compare"), frame.comparison)
    return md_text(text) + (MdText(" (") + compare + MdText(")") if frame.comparison else MdText(""))


def _revert(text: str, digest: MonthDigest) -> MdText:
    """The sentence, with each number in it that has an address as a link."""
    links = {str(md_text(label)): str(md_reference(label, url)) for label, url in digest.addresses.items() if url}
    escaped = str(md_text(text, 1000))
    if not links:
        return MdText(escaped)
    numbers = "|".join(re.escape(label) for label in sorted(links, key=len, reverse=True))
    return MdText(re.sub(rf"(?:{numbers})(?![0-9])", lambda match: links[match[0]], escaped))


def _everything(digest: MonthDigest) -> list[MdText]:
    """The entries of a quiet month, and the numbers of what has none."""
    entries = [_words(line, _only_author(digest)) for group in digest.groups for line in group.lines]
    return [*entries, *(md_reference(label, url) for label, url in digest.unquoted)]


def _group(group: DigestGroup, known: str) -> dict[str, Any]:
    return {"name": md_text(group.name, 100), "lines": md_join(_LINE, (_line(line, known) for line in group.lines))}


def _line(line: DigestLine, known: str) -> MdText:
    return MdText("- ") + _words(line, known)


def _words(line: DigestLine, known: str = "") -> MdText:
    """`Fix: Fixed a deadlock on closing ([#12](…), Ada Example, in 3.12.0)`; an author who is `known` is left out."""
    entry = line.entry
    head = f"{entry.tag}: {entry.quoted}" if entry.tag else entry.quoted
    label = f"{line.repository}{entry_label(entry)}" if line.repository else entry_label(entry)
    authors = () if line.authors == (known,) else line.authors
    notes = "".join(f", {note}" for note in (_authors(authors), *entry_notes(entry)) if note)
    return md_text(head) + MdText(" (") + md_reference(label, entry.link) + md_text(notes) + MdText(")")


def _authors(names: Sequence[str]) -> str:
    return join_list(names) if len(names) < 4 else f"{', '.join(names[:2])} and {len(names) - 2} others"


def _only_author(digest: MonthDigest) -> str:
    """The month's only contributor, who need not stand behind each entry; empty if there are several."""
    names = [row.name for row in digest.contributors if row.people == 1]
    return names[0] if len(names) == len(digest.contributors) == 1 and names[0] != SOMEBODY else ""


def _same_author(lines: Sequence[DigestLine]) -> str:
    """Who alone made all of these; empty if several people did, or there are few."""
    authors = {line.authors for line in lines}
    only = next(iter(authors)) if len(lines) >= _MANY and len(authors) == 1 else ()
    return only[0] if len(only) == 1 else ""


def _more(digest: MonthDigest, author: str) -> str:
    """`38 more changes, all by Ada Example: 21 bug fixes, 9 documentation changes, 8 others`"""
    if not digest.more:
        return ""
    only_others = len(digest.rest) == 1 and digest.rest[0].endswith(("other", "others"))
    kinds = "" if only_others else ", ".join(digest.rest)
    count = digits(digest.more, "more change" if digest.groups else "change")
    return count + (f", those listed all by {author}" if author else "") + (f": {kinds}" if kinds else "")


def _row(row: ContributorRow) -> dict[str, Any]:
    return {
        "name": md_text(row.name, 200),
        "commits": row.commits,
        "features": row.features,
        "fixes": row.fixes,
        "reviews": row.reviews,
    }


def _others(rows: Iterable[ContributorRow]) -> str:
    listed = list(rows)
    commits = sum(row.commits for row in listed)
    people = sum(row.people for row in listed)
    return f"{digits(people, 'more contributor')}: {digits(commits, 'commit')}" if listed else ""
