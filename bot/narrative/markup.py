"""Which text does a reader see of a line of Markdown, RST or HTML?"""

from __future__ import annotations

import html
import re

_COMMENT = re.compile(r"<!--.{0,300}?-->")
_IMAGE = re.compile(r"!\[[^\[\]]{0,100}\]\([^()\s]{0,300}\)")
_WORDS = r"\[((?:[^\[\]]|\[[^\[\]]{0,60}\]){1,200})\]"
_LINK = re.compile(rf"{_WORDS}\((?:[^()\s{{]|\{{\{{[^{{}}]{{0,60}}\}}\}}|\{{|\([^()\s]{{0,80}}\)){{1,300}}\)")
_DEFINED_LINK = re.compile(rf"(?<=\s){_WORDS}\[[^\[\]]{{0,60}}\]")
_BRACED_ROLE = re.compile(r"(?<!`)\{((?:[\w+-]{1,20}:){0,2}[\w+-]{1,20})\}(?=`)")
"""a role as MyST writes it; reStructuredText has colons in place of the braces"""
_NUMBER_ROLE = re.compile(
    r":(?:pr|pull|issue|gh|ghpull|ghissue|bug|feature|support|ticket|bpo)_?:`[^`\d]{0,40}(\d{1,7})[^`]{0,60}`"
)
_STANDARD_ROLE = re.compile(r":(pep|rfc):`(\d{1,5})`")
_USER_ROLE = re.compile(r":(?:user|ghuser|gh-user|github-user|github_user):`~?@?([\w-]{1,39})[^`]{0,60}`")
_TITLED = re.compile(r":(?:[\w+-]{1,20}:){1,3}`~?([^`<>]{1,160}?)\s*<[^<>`]{1,200}>`")
_SHORT_ROLE = re.compile(r":(?:[\w+-]{1,20}:){1,3}`~([^`]{1,160})`")
_ROLE = re.compile(r":(?:[\w+-]{1,20}:){1,3}`!?([^`]{1,160})`")
_TARGET = re.compile(r"`([^`<>]{1,160}?)\s*<[^<>`]{1,300}>`_{1,2}")
_NAMED_TARGET = re.compile(r"`([^`]{1,160})`_{1,2}(?!\w)")
_WORD_TARGET = re.compile(r"(?<![\w_])([A-Za-z0-9](?:[\w.-]{0,40}[A-Za-z0-9])?)_(?=[\s,.;:)]|$)")
_CODE = re.compile(r"(`{1,2})(?=[^`\s])(.{1,200}?)(?<=[^`\s])\1(?!`)")
_STRESS = re.compile(r"(?<![\w*])(\*\*|~~|__(?!\w+__))(?=[^\s*_])([^*~]{1,200}?)(?<=\S)\1(?![\w*])")
_WEAK_STRESS = re.compile(
    r"(?<![\w*_`./])(?:\*(?=[^\s*,;)])([^*\n]{1,120}?)(?<=[^\s*(,])\*(?![\w*])"
    r"|_(?=[^\s_,;)])((?:[^_\n]|(?<=[^\W_])_(?=[^\W_])){1,120}?)(?<=[^\s_(,])_(?![\w*]))"
)
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|del|div|em|h[1-6]|hr|i|img|ins|kbd|li|p|pre|s|small|span|strong|sub|sup|tt|u|ul|var)"
    r"(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_ESCAPED = re.compile(r"\\([*_`\[\]<>#~\\|])")
_HELD = "\ue000"
"""stands for a piece of code, whose text is not markup"""
_HELD_PIECE = re.compile(_HELD + r"(\d+)" + _HELD)


def visible_text(text: str) -> str:
    """The text without markup: of a link its words, of a role or a piece of code what it shows."""
    if not any(mark in text for mark in "`*_[<&\\~!"):
        return text
    text = text.replace(_HELD, "")
    if "`" in text:
        text = _BRACED_ROLE.sub(r":\1:", text)
        text = _NUMBER_ROLE.sub(r"#\1", text)
        text = _STANDARD_ROLE.sub(lambda match: f"{match[1].upper()} {match[2]}", text)
        text = _USER_ROLE.sub(r"@\1", text)
        text = _TITLED.sub(r"\1", text)
        text = _SHORT_ROLE.sub(lambda match: f"`{match[1].rsplit('.', 1)[-1]}`", text)
        text = _ROLE.sub(r"`\1`", text)
        text = _NAMED_TARGET.sub(r"\1", _TARGET.sub(r"\1", text))
    pieces: list[str] = []
    text = _CODE.sub(lambda match: _hold(match[2], pieces), text)
    if "<" in text:
        text = _TAG.sub("", _COMMENT.sub(" ", text))
    if "](" in text or "][" in text:
        text = _DEFINED_LINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub(" ", text)))
    text = _WEAK_STRESS.sub(r"\1\2", _STRESS.sub(r"\2", text))
    text = _WORD_TARGET.sub(r"\1", text)
    text = _ESCAPED.sub(r"\1", text).replace("`", "")
    if "&" in text:
        text = html.unescape(text)
    return " ".join(_HELD_PIECE.sub(lambda match: pieces[int(match[1])], text).split())


def _hold(code: str, pieces: list[str]) -> str:
    pieces.append(code.replace("`", ""))
    return f"{_HELD}{len(pieces) - 1}{_HELD}"
