"""How does a command speak? Results to standard output or a file, complaints in one line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NoReturn


def stop(*told: str, code: int = 2) -> NoReturn:
    """End with one line on stderr for each thing told, which says what to do."""
    for text in told:
        print(f"almanac: {' '.join(text.split())}", file=sys.stderr)  # noqa: T201 (this is the command line)
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
        file.write(piece.encode("utf-8", "replace"))
    file.flush()
