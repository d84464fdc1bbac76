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

LONGEST = 65_000
"""UTF-16 units of a comment, the strictest reading of GitHub's 65,536 characters, with room for the hidden marker"""
_MOST_FOLDED = 100
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
    text = template("digest_note.md").render(
        month=md_text(month_name(digest.month)),
        subject=md_text(frame.subject, 200),
        preview=frame.preview,
        many_digests=frame.many_digests,
        quiet=digest.quiet,
        counts=_counts(digest, frame),
        releases=md_join(MdText(", "), [md_link(md_text(one.name, 100), one.url) for one in frame.releases[:20]]),
        one_line=md_join(MdText("; "), _everything(digest)),
        groups=[_group(group) for group in digest.groups],
        more=md_text(_more(digest)),
        folded=md_join(_LINE, [_line(line) for line in digest.folded[:folded]]),
        reverts=[_revert(one.text, digest) for one in digest.reverts],
        rows=[_row(row) for row in rows],
        others=md_text(_others(digest.contributors[people:])),
        disputes=[md_text(dispute, 600) for dispute in frame.disputes[:20]],
        zone=md_text(frame.zone),
        posted=frame.posted,
    )
    return text.strip() + "\n"


def _counts(digest: MonthDigest, frame: DigestFrame) -> MdText:
    """`38 commits by 5 contributors: 4 features, 21 bug fixes ([compare](…)).`"""
    kinds = [
        digits(count, one, many)
        for count, one, many in (
            (digest.features, "feature", "features"),
            (digest.fixes, "bug fix", "bug fixes"),
        )
        if count
    ]
    people = sum(row.people for row in digest.contributors)
    text = f"{digits(digest.commits, 'commit')} by {digits(people, 'contributor')}"
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
    entries = [_words(line) for group in digest.groups for line in group.lines]
    return [*entries, *(md_reference(label, url) for label, url in digest.unquoted)]


def _group(group: DigestGroup) -> dict[str, Any]:
    return {"name": md_text(group.name, 100), "lines": md_join(_LINE, map(_line, group.lines))}


def _line(line: DigestLine) -> MdText:
    return MdText("- ") + _words(line)


def _words(line: DigestLine) -> MdText:
    """`Fix: Fixed a deadlock on closing ([#12](…), Ada Example, in 3.12.0)`"""
    entry = line.entry
    head = f"{entry.tag}: {entry.quoted}" if entry.tag else entry.quoted
    label = f"{line.repository}{entry_label(entry)}" if line.repository else entry_label(entry)
    notes = ", ".join(("", _authors(line.authors), *entry_notes(entry))) if line.authors else ""
    return md_text(head) + MdText(" (") + md_reference(label, entry.link) + md_text(notes) + MdText(")")


def _authors(names: Sequence[str]) -> str:
    return join_list(names) if len(names) < 4 else f"{', '.join(names[:2])} and {len(names) - 2} others"


def _more(digest: MonthDigest) -> str:
    """`38 more changes: 21 bug fixes, 9 documentation changes, 8 others`"""
    if not digest.more:
        return ""
    only_others = len(digest.rest) == 1 and digest.rest[0].endswith(("other", "others"))
    kinds = "" if only_others else ", ".join(digest.rest)
    return digits(digest.more, "more change" if digest.groups else "change") + (f": {kinds}" if kinds else "")


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
