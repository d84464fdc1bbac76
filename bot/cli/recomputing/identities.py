"""Which person of the clones does the user mean, and what to do where several fit?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from bot.cli.printing import escape_controls, write
from bot.configuration.errors import UnusableInputError
from bot.history.record import CloneRecord
from bot.model.commit import Person


class PersonQuery(Struct, frozen=True):
    """A person as the user names them: a login, an address or a name, further ones that are the same person, a mailmap,
    and the name and head of the clone.
    """

    who: str | None = None
    aliases: tuple[str, ...] = ()
    mailmap: Path | None = None
    name: str | None = None
    head: str | None = None


def find_person(record: CloneRecord, asked: PersonQuery) -> tuple[Person, ...]:
    """The identities of one person, the one that was asked for first. Others of the same full name are noted on stderr.

    Raises UnusableInputError if nobody fits, or if several do: then they are printed first. A login without commits
    fits those of its full name as well.
    """
    who = asked.who or ""
    named = _named(record, who)
    joined = [_only(record, _named(record, alias), alias) for alias in asked.aliases if alias.strip() != who.strip()]
    others = [person for person in named if person not in joined]
    if len(others) > 1 and who.strip() not in map(str.strip, asked.aliases):
        _refuse(record, named, who)
    found = tuple({person.key: person for person in (*others, *named, *joined)}.values())
    namesakes = _namesakes(record, found)
    if namesakes and "@" not in who and not any(map(record.count_commits, found)):
        _refuse(record, (*found, *namesakes), who)
    for person in namesakes:
        _note_namesake(record, person)
    return found


def _namesakes(record: CloneRecord, persons: Sequence[Person]) -> list[Person]:
    """Others who authored commits under the full name, of two words at least, of one of these people."""
    names = {name for person in persons if " " in (name := _folded(person))}
    chosen = {person.key for person in persons}
    return [
        person
        for person in (record.people.all() if names else ())
        if person.key not in chosen and _folded(person) in names and record.count_commits(person)
    ]


def _folded(person: Person) -> str:
    return " ".join(person.display.casefold().split())


def _note_namesake(record: CloneRecord, person: Person) -> None:
    count = record.count_commits(person)
    join = f"; if it is the same person, add --alias {person.emails[0]}" if person.emails else ""
    commits = f"{count} commit{'' if count == 1 else 's'} under another address"
    sys.stderr.write(escape_controls(f"almanac: {person.display} also authored {commits}{join}") + "\n")


def _named(record: CloneRecord, who: str) -> tuple[Person, ...]:
    found = record.people.find(who)
    if found:
        return found
    known = [name for person in record.people.all() for name in (*person.names, *person.emails, person.login or "")]
    near = get_close_matches(who, [name for name in known if name], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "; almanac contributors CLONE... lists everybody"
    raise UnusableInputError(f"nobody called {who!r} landed anything here{hint}")


def _only(record: CloneRecord, found: Sequence[Person], who: str) -> Person:
    if len(found) > 1:
        _refuse(record, found, who)
    return found[0]


def _refuse(record: CloneRecord, found: Sequence[Person], who: str) -> None:
    counts = {person.key: record.count_commits(person) for person in found}
    ordered = sorted(found, key=lambda person: (-counts[person.key], person.key))
    write("".join(f"{counts[one.key]:>7} commits  {one.display} <{' '.join(one.emails)}>\n" for one in ordered))
    rest = " ".join(f"--alias {one.emails[0]}" for one in ordered[1:] if one.emails)
    raise UnusableInputError(
        f"{who!r} fits {len(found)} identities; name one by its address, or join those of one person: "
        f"--author {(ordered[0].emails or (who,))[0]} {rest}"
    )
