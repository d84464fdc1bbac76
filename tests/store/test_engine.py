"""Transactions, durability and who may write."""

from __future__ import annotations

import asyncio
import os
import random
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from bot.configuration.settings import load_settings
from bot.store.engine import Store, StoreBrokenError, StoreUnavailableError
from bot.store.inbox import INBOX, Delivery, accept, count
from bot.store.lock import StoreInUseError, problem_of_running
from bot.store.migrate import is_current, migrate
from tests.store.conftest import cancelled_after

NOW = datetime(2031, 5, 1, 12, 0, 0, 250, UTC)


def _delivery(number: int) -> Delivery:
    return Delivery("7", f"guid-{number}", "push", NOW)


async def test_a_sqlite_writer_is_durable_checks_references_and_waits_for_locks(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with store.transaction() as connection:
            found = {}
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout"):
                found[name] = connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}


async def test_a_read_value_can_be_written_afterwards(store: Store) -> None:
    with store.transaction() as connection:
        before = count(connection)
        accept(connection, _delivery(1))
        assert count(connection) == before + 1


async def test_an_error_rolls_everything_back(store: Store) -> None:
    async def fail() -> None:
        with store.transaction() as connection:
            accept(connection, _delivery(1))
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    with store.snapshot() as connection:
        assert count(connection) == 0


async def test_an_error_does_not_reveal_the_data_being_written(store: Store) -> None:
    given = {"app_id": "7", "guid": "Ada Example", "event": None, "received_at": NOW}
    with pytest.raises(IntegrityError) as told, store.transaction() as connection:
        connection.execute(insert(INBOX).values(given))
    assert "[SQL parameters hidden" in str(told.value)
    assert "Ada Example" not in str(told.value).partition("[SQL")[2]


async def test_cancelling_in_the_middle_of_statements_never_leaves_half_a_transaction(store: Store) -> None:
    def pair(connection: Connection, number: int) -> None:
        accept(connection, _delivery(2 * number))
        accept(connection, _delivery(2 * number + 1))

    for turns in range(25):
        await cancelled_after(turns, store.write(pair, turns))
    with store.transaction() as connection:
        rows = set(connection.execute(select(INBOX.c.guid)).scalars())
    numbers = {int(guid.removeprefix("guid-")) for guid in rows}
    assert {number ^ 1 for number in numbers} == numbers


async def test_readers_see_one_moment_and_cannot_write(store: Store) -> None:
    with store.snapshot() as view:
        assert count(view) == 0
        with store.transaction() as connection:
            accept(connection, _delivery(1))
        assert count(view) == 0
    with pytest.raises(Exception, match=r"(?i)read-?only"), store.snapshot() as view:
        view.execute(update(INBOX).values(state="done"))


async def test_moments_come_back_in_utc_to_the_microsecond_and_naive_ones_are_refused(store: Store) -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    with store.transaction() as connection:
        accept(connection, Delivery("7", "raw", "push", east))
        row = {"app_id": "7", "guid": "core", "event": "push", "received_at": east}
        connection.execute(insert(INBOX).values(row))
    with store.snapshot() as connection:
        found = list(connection.execute(select(INBOX.c.received_at)).scalars())
    assert found == [NOW, NOW]
    assert {moment.tzinfo for moment in found} == {UTC}
    with pytest.raises(Exception, match="without its zone"), store.transaction() as connection:
        connection.execute(update(INBOX).values(received_at=NOW.replace(tzinfo=None)))


async def test_two_stores_in_two_processes_cannot_both_write_one_sqlite_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    code = (
        "import asyncio, sys\nfrom bot.store.engine import Store\nfrom bot.store.lock import StoreInUseError\n"
        "try:\n    asyncio.run(Store.open(sys.argv[1]))\nexcept StoreInUseError as error:\n    sys.exit(str(error))\n"
    )
    async with await Store.open(url):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, url, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE
        )
        _, told = await process.communicate()
        assert b"in use by process" in told
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "b.db").symlink_to(tmp_path / "a.db")
        for same in (url, f"sqlite:///{tmp_path}/elsewhere/b.db"):
            with pytest.raises(StoreInUseError):
                await Store.open(same)
        reader = await Store.open(url, read_only=True)
        await reader.close()
    await (await Store.open(url)).close()


async def test_a_new_sqlite_file_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)  # noqa: S103  # a folder that others may look into
    async with await Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        await migrate(store)
        modes = {name: stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in os.listdir(tmp_path)}
    assert modes == dict.fromkeys(("a.db", "a.db-wal", "a.db-shm", "a.db.lock"), 0o600)


