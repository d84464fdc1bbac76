"""How are the patches of many commits read? By one git process that keeps running, so that it
reuses what it unpacked.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from pathlib import Path

from bot.history.git import GitError, command, complaint, environment, temporary_file
from bot.history.log import FORMAT, Records, read_record
from bot.model.commit import GITHUB, Commit

PATCH_OPTIONS = ("-p", "-M", "-U1", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv")
_BLOCK = 1 << 18
_AHEAD = 1 << 20
"""bytes that git may be ahead of the reader: each wait of one for the other costs both time"""
MOST_IDS = 500
"""commits requested at once: the ids of two calls have to fit into a pipe that is not read yet"""


class PatchReader:
    """Reads commits of one clone with their patches, in any number of calls. Must be closed.

    `git diff-tree --stdin` answers each id as it comes, and echoes a line that is no id: such a line, with random
    content, marks the end of an answer.
    """

    def __init__(self, folder: Path, mailmap: str = "", host: str = GITHUB) -> None:
        self._folder = folder
        self._host = host
        self._mark = f"end {os.urandom(16).hex()}\n".encode()
        self._stderr = temporary_file()
        arguments = ("diff-tree", "--stdin", "--root", "-r", "--always", FORMAT, *PATCH_OPTIONS)
        self._git = subprocess.Popen(
            command(folder, arguments, mailmap),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment(folder, arguments),
            bufsize=0,
        )
        assert self._git.stdout is not None  # noqa: S101 (asked for above)
        _widen(self._git.stdout.fileno())
        self._records = Records(self._blocks())

    def close(self) -> None:
        for stream in (self._git.stdin, self._git.stdout):
            if stream is not None:
                stream.close()
        if self._git.poll() is None:
            self._git.kill()
        self._git.wait()
        self._stderr.close()

    def read(self, ids: Sequence[str]) -> Iterator[Commit]:
        """These commits, in the order given, merges without files. Raises GitError if one cannot be read.

        Git starts immediately, even if the first commit is read later. One more call may be made before all of these
        are read, if neither requests more than MOST_IDS; results must be read in the order of the calls.
        """
        parts = [ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS)]
        for part in parts[:1]:
            self._ask(part)
        return self._read(parts)

    def _read(self, parts: Sequence[Sequence[str]]) -> Iterator[Commit]:
        """The commits of all parts; the first part has already been requested."""
        for part, after in zip_longest(parts, parts[1:], fillvalue=()):
            answered = 0
            for commit in map(partial(read_record, host=self._host), self._records.of(part, self._mark)):
                yield commit
                answered += 1
            if answered != len(part):
                raise GitError(f"git showed {answered} of {len(part)} commits")
            if after:
                self._ask(after)

    def _ask(self, ids: Sequence[str]) -> None:
        stdin = self._git.stdin
        assert stdin is not None  # noqa: S101 (asked for above)
        try:
            stdin.write("".join(f"{one}\n" for one in ids).encode() + self._mark)
        except BrokenPipeError:
            raise self._failed() from None

    def _blocks(self) -> Iterator[bytes]:
        """Git's output as it arrives; an early end is an error."""
        stdout = self._git.stdout
        assert stdout is not None  # noqa: S101 (asked for above)
        while block := stdout.read(_BLOCK):
            yield block
        raise self._failed()

    def _failed(self) -> GitError:
        self._git.wait()
        self._stderr.seek(0)
        return GitError(complaint(self._folder, self._stderr.read()))


def _widen(pipe: int) -> None:
    """Enlarge the pipe's buffer, if the system supports and allows it (pipe(7), F_SETPIPE_SZ)."""
    setting = getattr(fcntl, "F_SETPIPE_SZ", None)
    if setting is not None:
        with suppress(OSError):
            fcntl.fcntl(pipe, setting, _AHEAD)
