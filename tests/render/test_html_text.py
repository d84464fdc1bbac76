"""What many texts become at once is what each becomes alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.render.html_text import html_text, html_words

from .hostile import payloads

WORDS = st.lists(st.text(max_size=12) | st.from_regex("[0-9a-f]{7}", fullmatch=True), max_size=6)


@given(WORDS)
def test_many_words_are_escaped_as_each_of_them_is(words: list[str]) -> None:
    assert list(html_words(words)) == [html_text(word) for word in words]


def test_one_hostile_word_among_many_is_escaped() -> None:
    for text in payloads():
        assert list(html_words(["0a1b2c3", text])) == ["0a1b2c3", html_text(text)]
