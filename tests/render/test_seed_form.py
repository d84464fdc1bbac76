"""Does the comparison format print numbers, labels, order and limits like the captures, from the facts below?"""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from bot.model.change import Change
from bot.model.fact import Lines
from bot.model.ids import ChangeId, Month
from bot.model.profile import (
    AiUsage,
    Contributor,
    LanguageSkill,
    MonthRecord,
    Number,
    Overall,
    Profile,
    Quality,
    RepositoryRecord,
    Score,
    Sentence,
    TechnicalSkill,
    Text,
)
from bot.render import RENDERERS

from .factories import change, empty_profile
from .snapshots import FOLDER

ONE = (ChangeId("aurora/engine#1"),)
SHORT_SKILLS = [
    "tensor parallelism",
    "PyTorch",
    "ATen library",
    "C++",
    "C++ development",
    "CMake",
    "Deep Learning",
    "Device management",
    "Machine Learning",
    "Tensor manipulation",
    "backend development",
    "build systems",
    "device compatibility",
    "dispatch system design",
    "distributed systems",
    "multi-threading",
]
LONG_SKILLS = [
    "PyTorch",
    "unit testing",
    "C++",
    "API design",
    "Backend Development",
    "C++ development",
    "CUDA",
    "Code Configuration",
    "Code Optimization",
    "Deep Learning",
    "Inductor",
    "Kernel Fusion",
    "Machine Learning",
    "Machine Learning Frameworks",
    "Memory management",
    "Performance Optimization",
    "Performance Tuning",
    "backend development",
    "device management",
]


def paragraph(number: int) -> Text:
    return Text((Sentence(f"Paragraph {number}.", ONE),))


def numbers(commits: int, features: int, bugs: int, months: int) -> dict[str, Number]:
    share = Fraction(features, features + bugs)
    return {"commits": commits, "features": features, "bugs": bugs, "feature_share": share, "months": months}


def months(*rows: tuple[str, int, int]) -> tuple[MonthRecord, ...]:
    """(month, commits, features), newest first; the second paragraph is the first month's."""
    return tuple(
        MonthRecord(Month(month), Lines(), paragraph(index + 2), (), {"commits": commits, "features": features})
        for index, (month, commits, features) in enumerate(rows)
    )


def record(name: str, first: str, last: str, active: int, changes: tuple[Change, ...]) -> RepositoryRecord:
    """A card whose languages and skills are those of the changes, in no useful order."""
    facts = [commit.fact for one in changes for commit in one.commits if one.repository == name]
    return RepositoryRecord(
        name,
        Month(first),
        Month(last),
        active,
        len(facts),
        tuple(sorted({key for fact in facts for key in fact.languages}, reverse=True)),
        tuple(sorted({key for fact in facts for key in fact.skills}, reverse=True)),
    )


def work(repository: str, number: int, date: str, languages: str, skills: str) -> Change:
    return change(
        repository,
        number,
        "Some work",
        date,
        languages=dict.fromkeys(languages.split(), 5),
        skills=dict.fromkeys(skills.split(", "), 5),
    )


def languages(names: str) -> tuple[LanguageSkill, ...]:
    return tuple(LanguageSkill(name, 10, Month("2025-06")) for name in names.split())


def technical(names: list[str]) -> tuple[TechnicalSkill, ...]:
    return tuple(TechnicalSkill(name, 1.0, ONE) for name in names)


def quality(*scores: float) -> Quality:
    return Quality(*(Score(score, 9) for score in scores))


def short_record() -> Profile:
    """Two months in one repository, thirteen commits."""
    changes = (
        work("aurora/engine", 2, "2025-07-03", "Python C++", "Device management, Tensor manipulation"),
        work(
            "aurora/engine",
            1,
            "2025-06-10",
            "YAML CMake C++",
            "dispatch system design, build systems, backend development, PyTorch, CMake, C++, ATen library",
        ),
    )
    return replace(
        empty_profile(),
        contributor=Contributor("noraquist"),
        narrative=paragraph(1),
        overall=Overall(Lines(authored=60, generated=44), numbers(13, 2, 0, 2)),
        months=months(("2025-07", 3, 1), ("2025-06", 10, 1)),
        quality=quality(98.4, 97.0, 98.4, 97.0),
        ai_usage=AiUsage(declared=1, unknown=12),
        languages=languages("YAML C++ Python CMake"),
        technical=technical(SHORT_SKILLS),
        repositories=(record("aurora/engine", "2025-06", "2025-07", 2, changes),),
        changes=changes,
    )


