"""What of a record would name somebody who is not to be named, and what stands in its place?"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bot.digest.languages import SOLID
from bot.landing.addresses import login_of, noreply, person_key, plain_email
from bot.model import (
    BesideCode,
    Change,
    ChangeId,
    CommitId,
    CountedCommit,
    Part,
    PersonKey,
    Profile,
    Quality,
    Score,
    Signature,
    Text,
    Trace,
)
from bot.render.spellings import is_solid, name_parts, whole_names

if TYPE_CHECKING:
    from bot.digest.profile import Scope

PERSONAL = "a personal repository"
"""stands for a repository in the person's own account, whose owner is the person's login"""
WITHHELD = "[name]"
_GENERIC = frozenset(
    (
        *("admin", "contact", "dev", "git", "github", "gitlab", "hello", "info", "mail", "me"),
        *("noreply", "no-reply", "root", "test", "user", "users", "work"),
    )
)
"""first parts of addresses that name nobody"""
_SHORTEST = 3
"""letters of the first part of an address that is looked for by itself"""
_JOINED = rf"[^\W_{SOLID}]"
"""a letter or digit that makes a longer word of a word beside it"""
_MOST_WORDS = 300
"""words of one person that are looked for; of somebody who goes by more no text is shown"""
Masked = Callable[[str], str]


class Identity(Struct, frozen=True):
    """The words by which a person is known: logins in lower case, names and e-mails as they were written."""

    logins: frozenset[str]
    names: frozenset[str]
    emails: frozenset[str]

    @classmethod
    def of(cls, signatures: Iterable[Signature], login: str | None = None) -> Identity:
        """Everything that these signatures of one person say."""
        signed = list(signatures)
        logins = {found for found in (login_of(sig) for sig in signed) if found}
        return cls(
            frozenset(logins | ({login.lower()} if login else set())),
            frozenset(sig.name.strip() for sig in signed if sig.name.strip()),
            frozenset(plain_email(sig.email) for sig in signed if sig.email.strip()),
        )

    def owns(self, repository: str) -> bool:
        """Whether the repository lies in the person's own account."""
        owner, slash, _ = repository.partition("/")
        return bool(slash) and owner.lower() in self.logins


def unnamed(profile: Profile, identity: Identity) -> Profile:
    """The record without the person's names, addresses, logins and own repositories; its numbers stay as they are.

    Changes of own repositories lose their links and commit ids, which lead straight to the account.
    """
    places = _places(profile, identity)
    ids = _ids(profile, places)
    word = _masking(_whole_words(identity, places), places)
    told = _masking(_whole_words(identity, {*places, *(place.rpartition("/")[2] for place in places)}), places)
    texts = _Texts(identity, word, told, places, ids)
    return replace(
        profile,
        narrative=texts.text(profile.narrative),
        months=tuple(
            replace(
                month,
                summary=texts.text(month.summary),
                items=tuple(
                    replace(item, title=word(item.title), changes=texts.keys(item.changes), edges=())
                    for item in month.items
                ),
                repositories=tuple(texts.place(name) for name in month.repositories),
                beside=texts.beside(month.beside),
                parts=texts.parts(month.parts),
            )
            for month in profile.months
        ),
        beside_months=tuple(replace(one, beside=texts.beside(one.beside)) for one in profile.beside_months),
        quality=texts.quality(profile.quality),
        technical=tuple(replace(skill, evidence=texts.keys(skill.evidence)) for skill in profile.technical),
        repositories=tuple(replace(one, full_name=texts.place(one.full_name)) for one in profile.repositories),
        changes=tuple(texts.change(change) for change in profile.changes),
    )


def _places(profile: Profile, identity: Identity) -> dict[str, str]:
    """Own repository -> what it is called; the cards' order first, so that it tells nothing of the names."""
    others = {change.repository for change in profile.changes}
    others |= {name for change in profile.changes for name in change.also_in}
    others |= {commit.fact.repository for change in profile.changes for commit in change.commits}
    names = dict.fromkeys((*(record.full_name for record in profile.repositories), *sorted(others)))
    own = [name for name in names if identity.owns(name)]
    return {name: PERSONAL if place == 1 else f"{PERSONAL} ({place})" for place, name in enumerate(own, 1)}


def _ids(profile: Profile, places: dict[str, str]) -> dict[ChangeId, ChangeId]:
    """Change in an own repository -> an id without its name and without a commit's."""
    found = {}
    for number, change in enumerate(profile.changes, 1):
        place = places.get(change.repository)
        if place:
            pull = change.pull_request
            found[change.id] = ChangeId(f"{place}#{pull}" if pull else f"{place}@{number}")
    return found


def _whole_words(identity: Identity, more: Collection[str] = ()) -> re.Pattern[str] | None:
    """The person's words, the longest first; parts of a name only as they are written, as Will is a name."""
    local = {email.partition("@")[0].partition("+")[0] for email in identity.emails if noreply(email) is None}
    anyhow = {one for one in local if len(one) >= _SHORTEST and one not in _GENERIC}
    anyhow |= {*identity.logins, *identity.emails, *more}
    anyhow |= {spelt for name in identity.names for spelt in whole_names(name)}
    parts = {part for name in identity.names for part in name_parts(name)} - anyhow
    if len(anyhow | parts) > _MOST_WORDS:
        return re.compile(r"(?s:.+)")
    solid = {word for word in anyhow | parts if is_solid(word)}
    groups = (f"(?i:{_either(anyhow - solid)})" if anyhow - solid else "", _either(parts - solid))
    words = "|".join(group for group in groups if group)
    wanted = "|".join(filter(None, (_either(solid), rf"(?<!{_JOINED})(?:{words})(?!{_JOINED})" if words else "")))
    return re.compile(wanted) if wanted else None


