"""Which numbers, credits, closing words and backport brackets stand at the two ends of a text?"""

from __future__ import annotations

import re
from typing import Literal

_STANDARDS = "UTF|SHA|ISO|RFC|PEP|CVE|GHSA|AES|MD|GPT|CP|HTTP|TLS|RSA|EC|IPV|WIN|ARM|X"
_TICKET = rf"(?!(?:{_STANDARDS})-)[A-Z][A-Z0-9]{{1,9}}-\d{{1,7}}"
_NUMBER = r"(?:(?:[\w.-]{1,40}/[\w.-]{1,60})?#\d{1,7}(?!\w)|(?:GH|gh)-\d{1,7}|D\d{5,9}(?!\w)|bpo-\d{1,6})"
_HASH = r"(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}(?!\w)"
_ADDRESS = r"https?://[^\s()<>\[\]]{1,300}"
_REFERENCE = rf"(?:{_NUMBER}|{_TICKET}|{_ADDRESS}|{_HASH})"
_DASH = r"\s?(?::|--|-|–|—|,|\.)\s+"

# --- in front --------------------------------------------------------------------------------------------------------

_BETWEEN = r"(?:\s?(?:,|&|/|and)\s?|\s?(?::|--|-|–|—)\s+|\s+(?=[A-Z\[`(@]|[a-z]+\b))"
_LEAD = re.compile(rf"(?:\[?\(?(?:{_NUMBER}|{_TICKET}|{_HASH})\)?\]?{_BETWEEN})+")
_MORE = rf"(?:(?:,| and|, and| &)\s?{_NUMBER}){{0,4}}"
_STATEMENT = r"(?=[\w'`\"]{2})(?!(?:and|by|in|on|for|with|from|to|via|when|is|was)\b)"
_AFTER = rf"(?:{_NUMBER}|{_TICKET}){_MORE}(?:{_DASH}|\s+{_STATEMENT})"
_FIXED = re.compile(rf"(?:[Ff]ix(?:e[sd])?|FIX):?\s(?:[Ii]ssues?\s|bug\s)?{_AFTER}")
_CLOSED = re.compile(rf"(?:[Cc]lose[sd]?|[Rr]esolve[sd]?|[Ii]ssue|[Tt]icket):?\s{_AFTER}")
_REFERRED = re.compile(rf"(?:[Rr]efs?|[Ss]ee|PR)\s(?:{_NUMBER}|{_TICKET}){_MORE}{_DASH}")
_VERSION = r"v?\d{1,4}(?:\.(?:\d{1,4}|x)){1,3}"
_BACKPORTED = (
    r"(?i:(?:manual )?(?:backport|cherry[ -]pick)\b[^\[\]()]{0,50}|\d[\w.]* backport"
    r"|(?:release|stable)[-/ ][\w./-]{1,30}|PR #?\d+/\w+ backport)"
)
_BRANCH = re.compile(
    rf"(?:[\[(](?:{_VERSION}|{_BACKPORTED})[\])]"
    rf"|(?i:backport)(?: (?:to|of|PR))?(?: [#\w./-]{{1,30}}){{0,3}}\s?(?::|--|-)(?=\s))\s*"
)

# --- behind ----------------------------------------------------------------------------------------------------------

