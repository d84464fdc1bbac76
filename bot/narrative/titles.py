"""What does a title say, once prefixes, tags, references, emoji and markup are taken off?"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from msgspec import Struct

from bot.narrative.tenses import base_of, is_verb
from bot.narrative.words import lexicon, word_set

LONGEST_READ = 400
"""characters of a title that are read at all"""
_SHORTCODE = re.compile(r":[a-z][a-z0-9_+-]{1,30}:")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{1,300}\)")
_COMMENT = re.compile(r"<!--.{0,300}?-->", re.DOTALL)
_STRESS = re.compile(r"(?<![\w*])(\*\*|__(?!\w{1,60}__)|~~)(?=\S)(.{1,200}?)(?<=\S)\1(?![\w*])")
_TAG = re.compile(r"\s{0,3}\[([^\[\]]{1,60})\]\s{0,3}:?")
_ROUND_TAG = re.compile(r"\s{0,3}\((\d{1,3}\s?(?:/|of)\s?(?:\d{1,3}|n))\)\s{0,3}:?")
_SERIES = re.compile(r"(?:part|patch|step)?\s?\d{1,3}\s?(?:/|of)\s?(?:\d{1,3}|n)", re.IGNORECASE)
_JIRA = r"(?!(?:UTF|SHA|ISO|RFC|PEP|CVE|GHSA|AES|MD|GPT|CP|HTTP|TLS|RSA|EC|IPV|WIN|ARM|X)-)[A-Z][A-Z0-9]{1,9}-\d{1,7}"
"""a ticket such as `ABC-12`; names of standards are spelled alike and are not tickets"""
_TICKET = re.compile(rf"(?:\(?(?:{_JIRA}|(?:GH|gh)-\d{{1,7}}|#\d{{1,7}}|D\d{{5,9}}|bpo-\d{{1,6}})\)?)")
_HEAD_TICKET = re.compile(
    rf"(?:(?:{_TICKET.pattern})(?:[,&/ ]{{1,2}}|(?=[:;\- ])))+\s{{0,2}}[:;\-]?\s+"
    r"|(?:Fix(?:es)?|Close[sd]?) #\d{1,7}\s?[:;\-–,.]\s+"
)
_BACKPORT = re.compile(r"backport(?: to)? [\w./-]{1,30}\s?:\s+", re.IGNORECASE)
_TYPE = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,19})(?:\((?P<scope>[^()]{1,60})\))?\s?!?\s?:(?!:|/)\s{0,3}")
_WIDE_TYPE = re.compile(r"([^\W\d_]{1,8})：\s{0,3}")
_SCOPE = re.compile(r"([\w./+\-*@{}]{1,40}(?:(?:, ?|/| & | and | )[\w./+\-*{}]{1,40}){0,2})\s?:\s+")
_DIGIT = re.compile(r"\d")
_BRANCH = re.compile(r"v?\d{1,4}(?:\.(?:\d{1,4}|x)){0,3}|\d+(?:\.\d+)* backport|PR #?\d+.{0,60}|release[-/ ].{0,30}")
_BULLET = re.compile(r"(?:[-*•·–—+]\s+){1,3}")
_MARKS = ("\u200d", "\ufe0f", "\ufe0e", "\u20e3")


_ADDRESS = re.compile(r"\b[a-z][a-z+]{1,9}://[^\s)>\]]{1,300}")
_IN_BRACKETS = re.compile(rf"\s?[(<](?:\w{{1,8}}:?\s)?{_ADDRESS.pattern}[)>]")
_SCHEME = re.compile(r"[a-z+]{2,10}://(?:www\.)?")
_REFERS = re.compile(r"/(?:pull|issues?|commits?|merge_requests|browse|bugs?|show_bug)\b")
"""an address of something to look up, which does not describe the work"""
_LEADS = frozenset({"see", "via", "ref", "refs", "fix", "fixes", "close", "closes"})


class Title(Struct, frozen=True):
    """`body` is what was done, verbatim; `scopes` are the tags and scopes it stood under; `place` a key of [places]."""

    body: str
    scopes: tuple[str, ...] = ()
    place: str | None = None
    fix: bool = False
    """a prefix calls it a fix"""


@cache
def _html_tag() -> re.Pattern[str]:
    names = "|".join(sorted(lexicon()["cleaning"]["html_tags"], key=len, reverse=True))
    return re.compile(rf"</?(?:{names})(?:\s[^<>]{{0,300}})?/?>", re.IGNORECASE)


@cache
def _tail() -> re.Pattern[str]:
    """References at the end: `(#12)`, `, closes #12`, `refs #12 and #13`, `[skip ci]`, `(2/3)`, `(JIRA-1)`."""
    words = "|".join(sorted(lexicon()["cleaning"]["references"], key=len, reverse=True))
    hashed = r"(?:[\w.-]{1,40}/[\w.-]{1,60})?#\d{1,7}|(?:GH|gh)-\d{1,7}|D\d{5,9}"
    said = rf"(?i:{words})"
    refers = rf"(?:\b{said}[\s:]{{1,2}})?(?:{hashed})(?:\s?backport)?"
    return re.compile(
        rf"[\s,;&]{{0,3}}\({refers}\)\.?$|(?:[\s,;.\-–—:]{{1,4}}{said}\s?:?)?[\s,;&]{{0,3}}{refers}\)?\.?$"
        rf"|\s?[(\[](?:{said}[\s:]{{1,2}})?{_JIRA}[)\]]\.?$|[\s,;.\-–—:]{{1,4}}{said}\s?:?\s{_JIRA}\.?$"
        r"|\s?\[(?:skip|no)[ -]ci\]$|\s?\[ci[ -]skip\]$|\s?[(\[](?:part\s?)?\d{1,3}\s?(?:/|of)\s?(?:\d{1,3}|n)[)\]]$"
        r"|\s(?:(?:in|from|of|for|to|by|since|after|with|see)\s)?(?:(?:commit|changeset|revision|rev)\s)?(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}$"
        r"|\s?\((?i:backport|cherry[ -]pick)[^()]{0,60}\)$"
    )


def _is_emoji(char: str) -> bool:
    return unicodedata.category(char) in ("So", "Cs", "Co") or char in _MARKS or "\U0001f3fb" <= char <= "\U0001f3ff"


def _without_markup(title: str) -> str:
    text = title[:LONGEST_READ]
    if not (text.isascii() and text.isprintable()):
        text = _only_text(text)
    if "<" in text:
        text = _COMMENT.sub(" ", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _html_tag().sub("", text)
    if ":" in text:
        text = _SHORTCODE.sub("", _without_addresses(text))
    if "**" in text or "__" in text or "~~" in text:
        text = _STRESS.sub(r"\2", text)
    text = " ".join(text.replace("`", "").split())
    bullet = _BULLET.match(text)
    return text[bullet.end() :] if bullet else text


def _only_text(text: str) -> str:
    """Composed, without emoji and what formats, a blank where a line ended."""
    return "".join(
        " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
        for char in unicodedata.normalize("NFC", text)
        if not _is_emoji(char) and (unicodedata.category(char) != "Cf")
    )


def _may_refer_at_its_end(text: str) -> bool:
    """A tail ends with a bracket, a digit in its last word or as a backport's; trying the pattern takes longest."""
    last = text[text.rfind(" ") + 1 :]
    return last[-1:] in (")", "]", ".") or last.endswith("backport") or _DIGIT.search(last) is not None


