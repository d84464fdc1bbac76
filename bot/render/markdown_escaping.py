"""How does untrusted text enter GitHub's Markdown without any effect?

A Markdown template prints only `MdText` and whole numbers; a plain `str` raises TypeError. The result of `md_text`
shows the same characters to a reader but contains no element, link, mention, reference or shortcode. GitHub decodes
entities before it looks for mentions and references, so `@`, `#` and similar characters are also followed by a
zero-width space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from urllib.parse import quote

from bot.render.plain_text import LONGEST, plain_text

_BREAK = "\u200b"
_ACTS = re.compile(
    r"""(?P<mark>@(?=[A-Za-z0-9_-]|$) | [#](?=[0-9]|$) | ^[#])
      | (?P<issue>\b[Gg][Hh]-)(?=[0-9])
      | (?P<hex>(?<![0-9A-Za-z])[0-9a-fA-F]{7,}(?![0-9A-Za-z]))
      | (?P<emoji>:)(?=//|[A-Za-z0-9_+-]{1,40}:|$)
      | (?P<plain>\[(?![ xX]\]|\^)[^\[\]`*_<&@#:$~|\\!\n]{1,80}\](?=[ ,.;)]|$))
      | (?P<word>(?<=[0-9A-Za-z])_(?=[0-9A-Za-z]) | (?<=[ ])[*~](?=[ ]))
      | (?P<other>^[-+=>] | (?:(?<=^\d)|(?<=^\d\d)|(?<=^\d\d\d)|(?<=^\d{4}))[.)](?=[ ]|$)
          | (?<=[Ww]{3})[.] | &(?=[#]|[A-Za-z]|$) | <(?=[A-Za-z/!?]|$) | !(?=\[|$) | [$*\[\\\]_`|~])""",
    re.VERBOSE | re.ASCII,
)
_HEX_AT_ONCE = 6
"""longest run of hexadecimal digits that GitHub does not read as a commit"""
_GITHUB = "https://github.com/"
_REDIRECT = "https://redirect.github.com/"
"""leads to the same page without leaving a cross-reference in its timeline"""
_BARE_URL = re.compile(r"https://[\w.~/?#=&%:+-]*")
_NUMBER = re.compile(r"(?:[\w.-]{1,100})?#[0-9]{1,9}|[0-9a-f]{7}", re.ASCII)
_SAFE_URL = "%:/?#@!$&'+,;=-._~"


class MdText:
    """Markdown that a template wrote or `md_text` escaped. It is not a `str`, so the two cannot be mixed up."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __str__(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"MdText({self._value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MdText) and other._value == self._value

    def __hash__(self) -> int:
        return hash((MdText, self._value))

    def __bool__(self) -> bool:
        return bool(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __add__(self, other: MdText) -> MdText:
        if not isinstance(other, MdText):
            raise TypeError(f"only MdText joins MdText, not {type(other).__name__}")
        return MdText(self._value + other._value)


def md_text(text: str, longest: int = LONGEST) -> MdText:
    """`text` as inert Markdown on one line: what could have an effect becomes an entity, and everything else stays."""
    return MdText(_ACTS.sub(_escape_match, plain_text(text, longest)))


def _escape_match(match: re.Match[str]) -> str:
    text, group = match[0], match.lastgroup
    if group in ("word", "plain"):
        return text
    if group == "issue":
        return text + _BREAK
    if group == "hex":
        return _BREAK.join(text[start : start + _HEX_AT_ONCE] for start in range(0, len(text), _HEX_AT_ONCE))
    entity = f"&#{ord(text)};"
    return entity + _BREAK if group in ("mark", "emoji") else entity


def plain_of_markdown(text: str) -> str:
    """A text of ours with the characters that `md_text` replaced, for searching."""
    return unescape(text).replace(_BREAK, "")


def md_join(separator: MdText, parts: Iterable[MdText]) -> MdText:
    """The parts joined by `separator`. Raises TypeError if a part is a `str`."""
    texts = list(parts)
    if not all(isinstance(part, MdText) for part in (separator, *texts)):
        raise TypeError("only MdText joins MdText")
    return MdText(str(separator).join(map(str, texts)))


def md_link(text: MdText, url: str | None) -> MdText:
    """`[text](url)` for an https address, else only the text. For our own addresses and landed pull requests."""
    if not isinstance(text, MdText):
        raise TypeError("the text of a link must be MdText")
    if url is None or not url.startswith("https://"):
        return text
    target = quote(url.replace(_GITHUB, _REDIRECT, 1), safe=_SAFE_URL, errors="replace")
    return MdText(f"[{text}]({target})" if _BARE_URL.fullmatch(target) else f"[{text}](<{target}>)")


def md_reference(label: str, url: str | None) -> MdText:
    """A link whose text is a number (`#12`, `api#12`, `0123456`): inside a link GitHub makes no reference of it."""
    return md_link(MdText(label) if url and _NUMBER.fullmatch(label) else md_text(label), url)


def only_md_text(value: object) -> object:
    """The value, if a Markdown template may print it. Used as `finalize` of the environment.

    Raises TypeError for a `str` and for anything else that is neither `MdText` nor a whole number.
    """
    if isinstance(value, MdText) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError(f"a Markdown template was given {type(value).__name__}, not MdText: {value!r}")
