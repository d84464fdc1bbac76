"""Which history can be measured without a real clone? A synthetic but realistic one, identical in every run.

    python -m benchmarks.made_history FOLDER [COMMITS]

People of very different activity, and a bot, work for years on growing files. Pull requests are merged, squashed or
pushed; a commit changes one to six files, usually a little, including tests, prose and dependency lists.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

COMMITS = 13_000
"""commits, without merges"""
_PEOPLE = 120
_BEGIN = 1_400_000_000
_HOURS = 7.5
"""between two landings, on average"""
_LONGEST = 400
"""lines of a file; above this, lines are removed"""
_VOCABULARY = (
    "accept address archive base batch buffer cache channel check chunk client clock codec command config "
    "connection cookie count cursor decode default deliver digest encode engine entry error event expire field "
    "file filter flush format frame group handler header index job key label limit line link list loader lock "
    "log map match merge message method mode name node offset option order owner page parse path payload place "
    "pool port prefix query queue range reader record redirect release request resolve response retry route "
    "row schema scope session shape signal size slice socket source stage state store stream table target task "
    "template text thread timeout token total trace transport tree type update url user value version view "
    "wait window worker writer zone"
)
_WORDS = _VOCABULARY.split()
_VERBS = (
    "Add",
    "Fix",
    "Fix",
    "Fix",
    "Improve",
    "Refactor",
    "Remove",
    "Document",
    "Test",
    "Support",
    "Update",
    "Rename",
)
_PREFIXES = ("", "", "", "", "fix: ", "feat: ", "docs: ", "chore: ")
_BOT = "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>"


class _Work(NamedTuple):
    """One commit before it is placed in the history."""

    author: str
    title: str
    body: str
    files: Sequence[str]


class _Project:
    """The current files, and a source of randomness."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.files: dict[str, list[str]] = {}
        self._people = [f"{self._name()} <{number}@people.example>" for number in range(_PEOPLE)]
        self._weights = [1 / (rank + 1) for rank in range(_PEOPLE)]
        for path in ("README.md", "CHANGES.rst", "requirements.txt", ".github/workflows/ci.yml"):
            self.files[path] = self._lines(path, 20)

    def _name(self) -> str:
        return " ".join(self.chance.choice(_WORDS).capitalize() for _ in range(2))

    def work(self) -> _Work:
        """One person's change to some files."""
        if self.chance.random() < 0.06:
            package = self.chance.choice(_WORDS)
            self._edit("requirements.txt")
            return _Work(_BOT, f"Bump {package} from 1.{self.chance.randint(0, 9)} to 2.0", "", ["requirements.txt"])
        (author,) = self.chance.choices(self._people, self._weights)
        word, other = self.chance.sample(_WORDS, 2)
        title = f"{self.chance.choice(_PREFIXES)}{self.chance.choice(_VERBS)} {word} of {other}"
        paths = self._paths(word)
        for path in paths:
            self._edit(path)
        lines = [" ".join(self.chance.choices(_WORDS, k=9)) for _ in range(self.chance.choice((0, 0, 1, 3)))]
        if self.chance.random() < 0.05:
            lines += ["", f"Co-authored-by: {self.chance.choice(self._people)}"]
        return _Work(author, title, "\n".join(lines), paths)

    def _paths(self, word: str) -> list[str]:
        new = not self.files or self.chance.random() < 0.04 or len(self.files) < 30
        paths = [self._new(word)] if new else []
        paths += self.chance.choices(list(self.files), k=self.chance.choice((1, 1, 1, 2, 2, 3, 6)))
        if self.chance.random() < 0.3:
            paths.append("CHANGES.rst")
        return list(dict.fromkeys(paths))

    def _new(self, word: str) -> str:
        name = f"{word}_{self.chance.choice(_WORDS)}"
        folder = self.chance.choice(_WORDS[:12])
        return self.chance.choice((f"made/{folder}/{name}.py", f"tests/test_{name}.py", f"docs/{name}.rst"))

    def _edit(self, path: str) -> None:
        """Replace lines in a few places of the file; most edits are small."""
        lines = self.files.setdefault(path, [])
        if not lines:
            lines += self._lines(path, int(self.chance.lognormvariate(3.5, 0.8)))
            return
        for _ in range(self.chance.choice((1, 1, 1, 2, 4))):
            at = self.chance.randrange(len(lines) + 1)
            lost = min(int(self.chance.lognormvariate(0.5, 1.0)), 60)
            got = min(int(self.chance.lognormvariate(0.9, 1.0)), 80)
            lines[at : at + lost] = self._lines(path, got)
        del lines[_LONGEST:]

    def _lines(self, path: str, count: int) -> list[str]:
        spell = _prose if path.endswith((".rst", ".md")) else _list if path.endswith((".txt", ".yml")) else _code
        return [spell(self.chance) for _ in range(max(count, 1))]


