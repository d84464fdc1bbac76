"""Which changelog entries does a landing add, about which changes, and whom do they credit?

Only what the patch shows is read: entries begin with an added line, and a heading counts if the patch shows it. Texts
are untrusted, so they are split into lines and truncated before a pattern sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from bot.landing.changelogs.paths import ChangelogFile, changelog_file
from bot.model.commit import FileChange
from bot.model.fact import ChangelogLine

MOST_LINES = 250
"""entries of one landing that are kept: a release has fewer, a moved changelog more"""
LONGEST = 300
"""characters of an entry that are kept"""
_FEW = 20
"""entries of one file above which it does not matter whether one is an edit: they are no single change's"""
_WIDEST = 600
"""characters of a line that are read"""
_MOST_READ = 6000
"""lines of a patch that are read"""
_BULLET = re.compile(r"(\s{0,8})(?:[-*+•]|\d{1,3}[.)]|#\.)\s{1,4}(?=\S)")
_TITLE = re.compile(r"\s{0,3}#{1,6}\s+(.{1,80}?)[\s#]*")
_RULE = re.compile(r"([=\-~^\"'`:.*+#_])\1{2,}\s*")
_BOLD_TITLE = re.compile(r"\s{0,3}(?:\*\*|__)([^*_]{1,60})(?:\*\*|__):?\s*|\s{0,3}<h\d>([^<]{1,60})</h\d>\s*")
_RELEASE = re.compile(
    r"(?:^|[\s\[(v])v?(\d{1,4}\.\d{1,5}(?:\.\d{1,5}){0,2}(?:[.-]?(?:a|b|rc|dev|alpha|beta|post)[.-]?\d{0,3})?)(?![\w.])"
)


class _Line(NamedTuple):
    text: str
    added: bool


class _Headings(NamedTuple):
    """The headings above a line, as far as the patch shows them."""

    release: str = ""
    section: str = ""


def changelog_lines(files: Sequence[FileChange], repository: str) -> tuple[ChangelogLine, ...]:
    """The entries that a commit with these files adds, in the order of its files; at most `MOST_LINES`."""
    found = [(file, log) for file in files if file.patch and (log := changelog_file(file.path)) is not None]
    if not found:
        return ()
    return tuple(islice((line for file, log in found for line in _read(file, log, repository)), MOST_LINES))


def _read(file: FileChange, log: ChangelogFile, repository: str) -> Iterator[ChangelogLine]:
    if log.form == "log":
        patch = file.patch or ""
        if "\n+" not in patch:
            return
        before = _entries(_side(patch, "-")) if "\n-" in patch else ()
        removed = {text: frozenset(text.lower().split()) for text, _, _ in before}
        entries = list(_entries(_side(patch, "+")))
        edits = removed.values() if len(entries) <= _FEW else ()
        for text, item_text, headings in entries:
            if text not in removed:
                found = _line(text, item_text, headings, repository=repository)
                yield found._replace(form="edited") if _is_edited(text, edits) else found
    elif file.status == "added":
        yield from _fragment(file, log, repository)


def _fragment(file: FileChange, log: ChangelogFile, repository: str) -> Iterator[ChangelogLine]:
    lines = [line for line in _side(file.patch or "", "+") if line.added]
    if log.form == "changeset":
        lines = _without_front_matter(lines)
    bulleted = list(_entries(lines))
    parts = bulleted or [(_joined(_first_paragraph(lines)), _joined(line.text for line in lines), _Headings())]
    for text, item_text, headings in parts:
        if text:
            found = _line(text, item_text, _Headings("", log.section or headings.section), repository=repository)
            numbers = (*found.numbers, log.number) if log.number else found.numbers
            yield found._replace(numbers=tuple(dict.fromkeys(numbers)), form="fragment")


def _line(text: str, item_text: str, headings: _Headings, *, repository: str) -> ChangelogLine:
    return ChangelogLine(
        text[:LONGEST],
        change_numbers(item_text, repository),
        headings.section,
        credited_people(item_text),
        headings.release,
    )


def _side(patch: str, sign: str) -> list[_Line]:
    """The lines of one side of a patch; between hunks stands an empty line."""
    lines = []
    for raw in patch.split("\n", _MOST_READ)[:_MOST_READ]:
        if raw.startswith("@@"):
            lines.append(_Line("", False))
        elif raw[:1] in (sign, " "):
            lines.append(_Line(raw[1 : _WIDEST + 1].rstrip(), raw[:1] == sign))
    return lines


def _is_edited(text: str, removed: Iterable[frozenset[str]]) -> bool:
    """Whether most of its words stood in one entry that the patch removes."""
    words = frozenset(text.lower().split())
    return any(len(words & before) * 2 > min(len(words), len(before)) for before in removed)


def _entries(lines: Sequence[_Line]) -> Iterator[tuple[str, str, _Headings]]:
    """Each list item whose first line is added: its first paragraph, all of it, and the headings above it."""
    headings = _Headings()
    at = 0
    while at < len(lines):
        heading = _heading(lines, at)
        if heading:
            headings = _headings_after(headings, heading)
        elif lines[at].added and (bullet := _BULLET.match(lines[at].text)):
            end = _end_of_item(lines, at, len(bullet[1]))
            item = [line.text for line in lines[at:end]]
            item[0] = item[0][bullet.end() :]
            yield _joined(_until_blank(item)), _joined(item), headings
            at = end - 1
        at += 1


def _end_of_item(lines: Sequence[_Line], at: int, indent: int) -> int:
    """The index after the last line of the list item that begins at `at`."""
    end = at + 1
    blank = False
    while end < len(lines):
        text = lines[end].text
        depth = len(text) - len(text.lstrip())
        if text and (_BULLET.match(text) or (blank and depth <= indent) or _heading(lines, end)):
            break
        blank = blank or not text
        end += 1
    return end


