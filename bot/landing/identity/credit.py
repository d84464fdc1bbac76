"""Who is credited with a landed commit, and how surely is it theirs: proved, attributed or only claimed?

The grade follows from what GitHub said (`Fact.evidence`), never from a text. See "Credit" in DESIGN.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec.structs import replace

from bot.landing.identity.addresses import login_of, noreply, person_key, plain_email, user_id_of
from bot.landing.identity.machines import NOTHING_STATED, StatedMachines, is_landing_bot, is_machine, is_web_flow
from bot.landing.identity.own_lines import own_lines
from bot.landing.identity.people import People
from bot.landing.message.lines import read_message
from bot.landing.message.trailers import as_trailer
from bot.model.change import Change, CountedCommit, Credit
from bot.model.commit import GITHUB, Share, Signature
from bot.model.fact import Evidence, Fact, Lines
from bot.model.ids import Grade, PersonKey

__all__ = [
    "People",
    "co_authors",
    "credited_keys",
    "is_landing_bot",
    "is_machine",
    "is_web_flow",
    "login_of",
    "noreply",
    "person_key",
    "signature_of",
    "user_id_of",
]

MOST_CO_AUTHORS = 100
_CREDITS = frozenset(("co-authored-by", "co-developed-by", "lead-authored-by"))


def co_authors(message: str, author: Signature, stated: StatedMachines = NOTHING_STATED) -> tuple[Signature, ...]:
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
    for credited in filter(None, [_credited_person(line, stated, author.host) for line in lines]):
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
def _credited_person(line: str, stated: StatedMachines, host: str) -> Signature | None:
    """The person whom a line credits; cached, because the same people are credited again and again."""
    trailer = as_trailer(line)
    sig = signature_of(trailer[1], host) if trailer is not None and trailer[0].lower() in _CREDITS else None
    if sig is not None and stated:
        sig = stated.mark(sig)
    return None if sig is None or is_machine(sig) else sig


def credited_keys(fact: Fact) -> list[PersonKey]:
    """The author and the co-authors, each once, in the order of their keys."""
    author = person_key(fact.author)
    return sorted({author, *map(person_key, fact.co_authors)}) if fact.co_authors else [author]


def signature_of(text: str, host: str = GITHUB) -> Signature | None:
    """`Name <e-mail>` as a signature; None for anything else."""
    name, opened, rest = text.partition("<")
    email, closed, _ = rest.partition(">")
    email = email.strip()
    if not opened or not closed or email.count("@") != 1 or " " in email:
        return None
    return Signature(name.strip().strip('"'), email, host=host)


# --- grades ----------------------------------------------------------------------------------------------------------

GRADE_RANK: dict[Grade, int] = {"proved": 2, "attributed": 1, "claimed": 0}
_AUTHOR_IN_CLONE: tuple[Grade, str] = ("attributed", "author of a landed commit")
_BY_TEXT: tuple[Grade, str] = ("claimed", "named only in a trailer")
HELPED_OUTSIDER = "a collaborator's commits in a pull request opened without write access"
"""attributed in the repository itself, but on no public page until the person accepts it"""
BY_MACHINE = "a machine by its name or address"
ACCEPTED = "accepted by the person"
_OWN_PROVED_CHANGE = "carries the person's own proved change"


def grade_of_author(fact: Fact) -> tuple[Grade, str]:
    """How surely the landed commit is its author's, and why."""
    found, user = fact.evidence, fact.author.user_id
    if found is None:
        return _AUTHOR_IN_CLONE
    if is_machine(fact.author):
        return "claimed", BY_MACHINE
    if user is None:
        return "claimed", "GitHub knows no account with the author's address"
    if found.signer == user:
        return "proved", "signed by the author"
    if not found.pull_request:
        return _grade_of_pushed(fact, found)
    if found.opener == user:
        return "proved", "opened the pull request and is the author"
    if found.opener_writes:
        return "attributed", "author in a pull request opened with write access"
    return "claimed", "author in a pull request that somebody else opened without write access"


def _grade_of_pushed(fact: Fact, found: Evidence) -> tuple[Grade, str]:
    if found.pusher == fact.author.user_id:
        return "proved", "pushed by the author"
    if not found.pulls_known and (fact.pull_request is not None or is_web_flow(fact.committer)):
        # GitHub committed it for a pull request that has not been read yet.
        return "claimed", "its pull request is not known yet"
    return "attributed", "pushed by somebody with write access"


def _grade_of_helper(fact: Fact, person: Signature) -> tuple[Grade, str]:
    """How surely somebody else than the author has a part in it."""
    found, user = fact.evidence, person.user_id
    if found is None or user is None or not any(one.author.user_id == user for one in found.shares):
        return _BY_TEXT
    if found.opener == user:
        return "attributed", "opened the pull request and wrote commits of it"
    if found.opener_writes:
        return "attributed", "wrote commits of a pull request opened with write access"
    if user in found.collaborators:
        return "attributed", HELPED_OUTSIDER
    return "claimed", "named in commits of a pull request that somebody else opened without write access"


