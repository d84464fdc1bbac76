"""Which files does a unified patch text change, and how?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.model.commit import FileChange
from bot.model.ids import FileStatus

_WHOLE_FILE = re.compile(r"@@ -(?:0,0 \+1(?:,(?P<all>\d{1,9}))?|1(?:,(?P<none>\d{1,9}))? \+0,0) @@")
"""the hunk header of a file that was added or removed as a whole"""
_FILE = b"\ndiff --git "
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_NAMED_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def unquote(path: str) -> str:
    """A path without git's C-style quoting (core.quotePath)."""
    if len(path) < 2 or path[0] != '"' or path[-1] != '"':
        return path

    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _NAMED_ESCAPES.get(code, code)

    return _ESCAPE.sub(plain, path[1:-1].encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


def _same_name(rest: str) -> str:
    """The path in `a/PATH b/PATH`: git names the same file twice, so it is one half, even if it contains blanks."""
    rest = rest.rstrip("\r")
    if rest.startswith('"'):
        return unquote(rest[: (len(rest) - 1) // 2])[2:]
    return rest[2 : (len(rest) - 1) // 2]


def _side(line: str) -> str:
    """The path of a `--- a/x` or `+++ b/x` line after its first four characters; git adds a tab to
    names with blanks.
    """
    return unquote(line.removesuffix("\t"))[2:]


def _modified_path(lines: Sequence[str]) -> str:
    """The path of a file whose header shows only changed content, as most do; else an empty string."""
    if len(lines) != 4 or not lines[1].startswith("index ") or lines[1].endswith((" 160000", " 120000")):
        return ""
    if lines[2][:6] != "--- a/" or lines[3][:6] != "+++ b/" or lines[2][6:] != lines[3][6:]:
        return ""
    return lines[3][6:].removesuffix("\t")


def _counts(patch: str) -> tuple[int, int]:
    """(lines added, lines removed); for an added or removed file the header gives the number."""
    match = _WHOLE_FILE.match(patch)
    if match is None:
        return patch.count("\n+"), patch.count("\n-")
    if patch.startswith("@@ -0"):
        return int(match["all"] or 1), 0
    return 0, int(match["none"] or 1)


def _read_file(head: str, patch: str | None) -> FileChange:
    """One file, from its header after `diff --git ` and its hunks."""
    lines = head.split("\n")
    if patch is not None and (path := _modified_path(lines)):
        return FileChange(path, "modified", patch.count("\n+"), patch.count("\n-"), patch)
    status: FileStatus = "modified"
    path, previous, mode, binary = "", None, "", False
    for line in lines[1:]:
        if line.startswith("+++ ") and not line.startswith("+++ /dev/null"):
            path = _side(line[4:])
        elif line.startswith("--- ") and not line.startswith("--- /dev/null"):
            path = path or _side(line[4:])
        elif line.startswith("index "):
            mode = line[-6:] if line[-7:-6] == " " else mode
        elif line.startswith("new file mode "):
            status, mode = "added", line[-6:]
        elif line.startswith("deleted file mode "):
            status, mode = "removed", line[-6:]
        elif line.startswith("rename from "):
            status, previous = "renamed", unquote(line[12:])
        elif line.startswith("copy from "):
            status, previous = "copied", unquote(line[10:])
        elif line.startswith(("rename to ", "copy to ")):
            path = unquote(line.split(" ", 2)[2])
        elif line.startswith("Binary files "):
            binary = True
    additions, deletions = _counts(patch) if patch else (0, 0)
    return FileChange(
        path=path or _same_name(lines[0]),
        status=status,
        additions=additions,
        deletions=deletions,
        patch=patch,
        previous_path=previous,
        binary=binary,
        submodule=mode == "160000",
        symlink=mode == "120000",
    )


def read_diff(diff: bytes, begin: int = 0) -> tuple[FileChange, ...]:
    """The files of a `git log -p` patch, read from `begin` on.

    Every line of a hunk begins with its sign, so a line that begins with `diff --git ` is always a header. Each file is
    decoded separately, since one emoji makes every character of a string take four bytes, and a patch may be large.
    """
    starts = [begin - 1] if diff.startswith(_FILE[1:], begin) else []
    at = diff.find(_FILE, begin)
    while at >= 0:
        starts.append(at)
        at = diff.find(_FILE, at + 1)
    if not starts:
        return ()
    ends = [*starts[1:], len(diff) - diff.endswith(b"\n", begin)]
    return tuple([_file_at(diff, start + len(_FILE), end) for start, end in zip(starts, ends, strict=True)])


def _file_at(diff: bytes, begin: int, end: int) -> FileChange:
    hunks = diff.find(b"\n@@ ", begin, end)
    if hunks < 0:
        return _read_file(diff[begin:end].decode("utf-8", "replace"), None)
    with memoryview(diff) as view, view[hunks + 1 : end] as hunk_view:
        return _read_file(diff[begin:hunks].decode("utf-8", "replace"), str(hunk_view, "utf-8", "replace"))
