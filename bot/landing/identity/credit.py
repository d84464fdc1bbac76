"""Who is credited: the author, and which co-authors named in the message?"""

from __future__ import annotations

from functools import lru_cache

from bot.landing.identity.addresses import login_of, noreply, person_key, plain_email, user_id_of
from bot.landing.identity.machines import is_ai_agent, is_bot, is_landing_bot, is_web_flow
from bot.landing.identity.people import People
from bot.landing.message.lines import read_message
from bot.landing.message.trailers import as_trailer
from bot.model.commit import Signature
from bot.model.fact import Fact
from bot.model.ids import PersonKey

__all__ = [
    "People",
    "co_authors",
    "credited_keys",
    "is_ai_agent",
    "is_bot",
    "is_landing_bot",
    "is_web_flow",
    "login_of",
    "noreply",
    "person_key",
    "signature_of",
    "user_id_of",
]

MOST_CO_AUTHORS = 100
_CREDITS = frozenset(("co-authored-by", "co-developed-by", "lead-authored-by"))


def co_authors(message: str, author: Signature) -> tuple[Signature, ...]:
    """The people a message credits besides its author, in order, each once, at most 100.

    Only lines that begin with the key count, so prose and quotations do not. These addresses are unproved. The author
    is left out, also under another address with the same name; machines and agents are always left out. Source:
    https://docs.github.com/en/pull-requests/committing-changes-to-your-project/creating-and-editing-commits/creating-a-commit-with-multiple-authors
    """
    lines = read_message(message).lines_with_keys(_CREDITS)
    if not lines:
        return ()
    found: dict[str, Signature] = {}
    mine = _identifiers(author)
    for credited in filter(None, map(_credited_person, lines)):
        if mine.isdisjoint(_identifiers(credited)):
            found.setdefault(person_key(credited), credited)
        if len(found) == MOST_CO_AUTHORS:
            break
    return tuple(found.values())


@lru_cache(maxsize=2048)
def _identifiers(sig: Signature) -> frozenset[str]:
    """Every string that identifies the person."""
    return frozenset((person_key(sig), "e:" + plain_email(sig.email), "name " + sig.name.strip().lower()))


@lru_cache(maxsize=2048)
def _credited_person(line: str) -> Signature | None:
    """The person whom a line credits; cached, because the same people are credited again and again."""
    trailer = as_trailer(line)
    sig = signature_of(trailer[1]) if trailer is not None and trailer[0].lower() in _CREDITS else None
    return None if sig is None or is_bot(sig) or is_ai_agent(sig) else sig


def credited_keys(fact: Fact) -> list[PersonKey]:
    """The author and the co-authors, each once, in the order of their keys."""
    author = person_key(fact.author)
    return sorted({author, *map(person_key, fact.co_authors)}) if fact.co_authors else [author]


def signature_of(text: str) -> Signature | None:
    """`Name <e-mail>` as a signature; None for anything else."""
    name, opened, rest = text.partition("<")
    email, closed, _ = rest.partition(">")
    email = email.strip()
    if not opened or not closed or email.count("@") != 1 or " " in email:
        return None
    return Signature(name.strip().strip('"'), email)
