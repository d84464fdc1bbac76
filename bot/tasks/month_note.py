"""What does the digest of one repository's month say, from the ledger as it is now?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.digest.repository_month import contributor_months
from bot.landing.identity import person_key
from bot.landing.months import begins_at, month_after
from bot.model import CommitId, InstallationId, Month, Person, PersonKey, Repository, RepositoryId
from bot.render.digest_note import DigestFrame, DigestPart, digest_note
from bot.render.md_text import MdText
from bot.store import installations, ledger, months, people, visibility
from bot.tasks.configuring import InForce
from bot.tasks.correcting import disputed, fold_for_readers
from bot.tasks.workplace import Workplace

UNNAMED = "Somebody who is not named"


@dataclass(frozen=True, slots=True)
class MonthNote:
    """The text, the repository whose issue takes it, and the newest commit of the month, which shows a preview."""

    text: str
    home: RepositoryId
    newest: CommitId | None = None
    preview: bool = False

    @property
    def markdown(self) -> MdText:
        """The text, for inside another one of ours."""
        return MdText(self.text)


async def month_note(
    conn: AsyncConnection,
    place: Workplace,
    which: tuple[InstallationId, RepositoryId, Month],
    *,
    settings: InForce,
    preview: bool = False,
) -> MonthNote | None:
    """None where nobody who may be shown has landed anything then."""
    installation, repository_id, month = which
    zone = settings.zone(place.zone)
    stored = await installations.repositories_of(conn, installation)
    names = {row.repository.full_name: row.repository for row in stored}
    here = next((row for row in names.values() if row.id == repository_id), None)
    facts = await ledger.facts_in(conn, repository_id, begins_at(month, zone), begins_at(month_after(month), zone))
    if here is None or not facts:
        return None
    keys = sorted({person_key(sig) for fact in facts for sig in (fact.author, *fact.co_authors)})
    whole = await months.component_of_month(conn, keys, month, zone=zone, within=installation)
    changes = await fold_for_readers(conn, whole, names, repository_id)
    unnamed = await visibility.anonymous(conn)
    persons = await _people(conn, keys)
    found = contributor_months(changes, persons, (here.full_name, month, zone), unnamed=unnamed)
    if not found:
        return None
    home = _home(here, names, settings)
    frame = DigestFrame(str(zone), "" if home is here else here.full_name, preview, await _disputes(conn, which))
    parts = [DigestPart(UNNAMED if person.key in unnamed else person.display, record) for person, record in found]
    text = digest_note(parts, {change.id: change for change in changes}, frame)
    return MonthNote(text, RepositoryId(home.id or 0), facts[-1].carrier, preview)


def _home(here: Repository, names: Mapping[str, Repository], settings: InForce) -> Repository:
    """Where the digest stands: the chosen repository, unless more people may read there than here."""
    wanted = (settings.config.digest_repository or "").lower()
    chosen = next((row for name, row in names.items() if name.lower() == wanted), here)
    return here if here.private and not chosen.private else chosen


async def _disputes(conn: AsyncConnection, which: tuple[InstallationId, RepositoryId, Month]) -> Sequence[str]:
    """What was said against this month: `dispute` on the digest issue speaks of the newest digest that stands there."""
    found = await disputed(conn, which[1])
    return found.get(month_number(which[2]), [])


def month_number(month: Month) -> int:
    """A number below zero that stands for a month where others stand for pull requests."""
    return -int(month.replace("-", ""))


async def _people(conn: AsyncConnection, keys: Sequence[PersonKey]) -> dict[PersonKey, Person]:
    """Those who may be told of."""
    hidden = await visibility.left_out(conn)
    found = {key: await people.person(conn, key) for key in keys if key not in hidden}
    return {key: person for key, person in found.items() if person is not None}
