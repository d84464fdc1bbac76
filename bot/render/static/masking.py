"""How do a profile and a digest look without the names of people who did not agree to be named?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec.structs import replace

from bot.landing.identity.addresses import person_key
from bot.model.change import Change, CountedCommit
from bot.model.commit import Signature
from bot.model.ids import PersonKey
from bot.model.profile import Profile, Sentence, Text
from bot.narrative.digest import UNNAMED, ContributorRow, DigestGroup, DigestLine, MonthDigest
from bot.render.static.other_names import SOMEBODY

Mask = Callable[[str], str]


def hide_authors(changes: Sequence[Change], named: Collection[PersonKey]) -> tuple[Change, ...]:
    """The changes; whoever signed them with none of these keys is called somebody else. Machines keep their names."""

    def renamed_author(sig: Signature) -> Signature:
        return sig if sig.bot or person_key(sig) in named else replace(sig, name=SOMEBODY, login=None)

    def commit(one: CountedCommit) -> CountedCommit:
        fact = one.fact
        co_authors = tuple(map(renamed_author, fact.co_authors))
        return replace(one, fact=replace(fact, author=renamed_author(fact.author), co_authors=co_authors))

    return tuple(replace(change, commits=tuple(map(commit, change.commits))) for change in changes)


def mask_change(change: Change, mask: Mask) -> Change:
    """The change with its title and reason masked."""
    title, why = mask(change.title), mask(change.why)
    return change if (title, why) == (change.title, change.why) else replace(change, title=title, why=why)


def mask_profile(profile: Profile, mask: Mask) -> Profile:
    """The profile with every quoted or derived text masked."""
    return replace(
        profile,
        narrative=_text(profile.narrative, mask),
        months=tuple(
            replace(
                month,
                summary=_text(month.summary, mask),
                items=tuple(replace(item, title=mask(item.title)) for item in month.items),
            )
            for month in profile.months
        ),
        changes=tuple(mask_change(change, mask) for change in profile.changes),
    )


def _text(text: Text, mask: Mask) -> Text:
    return replace(text, sentences=tuple(mask_sentence(one, mask) for one in text.sentences))


def mask_sentence(one: Sentence, mask: Mask) -> Sentence:
    layout = one.layout
    return replace(
        one,
        text=mask(one.text),
        quoted=mask(one.quoted) if one.quoted else one.quoted,
        layout=replace(
            layout,
            label=mask(layout.label),
            folder=mask(layout.folder),
            notes=tuple(map(mask, layout.notes)),
            brief=mask(layout.brief) if layout.brief else layout.brief,
        ),
    )


def mask_digest(digest: MonthDigest, named: Collection[str], mask: Mask) -> MonthDigest:
    """The digest in which only these people are named; all others have one row together."""
    return replace(
        digest,
        groups=tuple(
            DigestGroup(mask(group.name), tuple(_line(line, named, mask) for line in group.lines))
            for group in digest.groups
        ),
        folded=tuple(_line(line, named, mask) for line in digest.folded),
        reverts=tuple(mask_sentence(one, mask) for one in digest.reverts),
        contributors=_rows(digest.contributors),
    )


def _line(line: DigestLine, named: Collection[str], mask: Mask) -> DigestLine:
    authors = tuple(dict.fromkeys(SOMEBODY if name == UNNAMED else name for name in line.authors))
    people = tuple(dict.fromkeys(name if name in named else SOMEBODY for name in line.entry.people))
    entry = line.entry
    masked = replace(entry, quoted=mask(entry.quoted), objects=tuple(map(mask, entry.objects)), people=people)
    return replace(line, entry=masked, authors=() if authors == (SOMEBODY,) else _somebody_last(authors))


def _somebody_last(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=SOMEBODY.__eq__))


def _rows(rows: Sequence[ContributorRow]) -> tuple[ContributorRow, ...]:
    """Those who are named, then one row for all others."""
    named = [row for row in rows if row.name != UNNAMED]
    others = [row for row in rows if row.name == UNNAMED]
    if not others:
        return tuple(named)
    count = len(others)
    name = SOMEBODY if count == 1 else f"{count:,} {'others' if named else 'people'}"
    sums = [sum(getattr(row, field) for row in others) for field in ("commits", "features", "fixes", "reviews")]
    commits, features, fixes, reviews = sums
    return (*named, ContributorRow(name, commits, features, fixes, reviews, count))
