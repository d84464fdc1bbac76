"""Do hashes name the source lines that a person wrote, and leave out what says nothing?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.landing.lines.split import read_files
from bot.metrics.line_hashes import FileHashes, file_key, hash_lines, pack, unpack
from bot.model.commit import FileChange


def change(
    added: Sequence[str] = (), removed: Sequence[str] = (), path: str = "app/wheel.py", before: str | None = None
) -> FileChange:
    lines = ["-" + line for line in removed] + ["+" + line for line in added]
    patch = "\n".join([f"@@ -1,{len(removed)} +1,{len(added)} @@", *lines])
    status = "renamed" if before else "modified"
    return FileChange(path, status, len(added), len(removed), patch, before)


def hashed(*changes: FileChange) -> list[FileHashes]:
    return list(unpack(hash_lines(read_files(changes))))


def kept(line: str, path: str = "app/wheel.py") -> bool:
    files = hashed(change([line], path=path))
    return bool(files and files[0].added)


@pytest.mark.parametrize("line", ["    turn(the, wheel)", "return count + 1", "if broken or worn:", "import wheels"])
def test_a_line_of_code_is_kept(line: str) -> None:
    assert kept(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "}",
            "    )",
            "# turn the wheel",
            '    """Turn it."""',
            "x_1 = 1",
            "LIMIT: int = 4_000",
            'NAME = "wheel"',
        ),
        *("    'spoke': 12,", "1.5, 2.5, 3.5,", "pub = true", "a=1"),
    ],
)
def test_blanks_comments_docstrings_and_constants_are_not_kept(line: str) -> None:
    assert not kept(line)


def test_tests_documentation_and_generated_files_are_not_kept() -> None:
    assert not any(kept("turn(the, wheel)", path) for path in ("tests/test_wheel.py", "README.md", "package-lock.json"))


def test_indentation_quotation_marks_and_a_last_comma_do_not_change_a_line() -> None:
    was, now = "turn('the wheel', twice)", '        turn("the wheel",twice),'
    assert hashed(change([now], [was])) == []


def test_a_line_that_moved_within_its_file_is_in_neither_list() -> None:
    (found,) = hashed(change(["stop(wheel)", "turn(wheel)"], ["turn(wheel)", "brake(wheel)"]))
    assert (len(found.added), len(found.removed)) == (1, 1)


def test_a_file_that_was_only_wrapped_pairs_its_lines() -> None:
    (found,) = hashed(change(["turn(", "    the_wheel,", "    three_times,", ")"], ["turn(the_wheel, three_times)"]))
    assert (len(found.added), len(found.removed), len(found.pairs)) == (0, 0, 2)


def test_a_renamed_file_names_its_former_self() -> None:
    (found,) = hashed(change(["turn(wheel)"], path="app/cog.py", before="app/wheel.py"))
    assert (found.file, found.former) == (file_key("app/cog.py"), file_key("app/wheel.py"))


def test_the_stored_form_is_read_back() -> None:
    files = [FileHashes(1, 0, False, [1, 2], [3]), FileHashes(2**62, 7, True, [], [2**32 - 1], [4, 5])]
    assert [tuple(map(_plain, one)) for one in unpack(pack(files))] == [tuple(map(_plain, one)) for one in files]


def _plain(value: object) -> object:
    return value if isinstance(value, int) else list(value)  # type: ignore[call-overload]
