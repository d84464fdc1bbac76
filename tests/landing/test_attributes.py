from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from bot.landing.lines.attributes import Attributes
from bot.landing.lines.globs import glob

GENERATED = "linguist-generated"


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("*.lock linguist-generated", "a/b.lock", True),
        ("*.lock -linguist-generated", "b.lock", False),
        ("*.lock linguist-generated=false", "b.lock", False),
        ("*.lock linguist-generated=true", "b.lock", True),
        ("*.lock !linguist-generated", "b.lock", None),
        ("/gen/* linguist-generated", "gen/a.py", True),
        ("/gen/* linguist-generated", "gen/deep/a.py", None),
        ("/gen/* linguist-generated", "x/gen/a.py", None),
        ("gen/** linguist-generated", "gen/deep/a.py", True),
        ("gen/ linguist-generated", "gen/a.py", None),
        ("gen linguist-generated", "gen/a.py", None),
        ("**/gen/** linguist-generated", "x/gen/deep/a.py", True),
        ("a/**/b.py linguist-generated", "a/b.py", True),
        ("a/**/b.py linguist-generated", "a/x/y/b.py", True),
        ("a/**/b.py linguist-generated", "z/a/b.py", None),
        ('"with space.py" linguist-generated', "with space.py", True),
        ('"\\303\\244.py" linguist-generated', "ä.py", True),
        ("[a-c]?.py linguist-generated", "bx.py", True),
        ("[!a-c]?.py linguist-generated", "bx.py", None),
        ("!x.py linguist-generated", "x.py", None),
        ("# *.py linguist-generated", "x.py", None),
        ("*.py linguist-generated\r", "x.py", True),
        ("*.PY linguist-generated", "x.py", None),
        ("*.py linguist-generated -bad*name", "x.py", None),
    ],
)
def test_one_line_says_what_git_reads_in_it(line: str, path: str, expected: bool | None) -> None:
    assert Attributes.parse(line).get(path, GENERATED) is expected


def test_later_lines_win_and_leave_other_attributes_unchanged() -> None:
    attributes = Attributes.parse("*.py linguist-generated diff=python\nkeep.py -linguist-generated")
    assert attributes.get("keep.py", GENERATED) is False
    assert attributes.get("keep.py", "diff") == "python"
    assert attributes.get("other.py", GENERATED) is True


def test_a_macro_expands_to_its_attributes() -> None:
    attributes = Attributes.parse("[attr]made linguist-generated -diff\n*.pb made\nmine.pb -made")
    assert attributes.get("a.pb", GENERATED) is True
    assert attributes.get("a.pb", "diff") is False
    assert attributes.get("mine.pb", GENERATED) is None
    assert Attributes.parse("*.bin binary").get("a.bin", "text") is False


def test_macros_that_name_each_other_end() -> None:
    attributes = Attributes.parse("[attr]a b\n[attr]b a linguist-generated\n*.x a")
    assert attributes.get("f.x", GENERATED) is True
    chain = "\n".join(f"[attr]m{number} m{number + 1}" for number in range(5000))
    assert Attributes.parse(f"{chain}\n* m0").get("f.x", "m5000") is True


def test_the_file_of_a_deeper_folder_wins_and_reaches_no_further() -> None:
    attributes = Attributes.of(
        {"sub/.gitattributes": "*.py -linguist-generated", ".gitattributes": "*.py linguist-generated"}
    )
    assert attributes.get("sub/deep/a.py", GENERATED) is False
    assert attributes.get("a.py", GENERATED) is True


PIECES = ["a", "b", "*", "?", "/", "**/", "/**", "[ab]", "[!a]", ".py", "x.", "[a-c]", "foo", "bar", "[[:alpha:]]", "-"]
PATHS = [
    "a",
    "b",
    "foo",
    "a.py",
    "foo/a.py",
    "bar/foo/a.py",
    "a/b/c/x.py",
    "bar/a",
    "foo/bar/b.py",
    "x.a",
    "-",
    "ab/abc/a.b",
]
SETTINGS = ["g", "-g", "!g", "g=x", "g=false", "m", "-m", "!m"]


def test_git_itself_agrees_on_random_patterns(tmp_path: Path) -> None:
    choose = random.Random(11)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for _ in range(60):
        rows = [
            f"{''.join(choose.choices(PIECES, k=choose.randint(1, 5)))} {choose.choice(SETTINGS)}" for _ in range(6)
        ]
        text = "[attr]m g=macro\n" + "\n".join(row for row in rows if not row.startswith("**/**")) + "\n"
        (tmp_path / ".gitattributes").write_text(text)
        attributes = Attributes.parse(text)
        ours = {path: _as_git_prints(attributes.all(path).get("g")) for path in PATHS}
        assert ours == _asked_of_git(tmp_path), text


def _as_git_prints(value: bool | str | None) -> str:
    return value if isinstance(value, str) else {True: "set", False: "unset", None: "unspecified"}[value]


def _asked_of_git(folder: Path) -> dict[str, str]:
    answer = subprocess.run(
        ["git", "-C", str(folder), "check-attr", "--stdin", "-z", "g"],
        input="\0".join(PATHS) + "\0",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    return dict(zip(answer[0::3], answer[2::3], strict=False))


@pytest.mark.parametrize(
    "pattern", ["*a" * 40 + "b", "**/" * 40 + "b", "/a*/**/" * 20 + "b", "[" * 200, "*?" * 60 + "b"]
)
def test_no_pattern_is_slow(pattern: str) -> None:
    start = time.process_time()
    glob(pattern).match("a/" * 300 + "a" * 3_000)
    assert time.process_time() - start < 0.5
