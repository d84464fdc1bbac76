"""What in a record would identify an anonymous person, and what replaces it?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.identity.addresses import is_noreply, login_of, person_key, plain_email
from bot.model.change import Change, CountedCommit
from bot.model.commit import Signature
from bot.model.ids import ChangeId, CommitId, PersonKey
from bot.model.profile import AiUsage, NonCodeActivity, Part, Profile, Quality, Score, Sentence, Text, Trace

if TYPE_CHECKING:
    from bot.narrative.profile import ProfileScope

PERSONAL = "a personal repository"
"""replaces the name of a repository in the person's own account, because its owner is the person's login"""
WITHHELD = "[name]"
_GENERIC = frozenset(
    (
        *("admin", "contact", "dev", "git", "github", "gitlab", "hello", "info", "mail", "me"),
        *("noreply", "no-reply", "root", "test", "user", "users", "work"),
    )
)
"""local parts of addresses that identify nobody"""
_SHORTEST = 3
"""fewest letters of a local part that is searched for on its own"""
_SOLID = "\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af"
"""letters, as ranges of a pattern, that are written without blanks, or with endings that join the word"""
_JOINED = rf"[^\W_{_SOLID}]"
"""a letter or digit that makes the word next to it part of a longer word"""
_MOST_WORDS = 300
"""most words of one person that are searched for; a person with more of them is shown without any text"""
Mask = Callable[[str], str]


_SHORTEST_PART = 3
"""fewest letters of a part of a name that is searched for on its own"""
_SOLID_WORD = re.compile(f"[{_SOLID}]{{2,}}")
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "æ": "ae"})


class Identity(Struct, frozen=True):
    """The words that identify a person: logins in lower case, names and e-mails as written."""

    logins: frozenset[str]
    names: frozenset[str]
    emails: frozenset[str]

    @classmethod
    def of(cls, signatures: Iterable[Signature], login: str | None = None) -> Identity:
        """The identity that these signatures of one person give."""
        signed = list(signatures)
        logins = {found for found in (login_of(sig) for sig in signed) if found}
        return cls(
            frozenset(logins | ({login.lower()} if login else set())),
            frozenset(sig.name.strip() for sig in signed if sig.name.strip()),
            frozenset(plain_email(sig.email) for sig in signed if sig.email.strip()),
        )

    def owns(self, repository: str) -> bool:
        """Whether the repository belongs to the person's own account."""
        owner, slash, _ = repository.partition("/")
        return bool(slash) and owner.lower() in self.logins


def anonymise_profile(profile: Profile, identity: Identity) -> Profile:
    """The record without the person's names, addresses, logins and own repositories; the numbers do not change.

    Changes in own repositories lose their links and commit ids, which would lead to the account.
    """
    aliases = _repository_aliases(profile, identity)
    ids = _change_aliases(profile, aliases)
    title_mask = _build_mask(_identity_pattern(identity, aliases), aliases)
    sentence_mask = _build_mask(
        _identity_pattern(identity, {*aliases, *(name.rpartition("/")[2] for name in aliases)}), aliases
    )
    texts = _Texts(identity, title_mask, sentence_mask, aliases, ids)
    return replace(
        profile,
        narrative=texts.text(profile.narrative),
        months=tuple(
            replace(
                month,
                summary=texts.text(month.summary),
                items=tuple(
                    replace(item, title=title_mask(item.title), changes=texts.keys(item.changes), edges=())
                    for item in month.items
                ),
                repositories=tuple(texts.repository(name) for name in month.repositories),
                non_code=texts.non_code(month.non_code),
                parts=texts.parts(month.parts),
            )
            for month in profile.months
        ),
        non_code_months=tuple(replace(one, non_code=texts.non_code(one.non_code)) for one in profile.non_code_months),
        quality=texts.quality(profile.quality),
        ai_usage=texts.ai_usage(profile.ai_usage),
        technical=tuple(replace(skill, evidence=texts.keys(skill.evidence)) for skill in profile.technical),
        repositories=tuple(replace(one, full_name=texts.repository(one.full_name)) for one in profile.repositories),
        changes=tuple(texts.change(change) for change in profile.changes),
        credits={
            name: replace(part, person=PersonKey(""), title="")
            for key, part in profile.credits.items()
            for name in texts.keys((key,))
        },
    )


