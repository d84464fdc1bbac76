"""Does the fast path of `plain_text` give the same result as the slow one?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.render.plain_text import LONGEST, LONGEST_TEXT, plain_lines, plain_text

RARE = " \u3042"
"""a letter with which no text takes the short way, and which changes nothing of what is before it"""


def _the_long_way(text: str) -> str:
    folded = plain_text(text + RARE, LONGEST_TEXT).removesuffix(RARE[1:]).rstrip(" ")
    return folded if len(folded) <= LONGEST else folded[: LONGEST - 1].rstrip() + "…"


@given(st.text(max_size=400) | st.text(st.characters(max_codepoint=0x2300), max_size=400))
def test_the_fast_path_gives_the_result_of_the_slow_one_for_any_text(text: str) -> None:
    assert plain_text(text) == _the_long_way(text)


def test_the_fast_path_gives_the_result_of_the_slow_one_for_every_character() -> None:
    letters = (chr(code) for code in range(0x3000))
    assert [one for one in letters if plain_text(f"a{one}b") != _the_long_way(f"a{one}b")] == []


def test_running_text_is_kept_up_to_its_limit() -> None:
    assert plain_lines("a" * 4000) == "a" * 4000
    assert plain_lines("a" * 4001) == "a" * 3999 + "…"
