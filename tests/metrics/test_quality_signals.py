"""Do signals count only what a patch shows of source code?"""

from __future__ import annotations

import time

import pytest

from bot.metrics.signals import entropy, module_of, signals
from tests.metrics.quality_changes import read


def test_blank_lines_comments_and_docstrings_are_not_source_lines() -> None:
    added = ["def area(side):", '    """The area of a square."""', "", "    # by definition", "    return side * side"]
    assert signals([read("shape.py", added)])["added"] == 2


def test_a_multi_line_docstring_ends_at_its_closing_quotes() -> None:
    added = ["def area(side):", '    """The area.', "", "    if and only if square", '    """', "    return side"]
    found = signals([read("shape.py", added)])
    assert found["added"] == 2
    assert "branches" not in found


def test_tests_documentation_and_generated_files_give_no_signals() -> None:
    files = [
        read("a.py", ["if x:", "    y()"], part=part) for part in ("tests", "docs", "config", "generated", "vendored")
    ]
    assert signals(files) == {}


def test_moved_lines_are_not_new_lines() -> None:
    whole = read("a.py", [f"x{n} = {n}" for n in range(10)])
    moved = type(whole)(whole.change, "authored", "Python", whole.added, (), moved=10)
    assert signals([whole])["added"] == 10
    assert "added" not in signals([moved])


@pytest.mark.parametrize(
    ("path", "added", "name", "count"),
    [
        ("a.py", ["if a and b:", "    pass", "elif c:", "    pass"], "branches", 3),
        ("a.go", ["if a && b {", "}", "switch c {", "case 1:", "}"], "branches", 4),
        ("a.ts", ["const a = b ? 1 : 2;", "} catch (error) {"], "branches", 2),
        ("a.py", ["import os", "from re import match"], "imports", 2),
        ("a.ts", ["const fs = require('fs');"], "imports", 1),
        ("a.rs", ["use std::fmt;", "fn area() -> u32 {"], "imports", 1),
        ("a.rs", ["use std::fmt;", "pub fn area() -> u32 {"], "functions", 1),
        ("a.py", ["x = f()  # type: ignore", "y = 1  # noqa: E501"], "suppressions", 2),
        ("a.ts", ["// eslint-disable-next-line no-console", "console.log(1)"], "suppressions", 1),
        ("a.py", ["x = 1  # TODO later"], "todo", 1),
        ("a.py", ["from engine._parts import Wheel"], "private_imports", 1),
        ("a.py", ["from tests.factories import engine", "x = 1"], "test_imports", 1),
        ("a.py", [" " * 20 + "x = 1", " " * 8 + "y = 1"], "deep", 1),
        ("a.ts", [" " * 10 + "x = 1", " " * 4 + "y = 1"], "deep", 1),
        ("a.py", ["value = compute_the_value(1)"] * 3, "repeated", 2),
        ("a.py", ["x = '" + "a" * 130 + "'"], "wide", 1),
        ("a.py", ["for a in b:", "    for c in a:", "        d()"], "nested_loops", 1),
        ("a.py", ["for a in b:", "    open(a)"], "loop_calls", 1),
        ("a.py", ["while a:", "    rows.insert(0, a)"], "loop_quadratic", 1),
        ("a.py", ["async def f():", "    time.sleep(1)"], "async_blocking", 1),
        ("a.ts", ["rows.forEach((row) => {", "  db.query(row)", "})"], "loop_calls", 1),
    ],
)
def test_each_code_habit_is_counted_where_it_occurs(path: str, added: list[str], name: str, count: int) -> None:
    assert signals([read(path, added)])[name] == count


def test_a_call_after_a_loop_does_not_count_as_inside_it() -> None:
    assert "loop_calls" not in signals([read("a.py", ["for a in b:", "    c(a)", "open(d)"])])


def test_a_loop_at_the_end_of_a_file_does_not_extend_into_the_next() -> None:
    found = signals([read("a.py", ["for a in b:"]), read("b.py", ["    open(d)", "    for c in d:"])])
    assert "loop_calls" not in found
    assert "nested_loops" not in found


def test_a_private_module_of_the_same_package_is_not_foreign() -> None:
    assert "private_imports" not in signals([read("a.py", ["from ._parts import wheel", "from . import _parts"])])


def test_a_file_without_a_shown_patch_counts_by_its_numbers() -> None:
    whole = read("a.py", ["x"] * 7)
    hidden = type(whole)(type(whole.change)("a.py", "modified", 900, 40), "authored", "Python", (), ())
    found = signals([hidden])
    assert (found["added"], found["removed"]) == (900, 40)


def test_spread_is_measured_over_files_and_modules() -> None:
    files = [read(path, ["x = 1"]) for path in ("src/a/x.py", "src/a/y.py", "src/b/z.py", "top.py")]
    found = signals(files)
    assert (found["files"], found["modules"], found["entropy"]) == (4, 3, 2000)
    assert module_of("src/engine/parts/wheel.py") == "engine/parts"
    assert entropy([5]) == 0.0


def test_the_order_of_files_makes_no_difference() -> None:
    files = [read("a.py", ["if x:", "    y"]), read("b.py", ["import os"], ["import re"]), read("c.go", ["for {", "}"])]
    assert signals(files) == signals(list(reversed(files)))


@pytest.mark.parametrize(
    "lines",
    [
        ["from " + "a." * 30_000 + "_b import c"],
        ["for (" * 13_000],
        [" " * 65_000 + "x"],
        ['"""x'] * 13_000,
        ["async " * 11_000],
        ["for x in y:", "  " + "+= '" * 16_000],
    ],
)
def test_hostile_text_is_read_in_time(lines: list[str]) -> None:
    start = time.process_time()
    signals([read("a.py", lines)])
    assert time.process_time() - start < 0.25