def _either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def _masking(words: re.Pattern[str] | None, places: dict[str, str] | None = None) -> Masked:
    """What replaces the words in a text; names of own repositories by what these are called."""
    if words is None:
        return lambda text: text
    called = {name.lower(): said for name, said in (places or {}).items()}
    called |= {name.rpartition("/")[2]: said for name, said in called.items()}

    def replaced(match: re.Match[str]) -> str:
        return called.get(match.group().lower(), WITHHELD)

    return lambda text: words.sub(replaced, text)


class _Texts(Struct, frozen=True):
    """Every kind of text in a profile, masked."""

    identity: Identity
    word: Masked
    """for titles, whose words may happen to be the name of a repository"""
    told: Masked
    """for sentences, which name repositories without their owner"""
    places: dict[str, str]
    ids: dict[ChangeId, ChangeId]

    def place(self, name: str) -> str:
        return self.places.get(name) or (PERSONAL if self.identity.owns(name) else name)

    def key(self, key: ChangeId) -> ChangeId:
        return self.ids.get(key) or (ChangeId(PERSONAL) if self.identity.owns(key) else key)

    def keys(self, keys: Iterable[ChangeId]) -> tuple[ChangeId, ...]:
        return tuple(self.key(key) for key in keys)

    def text(self, text: Text) -> Text:
        sentences = (replace(one, text=self.told(one.text), evidence=self.keys(one.evidence)) for one in text.sentences)
        return replace(text, sentences=tuple(sentences))

    def parts(self, parts: Mapping[str, tuple[Part, ...]]) -> Mapping[str, tuple[Part, ...]]:
        return {
            key: tuple(replace(part, changes=self.keys(part.changes)) for part in found) for key, found in parts.items()
        }

    def beside(self, beside: BesideCode) -> BesideCode:
        return BesideCode(
            documentation=self.keys(beside.documentation),
            first_contributions=self.keys(beside.first_contributions),
            reviews=self._traces(beside.reviews),
            triage=self._traces(beside.triage),
            releases=self._traces(beside.releases),
            newcomers=self._traces(beside.newcomers),
            self_merges=self._traces(beside.self_merges),
        )

    def _traces(self, traces: Iterable[Trace]) -> tuple[Trace, ...]:
        """Those in an own repository lead nowhere."""
        return tuple(
            replace(one, repository=self.place(one.repository), name=self.word(one.name), url=None)
            if self.identity.owns(one.repository)
            else replace(one, name=self.word(one.name))
            for one in traces
        )

    def quality(self, quality: Quality) -> Quality:
        return Quality(
            self._score(quality.correctness),
            self._score(quality.maintainability),
            self._score(quality.architecture),
            self._score(quality.performance),
        )

    def _score(self, score: Score) -> Score:
        rows = (replace(row, change=self.key(row.change), signal=self.word(row.signal)) for row in score.evidence)
        return replace(score, evidence=tuple(rows))

    def change(self, change: Change) -> Change:
        own = self.identity.owns(change.repository)
        return replace(
            change,
            id=self.key(change.id),
            repository=self.place(change.repository),
            title=self.word(change.title),
            why=self.word(change.why),
            commits=tuple(self._commit(commit) for commit in change.commits),
            also_in=tuple(sorted(self.place(name) for name in change.also_in)),
            reverted_by=self.key(change.reverted_by) if change.reverted_by else None,
            partly_reverted_by=self.keys(change.partly_reverted_by),
            url=None if own else change.url,
        )

    def _commit(self, commit: CountedCommit) -> CountedCommit:
        """Nobody's; one in an own repository has no id either."""
        fact = commit.fact
        nobody = Signature("", "")
        own = self.identity.owns(fact.repository)
        bare = replace(
            fact,
            repository=self.place(fact.repository),
            commit=CommitId("") if own else fact.commit,
            carrier=CommitId("") if own else fact.carrier,
            author=nobody,
            committer=nobody,
            co_authors=(),
            title=self.word(fact.title),
            keys=(),
            links=(),
            paths=(),
        )
        return replace(commit, fact=bare)


def as_named(profile: Profile, changes: Iterable[Change], scope: Scope) -> Profile:
    """The profile built from these changes as it may be shown: as it is, or masked where nobody is to be named."""
    if scope.naming == "named":
        return profile
    facts = (commit.fact for change in changes for commit in change.commits)
    signed = chain.from_iterable((one.author, one.committer, *one.co_authors) for one in facts)
    return unnamed(profile, Identity.of((sig for sig in signed if person_key(sig) in scope.keys), scope.person.login))


def without_names(changes: Sequence[Change], hidden: Collection[PersonKey]) -> tuple[Change, ...]:
    """The changes, with titles that hold no word by which any of these people is known."""
    signed: dict[PersonKey, set[Signature]] = {}
    for fact in (commit.fact for change in changes for commit in change.commits):
        for sig in (fact.author, fact.committer, *fact.co_authors):
            if (key := person_key(sig)) in hidden:
                signed.setdefault(key, set()).add(sig)
    told = tuple(changes)
    for key in sorted(signed):
        word = _masking(_whole_words(Identity.of(signed[key])))
        told = tuple(replace(change, title=word(change.title)) for change in told)
    return told