def _prose(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randint(4, 12))).capitalize() + "."


def _list(chance: random.Random) -> str:
    return f"{chance.choice(_WORDS)}-{chance.choice(_WORDS)}=={chance.randint(0, 30)}.{chance.randint(0, 9)}"


def _code(chance: random.Random) -> str:
    one, two, three = chance.choices(_WORDS, k=3)
    blank = "    " * chance.choice((0, 1, 1, 2, 2, 3))
    kind = chance.randrange(8)
    if kind == 0:
        return f"def {one}_{two}({three}: int) -> None:"
    if kind == 1:
        return f"{blank}# {one} {two} {three}"
    if kind == 2:
        return f"{blank}if {one}.{two} is not None and {three} > {chance.randint(0, 99)}:"
    if kind == 3:
        return f"from made.{one} import {two}"
    if kind == 4:
        return ""
    return f'{blank}{one} = {two}.{three}("{chance.choice(_WORDS)}", {chance.randint(0, 9999)})'


def _import_stream(seed: int, commits: int) -> Iterator[bytes]:
    """The history as input for `git fast-import`."""
    project, chance = _Project(seed), random.Random(seed + 1)
    mark = number = made = 0
    tip, now = 0, float(_BEGIN)  # the commits' marks start at 1

    def commit(work: _Work, message: str, parents: Sequence[int]) -> Iterator[bytes]:
        nonlocal mark
        mark += 1
        who = f"{work.author} {int(now)} +0000"
        text = message.encode()
        yield f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}\ndata {len(text)}\n".encode() + text
        links = [f"{'merge' if index else 'from'} :{parent}" for index, parent in enumerate(parents) if parent]
        yield "".join(f"\n{link}" for link in links).encode() + b"\n"
        for path in work.files:
            data = ("\n".join(project.files[path]) + "\n").encode()
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"

    while made < commits:  # files change in sequence, as if each branch started where the previous one ended
        now += chance.expovariate(1 / (_HOURS * 3600))
        number += 1
        how = chance.random()
        branch, merged = tip, how < 0.3 and tip > 0
        works = [project.work()]
        for further in range(chance.choice((1, 1, 2, 4)) if merged else 1):
            if further:
                works.append(project.work())
            title = works[-1].title if how < 0.3 or how > 0.8 else f"{works[-1].title} (#{number})"
            yield from commit(works[-1], f"{title}\n\n{works[-1].body}".strip() + "\n", [branch])
            branch = mark
            made += 1
        if merged:
            brought = works[0]._replace(files=sorted({path for work in works for path in work.files}))
            title = f"Merge pull request #{number} from someone/topic"
            yield from commit(brought, f"{title}\n\n{brought.title}\n", [tip, branch])
        tip = mark
    yield b"done\n"


def make(folder: Path, commits: int = COMMITS, seed: int = 1) -> None:
    """Create a bare repository in the new folder `folder`; the default length takes a minute."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    with subprocess.Popen(
        ["git", "-C", str(folder), "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE
    ) as importing:
        assert importing.stdin is not None
        importing.stdin.writelines(_import_stream(seed, commits))
    if importing.returncode:
        raise RuntimeError(f"git fast-import ended with {importing.returncode}")
    subprocess.run(["git", "-C", str(folder), "repack", "-adfq"], check=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
