"""How does a command speak? Results to standard output or a file, complaints in one line on stderr."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

_COMMANDS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)")
"""what commands a terminal, begins a line or turns its direction round"""


def shown(text: str) -> str:
    """What strangers wrote, fit for a terminal: what would act is spelt as in JSON, in which it stays itself."""
    if text.replace("\n", "").isprintable():  # a pattern takes twenty times as long
        return text
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def stop(*told: str, code: int = 2) -> NoReturn:
    """End with one line on stderr for each thing told, which says what to do."""
    with suppress(OSError):  # where nothing can be told, the exit code says it
        for text in told:
            print(f"almanac: {shown(' '.join(text.split()))}", file=sys.stderr)  # noqa: T201 (this is the command line)
    raise SystemExit(code)


def write(text: str | Iterable[str], output: Path | None = None) -> None:
    """To the file, or to standard output as UTF-8 whatever the locale says; a whole text ends with a line end."""
    pieces = [text if text.endswith("\n") else text + "\n"] if isinstance(text, str) else text
    if output is None:
        _write_pieces(sys.stdout.buffer, pieces)
        return
    try:
        with output.open("wb") as file:
            _write_pieces(file, pieces)
    except OSError as error:
        stop(f"cannot write {output}: {error.strerror}")


def _write_pieces(file: BinaryIO, pieces: Iterable[str]) -> None:
    for piece in pieces:
        file.write(shown(piece).encode("utf-8", "replace"))
    file.flush()
