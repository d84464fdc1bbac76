"""Which sentence does each change bring that may be quoted on a person's page, and where does it stand?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from bot.landing.changelogs.paths import changelog_file
from bot.landing.corrections import is_classified
from bot.landing.identity.credit import person_key
from bot.landing.months import month_of
from bot.model.change import Change, CountedCommit
from bot.model.commit import Signature
from bot.model.fact import ChangelogLine, Fact
from bot.model.ids import ChangeId, CommitId, Kind, Month, PersonKey
from bot.narrative.cleaning import clean
from bot.narrative.entry import Entry, Source
from bot.narrative.never_quoted import is_about_release, reason_not_to_quote
from bot.narrative.project_texts import NO_TEXTS, CitedLine, ProjectTexts
from bot.narrative.tags import tag_of

MOST_OWN_LINES = 3
"""changelog entries that one change may add and still be what they tell of"""
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_STEM = 5
"""letters by which words of different forms are compared"""
WITH_SHARE = 4
"""another person is named from one in this many of a change's lines on"""
LONGEST_WAIT = 366 * 86_400
"""seconds between a change and the landing of a changelog entry about it, unless both are in one release"""


class _Candidate(NamedTuple):
    """A text that may be quoted, and what it cites."""

    raw: str
    source: Source
    commit: CommitId | None
    line: ChangelogLine | None = None


class _Own(NamedTuple):
    """A change with the part that one person authored."""

    change: Change
    keys: frozenset[PersonKey]
    commits: tuple[CountedCommit, ...]
    names: frozenset[str]
    """the person's names and logins in lower case"""

    @property
    def complete(self) -> bool:
        """Whether nobody else authored a part of it, as far as is known."""
        landed = [commit for commit in self.change.commits if commit.counts]
        others = (share.author for one in landed if one.fact.evidence for share in one.fact.evidence.shares)
        return len(self.commits) == len(landed) and all(person_key(author) in self.keys for author in others)

    @property
    def has_title(self) -> bool:
        """Whether the change's title is the pull request's, not only the subject of one of several commits."""
        title = self.change.title
        return len(self.commits) == 1 or any(one.fact.title == title and one.fact.subject for one in self.commits)

    @property
    def largest(self) -> Fact:
        return max(self.commits, key=lambda one: (one.fact.lines.code, -one.fact.landed_at, one.fact.commit)).fact


def entries_of(
    changes: Iterable[Change], keys: Collection[PersonKey], texts: ProjectTexts = NO_TEXTS, *, zone: ZoneInfo
) -> Mapping[ChangeId, Entry]:
    """The entry of each change that these keys authored a part of; changes without a text that fits are left out."""
    asked = frozenset(keys)
    found: dict[ChangeId, Entry] = {}
    for change in changes:
        own = own_part(change, asked)
        entry = _entry(own, texts, zone) if own is not None else None
        if entry is not None:
            found[change.id] = entry
    return found


def own_part(change: Change, keys: frozenset[PersonKey]) -> _Own | None:
    """What these keys authored of the change; None if that is nothing."""
    commits = tuple(one for one in change.commits if one.counts and person_key(one.fact.author) in keys)
    if not commits:
        return None
    people = [one.fact.author for one in commits]
    names = {text.lower() for person in people for text in (person.name, person.login) if text}
    names |= {person.email.split("@")[0].split("+")[-1].lower() for person in people}
    return _Own(change, keys, commits, frozenset(names))


def _entry(own: _Own, texts: ProjectTexts, zone: ZoneInfo) -> Entry | None:
    for one in _candidates(own, texts):
        cleaned = clean(one.raw)
        if not cleaned.text or reason_not_to_quote(one.raw, cleaned.text) is not None:
            continue
        tag = tag_of(cleaned, (one.line.section or "notes") if one.line else "", *_kind(own, one))
        if tag or not cleaned.needs_tag:
            return replace(_made(own, one, texts, _month(own, zone)), quoted=cleaned.text, tag=tag)
    return None


def _month(own: _Own, zone: ZoneInfo) -> Month:
    return month_of(max(one.fact.landed_at for one in own.commits), zone)


def _candidates(own: _Own, texts: ProjectTexts) -> Iterator[_Candidate]:
    """The texts about the change, best first."""
    for cited in _changelog(own, texts):
        if _is_credited(own, cited.line):
            yield _Candidate(cited.line.text, "changelog", cited.commit, cited.line)
    fact = own.largest
    if own.complete:
        if fact.merge_subject and own.change.pull_request is not None:
            yield _Candidate(fact.merge_subject, "merge", fact.merge_commit)
        if own.change.pull_request is not None and own.has_title:
            yield _Candidate(own.change.title, "title", None)
    yield _Candidate(fact.subject or fact.title, "subject", fact.commit)


def _changelog(own: _Own, texts: ProjectTexts) -> Iterator[CitedLine]:
    """Entries that the person's own commits added, then those of others that name no other change, newest first."""
    for fact in sorted((one.fact for one in own.commits), key=lambda fact: (-fact.lines.code, fact.commit)):
        yield from (CitedLine(line, fact.commit, fact.landed_at) for line in _own_lines(fact, own))
    for number in _numbers(own):
        for cited in reversed(texts.lines.get((own.change.repository.lower(), number), ())):
            if not _shares_a_word(cited.line.text, own) or not _is_of_its_time(cited, own, texts):
                continue
            others = {(own.change.repository.lower(), other) for other in cited.line.numbers if other != number}
            if others.isdisjoint(texts.pulls):
                yield cited