def _heading(lines: Sequence[_Line], at: int) -> str:
    """The heading at this line, in Markdown or RST; empty if it is none."""
    text = lines[at].text
    if not text or text[0] in "-+•" or len(text) > 100:
        return ""
    if "#" in text[:4] and (match := _TITLE.fullmatch(text)):
        return match[1]
    if text.lstrip()[:1] in ("*", "_", "<") and (match := _BOLD_TITLE.fullmatch(text)):
        return match[1] or match[2]
    below = lines[at + 1].text if at + 1 < len(lines) else ""
    if below[:1].isalnum() or below[:1] in ("", " "):
        return ""
    underlined = below and _RULE.fullmatch(below) and not _RULE.fullmatch(text) and not _BULLET.match(text)
    return text.strip() if underlined and len(below) + 3 >= len(text.strip()) else ""


def _headings_after(headings: _Headings, heading: str) -> _Headings:
    release = _RELEASE.search(heading)
    if release:
        return _Headings(release[1], "")
    if heading.lower().strip("[] ").startswith(("unreleased", "upcoming", "next")):
        return _Headings()
    return _Headings(headings.release, heading.lower()[:40])


def _without_front_matter(lines: Sequence[_Line]) -> list[_Line]:
    marks = [at for at, line in enumerate(lines) if line.text.strip() == "---"][:2]
    return list(lines[marks[1] + 1 :]) if len(marks) == 2 else list(lines)


def _first_paragraph(lines: Sequence[_Line]) -> list[str]:
    texts = [line.text for line in lines]
    while texts and not texts[0].strip():
        texts.pop(0)
    return _until_blank(texts)


def _until_blank(texts: Iterable[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        if not text.strip():
            break
        found.append(text)
    return found


def _joined(texts: Iterable[str]) -> str:
    return " ".join(" ".join(texts).split())


# --- what an entry names ---------------------------------------------------------------------------------------------

MOST_NUMBERS = 8
_SHORT = re.compile(r"(?:(?<![\w/&])(?P<name>[\w.-]{1,40}/[\w.-]{1,100}))?(?<!&)#(?P<number>\d{1,7})(?!\w)")
_ADDRESS = re.compile(r"github\.com/(?P<name>[\w.-]{1,40}/[\w.-]{1,100})/(?:pull|issues?)/(?P<number>\d{1,7})(?!\d)")
_ROLE = re.compile(
    r":(?:pr|pull|issue|gh|ghpull|ghissue|bug|feature|support|pr_|ticket):`[^`\d]{0,40}?(?P<number>\d{1,7})[^`]{0,4}`"
)
_SPELLED = re.compile(r"(?<!\w)(?:GH|gh|PR|pr|pull request|Pull Request|issue|Issue)[ -](?P<number>\d{1,7})(?![\w.])")

_LOGIN = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?"
_TICKED = re.compile(r"`{1,2}[^`]{0,200}`{1,2}(?!_)")
_MENTION = re.compile(
    rf"(?:(?:\bby|\bthanks(?: to)?|\bcredits?(?: to)?|\bfrom|,|\band|&|--|—|–|[(\[*])\s*)\[?@({_LOGIN})(?![\w/-])",
    re.IGNORECASE,
)
_LAST_MENTION = re.compile(rf"(?<![\w/])@({_LOGIN})\W*$")
_USER_ROLE = re.compile(r":(?:user|ghuser|gh-user|github-user|github_user):`~?@?([\w-]{1,39})[^`]{0,60}`")
_WORD = r"[A-Z\u00c0-\u024f][\w.'’\u00c0-\u024f-]{0,30}"
_NAME = rf"{_WORD}(?:\s(?:(?:de|van|von|der|da|di|la)\s)?{_WORD}){{1,3}}"
_DONE_BY = (
    r"\b[Pp]atch(?:es)? by|\b[Cc]ontributed by|\b[Cc]ourtesy of|\b[Tt]hanks(?: to)?|\b[Cc]hange by|(?:--|—|–|\()\s?by"
)
_NAMED = re.compile(rf"(?:{_DONE_BY})\s({_NAME})(?:(?:,| and|, and)\s({_NAME}))?")
_LAST_NAME = re.compile(rf"[)\]`_\d]\s\(({_NAME})\)\W*$")


def change_numbers(text: str, repository: str) -> tuple[int, ...]:
    """The numbers of this repository's issues and pull requests in the text, in no other repository's name."""
    found: list[int] = []
    for pattern in (_SHORT, _ADDRESS, _ROLE, _SPELLED):
        for match in pattern.finditer(text):
            name = match.groupdict().get("name")
            if not name or name.lower() == repository.lower():
                found.append(int(match["number"]))
    return tuple(dict.fromkeys(found))[:MOST_NUMBERS]


def credited_people(text: str) -> tuple[str, ...]:
    """The logins and names of the people whom the entry credits with the work; empty if it credits nobody."""
    if not any(mark in text for mark in ("@", ":", " by ", "hanks", "of ", "(")):
        return ()
    found = [match[1] for match in _USER_ROLE.finditer(text)]
    plain = _TICKED.sub(" ", text)
    found += [match[1] for match in _MENTION.finditer(plain)] + [match[1] for match in _LAST_MENTION.finditer(plain)]
    found += [name for match in _NAMED.finditer(plain) for name in match.groups() if name]
    found += [match[1] for match in _LAST_NAME.finditer(text)]
    return tuple(dict.fromkeys(name.rstrip(".") for name in found))[:MOST_NUMBERS]
