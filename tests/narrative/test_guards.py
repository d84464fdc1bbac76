"""Do the quick checks before a search never miss a match?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.narrative.guards import is_unfit, praise, pronouns, signals
from bot.narrative.titles import read_title

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


SIGNS = {
    "mention": ("@me", "(@Ada-1"),
    "reference": ("#12", "acme/api#7", "GH-1", "0a" * 20),
    "link": ("https://x.example", "HTTP://x", "WWW.a", "mailto:ada", "[it](x"),
}
TAILS = ("(#9)", ", closes #1", "refs acme/api#7.", "gh-12", "D12345", "[skip ci]", "(2/3)", "(ABC-12)", "0a1b2c3")
"""endings of titles that do not describe the work"""
WORDS = st.lists(st.sampled_from(["the", "queue", "LED", "lamp", "of", "tides"]), max_size=4).map(" ".join)


@given(TEXTS)
def test_a_text_is_unfit_if_any_of_its_words_or_signs_is(text: str) -> None:
    found = bool(signals(text) or pronouns(text) or praise(text))
    assert is_unfit(text) == (found or not any(char.isalpha() for char in text))


@given(TEXTS, TEXTS, st.sampled_from([(kind, sign) for kind, some in SIGNS.items() for sign in some]))
def test_a_marker_is_found_wherever_it_is(before: str, after: str, sign: tuple[str, str]) -> None:
    kind, text = sign
    assert kind in signals(f"{before} {text} {after}")


@given(WORDS, st.sampled_from(TAILS))
def test_references_at_the_end_of_a_title_are_removed(words: str, tail: str) -> None:
    assert read_title(f"Turn {words} lamps {tail}") == read_title(f"Turn {words} lamps")


@given(TEXTS)
def test_a_title_of_plain_letters_is_read_as_any_other(text: str) -> None:
    plain = text[:900]
    if plain.isascii() and plain.isprintable():
        assert read_title(f"{plain}\u200b") == read_title(plain), "what formats is not read"
