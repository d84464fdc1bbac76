"""What does a power cut leave of SQLite's files? A disk that keeps writes apart until they are synced.

`SimulatedDisk` is a VFS for apsw's own SQLite. `sqlite3_on` stands in for the standard library's module, so that the
bot's own code opens, writes and commits there. All its connections share one of apsw: without shared memory SQLite
keeps its index of the log in one connection.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw
import apsw.ext
from msgspec import Struct

SECTOR = 512


class Write(Struct, frozen=True):
    """Bytes at an offset; without bytes, the end of a file that was cut there."""

    offset: int
    data: bytes | None


class DiskFile:
    """A file as programs see it, and as it is on the disk."""

    def __init__(self, content: bytes = b"") -> None:
        self.seen, self.synced = bytearray(content), bytearray(content)
        self.pending: list[Write] = []

    def write(self, write: Write) -> None:
        _apply(self.seen, write)
        self.pending.append(write)

    def sync(self) -> None:
        for write in self.pending:
            _apply(self.synced, write)
        self.pending.clear()

    def cut(self, chance: random.Random) -> None:
        """Lose the power: of the pending writes, any sectors in any order may have reached the disk."""
        kept = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for write in self.pending:
            for part in _sectors(write):
                if chance.random() < kept:
                    _apply(self.synced, part)
        self.pending.clear()
        self.seen = bytearray(self.synced)


def _apply(content: bytearray, write: Write) -> None:
    if write.data is None:
        del content[write.offset :]
        return
    content.extend(bytes(max(0, write.offset - len(content))))
    content[write.offset : write.offset + len(write.data)] = write.data


def _sectors(write: Write) -> Iterator[Write]:
    if write.data is None:
        yield write
        return
    at = 0
    while at < len(write.data):
        length = SECTOR - (write.offset + at) % SECTOR
        yield Write(write.offset + at, write.data[at : at + length])
        at += length


class SimulatedDisk(apsw.VFS):
    """Files in memory. After `until` writes and syncs the power is out, and everything fails."""

    def __init__(self, name: str, *, honest: bool = True) -> None:
        self.files: dict[str, DiskFile] = {}
        self.honest = honest
        """False for a disk that says it has synced, and has not"""
        self.left: int | None = None
        self.name = name
        super().__init__(name, base="")

    @property
    def is_out(self) -> bool:
        return self.left is not None and self.left <= 0

    def use_power(self) -> None:
        """Count one operation; raises apsw.IOError once the power is out."""
        if self.left is not None:
            self.left -= 1
        self.need_power()

    def need_power(self) -> None:
        if self.is_out:
            raise apsw.IOError("the power is out")

    def cut(self, chance: random.Random) -> None:
        """What is on the disk when the power is back."""
        for file in self.files.values():
            file.cut(chance)
        self.left = None

    def xOpen(self, name: Any, flags: list[int]) -> OpenFile:
        self.need_power()
        path = name if isinstance(name, str) else name.filename() if name else f"temporary {len(self.files)}"
        flags[1] = flags[0]
        return OpenFile(self, self.files.setdefault(path, DiskFile()))

    def xDelete(self, path: str, _sync: bool) -> None:
        self.use_power()
        self.files.pop(path, None)

    def xAccess(self, path: str, _flags: int) -> bool:
        return path in self.files

    def xFullPathname(self, path: str) -> str:
        return path


class OpenFile:
    """What SQLite asks of an open file."""

    def __init__(self, disk: SimulatedDisk, file: DiskFile) -> None:
        self._disk, self._file = disk, file

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.need_power()
        return bytes(self._file.seen[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.use_power()
        self._file.write(Write(offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        self._disk.use_power()
        self._file.write(Write(size, None))

    def xSync(self, _flags: int) -> None:
        self._disk.use_power()
        if self._disk.honest:
            self._file.sync()

    def xFileSize(self) -> int:
        return len(self._file.seen)

    def xLock(self, _level: int) -> None: ...
    def xUnlock(self, _level: int) -> None: ...
    def xClose(self) -> None: ...

    def xCheckReservedLock(self) -> bool:
        return False

    def xSectorSize(self) -> int:
        return SECTOR

    def xDeviceCharacteristics(self) -> int:
        """As SQLite's own VFS on Unix: a write changes no byte beside it."""
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE

    def xFileControl(self, _op: int, _pointer: int) -> bool:
        return False


