"""What is looked for only where a sign of it is, is found wherever it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.digest import guards, titles
from bot.digest.guards import is_unfit, praise, pronouns

_PIECES = (
    *("I", "i", "we", "We'll", "US", "it's", "/us", "us_", "led", "LED", "World-class", "hard work", "high-quality "),
    *("add", "the", "queue", "’", "'", "-", ".", ",", " ", " ", " ", "İ", "\u2014", "9", "x" * 40, "0a" * 20),
    *(
        "@me",
        "#12",
        "GH-1",
        "gh-1",
        "http://",
        "HTTP://x",
        "WWW.a",
        "](",
        "mailto:",
        "a:b",
        "(see #9)",
        "Ref #1 backport",
    ),
    *("[skip ci]", "(2/3)", "[part 2 of 3]", "ABC-12", "0a1b2c3", "closes acme/api#7.", "(backport to 1.2)", "D12345:"),
)
TEXTS = st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), max_size=8).map("".join)


@given(TEXTS)
def test_a_text_is_unfit_if_any_of_its_words_or_signs_is(text: str) -> None:
    patterns = (guards._MENTION, guards._REFERENCE, guards._LINK)
    found = any(pattern.search(text) for pattern in patterns) or bool(pronouns(text)) or bool(praise(text))
    assert is_unfit(text) == (found or not any(char.isalpha() for char in text))


@given(TEXTS)
def test_whatever_refers_at_the_end_of_a_title_is_looked_for(text: str) -> None:
    plain = " ".join(text.split())
    assert not titles._tail().search(plain) or titles._may_refer_at_its_end(plain)


@given(TEXTS)
def test_a_title_of_plain_letters_is_read_as_any_other(text: str) -> None:
    plain = text[: titles.LONGEST_READ]
    if plain.isascii() and plain.isprintable():
        assert titles._only_text(plain) == plain