_CLOSES = (
    r"(?:(?:(?:also|partially|partly)\s)?(?:close[sd]?|closing|fix(?:e[sd])?|fixing|resolve[sd]?|resolving|refs?"
    r"|references?|see(?: also)?|part of|related to|relates to|pull request|pull|prs?|issues?|tickets?|bug|gh|via|in"
    r"|from|for|per|re|after|since|before|following|commit))"
)
_ABOUT = (
    r"(?:\s(?:for|in|from|with|of|to|see|on))?(?:\s(?:the|github|upstream|gh|jira))?"
    r"\s(?:issues?|pull requests?|prs?|tickets?|bugs?)"
)
_INSIDE = rf"(?:{_CLOSES}[\s:]{{1,2}})?\[?{_REFERENCE}\]?"
_TAIL = re.compile(
    rf"[\s,;&]{{0,3}}[(\[]{_INSIDE}(?:(?:\s?[,;&/]\s?|\sand\s|\s){_INSIDE})*[)\]]\.?$"
    rf"|{_ABOUT}\s{_NUMBER}\.?$"
    rf"|(?:[\s,;.\-–—:(]{{1,4}}{_CLOSES}\s?:?)?[\s,;&]{{0,3}}(?<!\w){_NUMBER}\)?\.?$"
    rf"|[\s,;.\-–—:(]{{1,4}}{_CLOSES}[\s:]{{1,2}}(?:{_TICKET}|{_ADDRESS})\)?\.?$"
    rf"|[\s,;:(–—-]{{1,4}}<?{_ADDRESS}>?\)?\.?$"
    r"|\s?\[(?:skip|no)[ -]ci\]$|\s?\[ci[ -]skip\]$|\s?\((?:PR|pull request|issue|#)?\s?\d{1,6}\)$"
    r"|\s?\([0-9a-f]{7,12}\)$|\s?\((?:see|cf)\.?\s[^()]{0,40}\(?#\d{1,7}\)?[^()]{0,40}\)$"
    r"|\s?[(\[](?:backport|cherry[ -]pick)[^()\[\]]{0,60}[)\]]$"
    rf"|\s?[(\[]{_VERSION}[)\]]$"
    r"|[\s,;.\-–—:]{1,3}(?:and|see)?$|\s\[\]$|\s\(\)$",
    re.IGNORECASE,
)
_LOGIN = r"@[A-Za-z0-9][\w-]{0,38}(?:\[bot\])?"
_WORD = r"(?-i:[A-Z\u00c0-\u024f][\w.'’\u00c0-\u024f-]{0,30})"
_NAME = rf"{_WORD}(?:\s(?:(?:de|van|von|der|da|di|la)\s)?{_WORD}){{0,3}}"
_WHO = rf"(?:{_LOGIN}|{_NAME})"
_BY = (
    r"(?:\b(?:patch(?:es)?|contributed|reported|suggested|initial patch|pull request|pr|change|implemented)"
    r"\s(?:by|from|courtesy of)\s|\b(?:many )?thanks(?: to|,)?\s(?:to\s)?|\bcourtesy of\s|\bcredits? to\s"
    r"|(?:--|—|–|-|\*|\(|\[)\s?by\s|\bby\s(?=@))"
)
_FOR = rf"(?:\s(?:for|in)\s(?:(?:the\s)?(?:pr|patch|pull request|report|fix|contribution)|{_NUMBER}|{_ADDRESS}))?"
_CREDIT = re.compile(
    rf"[\s,;.]{{0,2}}(?:[(\[]|--|—|–|-|\.|,)?\s?{_BY}{_WHO}(?:(?:,\sand|,|\sand"
    rf"|\s&)\s{_WHO}){{0,6}}{_FOR}[)\]]?[.!]?\s*$",
    re.IGNORECASE,
)
_LAST_LOGIN = re.compile(rf"[\s,;(\[–—-]{{1,3}}(?:{_LOGIN})(?:(?:,|,? and| &)\s{_LOGIN}){{0,6}}[)\]]?\.?\s*$")
_LAST_NAME = re.compile(rf"(?<=[)\]])\s\({_NAME}\)\W*$")


def without_leading_references(text: str) -> tuple[str, Literal["fixed", "closed"] | None]:
    """The text without numbers and backport brackets in front; `fixed` or `closed` if it said so of a number."""
    said: Literal["fixed", "closed"] | None = None
    for _ in range(4):
        if match := _FIXED.match(text):
            said = "fixed"
        elif match := _CLOSED.match(text):
            said = said or "closed"
        else:
            match = _BRANCH.match(text) or _REFERRED.match(text) or _LEAD.match(text)
        if match is None or not text[match.end() :].strip():
            break
        text = text[match.end() :].lstrip()
    return text, said


def without_trailing_references(text: str) -> str:
    """The text without numbers, closing words and backport brackets behind it."""
    for _ in range(8):
        last = text.rpartition(" ")[2]
        if last[-1:].isalpha() and last not in ("and", "see") and "/" not in last:
            return text  # trying the pattern takes longest
        match = _TAIL.search(text)
        if match is None or not text[: match.start()].strip():
            return text
        text = text[: match.start()].rstrip()
    return text


def without_credits(text: str) -> str:
    """The text without the people whom its end credits, and without the numbers before or behind them."""
    for _ in range(3):
        match = _credit(text)
        if match is None:
            bare = without_trailing_references(text)
            if bare == text or not (match := _credit(bare)):
                return text
            text = bare
        if not text[: match.start()].strip():
            return text
        text = text[: match.start()].rstrip(" ,;(–—-")
    return text


def _credit(text: str) -> re.Match[str] | None:
    """Where the text begins to credit people, if it ends so."""
    if "by " in text or "hanks" in text or "ourtesy" in text or "redit" in text or "from " in text:
        match = _CREDIT.search(text)
        if match is not None:
            return match
    return (_LAST_LOGIN.search(text) if "@" in text else None) or (_LAST_NAME.search(text) if ")" in text else None)