def _repository_aliases(profile: Profile, identity: Identity) -> dict[str, str]:
    """Own repository -> its alias; numbered in the order of the cards, so that aliases do not reveal the names."""
    others = {change.repository for change in profile.changes}
    others |= {name for change in profile.changes for name in change.also_in}
    others |= {commit.fact.repository for change in profile.changes for commit in change.commits}
    names = dict.fromkeys((*(record.full_name for record in profile.repositories), *sorted(others)))
    own = [name for name in names if identity.owns(name)]
    return {name: PERSONAL if index == 1 else f"{PERSONAL} ({index})" for index, name in enumerate(own, 1)}


def _change_aliases(profile: Profile, aliases: dict[str, str]) -> dict[ChangeId, ChangeId]:
    """Change in an own repository -> an id without the repository's name or the commit's id."""
    found = {}
    for number, change in enumerate(profile.changes, 1):
        alias = aliases.get(change.repository)
        if alias:
            pull = change.pull_request
            found[change.id] = ChangeId(f"{alias}#{pull}" if pull else f"{alias}@{number}")
    return found


def _identity_pattern(identity: Identity, more: Collection[str] = ()) -> re.Pattern[str] | None:
    """The person's words, longest first; parts of a name match only in their own case, because Will is a name too."""
    local = {email.partition("@")[0].partition("+")[0] for email in identity.emails if not is_noreply(email)}
    anyhow = {one for one in local if len(one) >= _SHORTEST and one not in _GENERIC}
    anyhow |= {*identity.logins, *identity.emails, *more}
    anyhow |= {variant for name in identity.names for variant in _full_name_variants(name)}
    parts = {part for name in identity.names for part in _name_part_variants(name)} - anyhow
    if len(anyhow | parts) > _MOST_WORDS:
        return re.compile(r"(?s:.+)")
    solid = {word for word in anyhow | parts if _is_solid(word)}
    groups = (f"(?i:{_alternatives(anyhow - solid)})" if anyhow - solid else "", _alternatives(parts - solid))
    words = "|".join(group for group in groups if group)
    wanted = "|".join(filter(None, (_alternatives(solid), rf"(?<!{_JOINED})(?:{words})(?!{_JOINED})" if words else "")))
    return re.compile(wanted) if wanted else None


def _is_solid(word: str) -> bool:
    """Whether the word can occur in a text directly next to other letters."""
    return _SOLID_WORD.fullmatch(word) is not None


def _full_name_variants(name: str) -> Iterator[str]:
    """The full name, in any case: as it is, joined as in `jane.doe`, and without accents."""
    parts = _name_parts(name)
    for variant in (name, *(mark.join(parts) for mark in ("", ".", "_", "-") if len(parts) > 1)):
        yield from _word_variants(variant)


def _name_part_variants(name: str) -> Iterator[str]:
    """The parts of the name that are searched for on their own, as written."""
    for part in _name_parts(name):
        if _is_solid(part):
            yield from {part, part[:2], part[-2:]} if len(part) in (3, 4) else {part}
        elif len(part) >= _SHORTEST_PART:
            yield from _word_variants(part)


def _name_parts(name: str) -> list[str]:
    return [part for part in re.split(r"[^\w'’-]+", unicodedata.normalize("NFC", name)) if part]


def _word_variants(word: str) -> set[str]:
    """The word; if it has accents, also composed, decomposed, in other cases, without accents, and transcribed."""
    composed = unicodedata.normalize("NFC", word)
    decomposed = unicodedata.normalize("NFD", word)
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    if plain == word:
        return {word}
    cased = {composed.lower(), composed.upper(), composed.lower().translate(_TRANSCRIBED).title()}
    return {word, composed, decomposed, plain, *cased}


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def _build_mask(words: re.Pattern[str] | None, aliases: dict[str, str] | None = None) -> Mask:
    """A function that masks the words in a text and replaces own repositories with their aliases."""
    if words is None:
        return lambda text: text
    called = {name.lower(): alias for name, alias in (aliases or {}).items()}
    called |= {name.rpartition("/")[2]: alias for name, alias in called.items()}

    def replacement(match: re.Match[str]) -> str:
        return called.get(match.group().lower(), WITHHELD)

    return lambda text: words.sub(replacement, text)