def credits_of(commit: CountedCommit) -> tuple[Credit, ...]:
    """Everybody's part in one landed commit, its author's first; without parts that the person rejected."""
    fact = commit.fact
    author = person_key(fact.author)
    if not fact.co_authors and (fact.evidence is None or not fact.evidence.shares):
        found = [Credit(author, *grade_of_author(fact), lines=commit.lines)]
    else:
        found = list(_parts(commit, author))
    return tuple(_judged(commit, found)) if commit.judgements else tuple(found)


def _parts(commit: CountedCommit, author: PersonKey) -> Iterator[Credit]:
    fact = commit.fact
    shares = fact.evidence.shares if fact.evidence else ()
    own = {
        person_key(share.author): (share, lines)
        for share, lines in zip(shares, own_lines(commit.lines, shares), strict=True)
    }
    undivided = Credit(author, "claimed", "", commits=int(not own), lines=Lines() if own else commit.lines)
    yield _credit(author, grade_of_author(fact), own.get(author), undivided)
    for sig in fact.co_authors:
        key = person_key(sig)
        if key != author:
            nothing = Credit(key, "claimed", "", authored=False, commits=0)
            yield _credit(key, _grade_of_helper(fact, sig), own.get(key), nothing)


def _credit(key: PersonKey, grade: tuple[Grade, str], own: tuple[Share, Lines] | None, unknown: Credit) -> Credit:
    if own is None:
        return replace(unknown, grade=grade[0], why=grade[1])
    share, lines = own
    return replace(unknown, grade=grade[0], why=grade[1], commits=share.commits, lines=lines, title=share.title)


def _judged(commit: CountedCommit, found: Iterable[Credit]) -> Iterator[Credit]:
    """The parts after the person's own decisions, which never lower what is proved."""
    said = {one.person: one for one in commit.judgements}
    for credit in found:
        one = said.get(credit.person)
        if one is None or credit.grade == "proved":
            yield credit
        elif one.grade is not None:
            yield replace(credit, grade=one.grade, why=one.why)


def change_credits(change: Change, authors: Collection[PersonKey] = ()) -> list[tuple[CountedCommit, Sequence[Credit]]]:
    """Each counted commit of a change with everybody's part in it.

    A person's own proved change raises what else carries it: a backport, a cherry-pick, a re-land. `authors` are the
    people who authored a landed commit of the same clones: there, a trailer that names one of them is attributed.
    """
    found = [(commit, credits_of(commit)) for commit in change.counted]
    if len(found) > 1:
        proved = {one.person for _, parts in found for one in parts if one.grade == "proved"}
        found = [(commit, tuple(_carried(commit, one, proved) for one in parts)) for commit, parts in found]
    if authors:
        found = [(commit, tuple(_raised_in_clone(commit, one, authors) for one in parts)) for commit, parts in found]
    return [*found]


def _carried(commit: CountedCommit, credit: Credit, proved: Collection[PersonKey]) -> Credit:
    evidence = commit.fact.evidence
    if credit.grade != "claimed" or credit.person not in proved or not credit.authored or evidence is None:
        return credit
    if evidence.pull_request and not (evidence.opener_writes or evidence.opener_is_machine):
        return credit  # anybody can copy somebody's commit into a pull request
    return replace(credit, grade="attributed", why=_OWN_PROVED_CHANGE)


def _raised_in_clone(commit: CountedCommit, credit: Credit, authors: Collection[PersonKey]) -> Credit:
    if commit.fact.evidence is not None or credit.grade != "claimed" or credit.person not in authors:
        return credit
    return replace(credit, grade="attributed", why="named in a trailer, and author of other landed commits here")


def people_of(change: Change, authors: Collection[PersonKey] = ()) -> tuple[Credit, ...]:
    """Everybody with a part in the change, by key: their best grade, and their own commits and lines together."""
    found: dict[PersonKey, Credit] = {}
    for _, parts in change_credits(change, authors):
        for one in parts:
            before = found.get(one.person)
            found[one.person] = one if before is None else both_parts(before, one)
    return tuple(found[key] for key in sorted(found))


def both_parts(one: Credit, other: Credit) -> Credit:
    """Two parts of one person in a change as one, with the better grade and its reason."""
    best = one if GRADE_RANK[one.grade] >= GRADE_RANK[other.grade] else other
    return replace(
        best,
        authored=one.authored or other.authored,
        commits=one.commits + other.commits,
        lines=one.lines + other.lines,
        title=max(one, other, key=lambda part: part.lines.total).title,
    )
