"""What can a person choose: to opt out, to be public, or to be anonymous?"""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.commit import Person
from bot.services.context import Context
from bot.services.permissions import Asker
from bot.services.privacy.refresh import refresh_person_posts
from bot.store import choices, people, visibility
from bot.store.people import save_people
from bot.store.visibility import Naming, subject_of_person


def hide(connection: Connection, context: Context, asker: Asker) -> None:
    """Opt out: the person is shown nowhere, and posts are rewritten without them."""
    ensure_person(connection, asker)
    choices.opt_out(connection, asker.key, asker.asked_at)
    refresh_person_posts(connection, context, asker.key)


def show(connection: Connection, context: Context, asker: Asker, *, public: bool) -> None:
    """Publish the person's page or end that. Publishing also ends an opt-out."""
    ensure_person(connection, asker)
    if public:
        people.opt_out(connection, asker.key, None)
    visibility.publish(connection, subject_of_person(asker.key), public=public, now=asker.asked_at)
    refresh_person_posts(connection, context, asker.key)


def anonymise(connection: Connection, context: Context, asker: Asker) -> None:
    """Show the person without a name from now on."""
    ensure_person(connection, asker)
    state = visibility.person_state(connection, asker.key)
    naming: Naming = "anonymous"
    visibility.publish(
        connection, subject_of_person(asker.key), public=bool(state and state.public), now=asker.asked_at, naming=naming
    )
    visibility.set_naming(connection, subject_of_person(asker.key), naming)
    refresh_person_posts(connection, context, asker.key)


def ensure_person(connection: Connection, asker: Asker) -> None:
    """Store the person if unknown, because a choice refers to one even before any work landed."""
    if people.person(connection, asker.key) is None:
        account = asker.account
        save_people(connection, [Person(asker.key, "", (), account.login, account.user_id)])