class _Texts(Struct, frozen=True):
    """Masks every kind of text in a profile."""

    identity: Identity
    word: Mask
    """for titles, in which a word may happen to equal a repository's name"""
    sentence: Mask
    """for sentences, which name repositories without the owner"""
    aliases: dict[str, str]
    ids: dict[ChangeId, ChangeId]

    def repository(self, name: str) -> str:
        return self.aliases.get(name) or (PERSONAL if self.identity.owns(name) else name)

    def key(self, key: ChangeId) -> ChangeId:
        return self.ids.get(key) or (ChangeId(PERSONAL) if self.identity.owns(key) else key)

    def keys(self, keys: Iterable[ChangeId]) -> tuple[ChangeId, ...]:
        return tuple(self.key(key) for key in keys)

    def ai_usage(self, usage: AiUsage) -> AiUsage:
        """The usage without the commits of repositories whose name is masked."""
        key, found = self.key, usage.evidence.items()
        visible = {tool: tuple(one for one in ones if key(one.change) == one.change) for tool, ones in found}
        return replace(usage, evidence=visible)

    def text(self, text: Text) -> Text:
        return replace(text, sentences=tuple(map(self._sentence, text.sentences)))

    def _sentence(self, one: Sentence) -> Sentence:
        """The sentence masked; an entry about an own repository has no link."""
        layout = one.layout
        own = any(key in self.ids for key in one.evidence) and one.role == "entry"
        return replace(
            one,
            text=self.sentence(one.text),
            evidence=self.keys(one.evidence),
            quoted=self.sentence(one.quoted) if one.quoted else one.quoted,
            layout=replace(
                layout,
                label=self.sentence(layout.label),
                folder=self.sentence(layout.folder),
                link=None if own else layout.link,
                notes=tuple(map(self.sentence, layout.notes)),
                brief=layout.brief and self.sentence(layout.brief),
            ),
        )

    def parts(self, parts: Mapping[str, tuple[Part, ...]]) -> Mapping[str, tuple[Part, ...]]:
        return {
            key: tuple(replace(part, changes=self.keys(part.changes)) for part in found) for key, found in parts.items()
        }

    def non_code(self, non_code: NonCodeActivity) -> NonCodeActivity:
        return NonCodeActivity(
            documentation=self.keys(non_code.documentation),
            first_contributions=self.keys(non_code.first_contributions),
            reviews=self._traces(non_code.reviews),
            triage=self._traces(non_code.triage),
            releases=self._traces(non_code.releases),
            newcomers=self._traces(non_code.newcomers),
            self_merges=self._traces(non_code.self_merges),
        )

    def _traces(self, traces: Iterable[Trace]) -> tuple[Trace, ...]:
        """Masked traces; those in an own repository have no link."""
        return tuple(
            replace(one, repository=self.repository(one.repository), name=self.word(one.name), url=None)
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
            quality.facts,
        )

    def _score(self, score: Score) -> Score:
        rows = [
            replace(row, change=self.key(row.change), signal=self.word(row.signal), by=row.by and self.key(row.by))
            for row in score.evidence
        ]
        return replace(score, evidence=tuple(rows))

    def change(self, change: Change) -> Change:
        own = self.identity.owns(change.repository)
        return replace(
            change,
            id=self.key(change.id),
            repository=self.repository(change.repository),
            title=self.word(change.title),
            why=self.word(change.why),
            commits=tuple(self._commit(commit) for commit in change.commits),
            also_in=tuple(sorted(self.repository(name) for name in change.also_in)),
            reverted_by=self.key(change.reverted_by) if change.reverted_by else None,
            partly_reverted_by=self.keys(change.partly_reverted_by),
            url=None if own else change.url,
        )

    def _commit(self, commit: CountedCommit) -> CountedCommit:
        """The commit without people; in an own repository also without its id."""
        fact = commit.fact
        nobody = Signature("", "")
        own = self.identity.owns(fact.repository)
        bare = replace(
            fact,
            repository=self.repository(fact.repository),
            commit=CommitId("") if own else fact.commit,
            merge_commit=CommitId("") if own else fact.merge_commit,
            author=nobody,
            committer=nobody,
            co_authors=(),
            evidence=None,
            title=self.word(fact.title),
            keys=(),
            links=(),
            paths=(),
        )
        return replace(commit, fact=bare)


def apply_naming(profile: Profile, changes: Iterable[Change], scope: ProfileScope) -> Profile:
    """The profile as it may be shown: unchanged, or masked if the person is anonymous; `changes` gives the identity."""
    if scope.naming == "named":
        return profile
    facts = (commit.fact for change in changes for commit in change.commits)
    signed = chain.from_iterable((one.author, one.committer, *one.co_authors) for one in facts)
    return anonymise_profile(
        profile, Identity.of((sig for sig in signed if person_key(sig) in scope.keys), scope.person.login)
    )


def mask_of(signatures: Iterable[Signature]) -> Mask:
    """A function that masks every word of a text that identifies the person of these signatures."""
    return _build_mask(_identity_pattern(Identity.of(signatures)))
