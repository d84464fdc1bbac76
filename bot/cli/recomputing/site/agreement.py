"""Who agreed to have a page on a site, and whose line in a people file does not count?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from bot.history.clone import Clone
from bot.history.people_file import entries_of_people
from bot.history.record import CloneRecord
from bot.landing.identity.consent import OwnEntry, unreadable_lines
from bot.landing.repo_config.files import PEOPLE_PATH
from bot.model.commit import Person
from bot.model.ids import PersonKey

_SHALLOW = "the clone is shallow and does not show who added its oldest lines; for these run: git fetch --unshallow"
Confirm = Callable[[Clone, OwnEntry], str | None]
"""Why an entry does not count; None if it does."""


class Agreement(Struct, frozen=True):
    """The people who agreed, in alphabetical order, and a line for the operator about each entry without effect."""

    people: tuple[Person, ...]
    notes: tuple[str, ...]

    @property
    def keys(self) -> Collection[PersonKey]:
        """The people's own keys."""
        return {person.key for person in self.people}


def agreement(record: CloneRecord, confirm: Confirm | None = None) -> Agreement:
    """Whoever is named in the people file of one of the clones by a commit of their own.

    With `confirm`, its answer decides whose commit that was: it knows logins that no address in a clone shows.
    """
    found: dict[PersonKey, Person] = {}
    notes: list[str] = []
    for clone in record.clones:
        for one in entries_of_people(clone):
            person = record.people.person(one.author)
            reason = _refusal(record, person) or (confirm(clone, one) if confirm else _stranger(record, person, one))
            if reason is None:
                found[person.key] = _with_login(person, one.entry) if confirm else person
            else:
                notes.append(f"{clone.repository.full_name}: {PEOPLE_PATH}: {one.entry} does not count: {reason}")
        if clone.shallow and clone.text(PEOPLE_PATH):
            notes.append(f"{clone.repository.full_name}: {PEOPLE_PATH}: {_SHALLOW}")
        notes += [
            f"{clone.repository.full_name}: {PEOPLE_PATH}:{number}: write `- ` and a login or an address"
            for number in unreadable_lines(clone.text(PEOPLE_PATH))
        ]
    return Agreement(tuple(sorted(found.values(), key=_order)), tuple(notes))


def _refusal(record: CloneRecord, person: Person) -> str | None:
    if person.bot:
        return "machines have no page"
    return None if record.count_commits(person) else "no commit of this person landed"


def _stranger(record: CloneRecord, person: Person, one: OwnEntry) -> str | None:
    if person in record.people.find(one.entry):
        return None
    whose = "a login counts only beside GitHub's noreply address, so write the address that you commit with"
    hint = "" if "@" in one.entry else f"; if it was you: {whose}, or use --ask-github"
    return f"somebody else added it, in commit {one.commit[:10]}{hint}"


def _with_login(person: Person, entry: str) -> Person:
    """The person with the login that GitHub confirmed; an entry may be an address too."""
    return person if person.login or "@" in entry else replace(person, login=entry)


def _order(person: Person) -> tuple[str, str]:
    return person.display.casefold(), person.key


def everybody_else(everybody: Iterable[Person], agreed: Agreement) -> list[Person]:
    """The people who are not shown, without machines."""
    return [person for person in everybody if person.key not in agreed.keys and not person.bot]
