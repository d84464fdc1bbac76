"""How is `git` called, so that every machine gives the same answer and no code from the clone's settings runs?"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

from bot.configuration.errors import NO_TEMPORARY_FILE, UnusableInputError

_SETTINGS = (
    "attr.tree=",
    "core.bare=true",
    "core.bigFileThreshold=512m",
    "core.commitGraph=false",
    "core.quotePath=false",
    "core.fsmonitor=false",
    "core.hooksPath=" + os.devnull,
    "core.attributesFile=" + os.devnull,
    "diff.algorithm=myers",
    "diff.colorMoved=no",
    "diff.dstPrefix=b/",
    "diff.ignoreSubmodules=none",
    "diff.indentHeuristic=true",
    "diff.interHunkContext=0",
    "diff.mnemonicPrefix=false",
    "diff.noprefix=false",
    "diff.orderFile=" + os.devnull,
    "diff.relative=false",
    "diff.renameLimit=1000",
    "diff.renames=true",
    "diff.srcPrefix=a/",
    "diff.submodule=short",
    "diff.suppressBlankEmpty=false",
    "i18n.logOutputEncoding=UTF-8",
    "log.follow=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "mailmap.file=",
)
"""Settings that would change the numbers or run a program, reset to git's defaults (git-config(1)), and those of a bare
repository, so that git ignores the attributes and mailmap of whatever is checked out."""
_OF_OBJECTS = frozenset(("log", "diff-tree", "rev-list", "ls-tree"))
"""Commands that are only given ids. They run with `objects_only`."""
_OF_GIVEN_OBJECTS = (("cat-file", "--batch"), ("cat-file", "--batch-check"))
"""Likewise, as called here; `cat-file` with a format is given names too."""
_ALLOCATOR = {"MALLOC_TRIM_THRESHOLD_": str(64 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
"""makes glibc keep memory that git frees (mallopt(3)): new pages for each unpacked file take a tenth of the time"""

_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""A partial clone fetches nothing unasked: git before 2.45 knows the second variable only."""

_MISSING_OBJECT = re.compile(
    r"(?:fatal|error): (?:unable to read(?: tree)?|could not (?:fetch|read)|bad object) ([0-9a-f]{40,64})",
    re.IGNORECASE,
)
"""git's messages for a missing object: filtered out by `git clone --filter`, or lost"""


class GitError(UnusableInputError):
    """git is missing, too old, or refused; the text is one line for a person."""


@cache
def _empty_git_dir(sha256: bool) -> tempfile.TemporaryDirectory[str]:
    """A git directory with nothing in it, which exists as long as this program runs."""
    made = tempfile.TemporaryDirectory(prefix="almanac-git-", ignore_cleanup_errors=True)
    for name in ("objects", "refs"):
        (Path(made.name) / name).mkdir()
    (Path(made.name) / "HEAD").write_text("ref: refs/heads/none\n")
    format_ = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n" if sha256 else ""
    (Path(made.name) / "config").write_text(format_)
    return made


def common_folder(folder: Path) -> Path:
    """The folder with the objects of a clone, which its linked working trees share."""
    git_dir = folder / ".git" if (folder / ".git").exists() else folder
    if git_dir.is_file():
        git_dir = folder / git_dir.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    link = git_dir / "commondir"
    return git_dir / link.read_text("utf-8", "surrogateescape").strip() if link.is_file() else git_dir


def objects_only(folder: Path) -> dict[str, str]:
    """Variables with which git reads the clone's objects and nothing else that could change the numbers.

    That is without its settings, attributes, grafts, replaced objects and hooks; where a shallow clone ends is read.
    """
    common = common_folder(folder)
    config = common / "config"
    sha256 = config.is_file() and _SHA256.search(config.read_text("utf-8", "replace")) is not None
    found = {"GIT_DIR": _empty_git_dir(sha256).name, "GIT_OBJECT_DIRECTORY": str((common / "objects").resolve())}
    shallow = common / "shallow"
    return found | ({"GIT_SHALLOW_FILE": str(shallow.resolve())} if shallow.is_file() else {})


_SHA256 = re.compile(r"^\s*objectformat\s*=\s*\"?sha256", re.IGNORECASE | re.MULTILINE)


def environment(folder: Path | None = None, arguments: Sequence[str] = ()) -> Mapping[str, str]:
    """The variables for a git command in that folder."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    of_objects = arguments and (arguments[0] in _OF_OBJECTS or tuple(arguments[:2]) in _OF_GIVEN_OBJECTS)
    isolation = objects_only(folder) if folder is not None and of_objects else {}
    return _ALLOCATOR | keep | own | _OFFLINE | {"GIT_ATTR_NOSYSTEM": "1", "GIT_GRAFT_FILE": os.devnull} | isolation


def command(folder: Path, arguments: Sequence[str], mailmap: str = "") -> list[str]:
    """The command line for git; `mailmap` is as in `Clone`, without it git chooses its own."""
    all_settings = (*_SETTINGS, f"mailmap.blob={mailmap}") if mailmap else _SETTINGS
    settings = [part for setting in all_settings for part in ("-c", setting)]
    return ["git", "--no-pager", "--no-replace-objects", *settings, "-C", str(folder), *arguments]


def complaint(folder: Path, stderr: bytes) -> str:
    """Why git could not read this clone: its own first line, or what to do if an object is missing."""
    clone = folder.parent if folder.name == ".git" else folder
    lines = _message_lines(stderr)
    missing = next(filter(None, map(_MISSING_OBJECT.match, lines)), None)
    if missing:
        return f"{clone}: a partial or damaged clone, without {missing[1]}; run: git fetch --refetch --no-filter"
    reason = _reason(stderr)
    damage = reason.removeprefix("error: ")
    return f"{clone}: {reason}" if damage == reason else f"{clone}: damaged ({damage}); clone it anew"


def _message_lines(stderr: bytes) -> list[str]:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return [line for line in lines if not line.startswith(("warning:", "hint:"))] or lines


def _reason(stderr: bytes) -> str:
    """Git's own first line, with the next one if the first announces it."""
    lines = _message_lines(stderr) or ["git failed without saying why"]
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1]).removeprefix("fatal: ")


