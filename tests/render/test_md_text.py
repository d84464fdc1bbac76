"""Is untrusted text in Markdown visible but inert?"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import cmarkgfm
import html5lib
import pytest
from cmarkgfm.cmark import Options
from hypothesis import example, given
from hypothesis import strategies as st

from bot.render.environment import template
from bot.render.markdown_escaping import MdText, md_join, md_link, md_text, only_md_text

from .hostile import payloads

_REFERENCE = re.compile(
    r"""(?<![\w/.@-])@[A-Za-z0-9]            # a mention
      | (?<![\w])\#[0-9]                     # an issue
      | [A-Za-z0-9-]\#[0-9]                  # user#1, owner/repository#1
      | \bgh-[0-9]                           # GH-1
      | (?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])  # a commit
      | :[a-z0-9_+-]+:                       # a shortcode
      | https?://[a-z0-9]                    # an address
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PLAIN = {"html", "head", "body", "p"}


def active_elements(markdown: str) -> list[str]:
    """Elements other than a paragraph, and references that GitHub would make in its text."""
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    tree: ElementTree.Element = html5lib.parse(html, namespaceHTMLElements=False)
    found = [f"<{node.tag}>" for node in tree.iter() if node.tag not in _PLAIN]
    text = "".join(tree.itertext())
    return found + [match[0] for match in _REFERENCE.finditer(text) if not found or match]


def printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def test_no_payload_is_active_in_a_paragraph_a_cell_or_an_item() -> None:
    assert {
        text: active_elements(str(md_text(text))) for text in payloads() if active_elements(str(md_text(text)))
    } == {}


def test_hundreds_of_the_same_payloads_are_active_without_escaping() -> None:
    assert sum(bool(active_elements(printable(text))) for text in payloads()) > 400


@pytest.mark.parametrize(
    "frame", ["- {}\n- next\n", "| a | b |\n|---|---|\n| {} | x |\n", "**{}**\n", "[{}](<https://a.b/>)\n"]
)
def test_no_payload_leaves_its_place_in_the_template(frame: str) -> None:
    def shape(markdown: str) -> list[str]:
        html = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
        return [str(node.tag) for node in html5lib.parse(html, namespaceHTMLElements=False).iter()]

    harmless = shape(frame.format("words"))
    wrong = [text for text in payloads() if md_text(text) and shape(frame.format(md_text(text))) != harmless]
    assert wrong == []


@given(st.text(max_size=60))
@example("www.a.b")
@example("0123456 0123456")
@example("a__b__c")
def test_no_text_is_active(text: str) -> None:
    assert active_elements(str(md_text(text))) == []


@given(st.text(alphabet=st.characters(categories=("L", "Nd", "P", "S")), min_size=1, max_size=40))
def test_a_reader_sees_the_same_characters(text: str) -> None:
    import unicodedata

    html = cmarkgfm.github_flavored_markdown_to_html(str(md_text(text)))
    said = "".join(html5lib.parse(html, namespaceHTMLElements=False).itertext()).replace("\u200b", "").strip()
    assert said == unicodedata.normalize("NFC", text).strip()


def test_ordinary_titles_stay_readable_in_the_source() -> None:
    assert str(md_text("Add in-tree retry for snake_case names, v1.2 (again).")) == (
        "Add in-tree retry for snake_case names, v1.2 (again)."
    )


def test_joined_pictures_keep_their_joiner_and_words_lose_theirs() -> None:
    family = "\U0001f469\u200d\U0001f4bb"
    assert str(md_text(family)) == family
    assert str(md_text("a\u200db")) == "ab"


@pytest.mark.parametrize("value", ["text", None, 1.5, True, ["x"]])
def test_a_template_refuses_what_is_not_markdown(value: object) -> None:
    with pytest.raises(TypeError, match="not MdText"):
        only_md_text(value)


def test_a_plain_string_cannot_reach_the_profile_template() -> None:
    page = template("profile.md")
    with pytest.raises(TypeError, match="not MdText"):
        page.render(name="@octocat")


def test_plain_strings_do_not_join_markdown() -> None:
    with pytest.raises(TypeError):
        md_join(MdText(", "), ["@octocat"])  # type: ignore[list-item]  # the mistake under test
    with pytest.raises(TypeError):
        MdText("a") + "b"  # type: ignore[operator]  # the mistake under test
    with pytest.raises(TypeError):
        md_link("a", "https://example.org")  # type: ignore[arg-type]  # the mistake under test


def test_a_link_leads_only_to_https_and_leaves_no_cross_reference() -> None:
    assert str(md_link(MdText("x"), "javascript:alert(1)")) == "x"
    assert str(md_link(MdText("x"), "https://a.b/c>d")) == "[x](https://a.b/c%3Ed)"
    assert str(md_link(MdText("x"), "https://github.com/a/b/pull/1")) == ("[x](https://redirect.github.com/a/b/pull/1)")


def test_hostile_text_is_made_plain_in_milliseconds() -> None:
    import time

    for text in ("-" * 65536, "a" * 65536, ":a" * 32768, "0" * 65536, "@" * 65536, "\u0301" * 65536, "w." * 32768):
        start = time.process_time()
        md_text(text, 65536)
        assert time.process_time() - start < 0.5
