"""Does escaping many texts together equal escaping each?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.render.escaping import html_text, html_texts

from .hostile import payloads

TEXTS = st.lists(
    st.text(max_size=12)
    | st.from_regex("[0-9a-f]{7}", fullmatch=True)
    | st.text(st.sampled_from("ab <&>'\"\n\t\u2013"), max_size=6),
    max_size=12,
)


@given(TEXTS, st.sampled_from((3, 300)))
def test_escaping_many_texts_equals_escaping_each(texts: list[str], longest: int) -> None:
    assert list(html_texts(texts, longest)) == [html_text(text, longest) for text in texts]


def test_one_hostile_text_among_many_is_escaped() -> None:
    for text in payloads():
        assert list(html_texts(["0a1b2c3"] * 9 + [text])) == ["0a1b2c3"] * 9 + [html_text(text)]