def git(folder: Path, *arguments: str, check: bool = True) -> str:
    """What git prints (stdout). With `check=False` a failing call returns an empty text.

    Raises GitError with git's own first line.
    """
    (output,) = git_outputs(folder, arguments)
    if output.complaint is not None:
        if check:
            raise GitError(output.complaint)
        return ""
    return output.text


def temporary_file() -> IO[bytes]:
    """A file that is deleted when it is closed. Raises GitError if it cannot be created."""
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise GitError(f"{error}: {NO_TEMPORARY_FILE}") from None


class GitOutput(NamedTuple):
    """The output of one git command, byte for byte (surrogateescape); `complaint` is its first
    error line if it failed.
    """

    text: str
    complaint: str | None


def git_outputs(folder: Path, *calls: Sequence[str]) -> list[GitOutput]:
    """The output of each of these git commands, in order; they run at the same time."""
    try:
        started = [
            subprocess.Popen(
                command(folder, arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(folder, arguments),
            )
            for arguments in calls
        ]
    except FileNotFoundError:
        raise GitError("the git program is not installed") from None
    answers = [(process.communicate(), process.returncode) for process in started]
    return [
        GitOutput(out.decode("utf-8", "surrogateescape"), _reason(wrong) if code else None)
        for (out, wrong), code in answers
    ]


@contextmanager
def git_stream(folder: Path, *arguments: str, lines: Sequence[str] = (), mailmap: str = "") -> Iterator[IO[bytes]]:
    """Git's stdout as a stream; `lines` are written to its standard input first.

    Raises GitError at the end if git failed: `git log` on a damaged or partial clone stops after plausible output.
    """
    process = subprocess.Popen(
        command(folder, arguments, mailmap),
        stdin=subprocess.PIPE if lines else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder, arguments),
        bufsize=1 << 20,
    )
    assert process.stdout is not None  # noqa: S101 (asked for above)
    assert process.stderr is not None  # noqa: S101 (likewise)
    try:
        if process.stdin is not None:
            # if git exits at once, the reason is read below
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))
        yield process.stdout
        rest = process.stdout.read(1)
        stderr = process.stderr.read()
        if process.wait() and not rest:
            raise GitError(complaint(folder, stderr))
    finally:
        process.stdout.close()
        process.stderr.close()
        if process.poll() is None:
            process.kill()
            process.wait()


def commits_named(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """The id of the commit that each of these names refers to; names that refer to none are left out."""
    queries = [f"{name}^{{commit}}" for name in names]
    with git_stream(folder, "cat-file", "--batch-check=%(objectname)", lines=queries) as stream:
        answers = [stream.readline().decode("utf-8", "replace").rstrip("\n") for _ in queries]
    # for a missing object git prints its name, a blank and a word
    return {name: line for name, line in zip(names, answers, strict=True) if line and " " not in line}


_DEAD_LINK = ("symlink", "dangling", "loop", "notdir")
"""git's words for a link that leads to no file of the commit (git-cat-file(1), --follow-symlinks)"""


def blobs_named(folder: Path, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The id and the decoded text of the file that each of these names refers to, for those that exist.

    A link to a file of the same commit is followed, as on GitHub; other links are left out.
    """
    found = {}
    with git_stream(folder, "cat-file", "--batch", "--follow-symlinks", lines=names) as stream:
        for name in names:
            header = stream.readline().decode("utf-8", "replace").split()
            if header and header[0] in _DEAD_LINK:
                stream.read(int(header[1]) + 1)
            elif len(header) == 3 and header[2].isdigit():
                text = stream.read(int(header[2]) + 1)[:-1].decode("utf-8", "replace")
                if header[1] == "blob":
                    found[name] = header[0], text
    return found


class SpooledOutput:
    """The output of a git command in a file, line by line: git runs in the background; it can be read repeatedly."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self._folder = folder
        self._file = temporary_file()
        self._git = subprocess.Popen(
            command(folder, arguments),
            stdin=subprocess.DEVNULL,
            stdout=self._file,
            stderr=subprocess.PIPE,
            env=environment(folder, arguments),
        )

    def lines(self) -> Iterator[bytes]:
        """Every line with its line break. Raises GitError with git's own first line if git failed."""
        stderr = self._git.communicate()[1] if self._git.returncode is None else b""
        if self._git.returncode:
            raise GitError(complaint(self._folder, stderr))
        self._file.seek(0)
        yield from self._file

    def close(self) -> None:
        if self._git.returncode is None:
            self._git.kill()
            self._git.communicate()
        self._file.close()
