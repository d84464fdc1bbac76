"""What can an operator do about an error from SQLite or PostgreSQL?"""

from __future__ import annotations

import sqlite3

FIRST_SAFE_SQLITE = (3, 51, 3)
"""in older versions two connections that write or checkpoint at once can corrupt the file:
https://www.sqlite.org/wal.html"""


_DENIED = "give the bot's user write access to the file, its side files and their folder"
_FULL = "free some space on its disk"
_KNOWN = (
    ("not a database", "use another file"),
    ("malformed", "stop the bot and restore a back-up"),
    ("readonly database", _DENIED),
    ("unable to open database file", _DENIED),
    ("disk is full", _FULL),
    ("disk I/O error", f"{_FULL}, or check whether the disk is broken"),
    ("No space left", _FULL),
    ("permission denied", "make the user that the bot connects as the owner of the database"),
    ("read-only transaction", "use the primary server and a user who may write"),
    ("invalid connection option", "remove it from ALMANAC_DATABASE_URL"),
)
"""(part of the error message, what to do)"""


def database_advice(message: str) -> str | None:
    """The first line of the message with advice; None for an unknown error."""
    if "no such table" in message or ("relation " in message and "does not exist" in message):
        return "tables of this version are missing; run: almanac migrate"
    todo = next((todo for words, todo in _KNOWN if words in message), None)
    return f"{message.strip().splitlines()[0][:300]}; {todo}" if todo else None


def missing_driver(error: ModuleNotFoundError) -> str | None:
    """What to install for PostgreSQL; None if another module is missing."""
    if error.name not in {"psycopg", "procrastinate"}:
        return None
    return f'PostgreSQL needs {error.name}: install the extra too, pip install "CHECKOUT[postgres]"'


def sqlite_warning() -> str | None:
    """A warning for the operator about this SQLite version; None if there is none."""
    if sqlite3.sqlite_version_info >= FIRST_SAFE_SQLITE:
        return None
    return (
        f"SQLite {sqlite3.sqlite_version} can corrupt a file that two connections write at once: "
        "never open the database for writing while the bot runs; back it up with VACUUM INTO"
    )
