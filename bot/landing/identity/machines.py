"""Which signatures are machines: bots, merge bots, GitHub itself, AI agents?

An account that GitHub or a noreply address proves decides; then the address, by the registry; then the name,
which counts only if nothing else is known. A cautious rule (`machine_names`) recognises machines that nobody listed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.identity.addresses import account_of, host_name, login_of, noreply, plain_email, user_id_of
from bot.landing.identity.machine_names import (
    ROLES,
    is_agent_local,
    is_agent_phrase,
    is_machine_local,
    is_machine_login,
    is_machine_name,
    is_role_address,
    lower_name,
    model_of,
    names_its_domain,
    says_agent,
)
from bot.landing.identity.registry import Machine, addresses_of, logins_of, machine_named, machines_by, prefixes
from bot.model.commit import GITHUB, Signature
from bot.model.ids import UserId

WEB_FLOW = "noreply@github.com"
"""the committer's address when somebody presses a button on github.com; another server has its own host in it"""
_WEB_FLOW_LOGIN = "web-flow"
_CLOUD = ".ghe.com"
_IS_LOGIN_OF_ROBOT = re.compile(r"(?=.*(?:-|bot))[\w-]+\Z", re.IGNORECASE).match
"""a name that is written as robots' logins are, and as no person's"""


class UnlistedMachine(NamedTuple):
    """A machine that only the rule recognises; `ai`: it says that it is a model's tool."""

    name: str
    ai: bool


def _account_of_machine(sig: Signature) -> tuple[UserId | None, str | None, bool]:
    """(user id, login, whether the id is one of github.com's, as those in the registry).

    A machine's address on github.com is published, so it names that machine on every server.
    """
    user, login = account_of(sig)
    if user is None and login is None and (published := noreply(sig.email)) is not None:
        return *published, True
    return user, login, sig.host == GITHUB


@lru_cache(maxsize=2048)
def machine_of(sig: Signature) -> Machine | None:
    """The listed machine of a signature: by account, then by address, then by a name that no person has."""
    user, login, is_listed_id = _account_of_machine(sig)
    if not login and sig.name.endswith("[bot]"):
        login = sig.name.lower()
    found = machines_by("ids").get(user) if user is not None and is_listed_id else None
    if found is None and login:
        found = machines_by("logins").get(login)
        # A plain login with another id is another account; a login in brackets belongs to an app whatever its id.
        if found and found.ids and user is not None and not (login.endswith("[bot]") or sig.login):
            found = None
    email = WEB_FLOW if is_web_flow(sig) else plain_email(sig.email)
    if found is None and not login and _IS_LOGIN_OF_ROBOT(sig.name):
        found = machines_by("logins").get(sig.name.lower())
    found = found or machines_by("addresses").get(email)
    named = None if user is not None and found is None else machine_named(sig.name, email)
    if found is None or (
        named is not None and named.is_ai and (not found.is_ai or (found.suggests and named.suggests))
    ):
        return named or found  # one account or address covers several tools of its owner
    return found


@lru_cache(maxsize=2048)
def unlisted_machine(sig: Signature) -> UnlistedMachine | None:
    """The machine that only the rule recognises, by the account if one is known, else by name and address."""
    name, email = sig.name.strip(), plain_email(sig.email)
    user, login, _ = _account_of_machine(sig)
    if login is not None:
        bare = user is None and not sig.login and login.endswith(("-agent", "-ai"))
        if not is_machine_login(login) and not (bare and says_agent(name.lower())):
            return None
        stem = login.removesuffix("[bot]").removesuffix("-bot")
        return UnlistedMachine(name or login, says_agent(stem) or "agent" in stem.split("-"))
    if user is not None:
        return None
    local, _, domain = email.rpartition("@")
    return _by_name(name, local, domain) or _by_address(name, local, domain)


def _by_name(name: str, local: str, domain: str) -> UnlistedMachine | None:
    lower = lower_name(name)
    if is_agent_phrase(lower) or model_of(lower):
        return UnlistedMachine(name[:60], True)
    if is_machine_name(name):
        return UnlistedMachine(name[:60], says_agent(lower.removesuffix("[bot]").removesuffix("bot").rstrip(" -")))
    if not says_agent(lower) or not lower.isprintable():
        return None
    joined = lower.replace(" ", "-")
    is_same = bool(local) and (joined in local or local in joined.split("-"))
    return (
        UnlistedMachine(name[:60], True)
        if is_same or is_machine_local(local) or names_its_domain(name, domain)
        else None
    )


def _by_address(name: str, local: str, domain: str) -> UnlistedMachine | None:
    if local in ROLES and (names_its_domain(name, domain) or (" " not in name and is_role_address(local, domain))):
        return UnlistedMachine(name[:60], local != "bot")
    if is_agent_local(local):
        return UnlistedMachine(name[:60], True)
    if is_machine_login(local) or domain.endswith(prefixes("domains")) or local.startswith(prefixes("local")):
        return UnlistedMachine(name[:60], local.endswith("-ai"))
    return None


class StatedMachines(Struct, frozen=True):
    """What a repository's own file says: logins or addresses that are machines, and that are people."""

    added: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    accounts: frozenset[UserId] = frozenset()
    """accounts whose owners said themselves that they are people"""

    def __bool__(self) -> bool:
        return bool(self.added or self.people or self.accounts)

    def mark(self, sig: Signature) -> Signature:
        """The signature with what is stated about it; what people say of themselves wins, then `people`."""
        known = {plain_email(sig.email), login_of(sig)}
        if self.people & known or (self.accounts and user_id_of(sig) in self.accounts):
            return replace(sig, stated="person")
        return replace(sig, stated="machine") if self.added & known else sig


NOTHING_STATED = StatedMachines()


@lru_cache(maxsize=4096)
def is_machine(sig: Signature) -> bool:
    """Whether the signature is a machine's, so that nobody is credited for it."""
    if sig.stated is not None:
        return sig.stated == "machine"
    return sig.bot or machine_of(sig) is not None or unlisted_machine(sig) is not None


@lru_cache(maxsize=2048)
def is_landing_bot(sig: Signature, extra: tuple[str, ...] = ()) -> bool:
    """Whether the signature lands pull requests of the same repository that it commits to."""
    email, login = plain_email(sig.email), login_of(sig)
    if email in addresses_of("lander") or login in logins_of("lander"):
        return True
    return bool({email, login} & {name.lower() for name in extra}) if extra else False


def is_web_flow(sig: Signature) -> bool:
    """Whether it is GitHub itself, acting for whoever pressed a button.

    An Enterprise Server signs as `noreply@HOST`; its operator may change that, so its answer about the account counts.
    """
    email = plain_email(sig.email)
    if sig.host == GITHUB:
        return email == WEB_FLOW
    own = email == f"noreply@{host_name(sig.host)}" or (email == WEB_FLOW and sig.host.endswith(_CLOUD))
    return own or (sig.login == _WEB_FLOW_LOGIN and sig.user_id is not None)
