"""How does a command print? Results to standard output or a file, errors as one line each on stderr."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from bot.configuration.logs import scrub_secrets

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)")
"""characters that control a terminal, start a line or reverse the text direction"""


def escape_controls(text: str) -> str:
    """Make text from strangers safe for a terminal: control characters are written as JSON escapes."""
    if text.replace("\n", "").isprintable():  # a pattern takes twenty times as long
        return text
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def stop(*lines: str, code: int = 2) -> NoReturn:
    """Exit after one line on stderr per message; each says what to do."""
    with suppress(OSError):  # if nothing can be printed, the exit code is the message
        for text in lines:
            print(f"almanac: {escape_controls(scrub_secrets(' '.join(text.split())))}", file=sys.stderr)  # noqa: T201 (this is the command line)
    raise SystemExit(code)


def write(text: str | Iterable[str], output: Path | None = None) -> None:
    """Write to the file or to standard output, as UTF-8 whatever the locale; a complete text ends with a newline."""
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
        file.write(escape_controls(piece).encode("utf-8", "replace"))
    file.flush()


def show(text: str | Iterable[str]) -> None:
    """Write to standard output; on a terminal, text that is longer than the screen goes through the reader's pager."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        write(text)
        return
    joined = text if isinstance(text, str) else "".join(text)
    pager = shlex.split(os.environ.get("PAGER") or "less")
    if joined.count("\n") < shutil.get_terminal_size().lines or not pager or shutil.which(pager[0]) is None:
        write(joined)
        return
    with subprocess.Popen(pager, stdin=subprocess.PIPE, env={"LESS": "FRX"} | os.environ) as running:
        if running.stdin is not None:
            with suppress(BrokenPipeError), running.stdin:  # the reader saw enough
                running.stdin.write(escape_controls(joined).encode("utf-8", "replace"))
