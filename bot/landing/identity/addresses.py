"""What does an e-mail address prove about its owner?"""

from __future__ import annotations

import re
from functools import lru_cache

from bot.landing.identity.machine_names import is_machine_name
from bot.landing.identity.registry import safe_name
from bot.model.commit import GITHUB, Signature
from bot.model.ids import PersonKey, UserId

_NOREPLY = "users.noreply."
_APP = re.compile(r"([0-9]{1,18})\+([A-Za-z0-9-]{1,100}\[bot\])@users\.noreply\.([A-Za-z0-9.-]{1,253})")
_NOBODY = frozenset(
    (
        "",
        "none",
        "none@none",
        "unknown",
        "unknown@unknown",
        "you@example.com",
        "root@localhost",
        "(no author)",
        "no@email",
    )
)


@lru_cache(maxsize=2048)
def plain_email(email: str) -> str:
    """The address in the form used for comparison: trimmed and in lower case."""
    return email.strip().strip("<>").strip().lower()


@lru_cache(maxsize=2048)
def noreply(email: str, host: str = GITHUB) -> tuple[UserId | None, str] | None:
    """(user id, login) of a noreply address of this server in either form; None for any other address.

    `ID+login@users.noreply.github.com` proves both; the form used before 2017 (`login@…`) proves only the login. The
    login is in lower case. Source: https://docs.github.com/en/account-and-profile/reference/email-addresses-reference
    """
    local, _, domain = plain_email(email).rpartition("@")
    if not local or domain != _NOREPLY + host_name(host):
        return None
    number, plus, login = local.partition("+")
    if plus and number.isascii() and number.isdecimal() and login:
        return UserId(int(number)), login
    return None, local


def host_name(host: str) -> str:
    """The name of a server without a port."""
    return host.partition(":")[0]


def is_noreply(email: str) -> bool:
    """Whether it is a noreply address of any server; which account it belongs to, only that server can say."""
    return plain_email(email).rpartition("@")[2].startswith(_NOREPLY)


def written_login(email: str) -> str | None:
    """The login in a noreply address of any server: enough to look somebody up, and no proof."""
    return (
        (noreply(email, plain_email(email).rpartition(_NOREPLY)[2]) or (None, None))[1] if is_noreply(email) else None
    )


@lru_cache(maxsize=2048)
def app_of(email: str, host: str = GITHUB) -> tuple[UserId, str] | None:
    """(user id, login) of an App's noreply address on this server, `ID+name[bot]@…`; None for any other address.

    GitHub gives the same answer for an App it knows, but GraphQL knows no Apps and REST knows no deleted ones.
    """
    found = _APP.fullmatch(email)
    return (UserId(int(found[1])), found[2]) if found and found[3] == host_name(host) else None


def account_of(sig: Signature) -> tuple[UserId | None, str | None]:
    """The user id, and the login in lower case, that GitHub or the address proves."""
    known = noreply(sig.email, sig.host) or (None, None)
    return (known[0] if sig.user_id is None else sig.user_id, sig.login.lower() if sig.login else known[1])


def user_id_of(sig: Signature) -> UserId | None:
    """The user id that GitHub or the address proves."""
    return account_of(sig)[0]


def login_of(sig: Signature) -> str | None:
    """The login, in lower case, that GitHub or the address proves."""
    return account_of(sig)[1]


def person_key(sig: Signature) -> PersonKey:
    """`u:<user id>` where proved, else `e:<e-mail>`; the name is added to an address nobody owns (`root@localhost`)."""
    return _key_of(sig.user_id, sig.email, sig.name, sig.host)


@lru_cache(maxsize=2048)
def _key_of(user: UserId | None, email: str, name: str, host: str) -> PersonKey:
    """Cached: the same people are looked up many times for each work group."""
    sig = Signature(name, email, user, host=host)
    user = user_id_of(sig)
    return PersonKey("e:" + claimed_address(sig) if user is None else f"u:{user}")


@lru_cache(maxsize=4096)
def claimed_address(sig: Signature) -> str:
    """The e-mail that identifies a person without a proved account.

    A machine's name keeps its commits apart from those of the person whose address it borrows.
    """
    email = plain_email(sig.email)
    shared = email in _NOBODY or is_machine_name(sig.name) or safe_name(sig.name.strip().lower()) is not None
    return f"{sig.name.strip().lower()} <{email}>" if shared else email
