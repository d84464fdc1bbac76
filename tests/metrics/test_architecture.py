"""Which new imports connect components, close cycles or reach into private parts, and what follows for a person?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from bot.metrics.architecture import score_architecture
from bot.metrics.component_imports import ComponentImport, component_imports
from bot.metrics.quality_sentences import quality_sentences
from tests.metrics.made_lines import BEA, Work, commits_of, facts_of

PACKAGES = Work(0, [(f"rocket/{name}/__init__.py", ["WHEEL = 1"], []) for name in ("hull", "crew", "fuel")], author=BEA)
TOP = Work(0, [("rocket/__init__.py", ["NAME = 'rocket'"], [])], author=BEA)


def edges(*works: Work) -> list[str]:
    return [_row(one) for one in component_imports(facts_of([TOP, PACKAGES, *works]))]


def _row(one: ComponentImport) -> str:
    marks = [*(["cycle"] if one.closes_cycle else []), *([one.private] if one.private else [])]
    return " ".join([f"{one.importer} -> {one.imported}", *marks])


def python(day: float, path: str, added: Sequence[str], removed: Sequence[str] = ()) -> Work:
    return Work(day, [(path, added, removed)])


def test_the_first_import_of_another_folder_is_new_and_further_ones_are_not() -> None:
    first = python(1, "rocket/hull/door.py", ["from rocket.crew import bell"])
    second = python(2, "rocket/hull/wall.py", ["import rocket.crew"])
    assert edges(first, second) == ["rocket/hull -> rocket/crew"]


def test_an_import_that_leads_back_closes_a_cycle_over_any_distance() -> None:
    assert edges(
        python(1, "rocket/hull/door.py", ["from rocket.crew import bell"]),
        python(2, "rocket/crew/bell.py", ["from rocket.fuel import tank"]),
        python(3, "rocket/fuel/tank.py", ["from ..hull import door"]),
    ) == ["rocket/hull -> rocket/crew", "rocket/crew -> rocket/fuel", "rocket/fuel -> rocket/hull cycle"]


def test_an_import_that_went_closes_no_cycle_and_counts_as_new_when_it_returns() -> None:
    line = "from rocket.crew import bell"
    assert edges(
        python(1, "rocket/hull/door.py", [line]),
        python(2, "rocket/hull/door.py", [], [line]),
        python(3, "rocket/crew/bell.py", ["from rocket.hull import door"]),
        python(4, "rocket/hull/door.py", [line]),
    ) == ["rocket/hull -> rocket/crew", "rocket/crew -> rocket/hull", "rocket/hull -> rocket/crew cycle"]


def test_outer_and_inner_folders_other_projects_and_imports_in_functions_connect_nothing() -> None:
    assert not edges(
        python(1, "rocket/hull/door.py", ["from rocket import NAME", "from . import wall", "import os, crew"]),
        python(2, "rocket/main.py", ["from rocket.hull import door"]),
        python(3, "rocket/crew/bell.py", ["    from rocket.hull import door"]),
    )


def test_what_begins_with_an_underscore_is_private_outside_the_folder_that_holds_it() -> None:
    assert edges(
        python(1, "rocket/crew/_ring.py", ["def ring(): turn()"]),
        python(2, "rocket/crew/deep/cord.py", ["from rocket.crew import _ring"]),
        python(3, "rocket/hull/door.py", ["from rocket.crew._ring import ring"]),
        python(4, "rocket/fuel/tank.py", ["from rocket.crew.bell import _strike"]),
    ) == ["rocket/hull -> rocket/crew rocket/crew/_ring", "rocket/fuel -> rocket/crew rocket/crew/bell/_strike"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            [
                ("go.mod", ["module example.org/rocket/v2"]),
                ("internal/fuel/tank.go", ["package fuel"]),
                ("cmd/fly/main.go", ["import (", '\t"fmt"', '\t"example.org/rocket/v2/internal/fuel"']),
            ],
            ["cmd/fly -> internal/fuel"],
        ),
        (
            [
                ("crew/internal/bell/bell.go", ["package bell"]),
                ("go.mod", ["module example.org/rocket"]),
                ("hull/door.go", ['import "example.org/rocket/crew/internal/bell"']),
            ],
            ["hull -> crew/internal/bell crew/internal"],
        ),
        (
            [
                ("src/crew/bell.ts", ["export const bell = 1"]),
                ("src/hull/door.ts", ["import { bell } from '../crew/bell'"]),
            ],
            ["src/hull -> src/crew"],
        ),
        (
            [
                ("packages/crew/package.json", ["{", '  "name": "@rocket/crew",']),
                ("packages/crew/src/bell.ts", ["export const bell = 1"]),
                ("packages/hull/door.ts", ["import { bell } from '@rocket/crew'"]),
            ],
            ["packages/hull -> packages/crew"],
        ),
        (
            [("src/crew/bell.rs", ["pub fn ring() {}"]), ("src/hull/door.rs", ["use crate::crew::bell::ring;"])],
            ["src/hull -> src/crew"],
        ),
        (
            [
                ("crates/crew-bell/Cargo.toml", ["[package]", 'name = "crew-bell"']),
                ("crates/crew-bell/src/ring.rs", ["pub fn ring() {}"]),
                ("crates/hull/src/door.rs", ["use crew_bell::ring::ring;"]),
            ],
            ["crates/hull/src -> crates/crew-bell/src"],
        ),
        (
            [
                ("core/src/main/java/org/rocket/crew/Bell.java", ["package org.rocket.crew;"]),
                (
                    "core/src/main/java/org/rocket/hull/Door.java",
                    ["import org.rocket.crew.Bell;", "import java.util.List;"],
                ),
            ],
            ["core/src/main/java/org/rocket/hull -> core/src/main/java/org/rocket/crew"],
        ),
        (
            [
                ("include/crew/bell.h", ["void ring(void);"]),
                ("hull/door.c", ['#include "crew/bell.h"', "#include <stdio.h>"]),
            ],
            ["hull -> include/crew"],
        ),
    ],
)
def test_each_language_finds_the_folder_that_it_imports(
    files: Sequence[tuple[str, Sequence[str]]], expected: Sequence[str]
) -> None:
    works = [Work(at, [(path, lines, [])]) for at, (path, lines) in enumerate(files)]
    assert [_row(one) for one in component_imports(facts_of(works))] == expected


def test_a_moved_package_keeps_what_it_imports_and_is_imported_by() -> None:
    crew = python(1, "rocket/hull/door.py", ["from rocket.crew import bell"])
    facts = facts_of([TOP, PACKAGES, crew, python(2, "rocket/body/door.py", ["WOOD = 1"])])
    moved = replace(facts[-1], renames=(("rocket/hull/door.py", "rocket/body/door.py"),))
    later = facts_of([TOP, PACKAGES, crew, crew, python(3, "rocket/crew/bell.py", ["from rocket.body import door"])])
    found = component_imports([*facts[:-1], moved, later[-1]])
    assert list(map(_row, found)) == ["rocket/hull -> rocket/crew", "rocket/crew -> rocket/body cycle"]


def test_titles_dates_and_slices_make_no_difference() -> None:
    lines = ["from rocket.crew import bell", "from rocket.fuel import tank"]
    expected = edges(python(1, "rocket/hull/door.py", lines))
    sliced = [python(1 + at / 10, "rocket/hull/door.py", [line]) for at, line in enumerate(lines)]
    assert edges(*sliced) == expected
    renamed = [Work(1, [("rocket/hull/door.py", lines, [])], title="fix: everything", written=-400)]
    assert edges(*renamed) == expected


def test_padding_comments_and_moved_imports_make_no_difference() -> None:
    line = "from rocket.crew import bell"
    expected = edges(python(1, "rocket/hull/door.py", [line]))
    padded = [f"COLOUR_{number} = {number}" for number in range(50)]
    assert edges(python(1, "rocket/hull/door.py", ["# from rocket.fuel import tank", line, *padded])) == expected
    moved = Work(2, [("rocket/hull/door.py", [], [line]), ("rocket/hull/wall.py", [line], [])])
    assert edges(python(1, "rocket/hull/door.py", [line]), moved) == expected


def test_a_person_s_harmful_imports_are_counted_with_their_evidence_and_not_rated() -> None:
    works = [
        TOP,
        PACKAGES,
        python(1, "rocket/hull/door.py", ["from rocket.crew import bell", "bell.ring(door)"]),
        python(2, "rocket/crew/bell.py", ["from rocket.hull import door", "door.open(bell)"]),
    ]
    commits = commits_of(works)
    own = [one for one in commits if one.imports]
    score = score_architecture(own, commits)
    assert (score.score, score.rated, score.at_risk, score.lost, score.project) == (None, 2, 2, 1, 50.0)
    assert [row.signal for row in score.evidence] == ["rocket/crew imports rocket/hull, which closes a cycle"]
    assert quality_sentences("architecture", score)[0] == (
        "1 of 2 new imports between components closed a cycle or reached into private parts, in 2 changes: 50.0 %."
    )


def test_where_no_imports_were_read_nothing_is_said() -> None:
    score = score_architecture([], [])
    assert (score.score, score.at_risk, score.unrated) == (None, 0, "no own lines")
