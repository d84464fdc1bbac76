"""What evidence of a change's kind does a row of JSON hold?

A row is `{"message", "files"?, "diff"?, "labels"?, "branch"?, "issue_types"?}`. `files` is a list, or one text joined
by `;`, of `path`, `A|path` (git's status letter) or `{"path", "status"?, "additions"?, "deletions"?}`; `diff` is a
unified diff as `git diff` and `git show` write it. The diff of a file takes precedence over `files`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.landing.lines.diff import read_diff
from bot.landing.lines.split import read_files
from bot.metrics.change_kind import KindEvidence
from bot.model.commit import FileChange
from bot.model.ids import FileStatus

LONGEST_DIFF = 4_000_000
"""characters read of a diff; a file that the limit cuts keeps the lines before it"""
MOST_FILES = 3_000
"""files read of a row: as many as GitHub lists for one pull request"""

_LETTERS: dict[str, FileStatus] = {
    "A": "added",
    "C": "copied",
    "D": "removed",
    "M": "modified",
    "R": "renamed",
    "T": "changed",
}
_STATUSES: dict[str, FileStatus] = {
    **{letter.lower(): status for letter, status in _LETTERS.items()},
    **{status: status for status in _LETTERS.values()},
    "deleted": "removed",
    "unchanged": "changed",
}


def evidence_of(row: object) -> KindEvidence:
    """The evidence of one row. Raises ValueError, in one sentence, if a field is missing or of the wrong type."""
    if not isinstance(row, Mapping):
        raise ValueError('a row is an object such as {"message": "..."}')
    message = row.get("message")
    if not isinstance(message, str):
        raise ValueError('"message" is missing' if message is None else '"message" is not a text')
    title, body = _split(message)
    listed = {change.path: change for change in _listed_files(row.get("files"))}
    in_diff = {change.path: change for change in _diff_files(row.get("diff"))}
    changes = tuple({**listed, **in_diff}.values())[:MOST_FILES]
    return KindEvidence(
        title=title,
        body=body,
        files=read_files(changes),
        labels=_texts(row, "labels"),
        branch=_text(row, "branch"),
        issue_types=_texts(row, "issue_types"),
    )


def _split(message: str) -> tuple[str, str]:
    """(first line that is not blank, the rest)."""
    title, _, body = message.lstrip("\r\n\t ").partition("\n")
    return title.strip(), body


def _listed_files(files: object) -> Iterator[FileChange]:
    if files is None:
        return
    if isinstance(files, str):
        files = [part for part in files.split(";") if part.strip()]
    if not isinstance(files, list | tuple):
        raise ValueError('"files" is neither a list nor a text')
    for entry in files:
        change = _file_from_text(entry) if isinstance(entry, str) else _file_from_object(entry)
        if change.path:
            yield change


def _file_from_text(entry: str) -> FileChange:
    """`path`, `A|path`, `R100|old|new`."""
    parts = entry.strip().split("|")
    status = _LETTERS.get(parts[0][:1]) if len(parts) > 1 and parts[0][1:].isdecimal() | (len(parts[0]) == 1) else None
    if status is None:
        return _change(entry.strip(), "modified")
    return _change(parts[-1], status, previous=parts[1] if len(parts) > 2 else None)


def _file_from_object(entry: object) -> FileChange:
    if not isinstance(entry, Mapping):
        raise ValueError('an entry of "files" is neither a text nor an object')
    path = entry.get("path", entry.get("filename"))
    if not isinstance(path, str):
        raise ValueError('an entry of "files" has no "path"')
    status_given = entry.get("status")
    status = _STATUSES.get(status_given.strip().lower(), "modified") if isinstance(status_given, str) else "modified"
    counts = _count(entry, "additions"), _count(entry, "deletions")
    return _change(path, status, counts=counts)


def _change(
    path: str, status: FileStatus, *, counts: tuple[int, int] = (0, 0), previous: str | None = None
) -> FileChange:
    return FileChange(path, status, counts[0], counts[1], previous_path=previous)


def _count(entry: Mapping[str, object], name: str) -> int:
    value = entry.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f'"{name}" of a file is not a whole number of lines')
    return value


def _diff_files(diff: object) -> tuple[FileChange, ...]:
    if diff is None:
        return ()
    if not isinstance(diff, str):
        raise ValueError('"diff" is not a text')
    text = diff[:LONGEST_DIFF].replace("\r\n", "\n")
    unified = text if "diff --git " in text else _with_headers(text)
    return read_diff(unified.encode("utf-8", "replace"))


def _with_headers(text: str) -> str:
    """A unified diff of another tool, without `diff --git` lines, with each file's header as git writes it."""
    lines = text.split("\n")
    for at in range(len(lines) - 2):
        if lines[at].startswith("--- ") and lines[at + 1].startswith("+++ ") and lines[at + 2].startswith("@@ "):
            old, new = (_strip_side(line[4:]) for line in lines[at : at + 2])
            status = "new file mode 100644\n" if old == "/dev/null" else ""
            status = "deleted file mode 100644\n" if new == "/dev/null" else status
            path = old if new == "/dev/null" else new
            lines[at] = f"diff --git a/{path} b/{path}\n{status}--- {_add_side(old, 'a')}"
            lines[at + 1] = f"+++ {_add_side(new, 'b')}"
    return "\n".join(lines)


def _strip_side(name: str) -> str:
    """The path in a `---` or `+++` line: without the time after a tab, without a leading `a/` or `b/`."""
    path = name.partition("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


def _add_side(path: str, side: str) -> str:
    return path if path == "/dev/null" else f"{side}/{path}"


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f'"{name}" is not a text')
    return value


def _texts(row: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = row.get(name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise ValueError(f'"{name}" is not a list of texts')
    return tuple(value)
