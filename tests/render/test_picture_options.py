"""Do hide, width, title and theme change a picture as they say, and is every other value refused?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.render import PICTURES, RENDERERS
from bot.render.images.options import LONGEST_TITLE, PARTS, PLAIN, WITH_OPTIONS, read_options

from .factories import empty_profile, long_profile, small_profile
from .test_forms import tree_of


@pytest.mark.parametrize("form", WITH_OPTIONS)
def test_without_options_a_picture_is_as_always(form: str) -> None:
    assert PICTURES[form](small_profile(), PLAIN) == RENDERERS[form](small_profile())
    assert set(PICTURES) == set(WITH_OPTIONS)


@pytest.mark.parametrize("form", WITH_OPTIONS)
@pytest.mark.parametrize("width", ["400", "900"])
def test_a_picture_is_as_wide_as_asked_for_and_nothing_is_beyond_its_edge(form: str, width: str) -> None:
    text = PICTURES[form](long_profile(), read_options(form, {"width": width}))
    root = tree_of(text)
    assert root.attrib["width"] == width
    starts = [float(one.attrib["x"]) for one in root.iter("{http://www.w3.org/2000/svg}text") if "x" in one.attrib]
    assert all(0 <= start < int(width) - 20 for start in starts)


@pytest.mark.parametrize("form", WITH_OPTIONS)
def test_a_title_is_shown_and_can_do_no_harm(form: str) -> None:
    title = 'A "title" <script>alert(1)</script>'
    for profile in (small_profile(), empty_profile()):
        text = PICTURES[form](profile, read_options(form, {"title": title}))
        assert "<script" not in text
        words = "".join(tree_of(text).itertext())
        assert 'A "title" <script>' in words


@pytest.mark.parametrize("form", WITH_OPTIONS)
def test_a_theme_is_one_scheme_for_every_reader(form: str) -> None:
    light, dark = (PICTURES[form](small_profile(), read_options(form, {"theme": name})) for name in ("light", "dark"))
    assert "prefers-color-scheme" not in light + dark
    assert "prefers-color-scheme" in PICTURES[form](small_profile(), read_options(form, {"theme": "auto"}))
    assert light != dark


def test_hidden_parts_are_gone() -> None:
    card = PICTURES["svg"](small_profile(), read_options("svg", {"hide": "title, languages,chart,features"}))
    words = re.sub("<title.*</style>", "", card)
    assert "Okonjo" not in words
    assert "feature" not in words
    assert "TypeScript" not in words
    assert (
        "almanac"
        not in PICTURES["svg-badge"](small_profile(), read_options("svg-badge", {"hide": "label"})).split("</style>")[1]
    )
    bar = PICTURES["svg-languages"](small_profile(), read_options("svg-languages", {"hide": "Python"}))
    assert "Python" not in bar
    assert "TypeScript 100.0 %" in re.sub("<[^>]*>", "", bar)


def test_the_card_closes_the_gap_that_a_hidden_part_leaves() -> None:
    heights = [
        int(tree_of(PICTURES["svg"](small_profile(), read_options("svg", given))).attrib["height"])
        for given in ({}, {"hide": "languages"}, {"hide": "languages,chart"})
    ]
    assert heights == sorted(set(heights), reverse=True)


@pytest.mark.parametrize(
    ("form", "given", "named"),
    [
        ("svg", {"hide": "everything"}, "hide"),
        ("svg-badge", {"hide": "Python"}, "hide"),
        ("svg", {"width": "99999999999"}, "width"),
        ("svg", {"width": "12"}, "width"),
        ("svg", {"width": "٤٠٠"}, "width"),
        ("svg", {"width": "-400"}, "width"),
        ("svg", {"width": ""}, "width"),
        ("svg", {"title": "x" * (LONGEST_TITLE + 1)}, "title"),
        ("svg", {"theme": "solarized"}, "theme"),
        ("json", {"theme": "dark"}, "options"),
    ],
)
def test_a_wrong_value_is_refused_by_name(form: str, given: dict[str, str], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read_options(form, given)


def test_the_documentation_lists_every_part() -> None:
    text = (Path(__file__).parents[2] / "docs/pages.md").read_text("utf-8")
    for form in WITH_OPTIONS:
        ending = "`.svg`" if form == "svg" else f"`.{form.removeprefix('svg-')}.svg`"
        row = next(line for line in text.splitlines() if line.startswith(f"| {ending}, "))
        assert row.split("|")[2].replace("`", "").replace(" ", "").split(",") == sorted_parts(form, row)


def sorted_parts(form: str, row: str) -> list[str]:
    """The parts of the picture in the order of the row."""
    return sorted(PARTS[form], key=lambda part: row.index(f"`{part}`"))