# --- the standard library's sqlite3, as far as SQLAlchemy and the bot use it ------------------------------------------


def sqlite3_on(disk: SimulatedDisk, settings: Sequence[str] = ()) -> Any:
    """A module like sqlite3 whose connections are on this disk; `settings` are run after each of the bot's own."""
    shared: dict[str, apsw.Connection] = {}

    def connect(path: object, **_: object) -> DiskConnection:
        name = str(path).removeprefix("file:").partition("?")[0]
        if name not in shared:
            shared[name] = apsw.Connection(name, vfs=disk.name)
            shared[name].execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        return DiskConnection(shared[name], settings)

    def close_all() -> None:
        """Close them: without power nothing is written, as when a process ends with the machine."""
        for connection in shared.values():
            with contextlib.suppress(apsw.Error):
                connection.close(True)

    module = types.ModuleType("sqlite3")
    module.__dict__.update(vars(sqlite3) | {"connect": connect, "close_all": close_all, "Connection": DiskConnection})
    return module


class DiskConnection:
    """A connection as the standard library would give it."""

    isolation_level = None

    def __init__(self, real: apsw.Connection, settings: Sequence[str]) -> None:
        self.real, self._settings = real, settings

    def cursor(self) -> DiskCursor:
        return DiskCursor(self.real)

    def execute(self, sql: str, given: Sequence[Any] = ()) -> DiskCursor:
        if sql == "PRAGMA query_only = ON":  # this is the writer's connection too
            return self.cursor()
        done = self.cursor().execute(sql, given)
        if sql.startswith("PRAGMA synchronous"):
            self.executescript(";".join(self._settings))
        return done

    def executescript(self, sql: str) -> None:
        with _StandardErrors():
            self.real.execute(sql).fetchall()

    def commit(self) -> None:
        self._end("COMMIT")

    def rollback(self) -> None:
        self._end("ROLLBACK")

    def _end(self, how: str) -> None:
        if self.real.in_transaction:
            self.execute(how)

    def close(self) -> None:
        """The others on this file stay open; the power ends them all."""

    def create_function(self, *_: Any, **__: Any) -> None: ...


class DiskCursor:
    """A cursor as the standard library would give it; it has read all rows."""

    arraysize = 1

    def __init__(self, real: apsw.Connection) -> None:
        self._real = real
        self._rows: Iterator[Any] = iter(())
        self.description: Any = None
        self.rowcount, self.lastrowid = -1, 0

    def execute(self, sql: str, given: Sequence[Any] = ()) -> DiskCursor:
        with _StandardErrors():
            described = apsw.ext.query_info(self._real, sql).description
            before = self._real.total_changes()
            self._rows = iter(self._real.execute(sql, tuple(given)).fetchall())
        self.description = tuple((one[0], *[None] * 6) for one in described) or None
        self.rowcount = self._real.total_changes() - before
        self.lastrowid = self._real.last_insert_rowid()
        return self

    def executemany(self, sql: str, many: Iterable[Sequence[Any]]) -> DiskCursor:
        with _StandardErrors():
            before = self._real.total_changes()
            self._real.executemany(sql, [tuple(one) for one in many]).fetchall()
            self.rowcount = self._real.total_changes() - before
        return self

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchmany(self, size: int = 1) -> list[Any]:
        return [row for row, _ in zip(self._rows, range(size), strict=False)]

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def close(self) -> None: ...


class _StandardErrors:
    """Raise sqlite3's errors for those of apsw."""

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, apsw.ConstraintError):
            raise sqlite3.IntegrityError(str(error)) from error
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            raise sqlite3.DatabaseError(str(error)) from error
        if isinstance(error, apsw.Error):
            raise sqlite3.OperationalError(str(error)) from error
