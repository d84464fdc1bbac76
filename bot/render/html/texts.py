"""How does a page show a text: sentences of ours as paragraphs, themes as headings, and entries as lists?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from bot.model.ids import ChangeId
from bot.model.profile import Sentence
from bot.render.escaping import html_link, html_name, html_text
from bot.render.plain_text import LONGEST_TEXT
from bot.render.wording import below_heading

Cite = Callable[[Sequence[ChangeId]], str]
_MARKUP, _ENTRY_MARKUP, _REFERENCE = 24, 100, 9
"""bytes of the markup around a sentence and around an entry, and of one cited change of the same month"""


def html_blocks(sentences: Iterable[Sentence], cite: Cite, *, level: str = "h3") -> str:
    """The sentences below a heading that says who, where and when; `cite` links what was reverted or landed again."""
    return "".join(_group(role, group, cite, level) for role, group in groupby(sentences, key=_block))


def _group(role: str, sentences: Iterable[Sentence], cite: Cite, level: str) -> str:
    if role == "entry":
        return _entries(sentences)
    return _headings(sentences, level) if role == "theme" else _running(sentences, cite)


def _block(one: Sentence) -> str:
    return one.role if one.role in ("entry", "theme") else "running"


def _running(sentences: Iterable[Sentence], cite: Cite) -> str:
    """One paragraph; nothing where the heading says it all."""
    found = [_cited(words, one, cite) for one in sentences if (words := below_heading(one))]
    return f"<p>{' '.join(found)}</p>" if found else ""


def _cited(words: str, one: Sentence, cite: Cite) -> str:
    links = cite(one.evidence) if one.role == "course" else ""
    return html_text(words, LONGEST_TEXT) + (f"<sup>{links}</sup>" if links else "")


def _headings(sentences: Iterable[Sentence], level: str) -> str:
    return "".join(
        f"<{level} class=theme>{html_name(one.layout.label)}"
        + (f" <code>{html_text(one.layout.folder)}</code>" if one.layout.folder else "")
        + f" <small>{html_text(one.layout.notes[0])}</small></{level}>"
        for one in sentences
    )


def _entries(sentences: Iterable[Sentence]) -> str:
    return f"<ul class=entries>{''.join(map(entry_row, sentences))}</ul>"


def entry_row(one: Sentence) -> str:
    """`Feature “Added client middleware support” #12 · with Ada Example · in 3.12.0`, its number as a link."""
    layout = one.layout
    tag = f"<b>{html_text(one.tag)}</b> " if one.tag else ""
    notes = "".join(f" · {html_text(note)}" for note in layout.notes)
    link = html_link(layout.link, html_text(layout.label))
    return f"<li>{tag}<q>{html_name(one.quoted or '')}</q> <span>{link}{notes}</span>"


def text_bytes(sentences: Iterable[Sentence], most: int) -> int:
    """Bytes that the sentences take, an upper estimate; `most` changes are cited after one."""
    size = 0
    for one in sentences:
        size += len(one.text) + _MARKUP
        if one.role == "entry":
            size += _ENTRY_MARKUP + len(one.layout.link or "")
        else:
            size += _REFERENCE * min(most, len(one.evidence))
    return size