def long_record() -> Profile:
    """Seven months in four repositories, forty-four commits."""
    changes = (
        work("Delta/engine", 1, "2025-06-02", "YAML C++", "backend development, PyTorch, C++"),
        work("Delta/engine", 2, "2025-06-09", "C++", "device support integration, device management"),
        work("Delta/engine", 3, "2025-06-10", "C++", "device compatibility"),
        work("Delta/engine", 4, "2025-10-10", "Python C++", "Kernel Fusion"),
        work("copper/engine-fork", 5, "2025-05-10", "Python YAML C++", "unit testing, machine learning, C++, PyTorch"),
        work("copper/engine-fork", 6, "2025-05-11", "C++", "backend development"),
        work("copper/engine-fork", 7, "2025-06-01", "C++", "C++ development, device management"),
        work("aurora/engine", 8, "2025-11-10", "Python C++", "PyTorch, Machine Learning, Deep Learning, API design"),
        work("aurora/engine", 9, "2025-11-12", "C++", "C++ development, C++"),
        work("aurora/engine", 10, "2025-12-12", "Python", "CUDA"),
        work(
            "aurora/benchmark",
            11,
            "2025-07-12",
            "Python",
            "Performance Optimization, Machine Learning Frameworks, Backend Development",
        ),
    )
    rows = (
        ("2025-12", 2, 1),
        ("2025-11", 4, 1),
        ("2025-10", 2, 1),
        ("2025-08", 3, 2),
        ("2025-07", 9, 3),
        ("2025-06", 20, 2),
        ("2025-05", 4, 1),
    )
    return replace(
        empty_profile(),
        contributor=Contributor("Tess (De) Moor"),
        narrative=paragraph(1),
        overall=Overall(Lines(authored=1000, tests=100, lockfiles=28), numbers(44, 11, 4, 7)),
        months=months(*rows),
        quality=quality(94.8, 92.8, 93.6, 91.8),
        ai_usage=AiUsage(declared=5, detected=3, unknown=36),
        languages=languages("Python C++ YAML"),
        technical=technical(LONG_SKILLS),
        repositories=(
            record("Delta/engine", "2025-06", "2025-10", 4, changes),
            record("copper/engine-fork", "2025-05", "2025-06", 2, changes),
            record("aurora/engine", "2025-11", "2025-12", 2, changes),
            record("aurora/benchmark", "2025-07", "2025-07", 1, changes),
        ),
        changes=changes,
    )


def capture(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text("utf-8")


def test_two_months_in_one_repository_read_as_the_captured_page() -> None:
    assert RENDERERS["seed"](short_record()) == capture("seed_page_short")


def test_seven_months_in_four_repositories_read_as_the_captured_page() -> None:
    assert RENDERERS["seed"](long_record()) == capture("seed_page_long")


def test_the_order_of_the_evidence_makes_no_difference() -> None:
    profile = long_record()
    turned = replace(profile, changes=profile.changes[::-1], technical=profile.technical[::-1])
    assert RENDERERS["seed"](turned) == RENDERERS["seed"](profile)


def test_the_plain_text_of_a_named_record_doubles_its_months() -> None:
    assert RENDERERS["seed-text"](short_record()) == capture("seed_text_named")


def test_the_plain_text_of_an_anonymous_record_moves_its_blank_line() -> None:
    profile = replace(short_record(), contributor=Contributor("noraquist", "anonymous"))
    assert RENDERERS["seed-text"](profile) == capture("seed_text_anonymous")


def test_an_older_record_has_fewer_months() -> None:
    profile = long_record()
    assert RENDERERS["seed-text"](replace(profile, months=months(*5 * [("2025-10", 2, 1)]))) == capture(
        "seed_text_five_months"
    )


def test_no_ai_tool_prints_twenty_per_cent() -> None:
    assert "AI Usage20.0%" in RENDERERS["seed"](replace(short_record(), ai_usage=AiUsage(unknown=13)))


def test_a_record_without_features_and_bug_fixes_has_no_share() -> None:
    page = RENDERERS["seed"](empty_profile())
    assert "\nn/a\n" in page
    assert "\nCorrectnessn/a\n" in page
