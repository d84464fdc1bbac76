"""How are the bot's logs written? One JSON object per line: a constant `event`, and fields from a fixed list.

No line contains a secret: neither anything that looks like a token or key, nor any of the secrets in the settings.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

_SECRET = re.compile(
    r"(?:gh[sopur]_|github_pat_|v1\.)[A-Za-z0-9._-]{8,}|eyJ[A-Za-z0-9._-]{16,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,4000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)


_SHORTEST = 8
"""characters; hiding shorter texts would blot out ordinary words"""
ERRORS: Counter[str] = Counter()
"""errors that were logged, by room of the program, for telemetry; also those whose lines are left out"""
ROOMS = frozenset(
    {"app", "configuration", "github", "history", "jobs", "queue", "services", "setup", "store", "web", "other"}
)

FIELDS = frozenset(
    {"bodies", "commit", "commits", "connections", "deliveries", "digest", "delivery", "failures", "github_event"}
    | {"host", "installation", "job", "jobs", "like", "limit", "lines", "max_attempts", "port", "post", "reason"}
    | {"repository", "since", "status", "task", "wait_seconds", "webhook", "work", "writer", "attempt"}
)
"""what a line may have beside its event, time, level, logger and traceback; other fields are left out"""

_CONTEXT: ContextVar[Mapping[str, str | int]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def log_context(**marks: str | int) -> Iterator[None]:
    """Everything logged inside the block says which delivery or job it is about."""
    token = _CONTEXT.set({**_CONTEXT.get(), **marks})
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def _add_context(_logger: Any, _method: str, event: Any) -> Any:
    return {**_CONTEXT.get(), **event}


_KNOWN: dict[str, re.Pattern[str]] = {}


def hide_secrets(secrets: Iterable[str]) -> None:
    """Leave these texts out of whatever is scrubbed from now on, in place of those given before."""
    parts = sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True)
    _KNOWN.clear()
    if parts:
        _KNOWN["secrets"] = re.compile("|".join(map(re.escape, parts)))


def scrub_secrets(text: str) -> str:
    """The text without tokens, keys and the secrets of the settings.

    >>> scrub_secrets("token ghs_abcdefgh12345678 refused")
    'token [secret] refused'
    """
    for known in _KNOWN.values():
        text = known.sub("[secret]", text)
    return _SECRET.sub("[secret]", text)


def _scrub(_logger: Any, _method: str, event: Any) -> Any:
    return {key: _scrubbed(value) for key, value in event.items()}


def _scrubbed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _scrubbed(one) for key, one in value.items()}
    return value if value is None or isinstance(value, bool | int | float) else scrub_secrets(str(value))


def _is_ours(record: logging.LogRecord) -> bool:
    """False for a request that is not HTTP: anybody can send thousands, and the response says what is wrong with it."""
    error = record.exc_info[1] if record.exc_info else None
    return type(error).__module__ != "aiohttp.http_exceptions"


def _room_of(logger: str) -> str:
    """`web` for `bot.web.pages`; `other` for what is not ours."""
    root, _, rest = logger.partition(".")
    room = rest.partition(".")[0]
    return room if root == "bot" and room in ROOMS else "other"


class BoundedHandler(logging.StreamHandler[Any]):
    """Writes at most `MOST_ALIKE` lines of one kind in a minute, and then one line with the number of the others.

    A kind is a logger, a level and the start of the message without its values, so that no stranger can fill a disk.
    """

    MOST_ALIKE = 10
    MOST_KINDS = 500
    WINDOW = 60.0

    def __init__(self, stream: Any = None, *, timer: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._timer, self._begun = timer, timer()
        self._lines: Counter[tuple[str, int, str]] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            ERRORS[_room_of(record.name)] += 1
        if self._timer() - self._begun >= self.WINDOW:
            self._end_window()
        kind = (record.name, record.levelno, str(record.msg)[:40])
        if kind not in self._lines and len(self._lines) >= self.MOST_KINDS:
            kind = ("", record.levelno, "other lines")
        self._lines[kind] += 1
        if self._lines[kind] <= self.MOST_ALIKE:
            super().emit(record)

    def close(self) -> None:
        self._end_window()
        super().close()

    def _end_window(self) -> None:
        """Write how many lines of each kind were left out."""
        kinds, self._lines, self._begun = self._lines, Counter(), self._timer()
        for (name, level, start), number in kinds.items():
            if number > self.MOST_ALIKE:
                record = logging.LogRecord(name, level, "", 0, "lines left out", (), None)
                record.lines, record.like = number - self.MOST_ALIKE, start
                super().emit(record)


def configure_logs(level: str) -> None:
    """Send every log record to stderr as JSON, scrubbed; `level` is a level name of the logging module."""
    import structlog

    shared: list[Any] = [
        structlog.stdlib.ExtraAdder(allow=FIELDS),
        _add_context,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _scrub,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    )
    handler = BoundedHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    server = logging.getLogger("aiohttp.server")
    server.filters[:] = [_is_ours]
    for noisy in ("alembic", "procrastinate", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
