"""Which name and address does a mailmap give for those of a commit? Format: git-check-mailmap(1), gitmailmap(5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.identity.addresses import noreply, plain_email
from bot.model.commit import Signature

MOST_LINES = 50_000
_Proper = tuple[str, str]
"""the proper name and address; empty where the commit's own stays"""


class Mailmap(Struct, frozen=True):
    """The entries of several mailmaps together: the last about an address and name counts, as in git."""

    by_address: Mapping[str, _Proper]
    by_both: Mapping[tuple[str, str], _Proper]

    def __bool__(self) -> bool:
        return bool(self.by_address or self.by_both)

    def proper(self, sig: Signature) -> Signature:
        """The signature under its proper name and address; the same one if no entry is about it."""
        email = plain_email(sig.email)
        found = self.by_both.get((email, sig.name.strip().lower())) or self.by_address.get(email)
        if found is None:
            return sig
        name, address = found[0] or sig.name, found[1] or sig.email
        account = noreply(address, sig.host)
        if account is None:
            return replace(sig, name=name, email=address)
        return replace(sig, name=name, email=address, user_id=account[0] or sig.user_id, login=account[1])


NO_MAILMAP = Mailmap({}, {})


def read_mailmaps(texts: Sequence[str]) -> Mailmap:
    """The entries of these mailmaps, of which the later ones win. Lines that are no entry are skipped, as git does."""
    by_address: dict[str, _Proper] = {}
    by_both: dict[tuple[str, str], _Proper] = {}
    for text in texts:
        for line in text.splitlines()[:MOST_LINES]:
            entry = _entry(line)
            if entry is None:
                continue
            proper, name, email = entry
            if name:
                by_both[email, name.lower()] = proper
            else:
                by_address[email] = proper
    return Mailmap(by_address, by_both)


def _entry(line: str) -> tuple[_Proper, str, str] | None:
    """(what is proper, the commit's name or an empty text, the commit's address) of a line."""
    if line.startswith("#"):
        return None
    name, opened, rest = line.partition("<")
    email, closed, rest = rest.partition(">")
    if not opened or not closed or not email.strip():
        return None
    old_name, opened, rest = rest.partition("<")
    old_email, closed, _ = rest.partition(">")
    if opened and closed and old_email.strip():
        return (name.strip(), email.strip()), old_name.strip(), plain_email(old_email)
    return ((name.strip(), ""), "", plain_email(email)) if name.strip() else None
