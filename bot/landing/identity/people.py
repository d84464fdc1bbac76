"""Which signatures are the same person?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from bot.landing.identity.addresses import account_of, claimed_address, person_key, plain_email, written_login
from bot.landing.identity.machines import is_machine
from bot.landing.identity.mailmap import NO_MAILMAP, Mailmap
from bot.model.commit import Person, Signature
from bot.model.ids import PersonKey, UserId

_BY_MAILMAP = 1_000_000
"""how often a name that a mailmap gives counts as used"""


class _SignatureKeys(NamedTuple):
    """A signature, and what it proves by itself about the signer."""

    sig: Signature
    user: UserId | None
    login: str | None
    address: str


def _signature_keys(sig: Signature) -> _SignatureKeys:
    return _SignatureKeys(sig, *account_of(sig), claimed_address(sig))


class People:
    """Everybody who signed, each person once.

    User ids are proof. An e-mail or a login joins signatures unless two user ids claim it; a name never does. The
    result depends only on the set of signatures, never on their order.
    """

    def __init__(
        self, owners: Mapping[Signature, PersonKey], persons: Iterable[Person], joins: _Joins, mailmap: Mailmap
    ) -> None:
        self._owners = owners
        self._mailmap = mailmap
        self._persons = {person.key: person for person in persons}
        self._joins = joins

    @classmethod
    def of(cls, signatures: Iterable[Signature], mailmap: Mailmap = NO_MAILMAP) -> People:
        counted = Counter(signatures)
        signed = list(map(_signature_keys, counted))
        proper = [_signature_keys(mailmap.proper(one.sig)) for one in signed] if mailmap else signed
        joins = _Joins(signed + proper if mailmap else signed)
        keys = list(map(joins.key, proper))
        apps = {one.login.removesuffix("[bot]") for one in signed if one.login and one.login.endswith("[bot]")}
        gathered: dict[PersonKey, list[tuple[_SignatureKeys, int]]] = defaultdict(list)
        for key, one, times in zip(keys, signed, counted.values(), strict=True):
            gathered[key].append((one, times))
        if mailmap:
            for key, one, named in zip(keys, signed, proper, strict=True):
                if named.sig != one.sig:
                    gathered[key].append((named, _BY_MAILMAP))
        persons = [_person(key, found, apps) for key, found in gathered.items()]
        return cls(dict(zip(counted, keys, strict=True)), persons, joins, mailmap)

    def keys(self) -> Mapping[PersonKey, set[PersonKey]]:
        """The keys of each person's individual signatures, by the person's own key."""
        found: dict[PersonKey, set[PersonKey]] = defaultdict(set)
        for sig, owner in self._owners.items():
            found[owner].add(person_key(sig))
        return found

    def person(self, sig: Signature) -> Person:
        """The person behind a signature; one made from that signature if it was never seen before."""
        if (owner := self._owners.get(sig)) is not None:
            return self._persons[owner]
        signed = _signature_keys(self._mailmap.proper(sig))
        key = self._joins.key(signed)
        if key in self._persons:
            return self._persons[key]
        return _person(key, [(signed, 1)])

    def all(self) -> tuple[Person, ...]:
        return tuple(self._persons[key] for key in sorted(self._persons))

    def find(self, who: str) -> tuple[Person, ...]:
        """Everybody whom a login, an e-mail or a name identifies, compared whole; machines only if no person matches.

        A clone has no logins: where no address proves one, the part of an address before the @ is used instead.
        """
        asked, known = who.strip(), self._index
        if "@" in asked and (owners := known.emails.get(plain_email(asked))):
            return _people_first(owners)
        logins = known.logins.get(asked.lower().removeprefix("@")) or known.locals.get(asked.lower(), [])
        found = {person.key: person for person in (*logins, *known.names.get(asked, ()))}.values()
        return _people_first(sorted(found, key=lambda person: person.key))

    @cached_property
    def _index(self) -> _PersonIndex:
        return _PersonIndex(self.all())


class _PersonIndex:
    """Persons by login, name, e-mail and local part."""

    def __init__(self, persons: Iterable[Person]) -> None:
        self.logins: dict[str, list[Person]] = defaultdict(list)
        self.names: dict[str, list[Person]] = defaultdict(list)
        self.emails: dict[str, list[Person]] = defaultdict(list)
        self.locals: dict[str, list[Person]] = defaultdict(list)
        for person in persons:
            self._add(person)

    def _add(self, person: Person) -> None:
        for email in person.emails:
            self.emails[email].append(person)
            login = written_login(email)
            if login is None:
                self.locals[email.partition("@")[0]].append(person)
            elif person not in self.logins[login]:
                self.logins[login].append(person)
        if person.login and person not in self.logins[person.login.lower()]:
            self.logins[person.login.lower()].append(person)
        for name in person.names:
            self.names[name].append(person)


def _people_first(found: Iterable[Person]) -> tuple[Person, ...]:
    everybody = tuple(found)
    return tuple(person for person in everybody if not person.bot) or everybody


class _Joins:
    """What identifies several signatures as one person."""

    def __init__(self, signed: Sequence[_SignatureKeys]) -> None:
        proved = [one for one in signed if one.user is not None]
        self._by_address = _only_ids((one.address, one.user) for one in proved)
        self._by_login = _only_ids((one.login, one.user) for one in proved)
        self._leaders = self._leader_addresses(signed)

    def key(self, signed: _SignatureKeys) -> PersonKey:
        user = self._proved_id(signed)
        if user is not None:
            return PersonKey(f"u:{user}")
        return PersonKey("e:" + self._leaders.get(signed.address, signed.address))

    def _proved_id(self, signed: _SignatureKeys) -> UserId | None:
        if signed.user is not None:
            return signed.user
        by_address = self._by_address.get(signed.address)
        return self._by_login.get(signed.login) if by_address is None else by_address

    def _leader_addresses(self, signed: Iterable[_SignatureKeys]) -> dict[str, str]:
        """Where no user id is known: for each address, one address shared by all signatures with the same login."""
        shared: dict[str, set[str]] = defaultdict(set)
        for one in signed:
            if one.login and self._proved_id(one) is None:
                shared[one.login].add(one.address)
        leaders: dict[str, str] = {}
        for login in sorted(shared):
            first = min(leaders.get(address, address) for address in shared[login])
            leaders.update(dict.fromkeys(sorted(shared[login]), first))
        return leaders


def _only_ids(claims: Iterable[tuple[str | None, UserId | None]]) -> dict[str | None, UserId | None]:
    """The one user id that claims each address or login; None if there are two."""
    found: dict[str | None, UserId | None] = {None: None}
    for name, user in claims:
        found[name] = user if found.get(name, user) == user else None
    return found


def _person(
    key: PersonKey, signed: Iterable[tuple[_SignatureKeys, int]], apps: Collection[str] = frozenset()
) -> Person:
    """The person whom these signatures describe, each with the number of times it occurs.

    `apps`: logins under which an App signs as `login[bot]`: the account of the same name is its machine user.
    """
    names: dict[str, int] = {}
    logins: dict[str, int] = {}
    emails: set[str] = set()
    user, is_bot, by_machine, by_anybody = None, False, 0, 0
    for one, times in signed:
        sig = one.sig
        name, email, login = sig.name.strip(), plain_email(sig.email), sig.login or one.login
        if name:
            names[name] = names.get(name, 0) + times
        if email:
            emails.add(email)
        if login:
            logins[login] = logins.get(login, 0) + times + (1_000_000 if sig.login is not None else 0)
        user = user or one.user
        is_bot = is_bot or (sig.bot and sig.stated != "person")
        by_machine += times if is_machine(sig) or (one.login in apps and sig.stated != "person") else 0
        by_anybody += times
    known_as, called = _most_used_first(names), _most_used_first(logins)
    return Person(
        key=key,
        name=known_as[0] if known_as else "",
        emails=tuple(sorted(emails)),
        login=called[0] if called else None,
        user_id=user,
        bot=is_bot or by_machine * 2 > by_anybody,
        names=known_as,
    )


def _most_used_first(counted: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(counted, key=lambda text: (-counted[text], text)) if len(counted) > 1 else counted)