def _is_of_its_time(cited: CitedLine, own: _Own, texts: ProjectTexts) -> bool:
    """Whether the entry landed within a year of the change or stands under its release: a number may be that of
    another repository, from which the history was imported or a branch was merged."""
    releases = {texts.releases.get(one.fact.commit) for one in own.commits}
    near = any(abs(cited.landed_at - one.fact.landed_at) <= LONGEST_WAIT for one in own.commits)
    return near or (cited.line.release != "" and cited.line.release in releases)


def _shares_a_word(text: str, own: _Own) -> bool:
    """Whether the entry and the change's titles or paths have a word in common: numbers alone are mistaken at times."""
    said = {one.fact.title for one in own.commits} | {one.fact.subject for one in own.commits} | {own.change.title}
    paths = {path for one in own.commits for path in one.fact.paths}
    known = {word[:_STEM].lower() for part in (*said, *paths) for word in _LONG_WORD.findall(part)}
    return any(word[:_STEM].lower() in known for word in _LONG_WORD.findall(text))


def _numbers(own: _Own) -> list[int]:
    return sorted({one.fact.pull_request for one in own.commits if one.fact.pull_request is not None})


def _own_lines(fact: Fact, own: _Own) -> Sequence[ChangelogLine]:
    """The entries about the change itself: not those of a release, nor of a commit that only writes the changelog."""
    if not fact.changelog or len(fact.changelog) > MOST_OWN_LINES:
        return ()
    only_changelog = all(changelog_file(path) is not None for path in fact.paths) or is_about_release(fact.title)
    fitting = [line for line in fact.changelog if line.form != "edited"]
    fitting = [line for line in fitting if not only_changelog or fact.pull_request in line.numbers]
    fitting = [line for line in fitting if line.form == "fragment" or _shares_a_word(line.text, own)]
    return sorted(fitting, key=lambda line: (line.form != "fragment", fact.pull_request not in line.numbers))


def _is_credited(own: _Own, line: ChangelogLine) -> bool:
    """Whether the entry credits nobody by name, or the person; where it credits nobody, a quarter is the person's."""
    if line.people:
        return any(person.lower() in own.names for person in line.people)
    total = own.change.lines.total
    return own.complete or sum(one.lines.total for one in own.commits) * WITH_SHARE >= total


def _made(own: _Own, one: _Candidate, texts: ProjectTexts, month: Month) -> Entry:
    """The entry before its text and its tag are known."""
    change = own.change
    by_commit = one.source == "subject"
    others = _others(own, one.line)
    named = {name for key, name in others.items() if texts.nameable is None or key in texts.nameable}
    return Entry(
        quoted="",
        tag=None,
        source=one.source,
        change=change.id,
        commit=one.commit,
        link=_commit_link(change, one.commit) if by_commit else change.url,
        number=None if by_commit else change.pull_request,
        people=tuple(name for name in dict.fromkeys(others.values()) if name in named),
        unnamed=len(set(others.values()) - named),
        release=_release(own, one.line, texts),
        month=month,
    )


def _kind(own: _Own, one: _Candidate) -> tuple[Kind | None, bool]:
    """The kind of what is quoted, None if it is not certain, and whether it is that of most of the work.

    A change of several commits has the kind of one of them.
    """
    change, counted = own.change, [each for each in own.change.commits if each.counts]
    if is_classified(change) or len(counted) < 2:
        return change.kind if change.certain else None, True
    if one.source == "subject":
        return own.largest.kind if own.largest.certain else None, True
    same = sum(each.lines.code for each in counted if each.fact.kind == change.kind)
    return change.kind if change.certain else None, same * 2 >= sum(each.lines.code for each in counted)


def _commit_link(change: Change, commit: CommitId | None) -> str | None:
    if change.url is None or commit is None:
        return None
    return f"{change.url.rsplit('/', 2)[0]}/commit/{commit}"


def _others(own: _Own, line: ChangelogLine | None) -> Mapping[PersonKey, str]:
    """Names of other people who wrote a quarter of the change's lines, and of those whom its entry credits."""
    total = max(own.change.lines.total, 1)
    lines: dict[PersonKey, int] = {}
    people: dict[PersonKey, Signature] = {}
    for one in own.change.commits:
        for author, count in _parts(one) if one.counts else ():
            key = person_key(author)
            if key not in own.keys and not author.bot:
                lines[key] = lines.get(key, 0) + count
                people.setdefault(key, author)
    credited = {name.lower() for name in line.people} if line else set()
    helped = [who for one in own.change.commits for who in one.fact.co_authors if person_key(who) not in own.keys]
    found = {key: who.name for key, who in people.items() if lines[key] * WITH_SHARE >= total}
    for who in (*people.values(), *helped):
        if {who.name.lower(), (who.login or "").lower()} & credited:
            found.setdefault(person_key(who), who.name)
    return {key: name for key, name in found.items() if name and name.lower() not in own.names}


def _parts(one: CountedCommit) -> list[tuple[Signature, int]]:
    shares = one.fact.evidence.shares if one.fact.evidence else ()
    return [(share.author, share.lines) for share in shares] or [(one.fact.author, one.lines.total)]


def _release(own: _Own, line: ChangelogLine | None, texts: ProjectTexts) -> str | None:
    """The first release with a tag that contains the change, else the one under which the changelog names it."""
    tagged = texts.releases.get(own.largest.commit)
    return tagged or (line.release if line and line.release else None)
