"""Which signatures are the same person?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from bot.landing.addresses import claimed_address, login_of, person_key, plain_email, user_id_of
from bot.landing.machines import is_ai_agent, is_bot
from bot.model import Person, PersonKey, Signature, UserId


class _Signed(NamedTuple):
    """A signature, and what it tells by itself of who signed."""

    sig: Signature
    user: UserId | None
    address: str
    login: str | None

    @property
    def handles(self) -> Sequence[str]:
        return ("mail " + self.address, "login " + self.login) if self.login else ("mail " + self.address,)


def _signed(sig: Signature) -> _Signed:
    return _Signed(sig, user_id_of(sig), claimed_address(sig), login_of(sig))


class People:
    """Everybody who signed, each person once.

    User ids are proof. An e-mail or a login joins signatures unless two user ids claim it; a name never does. The
    outcome depends on the set of signatures alone, never on their order.
    """

    def __init__(self, persons: Iterable[Person], joins: _Joins) -> None:
        self._persons = {person.key: person for person in persons}
        self._joins = joins

    @classmethod
    def of(cls, signatures: Iterable[Signature]) -> People:
        counted = Counter(signatures)
        signed = list(map(_signed, counted))
        joins = _Joins(signed)
        gathered: dict[PersonKey, _Gathered] = defaultdict(_Gathered)
        for one, times in zip(signed, counted.values(), strict=True):
            gathered[joins.key(one)].add(one, times)
        return cls((known.person(key) for key, known in gathered.items()), joins)

    def person(self, sig: Signature) -> Person:
        """The person behind a signature; a new one, made of that signature alone, where it was never seen."""
        signed = _signed(sig)
        key = self._joins.key(signed)
        if key in self._persons:
            return self._persons[key]
        fresh = _Gathered()
        fresh.add(signed, 1)
        return fresh.person(key)

    def all(self) -> tuple[Person, ...]:
        return tuple(self._persons[key] for key in sorted(self._persons))

    def find(self, who: str) -> tuple[Person, ...]:
        """Everybody whom a login, an e-mail or a name means, compared whole; machines only where no person is meant.

        A clone knows no logins: where no address proves one, the part of an address before the @ stands for it.
        """
        asked, known = who.strip(), self._called
        if "@" in asked and (owners := known.emails.get(plain_email(asked))):
            return _people_first(owners)
        logins = known.logins.get(asked.lower().removeprefix("@")) or known.locals.get(asked.lower(), [])
        found = {person.key: person for person in (*logins, *known.names.get(asked, ()))}.values()
        return _people_first(sorted(found, key=lambda person: person.key))

    @cached_property
    def _called(self) -> _Called:
        return _Called(self.all())


class _Called:
    """Persons by each thing that somebody may call them."""

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
            login = login_of(Signature("", email))
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
    """What makes several signatures one person."""

    def __init__(self, signed: Sequence[_Signed]) -> None:
        self._ids = _only_ids(signed)
        self._leaders = self._leading(signed)

    def key(self, signed: _Signed) -> PersonKey:
        user = self._proved_id(signed)
        if user is not None:
            return PersonKey(f"u:{user}")
        leader = self._leaders.get(signed.address)
        return person_key(signed.sig) if leader is None else PersonKey("e:" + leader)

    def _proved_id(self, signed: _Signed) -> UserId | None:
        if signed.user is not None:
            return signed.user
        return next((self._ids[name] for name in signed.handles if name in self._ids), None)

    def _leading(self, signed: Iterable[_Signed]) -> dict[str, str]:
        """Address to the address that stands for all those whose login is the same, where no user id is known."""
        shared: dict[str, set[str]] = defaultdict(set)
        for one in signed:
            if one.login and self._proved_id(one) is None:
                shared[one.login].add(one.address)
        leaders: dict[str, str] = {}
        for login in sorted(shared):
            first = min(leaders.get(address, address) for address in shared[login])
            leaders.update(dict.fromkeys(sorted(shared[login]), first))
        return leaders


def _only_ids(signed: Iterable[_Signed]) -> dict[str, UserId]:
    """`mail <address>` and `login <login>` to the one user id that claims it; two claims are none."""
    claims: dict[str, set[UserId]] = defaultdict(set)
    for one in signed:
        if one.user is not None:
            for name in one.handles:
                claims[name].add(one.user)
    return {name: next(iter(users)) for name, users in claims.items() if len(users) == 1}


class _Gathered:
    """What is known of one person so far."""

    __slots__ = ("_bot", "_emails", "_logins", "_names", "_user")

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._emails: set[str] = set()
        self._logins: dict[str, int] = {}
        self._user: UserId | None = None
        self._bot = False

    def add(self, signed: _Signed, times: int) -> None:
        sig = signed.sig
        name, email, login = sig.name.strip(), plain_email(sig.email), sig.login or signed.login
        if name:
            self._names[name] = self._names.get(name, 0) + times
        if email:
            self._emails.add(email)
        if login:
            self._logins[login] = self._logins.get(login, 0) + times + (1_000_000 if sig.login is not None else 0)
        self._user = self._user or signed.user
        self._bot = self._bot or is_bot(sig) or is_ai_agent(sig)

    def person(self, key: PersonKey) -> Person:
        names, logins = _most_used_first(self._names), _most_used_first(self._logins)
        return Person(
            key=key,
            name=names[0] if names else "",
            emails=tuple(sorted(self._emails)),
            login=logins[0] if logins else None,
            user_id=self._user,
            bot=self._bot,
            names=names,
        )


def _most_used_first(counted: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(counted, key=lambda text: (-counted[text], text)) if len(counted) > 1 else counted)