async def test_readers_open_the_written_file_for_any_folder_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALMANAC_DATA", str(tmp_path / "100 % of #1? ü%41"))
    settings = load_settings(env_files=())
    async with await Store.open(settings.database_url) as store:
        await migrate(store)
        assert await is_current(store)
    async with await Store.open(settings.database_url, read_only=True) as store:
        assert await is_current(store)
    assert os.listdir(tmp_path) == [settings.data.name]


async def test_a_full_or_read_only_database_is_reported_as_unavailable_and_recovers(store: Store) -> None:
    full, free = {
        "sqlite": ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 100000"),
        "postgresql": ("SET TRANSACTION READ ONLY", "SELECT 1"),
    }[store.dialect]

    async def write(past_sqlalchemy: bool) -> None:
        with store.transaction() as connection:
            connection.exec_driver_sql(full)
            body = random.Random(1).randbytes(200_000)
            if past_sqlalchemy:
                accept(connection, replace(_delivery(1), body=body))
            else:
                row = {"app_id": "7", "guid": "core", "event": "push", "received_at": NOW, "body": body}
                connection.execute(insert(INBOX).values(row))

    for past_sqlalchemy in (True, False):
        with pytest.raises(StoreUnavailableError):
            await write(past_sqlalchemy)
    with store.transaction() as connection:
        connection.exec_driver_sql(free)
        assert accept(connection, _delivery(1))
        assert count(connection) == 1


# --- the file itself -------------------------------------------------------------------------------------------------

REFUSED = (
    "import asyncio, sys\nfrom bot.store.engine import Store\nfrom bot.store.lock import StoreInUseError\n"
    "try:\n    asyncio.run(Store.open(sys.argv[1]))\nexcept StoreInUseError as error:\n    sys.exit(str(error))\n"
)


def _second_process(path: Path) -> str:
    """What a second process says that opens this file."""
    return _run_python(REFUSED, path)


def _run_python(code: str, path: Path) -> str:
    command = [sys.executable, "-c", code, f"sqlite:///{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="locks of the file itself need Linux")
async def test_no_name_of_the_file_and_no_removed_lock_lets_a_second_process_write(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with await Store.open(f"sqlite:///{path}") as store:
        (tmp_path / "elsewhere").mkdir()
        other = tmp_path / "elsewhere" / "b.db"
        other.hardlink_to(path)
        (tmp_path / "a.db.lock").unlink()
        for name in (path, other):
            assert "is in use by another process" in _second_process(name)
            with pytest.raises(StoreInUseError, match="this process"):
                await Store.open(f"sqlite:///{name}")
        await store.write(lambda connection: connection.exec_driver_sql("CREATE TABLE still_writable (x)"))
    assert _second_process(other) == ""


async def test_a_deleted_file_is_neither_read_nor_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with await Store.open(f"sqlite:///{path}") as store:
        assert store.problem() is None
        path.rename(tmp_path / "away.db")
        for run in (store.read, store.write):
            with pytest.raises(StoreBrokenError, match=r"was deleted while the bot runs: stop the bot"):
                await run(lambda _: None)
        path.write_bytes(b"")
        with pytest.raises(StoreBrokenError, match="was replaced"):
            await store.write(lambda _: None)
        assert "was replaced" in (problem_of_running(path) or "")
        path.unlink()
        (tmp_path / "away.db").rename(path)
        await store.write(lambda _: None)
        assert problem_of_running(path) is None


async def test_a_damaged_file_is_found_and_no_longer_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    def fill(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE t (x)")
        connection.exec_driver_sql("CREATE INDEX i ON t (x)")
        connection.exec_driver_sql(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) "
            "INSERT INTO t SELECT x FROM n"
        )

    async with await Store.open(f"sqlite:///{path}") as store:
        await store.write(fill)
        assert store.check_integrity() is None
    with path.open("r+b") as file:
        file.seek(40 * 4096)
        file.write(b"\xff" * 4096 * 10)
    async with await Store.open(f"sqlite:///{path}") as store:
        assert "damaged" in (store.check_integrity() or "")
        with pytest.raises(StoreBrokenError, match="restore a back-up"):
            await store.write(lambda _: None)


async def test_an_unclean_end_is_known_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    killed = (
        "import asyncio, os, sys\nfrom bot.store.engine import Store\nasync def run():\n"
        "    store = await Store.open(sys.argv[1])\n"
        "    await store.write(lambda c: c.exec_driver_sql('CREATE TABLE t (x)'))\n    os._exit(1)\n"
        "asyncio.run(run())\n"
    )
    _run_python(killed, path)
    async with await Store.open(f"sqlite:///{path}") as store:
        assert store.ended_badly
    async with await Store.open(f"sqlite:///{path}") as store:
        assert not store.ended_badly