def _without_opened(shorter: str, text: str) -> str:
    """Without the bracket whose end was cut off."""
    opened = shorter.count("(") > shorter.count(")") and text.count("(") == text.count(")")
    return shorter[: shorter.rindex("(")] if opened else shorter


def _without_tail(text: str) -> str:
    for _ in range(8):
        shorter = _tail().sub("", text) if _may_refer_at_its_end(text) else text
        if shorter != text:
            shorter = _without_loose_word(_without_opened(shorter, text))
        shorter = shorter.rstrip(" \t,;:–—-")
        if shorter == text or not shorter:
            break
        text = shorter
    return text


def _is_dropped(tag: str) -> bool:
    plain = tag.strip().lower()
    dropped = lexicon()["cleaning"]["dropped_tags"]
    return (
        plain in dropped
        or bool(_SERIES.fullmatch(plain))
        or bool(_TICKET.fullmatch(tag.strip()))
        or bool(_BRANCH.fullmatch(tag.strip()))
        or "backport" in plain
        or not any(char.isalpha() for char in plain)
    )


class _Head:
    """The prefixes of one title, taken off from the left."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.scopes: list[str] = []
        self.place: str | None = None
        self.fix = False

    def read(self) -> None:
        for _ in range(8):
            if not (self._tag() or self._ticket() or self._type() or self._scope()):
                return

    def _add(self, scope: str) -> None:
        scope = scope.strip()
        places = lexicon()["types"]
        if scope.lower() in places:
            self._mark(places[scope.lower()])
        elif scope and not _is_dropped(scope) and scope not in self.scopes:
            self.scopes.append(scope)

    def _mark(self, place: str) -> None:
        if place == "fix":
            self.fix = True
        elif place:
            self.place = place

    def _tag(self) -> bool:
        found = _TAG.match(self.text) or _ROUND_TAG.match(self.text)
        if not found or not self.text[found.end() :].strip():
            return False
        self.text = self.text[found.end() :].lstrip(" –:").removeprefix("- ")
        self._add(found[1])
        return True

    def _ticket(self) -> bool:
        found = _HEAD_TICKET.match(self.text) or _BACKPORT.match(self.text)
        if not found or not self.text[found.end() :].strip():
            return False
        self.text = self.text[found.end() :].strip()
        return True

    def _type(self) -> bool:
        found = _TYPE.match(self.text) or _WIDE_TYPE.match(self.text)
        if not found or found[1].lower() not in lexicon()["types"] or not self.text[found.end() :]:
            return False
        self.text = self.text[found.end() :]
        self._mark(lexicon()["types"][found[1].lower()])
        if scope := found.groupdict().get("scope"):
            self._add(scope)
        return True

    def _scope(self) -> bool:
        found = _SCOPE.match(self.text)
        if not found or not self.text[found.end() :] or not self._is_scope(found[1], self.text[found.end() :]):
            return False
        if _SERIES.fullmatch(found[1]) is None:
            self._add(found[1])
        self.text = self.text[found.end() :]
        return True

    def _is_scope(self, words: str, after: str) -> bool:
        """One word before the colon names a place; several do where what follows begins with a verb."""
        first, *more = words.split()
        if base_of(first) and (more or first[:1].isupper()):
            return False
        following = [*after.split()[:2], "", ""]
        return not more or is_verb(following[0], following[1] or "it")


def _first_sentence(text: str) -> str:
    """The part before a full stop or semicolon-like break, where that is already a clause of two words."""
    for mark in (". ", "; ", " -- ", " — "):
        at = text.find(mark)
        while at > 0 and not _is_whole(text[:at], mark):
            at = text.find(mark, at + 1)
        text = text[:at] if at > 0 else text
    return text


def _is_whole(head: str, mark: str) -> bool:
    words = head.split()
    last = words[-1].lower() if words else ""
    initials = "." in last and all(len(part) == 1 and part.isalpha() for part in last.split("."))
    if mark == ". " and (last.isdigit() or initials or last in word_set("shortened")):
        return False
    closed = head.count("(") == head.count(")") and (head[-1].isalnum() or head[-1] in "\"'”)%")
    return len(words) > 1 and closed


def _without_end(text: str) -> str:
    """Without a full stop or a dash at the end; a path such as `..` keeps its own."""
    last = text.rsplit(" ", 1)[-1]
    return text.rstrip(".-。；，、") if any(char.isalnum() for char in last) else text


_LONGEST = 1_000
"""characters; nobody is shown more, and what is kept of titles stays bounded"""


def read_title(title: str) -> Title:
    """The title taken apart. What is not recognised stays in `body` as it is written, up to 1,000 characters."""
    return _taken_apart(title[:_LONGEST])


@lru_cache(maxsize=4096)
def _taken_apart(title: str) -> Title:
    head = _Head(_without_tail(_without_markup(title)))
    head.read()
    body = _without_end(_first_sentence(_without_tail(head.text)).strip(" \t:;,–—"))
    return Title(body, tuple(head.scopes), head.place, head.fix)


def _without_addresses(text: str) -> str:
    """The text without references and the words that lead to them; any other address only loses its scheme.

    Empty if only the schemes of its addresses differ.
    """
    text = _IN_BRACKETS.sub("", text)
    found = set(_ADDRESS.findall(text))
    if len({_SCHEME.sub("", address) for address in found}) < len(found):
        return ""
    kept = _ADDRESS.sub(_visible_text, text)
    ended = kept.rstrip(" .,;")
    return _without_loose_word(ended) if kept != text and text.startswith(ended) else kept


def _visible_text(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :]
    led = before.endswith(":") or before.rpartition(" ")[2].lower() in _LEADS
    refers = _REFERS.search(match[0]) is not None or (led and not after.strip(" ."))
    return "" if refers else _SCHEME.sub("", match[0], count=1)


def _without_loose_word(text: str) -> str:
    """Without the word that led to what was taken off: `most of #12`, `as in #12`."""
    head, _, last = text.rstrip(" \t,;:–—-").rpartition(" ")
    return head if head and last.lower() in word_set("leading_words") else text
