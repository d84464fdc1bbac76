"""How is a fact stored in a cache? As rows that a database accepts directly and that are fast to read back."""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from bot.landing.changelogs.evidence import evidence_keys
from bot.landing.identity.credit import credited_keys, person_key
from bot.landing.same_work.keys import offered_keys, sought_keys
from bot.model.commit import Signature
from bot.model.fact import BOT_OR_STATED, Fact, fact_from_json, fact_to_json

OFFERS, ASKS = 1, 2
"""the role of a key for a fact: the fact can be found by it, or looks for facts that can"""

SignatureRow = tuple[str, str, int, str, int, str]
"""name, e-mail, user id or 0, login or empty, 1 for a bot, 2 or more for what is stated, and the server"""


class Rows(NamedTuple):
    """The rows of some facts; facts are identified by their index in `facts`."""

    facts: list[tuple[str, str, int, str, str, bytes, bytes]]
    """repository, commit, landed_at, carrier, the author's key, the fact, its line hashes"""
    keys: list[tuple[int, int, int]]
    """number of the key, index of the fact, OFFERS and ASKS"""
    parts: list[tuple[str, int]]
    """key of a person, index of the fact"""
    signatures: set[SignatureRow]
    """authors and credited co-authors"""
    evidence: list[tuple[str, int]]
    """what a fact tells of other changes and of the project (`bot.landing.changelogs.evidence`), index of the fact"""
    not_measured: list[tuple[int, int]]
    """index of a fact, and how many of its files could not be read"""

    @classmethod
    def of(cls, measured: Iterable[Fact]) -> Rows:
        facts = list(measured)
        payloads = [to_bytes(fact) for fact in facts]
        roles = [_roles(fact) for fact in facts]
        return cls(
            [
                (
                    *(fact.repository, fact.commit, fact.landed_at, fact.merge_commit, person_key(fact.author)),
                    *(payload, fact.line_hashes),
                )
                for fact, payload in zip(facts, payloads, strict=True)
            ],
            [(number, index, role) for index, found in enumerate(roles) for number, role in found.items()],
            [(key, index) for index, fact in enumerate(facts) for key in credited_keys(fact)],
            {_signature_row(person) for fact in facts for person in (fact.author, *fact.co_authors)},
            [(key, index) for index, fact in enumerate(facts) for key in evidence_keys(fact)],
            [(index, fact.not_measured) for index, fact in enumerate(facts) if fact.not_measured],
        )


def _roles(fact: Fact) -> dict[int, int]:
    """The roles of each of the fact's keys, by the key's number."""
    roles = dict.fromkeys(offered_keys(fact), OFFERS)
    for key in sought_keys(fact):
        roles[key] = roles.get(key, 0) | ASKS
    numbers: dict[int, int] = {}
    for key, role in roles.items():
        number = key_number(key)
        numbers[number] = numbers.get(number, 0) | role
    return numbers


def key_number(key: str) -> int:
    """A key as a number of 63 bits. A collision does no harm: more facts than necessary are folded together."""
    text = key.encode("utf-8", "replace")
    return crc32(text) << 31 | crc32(text, 0x5EED) >> 1


@lru_cache(maxsize=4096)
def _signature_row(person: Signature) -> SignatureRow:
    name, email = (text.encode("utf-8", "replace").decode() for text in (person.name, person.email))
    role = BOT_OR_STATED.get(person.stated, int(person.bot))
    return name, email, person.user_id or 0, person.login or "", role, person.host


# --- one fact as bytes -----------------------------------------------------------------------------------------------


def to_bytes(fact: Fact) -> bytes:
    """A fact without its line hashes in marshal format, which `from_bytes` turns back into an equal fact.

    JSON text takes five times as long. Another Python may use another format: a cache is for one Python version.
    """
    row = fact_to_json(fact)
    row.pop("line_hashes", None)
    return marshal.dumps(row)


def from_bytes(payload: bytes) -> Fact:
    """The fact that `to_bytes` wrote; only for data from this program's own cache."""
    return fact_from_json(marshal.loads(payload))  # noqa: S302 (written by this program, in its user's own folder)
