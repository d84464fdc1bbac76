"""What is left of a title whose addresses may lead nowhere?"""

from __future__ import annotations

import re

from bot.narrative.words import word_set

_ADDRESS = re.compile(r"\b[a-z][a-z+]{1,9}://[^\s)>\]]{1,300}")
_IN_BRACKETS = re.compile(rf"\s?[(<](?:\w{{1,8}}:?\s)?{_ADDRESS.pattern}[)>]")
_SCHEME = re.compile(r"[a-z+]{2,10}://(?:www\.)?")
_REFERS = re.compile(r"/(?:pull|issues?|commits?|merge_requests|browse|bugs?|show_bug)\b")
"""an address of a thing to look up, which tells nothing of the work"""
_LEADS = frozenset({"see", "via", "ref", "refs", "fix", "fixes", "close", "closes"})


def without_addresses(text: str) -> str:
    """References are taken off with what leads to them; any other address stays without its scheme. Nothing of a title
    that is about schemes alone."""
    text = _IN_BRACKETS.sub("", text)
    found = set(_ADDRESS.findall(text))
    if len({_SCHEME.sub("", address) for address in found}) < len(found):
        return ""
    kept = _ADDRESS.sub(_visible_text, text)
    ended = kept.rstrip(" .,;")
    return without_loose_word(ended) if kept != text and text.startswith(ended) else kept


def _visible_text(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :]
    led = before.endswith(":") or before.rpartition(" ")[2].lower() in _LEADS
    refers = _REFERS.search(match[0]) is not None or (led and not after.strip(" ."))
    return "" if refers else _SCHEME.sub("", match[0], count=1)


def without_loose_word(text: str) -> str:
    """Without the word that led to what was taken off: `most of #12`, `as in #12`."""
    head, _, last = text.rstrip(" \t,;:–—-").rpartition(" ")
    return head if head and last.lower() in word_set("leading_words") else text
