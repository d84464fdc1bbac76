"""How are the bot's logs written? One JSON object per line, without secrets."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

_SECRET = re.compile(
    r"(?:gh[sopur]_|github_pat_|v1\.)[A-Za-z0-9._-]{8,}|eyJ[A-Za-z0-9._-]{16,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,4000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)


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


def scrub_secrets(text: str) -> str:
    """The text without tokens and keys.

    >>> scrub_secrets("token ghs_abcdefgh12345678 refused")
    'token [secret] refused'
    """
    return _SECRET.sub("[secret]", text)


def _scrub(_logger: Any, _method: str, event: Any) -> Any:
    return {key: scrub_secrets(value) if isinstance(value, str) else value for key, value in event.items()}


def _is_ours(record: logging.LogRecord) -> bool:
    """False for a request that is not HTTP: anybody can send thousands, and the response says what is wrong with it."""
    error = record.exc_info[1] if record.exc_info else None
    return type(error).__module__ != "aiohttp.http_exceptions"


def configure_logs(level: str) -> None:
    """Send every log record to stderr as JSON, scrubbed; `level` is a level name of the logging module."""
    import structlog

    shared: list[Any] = [
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
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    server = logging.getLogger("aiohttp.server")
    server.filters[:] = [_is_ours]
    for noisy in ("alembic", "procrastinate", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
