"""Which signatures are the same person?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.landing.addresses import claimed_address, login_of, person_key, plain_email, user_id_of
from bot.landing.machines import is_ai_agent, is_bot
from bot.model import Person, PersonKey, Signature, UserId


@dataclass(slots=True)
class _Gathered:
    """What is known of one person so far."""

    names: Counter[str] = field(default_factory=Counter)
    emails: set[str] = field(default_factory=set)
    logins: Counter[str] = field(default_factory=Counter)
    user_id: UserId | None = None
    bot: bool = False


class People:
    """Everybody who signed, each person once.

    User ids are proof. An e-mail or a login joins signatures unless two user ids claim it; a name never does. The
    outcome depends on the set of signatures alone, never on their order.
    """

    def __init__(self, persons: Iterable[Person], ids: dict[str, UserId], logins: dict[str, str]) -> None:
        self._persons = {person.key: person for person in persons}
        self._ids = ids
        self._leaders = logins
        self._by_login: dict[str, list[Person]] = defaultdict(list)
        self._by_name: dict[str, list[Person]] = defaultdict(list)
        self._by_email: dict[str, list[Person]] = defaultdict(list)
        self._by_local: dict[str, list[Person]] = defaultdict(list)
        for person in self.all():
            self._index(person)

    @classmethod
    def of(cls, signatures: Iterable[Signature]) -> People:
        counted = Counter(signatures)
        ids = _only_ids(counted)
        leaders = _leaders(counted, ids)
        gathered: dict[PersonKey, _Gathered] = defaultdict(_Gathered)
        for sig, times in counted.items():
            _gather(gathered[_key(sig, ids, leaders)], sig, times)
        return cls((_person(key, known) for key, known in gathered.items()), ids, leaders)

    def person(self, sig: Signature) -> Person:
        """The person behind a signature; a new one, made of that signature alone, where it was never seen."""
        key = _key(sig, self._ids, self._leaders)
        if key in self._persons:
            return self._persons[key]
        fresh = _Gathered()
        _gather(fresh, sig, 1)
        return _person(key, fresh)

    def all(self) -> tuple[Person, ...]:
        return tuple(self._persons[key] for key in sorted(self._persons))

    def find(self, who: str) -> tuple[Person, ...]:
        """Everybody whom a login, an e-mail or a name means, compared whole; machines only where no person is meant.

        A clone knows no logins: where no address proves one, the part of an address before the @ stands for it.
        """
        asked = who.strip()
        if "@" in asked and (owners := self._by_email.get(plain_email(asked))):
            return _people_first(owners)
        logins = self._by_login.get(asked.lower().removeprefix("@")) or self._by_local.get(asked.lower(), [])
        found = {person.key: person for person in (*logins, *self._by_name.get(asked, ()))}.values()
        return _people_first(sorted(found, key=lambda person: person.key))

    def _index(self, person: Person) -> None:
        for email in person.emails:
            self._by_email[email].append(person)
            login = login_of(Signature("", email))
            if login is None:
                self._by_local[email.partition("@")[0]].append(person)
            elif person not in self._by_login[login]:
                self._by_login[login].append(person)
        if person.login and person not in self._by_login[person.login.lower()]:
            self._by_login[person.login.lower()].append(person)
        for name in person.names:
            self._by_name[name].append(person)


def _people_first(found: Iterable[Person]) -> tuple[Person, ...]:
    everybody = tuple(found)
    return tuple(person for person in everybody if not person.bot) or everybody


def _only_ids(counted: Iterable[Signature]) -> dict[str, UserId]:
    """`mail <address>` and `login <login>` to the one user id that claims it; two claims are none."""
    claims: dict[str, set[UserId]] = defaultdict(set)
    for sig in counted:
        user = user_id_of(sig)
        if user is not None:
            for name in _handles(sig):
                claims[name].add(user)
    return {name: next(iter(users)) for name, users in claims.items() if len(users) == 1}


def _handles(sig: Signature) -> list[str]:
    login = login_of(sig)
    return ["mail " + claimed_address(sig)] + (["login " + login] if login else [])


def _proved_id(sig: Signature, ids: dict[str, UserId]) -> UserId | None:
    user = user_id_of(sig)
    if user is not None:
        return user
    return next((ids[name] for name in _handles(sig) if name in ids), None)


def _leaders(counted: Iterable[Signature], ids: dict[str, UserId]) -> dict[str, str]:
    """Address to the address that stands for all those whose login is the same, where no user id is known."""
    shared: dict[str, set[str]] = defaultdict(set)
    for sig in counted:
        login = login_of(sig)
        if login and _proved_id(sig, ids) is None:
            shared[login].add(claimed_address(sig))
    leaders: dict[str, str] = {}
    for login in sorted(shared):
        first = min(leaders.get(address, address) for address in shared[login])
        leaders.update(dict.fromkeys(sorted(shared[login]), first))
    return leaders


def _key(sig: Signature, ids: dict[str, UserId], leaders: dict[str, str]) -> PersonKey:
    user = _proved_id(sig, ids)
    if user is not None:
        return PersonKey(f"u:{user}")
    address = claimed_address(sig)
    return PersonKey("e:" + leaders.get(address, address)) if address in leaders else person_key(sig)


def _gather(known: _Gathered, sig: Signature, times: int) -> None:
    if sig.name.strip():
        known.names[sig.name.strip()] += times
    if plain_email(sig.email):
        known.emails.add(plain_email(sig.email))
    login = sig.login or login_of(sig)
    if login:
        known.logins[login] += times if sig.login is None else 1_000_000 + times
    known.user_id = known.user_id or user_id_of(sig)
    known.bot = known.bot or is_bot(sig) or is_ai_agent(sig)


def _most_used(counted: Counter[str]) -> str | None:
    return min(counted, key=lambda text: (-counted[text], text)) if counted else None


def _person(key: PersonKey, known: _Gathered) -> Person:
    names = tuple(sorted(known.names, key=lambda name: (-known.names[name], name)))
    return Person(
        key=key,
        name=names[0] if names else "",
        emails=tuple(sorted(known.emails)),
        login=_most_used(known.logins),
        user_id=known.user_id,
        bot=known.bot,
        names=names,
    )
